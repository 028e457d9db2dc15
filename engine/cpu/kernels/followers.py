"""Notes on the edges in time of a graph that is all in memory: times in the order of each row, and where the edges
begin that may follow each edge; see temporal.py.
"""

import numpy as np

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
    place_at,
    search_together,
)
from csaw.engine.cpu.kernels.constants import BACKWARD, STRICT
from csaw.engine.cpu.kernels.times import time_at
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_arrays import full


@njit(nogil=True)
def sort_times(graph, first, last):
    """Copy the times of the rows ``first`` .. ``last`` - 1 in their order, of a graph that is all in memory."""
    graph = borrowed(graph)
    for v in range(first, last):
        row, count = row_of(graph, v), degree(graph, v)
        for k in range(count):
            graph.row_times[row + k] = time_at(graph, place_at(graph, row, count, k))


@njit(nogil=True)
def find_followers(graph, first, last):
    """Note the followers of the edges ``first`` .. ``last`` - 1 of a graph that is all in memory.

    In the order by time of an edge's end, that is the place behind the edges that may not follow it, forward in time,
    or of the first edge that may not follow it, backward in time.
    """
    graph, state = borrowed(graph), full(FIELDS, -1, np.int64)
    for begin in range(first, last, BESIDE):
        lanes = min(BESIDE, last - begin)
        for j in range(lanes):
            v = neighbor_at(graph, begin + j)
            state[L_ROW + j], state[L_COUNT + j] = row_of(graph, v), degree(graph, v)
            state[L_LOW + j], state[L_HIGH + j] = 0, state[L_COUNT + j]
            time = time_at(graph, begin + j)
            later = STRICT != BACKWARD  # than this edge, and not as late
            none = later and time == LARGEST
            state[L_LOW + j] = state[L_COUNT + j] if none else 0
            state[L_GOAL + j] = time + (1 if later and not none else 0)
        search_together(lanes, state, graph)
        for j in range(lanes):
            graph.followers[begin + j] = np.uint32(state[L_LOW + j])
