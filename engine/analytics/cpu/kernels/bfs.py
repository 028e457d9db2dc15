"""Breadth-first search that pushes from a small frontier and pulls to a large one. Twin: analytics/cuda/kernels/bfs.cu.

Beamer, Asanovic and Patterson, SC 2012. ``distance`` is int32 [V], -1 where a vertex is not reached. Vertex v is bit v
% 64 of word v / 64 in a bitmap.

Betweenness goes by its levels: numbers of shortest paths and their dependencies. Twin:
analytics/cuda/kernels/betweenness.cu. Brandes, Journal of Mathematical Sociology 25(2), 2001. Every vertex sums over
its own row, so no two threads write the same place. A row is summed in the order of sums.py, so that sums have the same
bits on a GPU.

Distances to and from a vertex tighten the bounds of the eccentricities of all.
Takes and Kosters, Algorithms 6(1), 2013; Borassi et al., Theoretical Computer Science 586, 2015. ``inside`` [V] says
which vertices count; each of them reaches all others. Sums of distances only break ties, so they may overflow.
"""

import numpy as np
from numba import int32, uint64

from csaw.engine.analytics.cpu.kernels.atomics import exchange_if, fetch_add
from csaw.engine.analytics.cpu.kernels.sums import LANES, row_sum
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import copied, copy, empty, zeros

AHEAD = uint64(16)  # vertices whose rows are asked for before they are looked at
HELD = 1024  # vertices that a thread finds before it takes room in the common queue for them


@njit(nogil=True)
def push(low, high, indptr, indices, queue, following, filled, distance, level):
    """Reach neighbors of the vertices queue[low:high] at ``level``; returns the entries of the rows of those reached.

    They are written to ``following``, of which ``filled[0]`` is in use.
    """
    held, count, entries = empty(HELD, queue.dtype), 0, 0
    for i in range(low, high):
        v = queue[i]
        for j in range(indptr[v], indptr[v + 1]):
            u = indices[j]
            if distance[u] < 0 and exchange_if(distance, u, int32(-1), int32(level)) < 0:
                entries += indptr[u + 1] - indptr[u]
                held[count] = u
                count += 1
                if count == HELD:
                    count = _pour(held, count, following, filled)
    _pour(held, count, following, filled)
    return entries


@inner(nogil=True)
def _pour(held, count, following, filled):
    place = fetch_add(filled, 0, count)
    copy(held[:count], following[place:])
    return 0


@njit(nogil=True)
def push_alone(indptr, indices, queue, following, filled, distance, level, entries, most):
    """Push level after level with one thread, as long as the frontier's rows have fewer than ``most`` entries.

    The frontier is ``queue[:filled[0]]``, and again at the end. Returns the level reached and the entries of the
    frontier's rows.
    """
    while filled[0] and entries < most:
        size, entries = filled[0], 0
        filled[0] = 0
        level += 1
        for i in range(size):
            v = queue[i]
            for j in range(indptr[v], indptr[v + 1]):
                u = indices[j]
                if distance[u] < 0:
                    distance[u] = level
                    entries += indptr[u + 1] - indptr[u]
                    following[filled[0]] = u
                    filled[0] += 1
        copy(following[: filled[0]], queue)
    return level, entries


@njit(nogil=True)
def mark(low, high, queue, bits):
    """Set the bits of the vertices queue[low:high]. Returns 0."""
    for i in range(low, high):
        bits[queue[i] >> 6] |= uint64(1) << uint64(queue[i] & 63)


@njit(nogil=True)
def pull(low, high, indptr, indices, front, following, distance, level):
    """Reach at ``level`` the vertices of low .. high - 1 with a neighbor in the bitmap ``front``.

    Their bits are set in ``following``. low is a multiple of 64. Returns how many there are.
    """
    reached = 0
    for word in range(uint64(low) >> uint64(6), (uint64(high) + uint64(63)) >> uint64(6)):
        begin, found = word << uint64(6), uint64(0)
        for v in range(begin, min(begin + uint64(64), uint64(high))):
            if distance[v] < 0:
                prefetch(indices, uint64(indptr[min(v + AHEAD, uint64(high))]))
                for j in range(uint64(indptr[v]), uint64(indptr[v + uint64(1)])):
                    u = uint64(indices[j])
                    if front[u >> uint64(6)] >> (u & uint64(63)) & uint64(1):
                        distance[v] = level
                        found |= uint64(1) << (v & uint64(63))
                        reached += 1
                        break
        following[word] = found
    return reached


@njit(nogil=True)
def collect(low, high, indptr, bits, queue, filled):
    """Write the vertices of low .. high - 1 whose bits are set to ``queue``. low is a multiple of 64.

    Returns entries of their rows.
    """
    held, count, entries = empty(HELD, queue.dtype), 0, 0
    for first in range(low, high, 64):
        word = bits[first >> 6]
        for v in range(first, min(first + 64, high) if word else first):
            if word >> uint64(v & 63) & uint64(1):
                entries += indptr[v + 1] - indptr[v]
                held[count] = v
                count += 1
                if count == HELD:
                    count = _pour(held, count, queue, filled)
    _pour(held, count, queue, filled)
    return entries


@njit(nogil=True)
def push_rows(low, high, first, indptr, indices, distance, level, reached):
    """Reach neighbors of the vertices of low .. high - 1 that were reached at the level before.

    Sets ``reached[u / 4096]`` (uint8) of each. Threads that reach a vertex at the same time write the same. Returns how
    many there may be.
    """
    found = 0
    for v in range(low, high):
        if distance[v] == level - 1:
            for j in range(indptr[v - first], indptr[v - first + 1]):
                u = indices[j]
                if distance[u] < 0:
                    distance[u] = level
                    reached[u >> 12] = 1
                    found += 1
    return found


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


@njit(nogil=True)
def farthest(low, high, inside, distance):
    """Find the largest distance of a vertex of low .. high - 1, -1 where none counts.

    Returns it, the first vertex that has it, and the sum of all distances.
    """
    most, vertex, total = np.int64(-1), np.int64(-1), np.int64(0)
    for v in range(low, high):
        if inside[v]:
            total += distance[v]
            if distance[v] > most:
                most, vertex = np.int64(distance[v]), np.int64(v)
    return most, vertex, total


@njit(nogil=True)
def tighten(low, high, inside, to, away, eccentricity, lower, upper, total):
    """Tighten the bounds of vertices by a vertex of this eccentricity. Returns 0.

    It is at the distance ``to[v]`` from v, and v is at the distance ``away[v]`` from it.
    """
    for v in range(low, high):
        if inside[v]:
            lower[v] = max(lower[v], to[v], eccentricity - away[v])
            upper[v] = min(upper[v], to[v] + eccentricity)
            total[v] += to[v]
    return 0


@njit(nogil=True)
def likeliest(low, high, inside, bound, total, sign, limit, root, near):
    """Find the vertex of the largest ``sign * bound`` among those of which it is above ``limit``.

    Only vertices v with ``2 * root[v] > near`` are candidates; of several the one with the largest ``sign * total``.

    Returns:
        How many vertices are above the limit, how many of them are candidates, and of the best one its bound, its
        total, both times ``sign``, and its number; -1 if there is none.
    """
    above, count, most, sums, vertex = 0, 0, np.int64(limit), np.int64(0), np.int64(-1)
    for v in range(low, high):
        if inside[v] and sign * bound[v] > limit:
            above += 1
            if 2 * np.int64(root[v]) > near:
                count += 1
                value, of_value = np.int64(sign * bound[v]), np.int64(sign * total[v])
                if vertex < 0 or value > most or (value == most and of_value > sums):
                    most, sums, vertex = value, of_value, np.int64(v)
    return above, count, most, sums, vertex
