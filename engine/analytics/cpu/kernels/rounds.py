"""Rounds of a custom measure, with its hooks compiled in.

A round is by definition: each vertex v combines what ``edge`` gives for the entries that lead to it, and gets what
``vertex`` makes of its value and that. All of them see the values before the round. Where nothing comes, ``combined``
is ``nothing``, and a vertex whose value is that passes nothing along. Floats of a row of the other direction are added
in the order of lanes.py; other sums, and the best of some values, are the same in any order. Of two zeros, hooks give
the positive one.

    pull        does that for the vertices of a range; ``active``: those whose value could change; ``sent``: what a
                vertex passes along each of its edges, where that depends on itself alone

    values      int64 or float64 [V], before the round; following: the same after it
    faults      the largest vertex at which a hook gave NaN, or -1, is what the kernels return last

rounds_best.py has the rounds of measures that keep the best of all that came. Constants and hooks stand in place of
those here for each measure, by engine/cpu/specialize.py.
"""

import math

import numpy as np
from numba import float64, int64, uint64

from csaw.engine.analytics.cpu.kernels.lanes import LANES, PIECE, emptied, ordered_sum
from csaw.engine.analytics.cpu.kernels.sssp import INFINITE
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
    """Write what the vertices of each chunk low .. high - 1 add to the total to ``sums``; floats as of lanes.py."""
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
    """Write the sum of the changes of the vertices of each chunk low .. high - 1 to ``sums``, as of lanes.py."""
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
