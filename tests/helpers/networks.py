"""The same graph as networks that must give the same answers: with one thread and with several, in memory, in blocks of single rows and of some."""

import numpy as np

from csaw.engine.cpu.network import STATE_BYTES, HostNetwork
from helpers.graphs import TROUBLED, WideStore, random_store, store_of


def least(store):
    """Bytes for the longest row in any direction, twice."""
    graph = store.load()
    longest = store.max_degree + (int(np.bincount(graph.indices).max()) if store.directed and store.edges else 0)
    return STATE_BYTES * store.vertices + 2 * (store.id_dtype.itemsize + 4 * store.weighted) * max(longest, 1)


def networks(store, folder):
    """Resident networks and networks in blocks. Close each when done."""
    for memory, threads in ((None, 1), (None, 4), (least(store), 3), (least(store) + 9000, 2)):
        yield HostNetwork(store, memory=memory, threads=threads, derived=folder)


SHAPES = {  # edges and number of vertices
    "one vertex": ([], 1),
    "no edges": ([], 70),
    "a loop": ([(2, 2)], 5),
    "a path": ([(v, v + 1) for v in range(150)], 151),
    "a path backward": ([(v + 1, v) for v in range(150)], 151),
    "a cycle": ([(v, (v + 1) % 130) for v in range(130)], 130),
    "a star": ([(7, v) for v in range(200) if v != 7], 203),
    "a clique": ([(u, v) for u in range(20) for v in range(20) if u != v], 20),
    "repeats": ([(0, 1)] * 5 + [(1, 2)] * 3 + [(2, 2)] * 2, 4),
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
        made = random_store(folder / f"r{seed}.zarr", seed=seed, vertices=vertices, edges=edges, directed=directed,
                            partitions=partitions, weighted=weighted)  # fmt: skip
        yield made
    yield WideStore(made)
