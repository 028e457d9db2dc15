"""Rounds of a custom measure, with its hooks compiled in.

A round is by definition: each vertex v combines what ``edge`` gives for the entries that lead to it, and gets what
``vertex`` makes of its value and that. All of them see the values before the round. Where nothing comes, ``combined``
is ``nothing``, and a vertex whose value is that passes nothing along. Floats of a row of the other direction are added
in the order of sums.py; other sums, and the best of some values, are the same in any order. Of two zeros, hooks give
the positive one.

    pull        does that for the vertices of a range; ``active``: those whose value could change; ``sent``: what a
                vertex passes along each of its edges, where that depends on itself alone

    values      int64 or float64 [V], before the round; following: the same after it
    faults      the largest vertex at which a hook gave NaN, or -1, is what the kernels return last

A measure that keeps the best of all values that arrive, which is the same in any order, has these:

push_rows   a round over the rows of vertices that changed, by threads that meet at their ends
pull_best   the same over rows of the other direction, where nothing better than ``bound`` can come: a row is left
            as soon as that is reached, as in a search that pulls
push_few    the same as push_rows with one thread, from a queue, round after round while there is little to do

following   of these: the values with what has come in this round, which ``settle`` takes over

Constants and hooks stand in place of those here for each measure, by engine/cpu/specialize.py.
"""

import math

import numpy as np
from numba import float64, int64, uint64

from csaw.engine.analytics.cpu.kernels.atomics import fetch_least, fetch_most, fetch_or
from csaw.engine.analytics.cpu.kernels.sssp import INFINITE
from csaw.engine.analytics.cpu.kernels.sums import LANES, PIECE, emptied, ordered_sum
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, zeros

COMBINE = "min"
REAL = False  # whether values are floats
COMBINED_REAL = False  # whether what is combined is
WEIGHTED = False  # whether the rows that are read have weights
SOME = False  # whether only active vertices are pulled to
SENT = False  # whether what a vertex passes along depends on itself alone
ORDERED = False  # whether floats are summed
TOTAL_REAL = False  # whether the total is a float
LARGEST = 0x7FFFFFFFFFFFFFFF


@inner
def start(params, number, vertices, total, src, dst, src_degree, dst_degree, value, other, weight):
    """The value that a vertex begins with."""
    return src


@inner
def edge(params, number, vertices, total, src, dst, src_degree, dst_degree, value, other, weight):
    """The value that goes along an edge."""
    return value


@inner
def vertex(params, number, vertices, total, src, dst, src_degree, dst_degree, value, other, weight):
    """The value of a vertex after a round."""
    return joined(value, other)


@inner
def total(params, number, vertices, total, src, dst, src_degree, dst_degree, value, other, weight):
    """The amount that a vertex adds to the total of a round."""
    return 0.0


@inner
def joined(one, other):
    """Two values that came, combined."""
    if COMBINE == "min":
        return min(one, other)
    if COMBINE == "max":
        return max(one, other)
    if COMBINE == "or":
        return one | other
    return one + other


@inner
def none_combined():
    """The combination of no values."""
    if COMBINE == "sum" or COMBINE == "or":
        return float64(0.0) if COMBINED_REAL else int64(0)
    if COMBINE == "min":
        return INFINITE if COMBINED_REAL else int64(LARGEST)
    return -INFINITE if COMBINED_REAL else int64(-LARGEST)


@inner
def passes(value):
    """Whether a vertex of this value passes anything along its edges."""
    if COMBINE == "sum":
        return True
    if COMBINE == "or":
        return value != 0
    if COMBINE == "min":
        return value != (INFINITE if REAL else int64(LARGEST))
    return value != (-INFINITE if REAL else int64(-LARGEST))


@inner
def as_combined(value):
    """A number of ``edge`` in the type of what is combined; of the two zeros of floats, the positive one."""
    return float64(value) + 0.0 if COMBINED_REAL else int64(value)


@inner
def as_value(value):
    """A number in the type of values; of the two zeros of floats, the positive one."""
    return float64(value) + 0.0 if REAL else int64(value)


@inner
def weight_at(weights, place):
    """The weight of an entry."""
    return float64(weights[place]) if WEIGHTED else 1.0


@njit(nogil=True)
def begin(low, high, params, vertices, degrees, values, active):
    """Give the vertices low .. high - 1 the values that they start with, and mark those that pass something along.

    Returns one whose value is NaN, or -1.
    """
    fault = int64(-1)
    for v in range(low, high):
        found = as_value(start(params, 0, vertices, 0.0, v, v, degrees[v], degrees[v], 0, 0, 1.0))
        values[v] = found
        active[v] = passes(found)
        if REAL and math.isnan(found):
            fault = int64(v)
    return fault


@njit(nogil=True)
def send(low, high, params, number, total, degrees, values, sent):
    """Write what each vertex of low .. high - 1 passes along its edges; returns a fault."""
    fault, vertices = int64(-1), values.size
    for v in range(low, high):
        value, sent[v] = values[v], none_combined()
        if degrees[v] and passes(value):
            came = edge(params, number, vertices, total, v, v, degrees[v], degrees[v], value, value, 1.0)
            sent[v] = as_combined(came)
            if COMBINED_REAL and math.isnan(came):
                fault = int64(v)
    return fault


@njit(nogil=True)
def add_totals(low, high, chunk, params, number, degrees, values, sums):
    """Write what the vertices of each chunk low .. high - 1 add to the total to ``sums``; floats as of sums.py."""
    vertices, numbers = values.size, empty(chunk, np.float64)
    lanes, pieces = zeros(LANES, np.float64), zeros(LANES, np.float64)
    for place in range(low, high):
        begin, end, found = place * chunk, min(vertices, place * chunk + chunk), int64(0)
        for v in range(begin, end):
            more = total(params, number, vertices, 0.0, v, v, degrees[v], degrees[v], values[v], 0, 1.0)
            if TOTAL_REAL:
                numbers[v - begin] = more
            else:
                found += int64(more)
        sums[place] = ordered_sum(numbers, end - begin, lanes, pieces) if TOTAL_REAL else found


@inner
def distance(one, other):
    """How far two values are apart, as a float: of integers, exact until it is rounded."""
    if REAL:
        return abs(one - other)
    return float64(uint64(max(one, other)) - uint64(min(one, other)))


@njit(nogil=True)
def add_changes(low, high, chunk, values, following, sums):
    """Write the sum of the changes of the vertices of each chunk low .. high - 1 to ``sums``, as of sums.py."""
    numbers, lanes, pieces = empty(chunk, np.float64), zeros(LANES, np.float64), zeros(LANES, np.float64)
    for place in range(low, high):
        begin, end = place * chunk, min(values.size, place * chunk + chunk)
        for v in range(begin, end):
            numbers[v - begin] = distance(values[v], following[v]) if values[v] != following[v] else 0.0
        sums[place] = ordered_sum(numbers, end - begin, lanes, pieces)


@njit(nogil=True)
def pull(
    low, high, first, indptr, indices, weights, params, number, total, degrees, sent, active, values, following, changed
):
    """Do a round for the vertices low .. high - 1, whose rows hold the vertices that edges come from.

    Returns how many changed, the entries of their rows, a fault of ``edge`` and one of ``vertex``.
    """
    count, entries, of_edge, of_vertex, vertices = 0, int64(0), int64(-1), int64(-1), values.size
    lanes, pieces = zeros(LANES, np.float64), zeros(LANES, np.float64)
    for v in range(low, high):
        if SOME and not active[v]:
            following[v] = values[v]
            changed[v] = 0
            continue
        here, of_v, combined = values[v], degrees[v], none_combined()
        begin, end, piece = int64(indptr[v - first]), int64(indptr[v - first + 1]), 0
        is_long = end - begin > PIECE
        while begin < end:
            stop = min(begin + PIECE, end) if ORDERED else end
            for i in range(uint64(begin), uint64(stop)):
                u, more = uint64(indices[i]), none_combined()
                if SENT:
                    more = sent[u]
                elif passes(values[u]):
                    weight = weight_at(weights, i)
                    came = edge(params, number, vertices, total, int64(u), v, degrees[u], of_v, values[u], here, weight)
                    more = as_combined(came)
                    if COMBINED_REAL and math.isnan(came):
                        of_edge = max(of_edge, int64(u))
                if ORDERED:
                    lanes[(i - uint64(begin)) & uint64(LANES - 1)] += more
                else:
                    combined = joined(combined, more)
            if ORDERED:
                combined = emptied(lanes, stop - begin)
                pieces[piece % LANES] += combined if is_long else 0.0
            begin, piece = stop, piece + 1
        if ORDERED and is_long:
            combined = emptied(pieces, LANES)
        found = as_value(vertex(params, number, vertices, total, v, v, of_v, of_v, here, combined, 1.0))
        if REAL and math.isnan(found):
            of_vertex = int64(v)
        following[v], changed[v] = found, found != here
        if found != here:
            count += 1
            entries += of_v
    return count, entries, of_edge, of_vertex


@njit(nogil=True)
def mark(low, high, first, indptr, indices, changed, active):
    """Mark the vertices low .. high - 1 that changed, and the ends of their edges, as those that could change next."""
    for v in range(low, high):
        if changed[v]:
            active[v] = 1
            for i in range(uint64(indptr[v - first]), uint64(indptr[v - first + 1])):
                active[indices[i]] = 1


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
