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
    L_COUNT,
    L_GOAL,
    L_HIGH,
    L_LOW,
    L_ROW,
    LARGEST,
    event_neighbor,
    event_time,
    place_at,
    search_together,
)
from csaw.engine.cpu.kernels.constants import BACKWARD, STRICT
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
            graph.events[uint64(4) * uint64(row + k)] = neighbor_at(graph, position)
            graph.event_times[uint64(2) * uint64(row + k) + uint64(1)] = time_at(graph, position)


@njit(nogil=True)
def find_followers(graph, first, last):
    """Note the followers of the events ``first`` .. ``last`` - 1 of a graph that is all in memory.

    In the order by time of an edge's end, that is the place behind the edges that may not follow it, forward in time,
    or of the first edge that may not follow it, backward in time.
    """
    graph, state = borrowed(graph), full(FIELDS, -1, np.int64)
    for begin in range(first, last, BESIDE):
        lanes = min(BESIDE, last - begin)
        for j in range(lanes):
            v = event_neighbor(graph, begin + j)
            state[L_ROW + j], state[L_COUNT + j] = row_of(graph, v), degree(graph, v)
            state[L_LOW + j], state[L_HIGH + j] = 0, state[L_COUNT + j]
            time = event_time(graph, begin + j)
            later = STRICT != BACKWARD  # than this edge, and not as late
            none = later and time == LARGEST
            state[L_LOW + j] = state[L_COUNT + j] if none else 0
            state[L_GOAL + j] = time + (1 if later and not none else 0)
        search_together(lanes, state, graph)
        for j in range(lanes):
            graph.events[uint64(4) * uint64(begin + j) + uint64(1)] = np.uint32(state[L_LOW + j])
