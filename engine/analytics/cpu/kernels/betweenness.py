"""Numbers of shortest paths and their dependencies, level by level. Twin: cuda/kernels/betweenness.cu.

Brandes, Journal of Mathematical Sociology 25(2), 2001. Every vertex sums over its own row, so no two threads write the
same place. A row is summed in the order of lanes.py, so that sums have the same bits on a GPU.
"""

import numpy as np

from csaw.engine.analytics.cpu.kernels.lanes import LANES, PIECE, added
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_arrays import copied, empty


@njit(nogil=True)
def by_level(distance, order, begins):
    """Write the vertices that were reached to ``order``, by distance and then by number.

    Level h begins at begins[h]; begins [levels + 1] is 0 before.
    """
    for far in distance:
        if far >= 0:
            begins[far + 1] += 1
    for level in range(1, begins.size):
        begins[level] += begins[level - 1]
    at = copied(begins)
    for v in range(distance.size):
        if distance[v] >= 0:
            order[at[distance[v]]] = v
            at[distance[v]] += 1


@inner(nogil=True)
def _row_sum(begin, end, indices, distance, level, values, lanes, pieces):
    """The sum of ``values`` over the neighbors of a row that are at ``level``.

    ``lanes``, ``pieces`` [LANES]: scratch.
    """
    several, sum_of_piece = end - begin > PIECE, 0.0
    if several:
        pieces[:] = 0.0
    for piece in range((end - begin + PIECE - 1) // PIECE):
        low = begin + piece * PIECE
        high = min(low + PIECE, end)
        lanes[:] = 0.0
        for i in range(low, high):
            u = indices[i]
            if distance[u] == level:
                lanes[(i - low) % LANES] += values[u]
        sum_of_piece = added(lanes, min(high - low, LANES))
        if several:
            pieces[piece % LANES] += sum_of_piece
    return added(pieces, LANES) if several else sum_of_piece


@njit(nogil=True)
def count_ways(low, high, order, first, indptr, indices, distance, level, ways):
    """ways[v] of the vertices order[low:high] at ``level``: the sum of those of neighbors a level nearer.

    Rows are those backward. Returns 0.
    """
    lanes, pieces = empty(LANES, np.float64), empty(LANES, np.float64)
    for i in range(low, high):
        v = order[i]
        ways[v] = _row_sum(indptr[v - first], indptr[v - first + 1], indices, distance, level - 1, ways, lanes, pieces)
    return 0


@njit(nogil=True, error_model="numpy")  # a graph that says wrongly that it is undirected has vertices of no path
def depend(low, high, order, first, indptr, indices, distance, level, ways, passed, total):
    """Add to ``total`` the dependency of the vertices order[low:high] at ``level``. Returns 0.

    It is the number of their paths times the sum of ``passed`` of neighbors a level farther, where passed[v] = (1 +
    dependency of v) / ways[v]. The source, at level 0, gets nothing.
    """
    lanes, pieces = empty(LANES, np.float64), empty(LANES, np.float64)
    for i in range(low, high):
        v = order[i]
        dependency = ways[v] * _row_sum(
            indptr[v - first], indptr[v - first + 1], indices, distance, level + 1, passed, lanes, pieces
        )
        passed[v] = (1.0 + dependency) / ways[v]
        if level:
            total[v] += dependency
    return 0
