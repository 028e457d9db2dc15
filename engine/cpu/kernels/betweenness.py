"""Numbers of shortest ways and what depends on them, level by level (Brandes, Journal of Mathematical Sociology 25(2), 2001). Twin: engine/cuda/kernels/betweenness.cu.

Every vertex sums over its own row, so no two threads write the same place. The sum of a row is that of 32 lanes, entry i in lane i % 32 in their order, which are
then added in halves: what a warp of a GPU does, so that sums have the same bits there.
"""

import numpy as np

from csaw.partition.compile import inner, njit

LANES = 32


@njit(nogil=True)
def by_level(distance, order, begins):
    """Write the vertices that were reached to ``order``, by distance and then by number; level h begins at begins[h]. begins [levels + 1] is 0 before."""
    for far in distance:
        if far >= 0:
            begins[far + 1] += 1
    for level in range(1, begins.size):
        begins[level] += begins[level - 1]
    at = begins.copy()
    for v in range(distance.size):
        if distance[v] >= 0:
            order[at[distance[v]]] = v
            at[distance[v]] += 1


@inner(nogil=True)
def _row_sum(begin, end, indices, distance, level, values, lanes):
    """The sum of ``values`` over the neighbors of a row that are at ``level``."""
    width = min(end - begin, LANES)
    lanes[:] = 0.0
    for i in range(begin, end):
        u = indices[i]
        if distance[u] == level:
            lanes[(i - begin) % LANES] += values[u]
    half = LANES
    while half > 1:
        half //= 2
        for lane in range(min(half, width)):
            lanes[lane] += lanes[lane + half]
    return lanes[0]


@njit(nogil=True)
def count_ways(low, high, order, first, indptr, indices, distance, level, ways):
    """ways[v] of the vertices order[low:high] at ``level``: the sum of those of neighbors a level nearer. Rows are those backward. Returns 0."""
    lanes = np.empty(LANES)
    for i in range(low, high):
        v = order[i]
        ways[v] = _row_sum(indptr[v - first], indptr[v - first + 1], indices, distance, level - 1, ways, lanes)
    return 0


@njit(nogil=True)
def depend(low, high, order, first, indptr, indices, distance, level, ways, passed, total):
    """Add to ``total`` what depends on the vertices order[low:high] at ``level``: the number of their ways times the sum of what neighbors a level farther pass back.

    passed[v] = (1 + dependency of v) / ways[v]. The source, at level 0, gets nothing. Returns 0.
    """
    lanes = np.empty(LANES)
    for i in range(low, high):
        v = order[i]
        dependency = ways[v] * _row_sum(
            indptr[v - first], indptr[v - first + 1], indices, distance, level + 1, passed, lanes
        )
        passed[v] = (1.0 + dependency) / ways[v]
        if level:
            total[v] += dependency
    return 0
