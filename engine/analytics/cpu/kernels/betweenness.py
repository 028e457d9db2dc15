"""Numbers of shortest paths and their dependencies, level by level. Twin: engine/analytics/cuda/kernels/betweenness.cu.

Brandes, Journal of Mathematical Sociology 25(2), 2001. Every vertex sums over its own row, so no two threads write the
same place. A row is summed in the order of lanes.py, so that sums have the same bits on a GPU.
"""

import numpy as np

from csaw.engine.analytics.cpu.kernels.lanes import LANES, row_sum
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import copied, zeros


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


@njit(nogil=True)
def count_ways(low, high, order, first, indptr, indices, ways, counted):
    """counted[v] of the vertices order[low:high], which are of one level: the sum of ``ways`` of all neighbors.

    Rows are those backward: a neighbor that is reached is at the level before, or its ways are 0 as yet. Returns 0.
    """
    lanes, pieces = zeros(LANES, np.float64), zeros(LANES, np.float64)
    for i in range(low, high):
        v = order[i]
        counted[v] = row_sum(indptr[v - first], indptr[v - first + 1], indices, ways, lanes, pieces)
    return 0


@njit(nogil=True, error_model="numpy")  # a graph that says wrongly that it is undirected has vertices of no path
def depend(low, high, order, first, indptr, indices, passed, ways, total):
    """Add to ``total`` the dependency of the vertices order[low:high], which are of one level. Returns 0.

    It is the number of their paths times the sum of ``passed`` of all neighbors: passed[v] = (1 + dependency of v) /
    ways[v] of those a level farther, and 0 of others as yet. ways[v] becomes what v passes on.
    """
    lanes, pieces = zeros(LANES, np.float64), zeros(LANES, np.float64)
    for i in range(low, high):
        v = order[i]
        dependency = ways[v] * row_sum(indptr[v - first], indptr[v - first + 1], indices, passed, lanes, pieces)
        ways[v] = (1.0 + dependency) / ways[v]
        total[v] += dependency
    return 0


@njit(nogil=True)
def hand_over(low, high, order, held, values):
    """Let ``values`` have what is ``held`` of the vertices order[low:high], of which nothing is held then. Returns 0.

    Of a level as a whole: while it is summed, no neighbor at the same level may be seen.
    """
    for i in range(low, high):
        v = order[i]
        values[v], held[v] = held[v], 0.0
    return 0
