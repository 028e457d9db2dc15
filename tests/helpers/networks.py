"""Graphs with every trouble, and networks of one graph that must give the same numbers: other threads, other blocks, on
disk, with wide ids.
"""

import numpy as np

from csaw.engine.analytics.cpu.network import STATE_BYTES, HostNetwork
from helpers.graphs import SQUARE, TROUBLED, WideStore, random_store, store_of

STAR = [(0, v, 1) for v in range(1, 60)]
CLIQUE = [(u, v, 1) for u in range(12) for v in range(u + 1, 12)]
REPEATED = [(0, 1, 1), (0, 1, 1), (1, 2, 1), (1, 2, 1), (1, 2, 1), (2, 2, 1), (3, 0, 1)]
GRAPHS = {
    "troubled": lambda path: store_of(path, TROUBLED, directed=True, vertices=7),
    "square": lambda path: store_of(path, SQUARE, directed=False),
    "star": lambda path: store_of(path, STAR, directed=False),
    "star inwards": lambda path: store_of(path, [(v, u, w) for u, v, w in STAR], directed=True),
    "clique": lambda path: store_of(path, CLIQUE, directed=False),
    "repeated": lambda path: store_of(path, REPEATED, directed=True),
    "repeated undirected": lambda path: store_of(path, REPEATED, directed=False),
    "no edges": lambda path: store_of(path, [], directed=False, vertices=6),
    "one vertex": lambda path: store_of(path, [], directed=True, vertices=1),
    "one loop": lambda path: store_of(path, [(0, 0, 1)], directed=True),
    "random": lambda path: random_store(path, vertices=700, edges=6000, partitions=3, weighted=False),
    "random directed": lambda path: random_store(path, vertices=700, edges=6000, directed=True),
    "wide": lambda path: WideStore(random_store(path, vertices=300, edges=2000, weighted=False)),
}


def sums_of_values(store, what):
    """Numbers of the vertices, and the sums of them that the host's module ``what`` makes."""
    values = np.random.default_rng(2).integers(0, 2**40, store.vertices)
    return values, HostNetwork(store).compute(what, values=values)


def least(store):
    """Bytes of memory for two of the longest rows in any direction."""
    longest = max(len(row) for row in pairs_of(store)[1])
    return STATE_BYTES * store.vertices + 2 * (store.id_dtype.itemsize + 4 * store.weighted) * max(longest, 1)


def pairs_of(store):
    """The rows, and the longest row in either direction or both, as lists."""
    graph = store.load()
    rows = [graph.indices[a:b].tolist() for a, b in zip(graph.indptr, graph.indptr[1:], strict=False)]
    both = [list(row) for row in rows]
    for v, row in enumerate(rows):
        for u in row:
            both[u].append(v)
    return rows, both


def neighbors_of(store):
    """The neighbors of each vertex in the simple undirected graph, as sets."""
    return [{*row} - {v} for v, row in enumerate(pairs_of(store)[1])]


def networks(store, folder):
    """The graph in memory with one thread and with three, and in blocks from disk, of about a row each and of more."""
    if isinstance(store, WideStore):
        yield HostNetwork(store, threads=3)
        return
    for memory, threads in ((None, 1), (None, 3), (least(store), 3), (least(store) + 9000, 2)):
        yield HostNetwork(store, memory=memory, threads=threads, derived=folder)


def same(found, wanted):
    """Whether two findings or results have the same bits."""
    if isinstance(found, np.ndarray):
        return found.dtype == wanted.dtype and np.array_equal(found, wanted, equal_nan=found.dtype.kind == "f")
    if isinstance(found, dict):
        return found.keys() == wanted.keys() and all(same(found[name], wanted[name]) for name in found)
    if hasattr(found, "__dict__"):
        return same(vars(found), vars(wanted))
    return repr(found) == repr(wanted)


SHAPES = {  # edges and number of vertices
    "one vertex": ([], 1),
    "no edges": ([], 70),
    "a loop": ([(2, 2)], 5),
    "a path": ([(v, v + 1) for v in range(70)], 71),
    "a path backward": ([(v + 1, v) for v in range(70)], 71),
    "a cycle": ([(v, (v + 1) % 67) for v in range(67)], 67),
    "a star": ([(7, v) for v in range(200) if v != 7], 203),
    "a clique": ([(u, v) for u in range(20) for v in range(20) if u != v], 20),
    "repeats": ([(0, 1)] * 5 + [(1, 2)] * 3 + [(2, 2)] * 2, 4),
    "a clique with a tail": ([(u, v) for u in range(40) for v in range(u)] + [(v, v + 1) for v in range(39, 80)], 81),
    "two cliques and a bridge": (
        [(u, v) for a in (0, 70) for u in range(a, a + 8) for v in range(a, u)] + [(3, 75)],
        90,
    ),
}


def stores(folder, *, directed, weighted=False):
    """Graphs with every trouble, each in one partition and in several; one with ids of 64 bits."""
    for name, (edges, vertices) in SHAPES.items():
        heavy = [(u, v, (3 * u + 5 * v) % 7 / 2) for u, v in edges]
        yield store_of(folder / f"{name}.zarr", heavy, directed=directed, vertices=vertices, weighted=weighted)
    yield store_of(folder / "t.zarr", TROUBLED, directed=directed, vertices=7, partitions=3, weighted=weighted)
    sizes = [(0, 300, 900, 1), (1, 900, 9000, 4), (2, 500, 500, 2)]
    for seed, vertices, edges, partitions in sizes:
        made = random_store(
            folder / f"r{seed}.zarr",
            seed=seed,
            vertices=vertices,
            edges=edges,
            directed=directed,
            partitions=partitions,
            weighted=weighted,
        )
        yield made
    yield WideStore(made)


def two_hubs(folder, leaves=1300, others=0):
    """Two vertices with the same neighbors, whose rows are longer than a piece that betweenness sums: K(2, leaves), and
    so many edges between random leaves.
    """
    more = (2 + np.random.default_rng(7).integers(0, leaves, (others, 2))).tolist()
    return store_of(
        folder,
        [(hub, 2 + leaf, 1) for hub in (0, 1) for leaf in range(leaves)] + [(u, v, 1) for u, v in more],
        directed=False,
    )
