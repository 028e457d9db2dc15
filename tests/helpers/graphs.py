"""Small graphs with every trouble in them, and a way to draw from one."""

from pathlib import Path

import numpy as np

from csaw.engine import open_samples, sample
from csaw.engine.api import registry
from csaw.engine.samples.layouts import LAYOUTS
from csaw.partition import write_graph
from csaw.partition.graph.store import GraphStore

# (source, target, weight): a triangle with a tail, a dead end, a self loop, zero weights, a repeated edge, an isolated
# vertex (6)
TROUBLED = [
    (0, 1, 1),
    (0, 2, 2),
    (0, 3, 0),
    (1, 0, 1),
    (1, 2, 4),
    (1, 1, 2),
    (2, 0, 3),
    (2, 1, 1),
    (2, 3, 5),
    (2, 3, 0.5),
    (3, 2, 1),
    (3, 4, 1),
    (3, 5, 0.25),
    (5, 0, 0),
]
SQUARE = [(0, 1, 1), (1, 2, 2), (2, 3, 3), (3, 0, 4), (0, 2, 5), (3, 4, 0.5)]  # undirected
FIVE = [(0, 1, 3), (0, 2, 6), (0, 3, 2), (0, 4, 2), (0, 5, 2)]  # the biases of C-SAW's figure 5


TIMELESS = [name for name in registry.names() if not getattr(registry.find(name), "timed", False)]
"""Algorithms that any graph will do for; those in time have graphs and tests of their own, see temporal.py."""


def store_of(path, edges, *, directed, vertices=None, partitions=1, weighted=True, clusters=20):
    """A graph store of weighted edges, whose vertices are in at most ``clusters`` clusters of unequal sizes."""
    src, dst, weights = np.array(edges, np.float64).reshape(-1, 3).T
    if not directed:
        apart = src != dst
        src, dst = np.concatenate([src, dst[apart]]), np.concatenate([dst, src[apart]])
        weights = np.concatenate([weights, weights[apart]])
    order = np.lexsort((dst, src))
    size = vertices or 1 + int(max(src.max(), dst.max()))
    return write_graph(
        path,
        np.cumsum([0, *np.bincount(src.astype(int), minlength=size)]),
        dst[order].astype(np.uint32),
        weights[order].astype(np.float32) if weighted else None,
        directed=directed,
        partitions=partitions,
        overwrite=True,
        clusters=np.minimum(np.arange(size) * 7 % 31, np.arange(size)) % min(clusters, size),
    )


def random_store(path, *, seed=0, vertices=300, edges=2000, partitions=1, weighted=True, directed=False, clusters=20):
    """A graph with hubs: endpoints drawn towards small ids."""
    rng = np.random.default_rng(seed)
    low, high = np.sort((rng.random((edges, 2)) ** 2 * vertices).astype(int), axis=1).T
    src, dst = np.divmod(np.unique((low * vertices + high)[low != high]), vertices)
    weights = rng.integers(1, 64, src.size) / 8
    return store_of(
        path,
        np.column_stack([src, dst, weights]),
        directed=directed,
        vertices=vertices,
        partitions=partitions,
        weighted=weighted,
        clusters=clusters,
    )


def store_with_ids(folder):
    """A graph of 400 vertices in nine partitions whose ids are not 0 .. V - 1."""
    plain = random_store(folder / "plain.zarr", vertices=400, edges=6000).load()
    ids = 7 + 3 * np.arange(400)
    return write_graph(
        folder / "g.zarr", plain.indptr, plain.indices, plain.weights, directed=False, vertex_ids=ids, partitions=9
    )


def heavy_store(path):
    """A few edges of every row have nearly all of its weight."""
    rng = np.random.default_rng(6)
    edges = {(int(u), int(v)): float(2 ** rng.integers(0, 40)) for u, v in np.sort(rng.integers(0, 90, (900, 2)))}
    return store_of(path, [(u, v, w) for (u, v), w in edges.items()], directed=False, vertices=90)


def rows_of(store, weighted):
    """The graph as lists of (neighbor, weight): nothing of the engine."""
    graph = store.load()
    weights = graph.weights if weighted and graph.weights is not None else np.ones(graph.indices.size)
    ends = zip(graph.indptr, graph.indptr[1:], strict=False)
    return [list(zip(graph.indices[a:b].tolist(), weights[a:b].tolist(), strict=True)) for a, b in ends]


class WideStore(GraphStore):
    """A store whose ids take 64 bits, as if it had more than 2^32 vertices."""

    is_plain = False

    def __init__(self, store):
        super().__init__(store.path, store.attributes)
        self.id_dtype = np.dtype(np.uint64)

    def read_edges(self, number, arrays, first=0):
        if "indices" not in arrays:
            super().read_edges(number, arrays, first)
            return
        indices = np.empty(arrays["indices"].size, np.uint32)
        super().read_edges(number, {**arrays, "indices": indices}, first)
        arrays["indices"][:] = indices


def arrays_of(store, out, algo="deepwalk", *, device="cpu", **options):
    """Draw, and read back every array of the sample."""
    sample(store, out, algo, overwrite=True, ids="dense", device=device, **options)
    return stored_arrays(out)


def stored_arrays(out):
    """Every array of a sample."""
    samples = open_samples(out)
    names = {
        "walks": ["walks", "lengths"],
        "ragged-walks": ["walk_ptr", "walks"],
        "subgraphs": ["instance_ptr", "src", "dst", "depth", "sources"],
        "links": ["links", "negatives"],
    }
    names["batches"] = [one.name for one in LAYOUTS["batches"].arrays if (Path(out) / one.name).exists()]
    wanted = names.get(samples.layout) or [f"hop_{i}" for i in range(len(samples.hops))]
    further = (
        "times",
        "weight",
        "vertices_ptr",
        "vertices",
        "layer",
        "probability",
        "time",
        "seed_time",
        "src_time",
        "dst_time",
        "relation",
    )
    of_hops = [f"{of}_{k}" for of in ("time", "relation") for k in range(1, len(wanted))]
    wanted += [name for name in (*further, *of_hops) if name in samples and name not in wanted]
    import zarr

    group = zarr.open_group(str(out), mode="r")
    return {name: group[name][:] for name in wanted}


def ends_of_batches(drawn, hop):
    """The vertices that the edges of one hop of all mini-batches lead to, in order, from the arrays of a sample."""
    counts, hops = np.diff(drawn["edge_ptr"]), drawn["hop_edges"]
    row = drawn["row"] + np.repeat(drawn["node_ptr"][:-1], counts)
    at = np.repeat(np.tile(np.arange(hops.shape[1]), len(hops)), hops.ravel())
    return drawn["n_id"][row[at == hop]].astype(int)
