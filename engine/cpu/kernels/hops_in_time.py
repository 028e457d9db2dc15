"""Neighbor samples in time in tables, as in hops.py: a cell depends on its parent and the time that this knows.

The twin of engine/cuda/kernels/hops_in_time.cu.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import borrowed
from csaw.engine.cpu.kernels.by_time import (
    BESIDE,
    FIELDS,
    L_HERE,
    L_NOW,
    L_PLACE,
    L_STEP,
    L_WALKER,
    LEAST,
    find_candidates,
)
from csaw.engine.cpu.kernels.constants import EVENTS
from csaw.engine.cpu.kernels.memory import borrow, prefetch
from csaw.engine.cpu.kernels.neighbors_in_time import find_timed_edges, note_edges, pick_in_time
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_arrays import full


@njit(nogil=True)
def hop_in_time(begin, end, graph, seed, first, width, slot, size, parent, known, each, child, time, rules, counts):
    """Draw the children of cells begin .. end - 1 of ``parent`` and the times of the edges to them; add the numbers of
    children, and of parents that may select no edge, to ``counts``.

    ``known``: the time of ``each`` cells of ``parent``, one after the other. ``rules``: the numbers of a run in time.
    Others as in hop.
    """
    graph, state, none = borrowed(graph), full(FIELDS, -1, np.int64), child.dtype.type(-1)
    parent, known, child, time = borrow(parent), borrow(known), borrow(child), borrow(time)
    for group in range(begin, end, BESIDE):
        lanes = min(BESIDE, end - group)
        for j in range(lanes):
            cell = group + j
            there = parent[cell] != none
            state[L_WALKER + j], state[L_HERE + j] = cell if there else -1, int64(parent[cell]) if there else 0
            state[L_NOW + j], state[L_STEP + j] = known[cell // each], 1
            prefetch(graph.indptr, uint64(state[L_HERE + j]))
        find_candidates(lanes, state, graph, rules)
        for j in range(lanes):
            cell = group + j
            local = cell // width
            instance, at = uint64(first + local), uint64(slot + cell - local * width)
            found = int64(0)
            if state[L_WALKER + j] >= 0:
                found = pick_in_time(j, state, graph, seed, instance, at, size, cell * size, time)
                counts[0] += found
                counts[1] += found == 0
            state[L_PLACE + j] = found
        for j in range(0 if EVENTS else lanes):
            find_timed_edges(j, state, graph, (group + j) * size, state[L_PLACE + j], time)
        for j in range(lanes):
            cell, found = (group + j) * size, state[L_PLACE + j]
            note_edges(j, state, graph, cell, found, child, time)
            for k in range(cell + found, cell + size):
                child[k], time[k] = none, LEAST
