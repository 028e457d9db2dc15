"""The order of a row by time, the range of it that the edges have which may follow one of a time, and neighbors in
time, which are picked from such a range.

A place k of a row is that of the edge which is k-th by time. Walkers search for their ranges side by side. The twin of
cuda/kernels/by_time.cuh.

The edges that a vertex may select are found by two searches. Where the graph has its edges in that order, a pick reads
one line of memory; elsewhere it reads the order, and then neighbor and time. Places are drawn in that range as
positions are in a whole row, by the same words. Frontier entries come in groups, with memory lines prefetched: until
all of a group are drawn, ``time`` holds the places, and then the edges, of their picks. The twin of
engine/cuda/kernels/neighbors_in_time.cu.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import away, borrowed, degree, neighbor_at, prefetch_edge, row_of, with_times
from csaw.engine.cpu.kernels.constants import (
    BACKWARD,
    EVENT_WORDS,
    EVENTS,
    FROM_TIMES,
    HAS_LAST,
    HAS_START,
    HAS_WINDOW,
    LATEST,
    PLACED,
    REPLACE,
    STRICT,
    TIME_COLUMN,
    TIME_ORDER,
    TIMED,
)
from csaw.engine.cpu.kernels.layers import shared_word
from csaw.engine.cpu.kernels.memory import borrow, prefetch
from csaw.engine.draws.random import SHIFT, below, below_wide, philox
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import full

# The times that a walk knows: that of an edge, and those of its steps, which its sample has.

NO_TIME = -9223372036854775808  # after the end of a walk


@inner(forceinline=True)
def time_at(graph, position):
    """The time of the edge at a position."""
    return int64(graph.edge_columns[TIME_COLUMN][position])


@inner
def after_edge(graph, dst, position, step, w, walkers):
    """The graph as hooks read it after a step that took the edge at ``position``, if any (``dst`` -1: none), whose time
    is noted.
    """
    now = time_at(graph, position) if dst >= 0 else int64(graph.previous)
    walkers.times[w, step - 1] = now
    return with_times(graph, now, now if step == 1 else int64(graph.began))


@inner
def keep_times(w, then, step, length, now, began, walkers):
    """Store the times of a walker that waits, or end the row of times of one whose walk is over; nothing where walks
    know no times.
    """
    if not TIMED:
        return
    walkers.clock[w, 0], walkers.clock[w, 1] = now, began
    if then < 0:
        for rest in range(uint64(step), uint64(length)):
            walkers.times[w, rest] = NO_TIME


# The order of a row by time.

LEAST, LARGEST = -9223372036854775808, 9223372036854775807
# Noted in place of where those begin that may follow an edge, where there are none (temporal.py): NO_PLACE of the plan.
NO_FOLLOWER = 4294967295
BESIDE = 32  # walkers side by side
FIELDS = 1024  # all numbers of theirs, which are 32 of each kind from these places on:
L_WALKER, L_HERE, L_BACK = 0, 32, 64  # -1 for none; where it is, and was
L_STEP, L_NOW, L_BEGAN = 96, 128, 160  # its clock
L_ROW, L_COUNT, L_LOW, L_HIGH, L_GOAL, L_LAST = 192, 224, 256, 288, 320, 352  # its row, and what is searched for there
L_FIRST, L_PLACE, L_POSITION = 384, 416, 448  # a place in the order by time, and the edge there
L_NEAR, L_FAR = 480, 512  # the ends of the range that may follow, near in time and far; -1 where they are not known
L_WORD, L_OTHER, L_DRAW = 544, 576, 608  # the random words of its step, and the number of their draw
L_ENVELOPE, L_NEXT = 640, 672  # of the exponential biases that may follow, and the time of number 0; 0: not known
L_NUMBER, L_HALVINGS = 704, 736  # the number of a trial, and the halvings of the envelope there,
L_TIME, L_TAKEN = 768, 800  # the time of its edge, and whether that is taken
L_REST, L_BEGIN, L_SHIFT, L_TARGET, L_LEVEL = 832, 864, 896, 928, 960  # where each is in its envelope


@inner(forceinline=True)
def place_at(graph, row, count, k):
    """The position of the edge that is k-th by time in a row."""
    return row + min(int64(graph.edge_columns[TIME_ORDER][row + k]), count - 1)


@inner(forceinline=True)
def event_neighbor(graph, event):
    """The neighbor at an edge in the order by time."""
    return int64(graph.events[uint64(EVENT_WORDS) * uint64(event)])


@inner(forceinline=True)
def near_end(graph, event):
    """Where those begin, or end backward in time, that may follow an edge, in the order by time of its end.

    Where there are none it is NO_FOLLOWER, backward 0.
    """
    return int64(graph.events[uint64(EVENT_WORDS) * uint64(event) + uint64(1)])


@inner(forceinline=True)
def far_end(graph, event):
    """The other end of those that may follow an edge."""
    if HAS_WINDOW or HAS_LAST:
        return int64(graph.far_ends[uint64(event)])
    return int64(0 if BACKWARD else LARGEST)


@inner(forceinline=True)
def event_time(graph, event):
    """The time of an edge in the order by time."""
    return graph.event_times[uint64(EVENT_WORDS // 2) * uint64(event) + uint64(1)]


@inner(forceinline=True)
def envelope_after(graph, event):
    """The envelope of the exponential biases of those that may follow an edge; 0 where there is none."""
    return graph.event_times[uint64(EVENT_WORDS // 2) * uint64(event) + uint64(2)]


@inner(forceinline=True)
def time_after(graph, event):
    """The time of number 0 of those that may follow an edge."""
    return graph.event_times[uint64(EVENT_WORDS // 2) * uint64(event) + uint64(3)]


@inner(forceinline=True)
def request_event(graph, event):
    """Ask for the memory line of an edge in the order by time."""
    prefetch(graph.events, uint64(EVENT_WORDS) * uint64(event))


@inner(forceinline=True)
def time_of(graph, row, count, k):
    """The time of the edge that is k-th by time in a row."""
    return event_time(graph, row + k) if EVENTS else time_at(graph, place_at(graph, row, count, k))


@inner(forceinline=True)
def times_allowed(now, known, rules):
    """The least and the largest time of an edge that may follow one of time ``now``, if any is ``known``; or of the
    edge at which a walk starts, which is ``now``.
    """
    low, high = int64(LEAST), int64(LARGEST)
    if FROM_TIMES and not known:
        return now, now
    if known and not BACKWARD:
        if STRICT and now == LARGEST:
            return int64(1), int64(0)
        low = now + 1 if STRICT else now
        if HAS_WINDOW and (now < 0 or rules[1] <= LARGEST - now):
            high = now + rules[1]
    if known and BACKWARD:
        if STRICT and now == LEAST:
            return int64(1), int64(0)
        high = now - 1 if STRICT else now
        if HAS_WINDOW and (now >= 0 or rules[1] <= now - LEAST):
            low = now - rules[1]
    if HAS_LAST and not BACKWARD:
        high = min(high, rules[2])
    if HAS_LAST and BACKWARD:
        low = max(low, rules[2])
    return low, high


@inner(forceinline=True)
def halve(state, j, time):
    """Leave a lane the half of its range that GOAL is in, by the time in the middle."""
    low, high = state[L_LOW + j], state[L_HIGH + j]
    middle, before = (low + high) >> 1, time < state[L_GOAL + j]
    state[L_LOW + j] = middle + 1 if before else low
    state[L_HIGH + j] = high if before else middle


@inner(forceinline=True)
def search_together(lanes, state, graph):
    """Move LOW of each lane to the first place, from there up to HIGH, whose time is at least GOAL.

    Lanes take turns, so that their reads of memory overlap: all of the order, then all of the times.
    """
    going = True
    while going:
        going = False
        for j in range(lanes):
            low, high = state[L_LOW + j], state[L_HIGH + j]
            if low < high:
                row, middle, going = state[L_ROW + j], (low + high) >> 1, True
                if EVENTS:
                    halve(state, j, event_time(graph, row + middle))
                else:
                    state[L_POSITION + j] = place_at(graph, row, state[L_COUNT + j], middle)
        for j in range(0 if EVENTS else lanes):
            if state[L_LOW + j] < state[L_HIGH + j]:
                halve(state, j, time_at(graph, state[L_POSITION + j]))


@inner(forceinline=True)
def find_candidates(lanes, state, graph, rules):
    """Set LOW and HIGH of each lane to the places of the edges that may follow: the first, and that behind the last."""
    for j in range(lanes):
        state[L_LOW + j] = state[L_HIGH + j] = state[L_LAST + j] = 0
        if state[L_WALKER + j] >= 0:
            v = state[L_HERE + j]
            state[L_ROW + j], state[L_COUNT + j] = row_of(graph, v), degree(graph, v)
            first, last = times_allowed(state[L_NOW + j], state[L_STEP + j] > 0 or HAS_START, rules)
            state[L_GOAL + j], state[L_LAST + j] = first, last
            state[L_HIGH + j] = state[L_COUNT + j] if first != LEAST and first <= last else 0
            state[L_COUNT + j] = state[L_COUNT + j] if first <= last else 0
    search_together(lanes, state, graph)
    if not (HAS_WINDOW or HAS_LAST or BACKWARD or FROM_TIMES):
        for j in range(lanes):
            state[L_HIGH + j] = state[L_COUNT + j] if state[L_WALKER + j] >= 0 else 0
        return
    for j in range(lanes):
        state[L_FIRST + j] = state[L_LOW + j]
        whole = state[L_LAST + j] == LARGEST
        count = state[L_COUNT + j] if state[L_WALKER + j] >= 0 else 0
        state[L_GOAL + j], state[L_HIGH + j] = state[L_LAST + j] + (0 if whole else 1), count
        state[L_LOW + j] = count if whole else state[L_LOW + j]
    search_together(lanes, state, graph)
    for j in range(lanes):
        state[L_LOW + j], state[L_HIGH + j] = state[L_FIRST + j], state[L_LOW + j]


@inner(forceinline=True)
def take_known(lanes, state, graph):
    """Set LOW and HIGH of each lane by NEAR and FAR. Returns whether these are known of all lanes.

    Without branches, because a lane's walk ends after a few steps: no processor can tell when.
    """
    known = True
    for j in range(lanes):
        v, near, far = state[L_HERE + j], state[L_NEAR + j], state[L_FAR + j]
        row, count = row_of(graph, v), degree(graph, v)
        state[L_ROW + j], state[L_COUNT + j] = row, count
        there = count if state[L_WALKER + j] >= 0 else 0
        state[L_LOW + j] = far if BACKWARD else near
        state[L_HIGH + j] = min(near if BACKWARD else far, there)
        known = known and near >= 0
    return known


@inner
def note_ranges(lanes, state, graph, rules):
    """Find the ranges of lanes by searches, and note them as NEAR and FAR."""
    find_candidates(lanes, state, graph, rules)
    for j in range(lanes):
        low, high = state[L_LOW + j], state[L_HIGH + j]
        if low >= high:  # the range may be cut at the end of the row alone
            low = high = 0 if BACKWARD else degree(graph, state[L_HERE + j])
        state[L_NEAR + j], state[L_FAR + j] = (high, low) if BACKWARD else (low, high)


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
    ``state``, as walkers do. Returns the number of these entries.
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
