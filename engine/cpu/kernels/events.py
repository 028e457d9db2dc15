"""Edges in the order by time of their rows, of a graph that is all in memory, and where the edges begin that may follow
each of them: a uniform step of a walk in time reads one line of them, as one of other walks does. See access.py for
their form, and temporal.py for how they are used.
"""

import numpy as np
from numba import uint64

from csaw.engine.cpu.kernels.access import borrowed, degree, neighbor_at, row_of
from csaw.engine.cpu.kernels.by_time import (
    BESIDE,
    FIELDS,
    L_ENVELOPE,
    L_FAR,
    L_HERE,
    L_HIGH,
    L_LOW,
    L_NEAR,
    L_NEXT,
    L_NOW,
    L_STEP,
    L_WALKER,
    NO_FOLLOWER,
    event_neighbor,
    event_time,
    note_ranges,
    place_at,
)
from csaw.engine.cpu.kernels.constants import BACKWARD, EVENT_WORDS, HAS_LAST, HAS_WINDOW, TIME_BIAS, TIMED
from csaw.engine.cpu.kernels.envelopes import find_envelopes
from csaw.engine.cpu.kernels.times import time_at
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_arrays import full


@njit(nogil=True)
def sort_events(graph, first, last):
    """Copy the edges of the rows ``first`` .. ``last`` - 1 in their order, of a graph that is all in memory."""
    graph = borrowed(graph)
    for v in range(first, last):
        row, count = row_of(graph, v), degree(graph, v)
        for k in range(count):
            position = place_at(graph, row, count, k)
            graph.events[uint64(EVENT_WORDS) * uint64(row + k)] = neighbor_at(graph, position)
            graph.event_times[uint64(EVENT_WORDS // 2) * uint64(row + k) + uint64(1)] = time_at(graph, position)


@njit(nogil=True)
def find_followers(graph, first, last, rules, scale):
    """Note which edges may follow the events ``first`` .. ``last`` - 1 of a graph that is all in memory.

    They are a range in the order by time of an edge's end: see near_end and far_end. ``rules`` and ``scale``: the
    numbers of a run in time.
    """
    if not TIMED:
        return  # neighbors in time follow the time of a seed, or of an edge whose place is not kept
    graph, state = borrowed(graph), full(FIELDS, -1, np.int64)
    for begin in range(first, last, BESIDE):
        lanes = min(BESIDE, last - begin)
        for j in range(lanes):
            state[L_WALKER + j], state[L_HERE + j], state[L_STEP + j] = j, event_neighbor(graph, begin + j), 1
            state[L_NOW + j] = event_time(graph, begin + j)
        note_ranges(lanes, state, graph, rules)
        for j in range(lanes):
            near = state[L_NEAR + j] if BACKWARD or state[L_LOW + j] < state[L_HIGH + j] else NO_FOLLOWER
            graph.events[uint64(EVENT_WORDS) * uint64(begin + j) + uint64(1)] = np.uint32(near)
            if HAS_WINDOW or HAS_LAST:
                graph.far_ends[begin + j] = np.uint32(state[L_FAR + j])
        if TIME_BIAS == 2:
            find_envelopes(lanes, state, graph, scale)
            for j in range(lanes):
                spot = uint64(EVENT_WORDS // 2) * uint64(begin + j)
                graph.event_times[spot + uint64(2)] = state[L_ENVELOPE + j]
                graph.event_times[spot + uint64(3)] = state[L_NEXT + j]
