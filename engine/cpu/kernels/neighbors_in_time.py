"""Neighbors in time: the edges that a vertex may select are a range of its row's order by time, found by two searches.

Where the graph has its edges in that order, a pick reads one line of memory; elsewhere it reads the order, and then
neighbor and time. Places are drawn in that range as positions are in a whole row, by the same words. Frontier entries
come in groups, with memory lines prefetched: until all of a group are drawn, ``time`` holds the places, and then the
edges, of their picks. The twin of engine/cuda/kernels/neighbors_in_time.cu.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import away, borrowed, neighbor_at, prefetch_edge
from csaw.engine.cpu.kernels.by_time import (
    BESIDE,
    FIELDS,
    L_COUNT,
    L_HERE,
    L_HIGH,
    L_LOW,
    L_NOW,
    L_ROW,
    L_STEP,
    L_WALKER,
    event_neighbor,
    event_time,
    find_candidates,
    place_at,
    request_event,
    time_at,
)
from csaw.engine.cpu.kernels.constants import EVENTS, LATEST, PLACED, REPLACE, TIME_COLUMN, TIME_ORDER
from csaw.engine.cpu.kernels.layers import shared_word
from csaw.engine.cpu.kernels.memory import borrow, prefetch
from csaw.engine.draws.random import SHIFT, below, below_wide, philox
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import full


@inner
def draw_places(seed, instance, slot, low, high, k, places):
    """Fill ``places`` with those of k edges of the range from ``low`` up to ``high``; returns their number.

    A whole row is a range, too. All of a range that has no more, and the last ones, are in its order; others in the
    order of their draws.
    """
    count = high - low
    if REPLACE and count <= 0:
        return 0
    if not REPLACE and (LATEST or k >= count):
        begin = max(low, high - k)
        for j in range(high - begin):
            places[j] = begin + j
        return high - begin
    for pair in range((k + 1) >> 1):  # the words of pick_word, two at a time
        w0, w1, w2, w3 = philox(seed, instance, slot, uint64(pair))
        j = 2 * pair
        places[j] = drawn_place((w0 << SHIFT) | w1, low, count, k, places, j)
        if j + 1 < k:
            places[j + 1] = drawn_place((w2 << SHIFT) | w3, low, count, k, places, j + 1)
    return k


@inner(forceinline=True)
def drawn_place(word, low, count, k, places, j):
    """Pick j of k places: independent, or distinct by Floyd's method (Bentley, CACM 30(9), 1987)."""
    if REPLACE:
        return low + int64(below(word, uint64(count)))
    top = count - k + j
    place = low + int64(below(word, uint64(top + 1)))
    for i in range(j):
        if places[i] == place:
            return low + top
    return place


@inner
def find_ranges(entries, group, state, graph, frontier, now, rules):
    """Find the places of the edges that entries may select, from number ``group`` of ``entries`` on: LOW and HIGH of
    ``state``, see by_time.py. Returns the number of these entries.
    """
    lanes = min(BESIDE, entries.size - group)
    for j in range(lanes):
        i = entries[group + j]
        state[L_WALKER + j], state[L_HERE + j], state[L_NOW + j], state[L_STEP + j] = i, frontier.vertex[i], now[i], 1
        prefetch(graph.indptr, uint64(frontier.vertex[i]))
    find_candidates(lanes, state, graph, rules)
    return lanes


@njit(nogil=True)
def select_in_time(entries, graph, seed, frontier, now, time, rules):
    """Select neighbors of the frontier entries numbered ``entries`` among their edges before ``now`` [entries].

    ``time`` [cells] gets the time of the edge to each neighbor. ``rules``: the numbers of a run in time.
    """
    graph, state = borrowed(graph), full(FIELDS, -1, np.int64)
    frontier, now, time = borrow(frontier), borrow(now), borrow(time)
    for group in range(0, entries.size, BESIDE):
        lanes = find_ranges(entries, group, state, graph, frontier, now, rules)
        for j in range(lanes):
            i, begin = state[L_WALKER + j], frontier.start[state[L_WALKER + j]]
            k, instance, slot = frontier.capacity[i], uint64(frontier.instance[i]), uint64(frontier.slot[i])
            frontier.found[i] = pick_in_time(j, state, graph, seed, instance, slot, k, begin, time)
        for j in range(0 if EVENTS else lanes):
            i = state[L_WALKER + j]
            find_timed_edges(j, state, graph, frontier.start[i], frontier.found[i], time)
        for j in range(lanes):
            i = state[L_WALKER + j]
            if PLACED:
                for n in range(frontier.start[i], frontier.start[i] + frontier.found[i]):
                    frontier.edge[n] = time[n] - away(graph, frontier.vertex[i])
            note_edges(j, state, graph, frontier.start[i], frontier.found[i], frontier.out, time)


@inner
def pick_in_time(j, state, graph, seed, instance, slot, k, begin, time):
    """Put the places of the picks of a lane, at most k, into ``time`` from cell ``begin`` on, and ask for what is read
    there; returns their number.
    """
    low, high = state[L_LOW + j], max(state[L_LOW + j], state[L_HIGH + j])
    size = draw_places(seed, instance, slot, low, high, k, time[begin : begin + k])
    for n in range(begin, begin + size):
        if EVENTS:
            request_event(graph, state[L_ROW + j] + time[n])
        else:
            prefetch(graph.edge_columns[TIME_ORDER], uint64(state[L_ROW + j] + time[n]))
    return size


@inner
def find_timed_edges(j, state, graph, begin, size, time):
    """Put the position of each edge of a lane in the place of its place, and ask for what is read there."""
    for n in range(begin, begin + size):
        time[n] = place_at(graph, state[L_ROW + j], state[L_COUNT + j], time[n])
        prefetch_edge(graph, uint64(time[n]))
        prefetch(graph.edge_columns[TIME_COLUMN], uint64(time[n]))


@inner
def note_edges(j, state, graph, begin, size, out, time):
    """Note the neighbor and the time of each edge of a lane, whose positions ``time`` holds, or places of events."""
    for n in range(begin, begin + size):
        if EVENTS:
            event = state[L_ROW + j] + time[n]
            out[n], time[n] = event_neighbor(graph, event), event_time(graph, event)
        else:
            out[n], time[n] = neighbor_at(graph, time[n]), time_at(graph, time[n])


# Lists of edges in time: those that each frontier entry may select, all or some by numbers that entries share.
#
# The twin of engine/cuda/kernels/lists_in_time.cu.


@njit(nogil=True)
def list_in_time(entries, graph, seed, frontier, now, time, depth, size, rules):
    """Write the neighbors behind the edges before ``now`` that entries keep, and the ``time`` [cells] of these edges.

    An entry with d such edges keeps those to neighbors whose number of [0, 1) is below size / d; -1 keeps all. Edge k
    of the d has the cell k of its entry; ``found`` gets d.
    """
    graph, state = borrowed(graph), full(FIELDS, -1, np.int64)
    frontier, now, time = borrow(frontier), borrow(now), borrow(time)
    for group in range(0, entries.size, BESIDE):
        for j in range(find_ranges(entries, group, state, graph, frontier, now, rules)):
            i, low, count = state[L_WALKER + j], state[L_LOW + j], max(int64(0), state[L_HIGH + j] - state[L_LOW + j])
            frontier.found[i] = count
            for k in range(count):
                cell, event = frontier.start[i] + k, state[L_ROW + j] + low + k
                position = int64(0) if EVENTS else place_at(graph, state[L_ROW + j], state[L_COUNT + j], low + k)
                dst = event_neighbor(graph, event) if EVENTS else neighbor_at(graph, position)
                if size < 0 or below_wide(
                    shared_word(seed, uint64(frontier.instance[i]), depth, uint64(dst)), uint64(count)
                ) < uint64(size):
                    when = event_time(graph, event) if EVENTS else time_at(graph, position)
                    frontier.out[cell], time[cell] = dst, when
