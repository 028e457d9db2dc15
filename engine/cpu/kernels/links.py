"""Negatives of links: vertices that a source has no edge to. The twin of engine/cuda/kernels/links.cu.

Negative j of an instance is drawn at slot j. Its tries propose a vertex of the destination's type, any with the same
chance or by running sums of biases, and the first one that is no neighbor stays: a binary search in the sorted row
tells. After LINK_TRIES of them, or at once where a row has most vertices, the vertex is chosen by its rank among those that
the row leaves free: by a binary search if all have the same chance and no edge is repeated, because row[i] - i vertices
in front of entry i are free, and otherwise along the row. Both ways, each free vertex has its chance in proportion to
its bias, and no loop is without an end.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import borrowed, degree, first_at_least, neighbor_at, row_of
from csaw.engine.cpu.kernels.constants import SIMPLE
from csaw.engine.cpu.kernels.memory import borrow
from csaw.engine.cpu.kernels.select import pick_word
from csaw.engine.draws.random import below_wide
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import place_behind

LINK_TRIES = 32  # of which the last one that fails has a chance of 2^-32 where half of all vertices are neighbors


@njit(nogil=True)
def draw_negatives(entries, graph, seed, first, source, place, bounds, upto, self_too, links, negatives):
    """Fill the rows ``entries`` of ``negatives``, with -1 where a source has an edge to all vertices that are possible.

    ``source``: int64 [n]. ``place``: int64 [n], where the edge of a link is in the row of its source, whose neighbor
    becomes its destination; -1 for a link with a destination. ``bounds``: int64, where the vertices of each type begin,
    and the end of the last. ``upto``: int64 [V + 1], the biases of all vertices below one; empty if all are the same.
    """
    graph, links, negatives, upto = borrowed(graph), borrow(links), borrow(negatives), borrow(upto)
    for i in entries:
        u = source[i]
        begin = row_of(graph, u)
        end = begin + degree(graph, u)
        if place[i] >= 0:
            links[i, 1] = neighbor_at(graph, begin + place[i])
        low, high = span_of_type(bounds, int64(links[i, 1]))
        without = int64(-1) if self_too or u < low or u >= high else int64(u)
        for j in range(negatives.shape[1]):
            negatives[i, j] = non_neighbor(
                graph, seed, uint64(first + i), uint64(j), begin, end, low, high, without, upto
            )


@inner
def span_of_type(bounds, v):
    """The first vertex of the type of v, and the one behind its last."""
    number = 0
    while v >= bounds[number + 1]:
        number += 1
    return bounds[number], bounds[number + 1]


@inner
def units_below(v, upto):
    """The biases of all vertices below v."""
    return upto[v] if upto.size else int64(v)


@inner
def vertex_of(unit, upto):
    """The vertex that a unit of the biases of all vertices belongs to."""
    return place_behind(upto, unit) - 1 if upto.size else int64(unit)


@inner
def non_neighbor(graph, seed, instance, slot, begin, end, low, high, without, upto):
    """A vertex from ``low`` to below ``high`` that is none of the row begin .. end - 1 and not ``without``; -1: none."""
    first, units = units_below(low, upto), units_below(high, upto) - units_below(low, upto)
    if end - begin >= (high - low) >> 1:
        if SIMPLE and upto.size == 0:
            return by_rank(graph, begin, end, low, high, without, pick_word(seed, instance, slot, uint64(LINK_TRIES)))
        if SIMPLE and free_count(graph, begin, end, low, high, without) == 0:
            return int64(-1)
    for number in range(LINK_TRIES if units > 0 else 0):
        word = pick_word(seed, instance, slot, uint64(number))
        v = vertex_of(first + int64(below_wide(word, uint64(units))), upto)
        if v != without and not has_neighbor(graph, begin, end, v):
            return v
    word = pick_word(seed, instance, slot, uint64(LINK_TRIES))
    if SIMPLE and upto.size == 0:
        return by_rank(graph, begin, end, low, high, without, word)
    return along_row(graph, begin, end, low, high, without, upto, word)


@inner
def has_neighbor(graph, begin, end, v):
    """Whether the row begin .. end - 1 has v."""
    place = first_at_least(graph, begin, end, v)
    return place < end and neighbor_at(graph, place) == v


@inner
def free_count(graph, begin, end, low, high, without):
    """The number of vertices from ``low`` to below ``high`` that a row without repeated edges leaves free."""
    taken = first_at_least(graph, begin, end, high) - first_at_least(graph, begin, end, low)
    apart = without >= 0 and not has_neighbor(graph, begin, end, without)
    return high - low - taken - int64(apart)


@inner
def by_rank(graph, begin, end, low, high, without, word):
    """The free vertex whose rank a word chooses, of a row without repeated edges; -1: none is free."""
    free = free_count(graph, begin, end, low, high, without)
    if free <= 0:
        return int64(-1)
    rank, row = int64(below_wide(word, uint64(free))), first_at_least(graph, begin, end, low)
    apart = without >= 0 and not has_neighbor(graph, begin, end, without)
    left, right = row, first_at_least(graph, begin, end, high)
    while left < right:
        middle = (left + right) >> 1
        v = neighbor_at(graph, middle)
        if v - low - (middle - row) - int64(apart and without < v) <= rank:
            left = middle + 1
        else:
            right = middle
    v = low + rank + left - row
    return v + int64(apart and v >= without)


@inner
def along_row(graph, begin, end, low, high, without, upto, word):
    """The free vertex that a word chooses by its bias, found along the row; -1: none is free."""
    begin = first_at_least(graph, begin, end, low)
    end = first_at_least(graph, begin, end, high)
    free, last, alone = units_below(high, upto) - units_below(low, upto), int64(-1), without >= 0
    for position in range(begin, end):
        v = neighbor_at(graph, position)
        if v != last:
            free -= units_below(v + 1, upto) - units_below(v, upto)
        alone = alone and v != without
        last = v
    if alone:
        free -= units_below(without + 1, upto) - units_below(without, upto)
    if free <= 0:
        return int64(-1)
    rank, start, position = int64(below_wide(word, uint64(free))), low, begin
    while True:  # over what is taken, in order: neighbors, and ``without``
        v = neighbor_at(graph, position) if position < end else high
        if alone and without < v:
            v, alone = without, False
        else:
            position += 1
        if v >= start:
            width = units_below(v, upto) - units_below(start, upto)
            if rank < width or v >= high:
                return vertex_of(units_below(start, upto) + rank, upto)
            rank -= width
            start = v + 1
