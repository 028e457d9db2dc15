"""Small graphs with vertices of every kind that the kernels for triangles tell apart."""

import numpy as np

from csaw.engine.analytics.cuda import oriented, triangle_counts, triangles, triangles_spread
from helpers.graphs import WideStore, store_of


def leaves_store(path):
    """A few vertices with many triangles, their leaves and pairs, with any ids; all behind these are isolated."""
    rng = np.random.default_rng(4)
    core = {(min(u, v), max(u, v)) for u, v in rng.integers(0, 400, (6000, 2)).tolist() if u != v}
    leaves = [(u, v) for v, u in enumerate((400 * rng.random(3000) ** 3).astype(int).tolist(), 400)]
    pairs = [(v, v + 1) for v in range(3400, 4000, 2)]
    ids = rng.permutation(4000)
    edges = [(ids[u], ids[v], 1) for u, v in (*sorted(core), *leaves, *pairs)]
    return store_of(path, edges, directed=False, vertices=9000, partitions=3, weighted=False)


def pairs_store(path):
    """No vertex has two neighbors."""
    return store_of(path, [(v, 2999 - v, 1) for v in range(1400)], directed=False, vertices=3000, weighted=False)


FEW_RANKED = {
    "one edge": lambda path: store_of(path, [(1, 3, 1)], directed=False, vertices=5),
    "one edge twice": lambda path: store_of(path, [(1, 3, 1), (3, 1, 1)], directed=True, vertices=5),
    "pairs": pairs_store,
    "wide pairs": lambda path: WideStore(pairs_store(path)),
    "leaves": leaves_store,
    "wide leaves": lambda path: WideStore(leaves_store(path)),
}
"""Graphs with vertices that are in no triangle, since they have fewer than two neighbors."""

# hubs; neighbors of a vertex that is worth a bitmap, and of one whose row a block splits; dense parts
KINDS_OF_VERTICES = [
    (0, 8, 64, {}),
    (100, 8, 64, {512: 8}),
    (100, 2**40, 16, {}),
    (3000, 48, oriented.LONG, {512: 3, 1024: 6}),
    (0xFFFF, 48, oriented.LONG, {512: 64, 1024: 200}),
]


def limit_kinds(monkeypatch, hubs, many, long, dense):
    """Let few vertices be hubs, and so on; and dense parts have as much memory as they ask for."""
    for module, name, value in (
        (oriented, "HUBS", hubs),
        (oriented, "LONG", long),
        (triangle_counts, "HUBS", hubs),
        (triangle_counts, "MANY", many),
        (triangle_counts, "DENSE", dense),
        (triangle_counts, "DENSE_EDGES", 1e-3),
        (triangles, "DENSE_SHARE", 1e-3),
        (triangles_spread, "DENSE_SHARE", 1e-3),
    ):
        monkeypatch.setattr(module, name, value)
