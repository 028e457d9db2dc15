"""A sampler in a few lines of Python over the law alone, and stores made from what it draws."""

import numpy as np

from csaw.engine.api import registry
from csaw.engine.api.law import GraphView, edge_biases, next_law
from csaw.engine.samples import SampleWriter

NONE = 2**32 - 1


def manifest(store, algorithm, parameters, *, weighted=True, sources="list", **request):
    """What a run would say of itself."""
    wanted = {
        "fingerprint": store.fingerprint,
        "algorithm": algorithm,
        "parameters": parameters,
        "weighted": weighted,
        "seed": 0,
    }
    return {"request": wanted | {"sources": sources} | request, "graph": {"path": str(store.path)}}


def slow_walks(store, algorithm, sources, *, weighted=True, seed=0, **parameters):
    """Walks in dense ids, one from each source, and their lengths."""
    walk, view, rng = (
        registry.build(algorithm, parameters),
        GraphView(store.load(), weighted),
        np.random.default_rng(seed),
    )
    walks = np.full((len(sources), walk.walk_length + 1), NONE, np.uint32)
    lengths, known = np.zeros(len(sources), np.int64), {}
    for instance, source in enumerate(sources):
        walks[instance, 0] = v = int(source)
        prev = -1
        for step in range(walk.walk_length):
            if (v, prev, source) not in known:
                known[v, prev, source] = next_law(view, walk, v, prev, int(source))
            law = known[v, prev, source]
            prev, v = v, int(rng.choice(list(law), p=list(law.values())))
            if v < 0:
                break
            walks[instance, step + 1] = v
            lengths[instance] += 1
    return walks, lengths


def slow_hops(store, sources, fanout, *, replace, weighted=True, seed=0):
    """Neighbor samples in dense ids."""
    neighbor, view, rng = registry.build("neighbor", {}), GraphView(store.load(), weighted), np.random.default_rng(seed)
    hops = [np.asarray(sources, np.uint32)[:, None]]
    for size in fanout:
        children = np.full((hops[-1].size, size), NONE, np.uint32)
        for row, v in enumerate(hops[-1].ravel().tolist()):
            pool = [(dst, bias) for dst, bias in edge_biases(view, neighbor, v) if bias > 0] if v != NONE else []
            if pool:
                chances = np.array([bias for _, bias in pool]) / sum(bias for _, bias in pool)
                count = size if replace else min(size, len(pool))
                chosen = rng.choice(len(pool), count, replace=replace, p=chances)
                children[row, :count] = [pool[i][0] for i in chosen]
        hops.append(children.reshape(len(sources), -1))
    return {f"hop_{k}": hop for k, hop in enumerate(hops)}


def slow_snowball(store, sources, depth):
    """Snowball samples, and the arrays of a group: breadth first from each source."""
    graph = store.load()
    counts, edges = [], []
    for source in sources:
        frontier, seen, before = [int(source)], {int(source)}, len(edges)
        for level in range(depth):
            pairs = [
                (v, int(u))
                for v in frontier
                for u in graph.indices[graph.indptr[v] : graph.indptr[v + 1]]
                if u not in seen
            ]
            edges += [(v, u, level) for v, u in pairs]
            frontier = sorted({u for _, u in pairs})
            seen |= set(frontier)
        counts.append(len(edges) - before)
    src, dst, at = np.array(edges, np.int64).reshape(-1, 3).T
    ones = np.ones(len(sources), np.int64)
    held = np.asarray(sources, np.uint32)
    return {"counts": np.array(counts), "src": src, "dst": dst, "depth": at, "source_counts": ones, "sources": held}


def write(
    path, said, layout, arrays, *, group_size=None, vertex_ids=None, dense_dtype=np.uint32, groups=None, **options
):
    """A finished store of arrays over all instances; only some ``groups`` leave it unfinished."""
    instances = len(arrays["counts"] if layout == "subgraphs" else next(iter(arrays.values())))
    size = group_size or max(instances, 1)
    with SampleWriter(
        path,
        said,
        layout=layout,
        instances=instances,
        group_size=size,
        dense_dtype=dense_dtype,
        vertex_ids=vertex_ids,
        **options,
    ) as writer:
        for group in range(writer.groups) if groups is None else groups:
            if group not in writer.done:
                writer.write(group, part(arrays, group * size, min((group + 1) * size, instances)))
        if groups is None:
            writer.finish({"seconds": 1.5})
    return path


def part(arrays, start, stop):
    """The arrays of instances start to stop."""
    if arrays.get("walks", np.zeros((0, 0))).ndim == 1:
        ends = np.cumsum([0, *(arrays["lengths"] + 1)])
        return {"lengths": arrays["lengths"][start:stop], "walks": arrays["walks"][ends[start] : ends[stop]]}
    if "counts" not in arrays:
        return {name: array[start:stop] for name, array in arrays.items()}
    ends = {"counts": np.cumsum([0, *arrays["counts"]]), "source_counts": np.cumsum([0, *arrays["source_counts"]])}
    out = {name: arrays[name][start:stop] for name in ends}
    for name in ("src", "dst", "depth", "sources"):
        bounds = ends["source_counts" if name == "sources" else "counts"]
        out[name] = arrays[name][bounds[start] : bounds[stop]]
    return out
