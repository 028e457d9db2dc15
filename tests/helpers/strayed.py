"""node2vec walks of which a share of the steps goes to a uniform other neighbor: all walkers at once, by rejection in
NumPy.
"""

import numpy as np


def strayed_walks(store, sources, length, p, q, share, seed, hub=None):
    """Walks in dense ids, every step of the law but for that ``share`` of them; they go on from where they strayed to.

    Steps stray to a uniform other neighbor or, with ``hub``, back to the previous vertex, from vertices of that degree
    or a higher one alone. The graph is unweighted and has no dead end, no repeated edge.
    """
    graph, rng = store.load(), np.random.default_rng(seed)
    degree = np.diff(graph.indptr)
    edges = np.repeat(np.arange(degree.size), degree) * degree.size + graph.indices.astype(np.int64)
    walks = np.empty((len(sources), length + 1), np.int64)
    walks[:, 0] = sources
    for step in range(length):
        here, prev = walks[:, step], walks[:, step - 1] if step else np.full(len(sources), -1)
        edge = np.full(len(sources), -1)
        while (waiting := np.flatnonzero(edge < 0)).size:
            tried = (rng.random(waiting.size) * degree[here[waiting]]).astype(int)
            to, before = graph.indices[graph.indptr[here[waiting]] + tried].astype(np.int64), prev[waiting]
            bias = np.where(is_in(edges, before * degree.size + to) | (before < 0), 1.0, 1.0 / q)
            bias[to == before] = 1.0 / p
            accepted = rng.random(waiting.size) * max(1.0, 1.0 / p, 1.0 / q) < bias
            edge[waiting[accepted]] = tried[accepted]
        strays = np.flatnonzero((rng.random(len(sources)) < share) & (degree[here] > 1))
        moved = 1 + (rng.random(strays.size) * (degree[here[strays]] - 1)).astype(int)
        if hub is None:
            edge[strays] = (edge[strays] + moved) % degree[here[strays]]
        walks[:, step + 1] = graph.indices[graph.indptr[here] + edge]
        if hub is not None and step > 0:
            back = strays[degree[here[strays]] >= hub]
            walks[back, step + 1] = prev[back]
    return walks.astype(np.uint32), np.full(len(sources), length)


def is_in(table, wanted):
    """Whether each wanted number is in an ascending table."""
    at = np.minimum(np.searchsorted(table, wanted), table.size - 1)
    return table[at] == wanted


def circles(vertices=2000, circle=60, seed=0):
    """Edges of a graph of friends: circles in which half of all know each other, a few that many know, and a ring
    through all.
    """
    rng = np.random.default_rng(seed)
    a, b = np.triu_indices(circle, 1)
    edges = {(int(v), (int(v) + 1) % vertices) for v in range(vertices - 1)}
    for base in range(0, vertices, circle):
        known = rng.random(a.size) < 0.5
        edges |= set(zip((a[known] + base).tolist(), (b[known] + base).tolist(), strict=True))
    for hub in range(0, vertices, vertices // 5):
        edges |= {(min(hub, v), max(hub, v)) for v in rng.integers(0, vertices, 500).tolist() if v != hub}
    return [(u, v, 1) for u, v in sorted(edges)]
