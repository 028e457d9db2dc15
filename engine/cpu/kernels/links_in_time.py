"""Negatives of links as of a time: vertices that have an edge by then, and to which the source has none.

The vertices of a type are in the order of their first edges, so that those which may be negatives of a link are the
first ones. Negative j of an instance is drawn at slot j: its tries propose one of these, uniformly or by running sums
of biases, and the first one stays that is no neighbor. A binary search in the sorted row finds the edges to it; it is a
neighbor if one of them counts. After LINK_TRIES of them, the vertex is chosen by its rank among those that the row
leaves free, which is found by a search in the sorted places of the others. Each free vertex has its chance in
proportion to its bias, and every loop has a bound.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import borrowed, degree, first_at_least, neighbor_at, row_of
from csaw.engine.cpu.kernels.by_time import time_at
from csaw.engine.cpu.kernels.links import LINK_TRIES, units_below, vertex_of
from csaw.engine.cpu.kernels.memory import borrow
from csaw.engine.cpu.kernels.select import pick_word
from csaw.engine.draws.random import below_wide
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, place_behind


@njit(nogil=True)
def draw_negatives_in_time(
    entries,
    graph,
    seed,
    first,
    source,
    place,
    bounds,
    vertices,
    first_times,
    known,
    places,
    upto,
    self_too,
    ever,
    links,
    time,
    negatives,
):
    """Fill the rows ``entries`` of ``negatives``, but not where no vertex is possible; of links with a ``place`` also
    the destination and the ``time``, int64 [n].

    ``vertices``, ``first_times``, ``known``, ``places``, ``upto``: see ByFirstTime in engine/plan/contracts.py.
    ``ever``: whether an edge counts whose time is after that of the link. All others: see ``draw_negatives``.
    """
    graph, upto = borrowed(graph), borrow(upto)
    vertices, first_times, places = borrow(vertices), borrow(first_times), borrow(places)
    for i in entries:
        u = source[i]
        begin = row_of(graph, u)
        end = begin + degree(graph, u)
        if place[i] >= 0:
            links[i, 1] = neighbor_at(graph, begin + place[i])
            time[i] = time_at(graph, begin + place[i])
        number = place_behind(bounds, int64(links[i, 1])) - 1
        low = bounds[number]
        high = low + place_behind(first_times[low : low + known[number]], time[i])
        without = int64(-1) if self_too else u
        draw_of_link(
            graph,
            seed,
            uint64(first + i),
            begin,
            end,
            low,
            high,
            without,
            time[i],
            ever,
            vertices,
            places,
            upto,
            negatives[i],
        )


@inner
def draw_of_link(graph, seed, instance, begin, end, low, high, without, now, ever, vertices, places, upto, negatives):
    """Draw the ``negatives`` of a link of the time ``now`` among the vertices with the places ``low`` to ``high`` - 1,
    but not ``without``, nor those in the row begin .. end - 1.
    """
    first, units = units_below(low, upto), units_below(high, upto) - units_below(low, upto)
    taken, before, count = empty(0, np.int64), empty(0, np.int64), int64(-1)
    for j in range(negatives.size):
        found = int64(-1)
        for number in range(LINK_TRIES if units > 0 else 0):
            word = pick_word(seed, instance, uint64(j), uint64(number))
            v = int64(vertices[vertex_of(first + int64(below_wide(word, uint64(units))), upto)])
            if v != without and not has_edge_by(graph, begin, end, v, now, ever):
                found = v
                break
        if found < 0 and units > 0:
            if count < 0:
                taken, before = empty(end - begin + 1, np.int64), empty(end - begin + 2, np.int64)
                count = list_taken(graph, begin, end, low, high, without, now, ever, places, upto, taken, before)
            if units > before[count]:
                word = pick_word(seed, instance, uint64(j), uint64(LINK_TRIES))
                rank = int64(below_wide(word, uint64(units - before[count])))
                found = int64(vertices[free_place(rank, low, taken, before, count, upto)])
        if found < 0:
            return  # nor is any other possible
        negatives[j] = found


@inner
def has_edge_by(graph, begin, end, v, now, ever):
    """Whether the row begin .. end - 1 has an edge to v that counts ``now``."""
    position = first_at_least(graph, begin, end, v)
    while position < end and neighbor_at(graph, position) == v:
        if ever or time_at(graph, position) <= now:
            return True
        position += 1
    return False


@inner
def list_taken(graph, begin, end, low, high, without, now, ever, places, upto, taken, before):
    """Write the places, in order, of the vertices from place ``low`` to before ``high`` that are no negatives to
    ``taken``, and their biases before each of them to ``before``, and last of all; returns how many there are.
    """
    count, last = 0, int64(-1)
    if without >= 0 and low <= int64(places[without]) < high:
        taken[0] = int64(places[without])
        count = 1
    for position in range(begin, end):
        v = neighbor_at(graph, position)
        if v != last and v != without and (ever or time_at(graph, position) <= now):
            last = v
            if low <= int64(places[v]) < high:
                taken[count] = int64(places[v])
                count += 1
    taken[:count].sort()
    total = int64(0)
    for k in range(count):
        before[k] = total
        total += units_below(taken[k] + 1, upto) - units_below(taken[k], upto)
    before[count] = total
    return count


@inner
def free_place(rank, low, taken, before, count, upto):
    """The place of the free vertex that has the unit ``rank`` of all that are free."""
    first = units_below(low, upto)
    left, right = int64(0), int64(count)
    while left < right:  # how many that are taken are in front of it
        middle = (left + right) >> 1
        if units_below(taken[middle], upto) - first - before[middle] <= rank:
            left = middle + 1
        else:
            right = middle
    return vertex_of(first + rank + before[left], upto)
