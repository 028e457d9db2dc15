"""Negatives of links: vertices that a source has no edge to. The twin of engine/cuda/kernels/links.cu.

Negative j of an instance is drawn at slot j. Its tries propose a vertex of the destination's type, uniformly or by
running sums of biases, and the first one that is no neighbor stays: a binary search in the sorted row tells. After
LINK_TRIES of them, or at once where a row has most vertices, the vertex is chosen by its rank among those that the row
leaves free: by a binary search if all have the same chance and no edge is repeated, because row[i] - i vertices below
entry i are free, and otherwise along the row. In both ways, each free vertex has its chance in proportion to its bias,
and every loop has a bound.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import borrowed, degree, first_at_least, neighbor_at, row_of
from csaw.engine.cpu.kernels.constants import SIMPLE
from csaw.engine.cpu.kernels.memory import borrow, prefetch
from csaw.engine.cpu.kernels.select import pick_word
from csaw.engine.draws.random import below_wide
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, place_behind

LINK_LANES = 32  # negatives whose rows are searched together
LINK_TRIES = 32  # of which the last one that fails has a chance of 2^-32 where half of all vertices are neighbors


@njit(nogil=True)
def draw_negatives(entries, graph, seed, first, source, place, bounds, upto, self_too, links, negatives):
    """Fill the rows ``entries`` of ``negatives``, with -1 where a source has an edge to all vertices that are possible.

    ``source``: int64 [n]. ``place``: int64 [n], where the edge of a link is in the row of its source, whose neighbor
    becomes its destination; -1 for a link with a destination. ``bounds``: int64, where the vertices of each type begin,
    and the end of the last. ``upto``: int64 [V + 1], the biases of all vertices below one; empty if all are the same.
    """
    graph, links, negatives, upto = borrowed(graph), borrow(links), borrow(negatives), borrow(upto)
    cells, each = empty(LINK_LANES, np.int64), negatives.shape[1]
    goal, low, high = empty(LINK_LANES, np.int64), empty(LINK_LANES, np.int64), empty(LINK_LANES, np.int64)
    for group in range(0, entries.size * each, LINK_LANES):
        lanes = min(LINK_LANES, entries.size * each - group)
        for k in range(lanes):
            cells[k] = entries[(group + k) // each] * each + (group + k) % each
            prefetch(graph.indptr, uint64(source[cells[k] // each]))
        for k in range(lanes):
            i = cells[k] // each
            if place[i] >= 0:
                prefetch(graph.indices, uint64(row_of(graph, source[i]) + place[i]))
        propose_first(
            lanes, cells, each, graph, seed, first, source, place, bounds, upto, self_too, links, goal, low, high
        )
        search_in_step(graph.indices, lanes, goal, low, high)
        for k in range(lanes):
            i, j = cells[k] // each, cells[k] % each
            begin = row_of(graph, source[i])
            end = begin + degree(graph, source[i])
            is_free = goal[k] >= 0 and (low[k] == end or neighbor_at(graph, low[k]) != goal[k])
            negatives[i, j] = goal[k]
            if not is_free:
                first_of_type, end_of_type = span_of_type(bounds, int64(links[i, 1]))
                without = source[i] if not self_too and first_of_type <= source[i] < end_of_type else int64(-1)
                negatives[i, j] = non_neighbor(
                    graph, seed, uint64(first + i), uint64(j), begin, end, first_of_type, end_of_type, without, upto
                )


@inner
def propose_first(
    lanes, cells, each, graph, seed, first, source, place, bounds, upto, self_too, links, goal, low, high
):
    """Find destinations, and write the vertex that each lane proposes first to ``goal``, and its row to ``low`` and
    ``high``; -1 where a row has so many vertices that nothing is proposed, or a source proposes itself.
    """
    for k in range(lanes):
        i, j = cells[k] // each, cells[k] % each
        u = source[i]
        low[k] = row_of(graph, u)
        high[k] = low[k] + degree(graph, u)
        if place[i] >= 0:
            links[i, 1] = neighbor_at(graph, low[k] + place[i])
        first_of_type, end_of_type = span_of_type(bounds, int64(links[i, 1]))
        begin = units_below(first_of_type, upto)
        units = units_below(end_of_type, upto) - begin
        word = pick_word(seed, uint64(first + i), uint64(j), uint64(0))
        goal[k] = begin + int64(below_wide(word, uint64(units)))
        if units == 0 or high[k] - low[k] >= (end_of_type - first_of_type) >> 1:
            goal[k] = -1
    if upto.size:
        left, right = empty(LINK_LANES, np.int64), empty(LINK_LANES, np.int64)
        for k in range(lanes):
            left[k], right[k] = 0, upto.size if goal[k] >= 0 else 0
            goal[k] += 1
        search_in_step(upto, lanes, goal, left, right)
        for k in range(lanes):
            goal[k] = left[k] - 1
    for k in range(lanes):
        if goal[k] == source[cells[k] // each] and not self_too:
            goal[k] = -1


@inner
def search_in_step(array, lanes, goal, low, high):
    """Move ``low`` of each lane to the first place from there to before ``high`` whose element is at least ``goal``; a
    step of every lane at a time, so that they wait for memory together.
    """
    open_lanes = True
    while open_lanes:
        open_lanes = False
        for k in range(lanes):
            if low[k] < high[k]:
                middle = (low[k] + high[k]) >> 1
                if int64(array[uint64(middle)]) < goal[k]:
                    low[k] = middle + 1
                else:
                    high[k] = middle
                prefetch(array, uint64((low[k] + high[k]) >> 1))
                open_lanes = True


@njit(nogil=True)
def find_ends(indptr, edges, source, place):
    """The vertex whose row has each edge, and the edge's place in that row, int64 [n] each."""
    low, high, goal = empty(LINK_LANES, np.int64), empty(LINK_LANES, np.int64), empty(LINK_LANES, np.int64)
    for group in range(0, edges.size, LINK_LANES):
        lanes = min(LINK_LANES, edges.size - group)
        for k in range(lanes):
            low[k], high[k], goal[k] = 0, indptr.size, edges[group + k] + 1
        search_in_step(indptr, lanes, goal, low, high)
        for k in range(lanes):
            source[group + k] = low[k] - 1
            place[group + k] = edges[group + k] - indptr[low[k] - 1]


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
    """A vertex from ``low`` to below ``high``, not ``without`` and not in the row begin .. end - 1; -1: none."""
    first, units = units_below(low, upto), units_below(high, upto) - units_below(low, upto)
    if end - begin >= (high - low) >> 1:
        if SIMPLE and upto.size == 0:
            return by_rank(graph, begin, end, low, high, without, pick_word(seed, instance, slot, uint64(LINK_TRIES)))
        if SIMPLE and free_count(graph, begin, end, low, high, is_apart(graph, begin, end, without)) == 0:
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
def is_apart(graph, begin, end, without):
    """Whether ``without`` is a vertex, and not in the row."""
    return without >= 0 and not has_neighbor(graph, begin, end, without)


@inner
def free_count(graph, begin, end, low, high, apart):
    """The number of vertices from ``low`` to below ``high`` that a row without repeated edges leaves free, without the
    one that is ``apart``.
    """
    taken = first_at_least(graph, begin, end, high) - first_at_least(graph, begin, end, low)
    return high - low - taken - int64(apart)


@inner
def by_rank(graph, begin, end, low, high, without, word):
    """The free vertex whose rank a word chooses, of a row without repeated edges; -1: none is free."""
    apart = is_apart(graph, begin, end, without)
    free = free_count(graph, begin, end, low, high, apart)
    if free <= 0:
        return int64(-1)
    rank, row = int64(below_wide(word, uint64(free))), first_at_least(graph, begin, end, low)
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
