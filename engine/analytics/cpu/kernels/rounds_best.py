"""Rounds of a custom measure that keeps the best of all values that arrive, which is the same in any order.

push_rows   a round over the rows of vertices that changed, by threads that meet at their ends
pull_best   the same over rows of the other direction, where nothing better than ``bound`` can come: a row is left
            as soon as that is reached, as in a search that pulls
push_few    the same as push_rows with one thread, from a queue, round after round while there is little to do

values      as in rounds.py; following: the same with what has come in this round, which ``settle`` takes over
"""

import math

from numba import int64, uint64

from csaw.engine.analytics.cpu.kernels.atomics import fetch_least, fetch_most, fetch_or
from csaw.engine.analytics.cpu.kernels.rounds import (
    COMBINE,
    COMBINED_REAL,
    as_combined,
    as_value,
    edge,
    joined,
    passes,
    weight_at,
)
from csaw.partition.base.compile import inner, njit

EVERY = False  # whether values go along as they are: those of inactive vertices, which came before, change nothing


@njit(nogil=True)
def passed_along(params, vertices, value):
    """The value that goes along any edge of a vertex of this value, if nothing else decides it."""
    return as_value(as_combined(edge(params, 0, vertices, 0.0, 0, 0, 0, 0, value, value, 1.0)))


@inner
def is_better(new, old):
    """Whether a value that came changes the one that a vertex has."""
    if COMBINE == "min":
        return new < old
    if COMBINE == "max":
        return new > old
    return new | old != old


@inner
def improve(following, u, new):
    """Combine the value of vertex u with ``new``, while other threads do."""
    if COMBINE == "min":
        fetch_least(following, u, new)
    elif COMBINE == "max":
        fetch_most(following, u, new)
    else:
        fetch_or(following, u, new)


@njit(nogil=True)
def push_rows(
    low, high, first, indptr, indices, weights, params, number, total, degrees, active, values, following, reached
):
    """Pass the values of the active vertices of low .. high - 1 along their rows; returns a fault.

    Sets ``reached`` of the ends that this improves. Threads that reach one at the same time write the same.
    """
    fault, vertices = int64(-1), values.size
    for v in range(low, high):
        if not active[v] or not passes(values[v]):
            continue
        value = values[v]
        for i in range(uint64(indptr[v - first]), uint64(indptr[v - first + 1])):
            u = uint64(indices[i])
            came = edge(
                params,
                number,
                vertices,
                total,
                v,
                int64(u),
                degrees[v],
                degrees[u],
                value,
                value,
                weight_at(weights, i),
            )
            new = as_combined(came)
            if is_better(new, following[u]):
                improve(following, int64(u), new)
                reached[u] = 1
            elif COMBINED_REAL and math.isnan(came):
                fault = int64(v)
    return fault


@njit(nogil=True)
def pull_best(low, high, first, indptr, indices, params, bound, degrees, active, values, following, reached):
    """Improve the vertices low .. high - 1 by what the active ones in their rows pass along, ``bound`` at best.

    Sets ``reached`` of those that this improves. Returns 0.
    """
    vertices = values.size
    for v in range(low, high):
        here = values[v]
        if not is_better(bound, here):
            continue
        for i in range(uint64(indptr[v - first]), uint64(indptr[v - first + 1])):
            u = uint64(indices[i])
            if EVERY or active[u]:
                value = values[u]
                here = joined(here, as_combined(edge(params, 0, vertices, 0.0, int64(u), v, 0, 0, value, value, 1.0)))
                if not is_better(bound, here):
                    break
        if here != values[v]:
            following[v] = here
            reached[v] = 1
    return 0


@njit(nogil=True)
def settle(low, high, reached, degrees, values, following):
    """Let the vertices low .. high - 1 that were reached have their new values.

    Returns how many there are, the entries of their rows, and the least and the largest of their values.
    """
    count, entries, least, most = 0, int64(0), following[low], following[low]
    for v in range(low, high):
        if reached[v]:
            value = following[v]
            least, most = (min(least, value), max(most, value)) if count else (value, value)
            values[v] = value
            count += 1
            entries += degrees[v]
    return count, entries, least, most


@njit(nogil=True)
def push_few(
    indptr, indices, weights, params, number, total, degrees, values, following, reached, queue, room, size, most, last
):
    """Push from the vertices queue[:size], round after round, until their rows have ``most`` entries or no end changes.

    ``queue`` has those that changed in the last round. No round after ``last`` is begun. Returns the number of the last
    round, the size of the queue, the entries of its rows, and a fault.
    """
    fault, entries, vertices = int64(-1), int64(0), values.size
    while size and entries < most and number < last and fault < 0:
        number += 1
        found = 0
        for k in range(size):
            v = int64(queue[k])
            value = values[v]
            if not passes(value):
                continue
            for i in range(uint64(indptr[v]), uint64(indptr[v + 1])):
                u = uint64(indices[i])
                weight = weight_at(weights, i)
                came = edge(params, number, vertices, total, v, int64(u), degrees[v], degrees[u], value, value, weight)
                new = as_combined(came)
                if is_better(new, following[u]):
                    following[u] = joined(following[u], new)
                    if not reached[u]:
                        reached[u] = 1
                        room[found] = u
                        found += 1
                elif COMBINED_REAL and math.isnan(came):
                    fault = v
        entries = int64(0)
        for k in range(found):
            u = room[k]
            queue[k] = u
            reached[u] = 0
            values[u] = following[u]
            entries += degrees[u]
        size = found
    return number, size, entries, fault
