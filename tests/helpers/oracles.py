"""Plain answers about graphs of a few hundred vertices, from lists of neighbors: slow, obvious, and nothing of the
engine.
"""

from collections import deque


def rows_in(store):
    """Lists of neighbors."""
    graph = store.load()
    return [graph.indices[a:b].tolist() for a, b in zip(graph.indptr, graph.indptr[1:], strict=False)]


def reversed_rows(rows):
    """Lists of those that edges come from."""
    out = [[] for _ in rows]
    for v, row in enumerate(rows):
        for u in row:
            out[u].append(v)
    return out


def distances(rows, source):
    """Edges on a shortest path from the source to each vertex; -1 where there is none."""
    found, queue = [-1] * len(rows), deque([source])
    found[source] = 0
    while queue:
        v = queue.popleft()
        for u in rows[v]:
            if found[u] < 0:
                found[u] = found[v] + 1
                queue.append(u)
    return found


def weak(rows):
    """The smallest vertex of each vertex's component, edges taken in both directions."""
    both = [row + back for row, back in zip(rows, reversed_rows(rows), strict=True)]
    found = [-1] * len(rows)
    for v in range(len(rows)):
        if found[v] < 0:
            for u, far in enumerate(distances(both, v)):
                if far >= 0:
                    found[u] = v
    return found


def strong(rows):
    """The smallest vertex that each vertex reaches and is reached from."""
    reach = [{u for u, far in enumerate(distances(rows, v)) if far >= 0} for v in range(len(rows))]
    return [min(u for u in reach[v] if v in reach[u]) for v in range(len(rows))]
