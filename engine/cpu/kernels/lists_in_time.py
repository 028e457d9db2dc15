"""Lists of edges in time: those that each frontier entry may select, all or some by numbers that entries share.

The twin of engine/cuda/kernels/lists_in_time.cu.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import borrowed, neighbor_at
from csaw.engine.cpu.kernels.by_time import (
    BESIDE,
    FIELDS,
    L_COUNT,
    L_HIGH,
    L_LOW,
    L_ROW,
    L_WALKER,
    event_neighbor,
    event_time,
    place_at,
)
from csaw.engine.cpu.kernels.constants import EVENTS
from csaw.engine.cpu.kernels.memory import borrow
from csaw.engine.cpu.kernels.neighbors_in_time import find_ranges
from csaw.engine.cpu.kernels.rows import shared_word
from csaw.engine.cpu.kernels.times import time_at
from csaw.engine.draws.random import below_wide
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_arrays import full


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
