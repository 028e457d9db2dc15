"""Breadth-first search that pushes from a small frontier and pulls to a large one. Twin: analytics/cuda/kernels/bfs.cu.

Beamer, Asanovic and Patterson, SC 2012. ``distance`` is int32 [V], -1 where a vertex is not reached. Vertex v is bit v
% 64 of word v / 64 in a bitmap.
"""

from numba import int32, uint64

from csaw.engine.analytics.cpu.kernels.atomics import exchange_if, fetch_add
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import copy, empty

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
