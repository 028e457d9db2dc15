"""Neighbor samples with uniform picks: children of cell c of a hop are cells c * size .. c * size + size - 1 of the
next one.

A cell depends on its parent alone, so parents are served in groups whose memory lines are prefetched. The twin of
engine/cuda/kernels/hops.cu.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import borrowed, neighbor_at, prefetch_edge
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
from csaw.engine.cpu.kernels.neighbors_in_time import draw_places, find_timed_edges, note_edges, pick_in_time
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, full

PARENTS = 32  # in a group


@njit(nogil=True)
def hop(begin, end, graph, seed, first, width, slot, size, parent, child, counts):
    """Draw the children of cells begin .. end - 1 of ``parent``; add the numbers of children, and of parents without a
    neighbor, to ``counts``.

    ``first``: number of the first instance. ``width``: cells of an instance in ``parent``. ``slot``: slot of the first
    of these cells.
    """
    graph = borrowed(graph)
    none = child.dtype.type(-1)
    rows, degrees, picks = empty(PARENTS, np.int64), empty(PARENTS, np.int64), empty(PARENTS, np.int64)
    spots = empty(PARENTS * max(size, 1), np.int64)
    for group in range(begin, end, PARENTS):
        here = min(PARENTS, end - group)
        for j in range(here):
            if parent[group + j] != none:
                prefetch(graph.indptr, uint64(parent[group + j]))
        for j in range(here):
            cell = group + j
            rows[j] = degrees[j] = picks[j] = 0
            if parent[cell] == none:
                continue
            v = uint64(parent[cell])
            rows[j] = graph.indptr[v]
            degrees[j] = graph.indptr[v + uint64(1)] - rows[j]
            picks[j] = choose(seed, first, width, slot, size, cell, rows[j], degrees[j], spots, j * size)
            counts[1] += degrees[j] == 0
            counts[0] += picks[j]
            for k in range(picks[j]):
                prefetch_edge(graph, uint64(spots[j * size + k]))
        for j in range(here):
            cell = (group + j) * size
            for k in range(picks[j]):
                child[cell + k] = neighbor_at(graph, spots[j * size + k])
            for k in range(picks[j], size):
                child[cell + k] = none


@inner
def choose(seed, first, width, slot, size, cell, row, degree, spots, base):
    """Write the edge positions of one parent's picks from spots[base] on; returns their number."""
    local = cell // width
    instance, at = uint64(first + local), uint64(slot + cell - local * width)
    return draw_places(seed, instance, at, row, row + degree, size, spots[base : base + size])


# Neighbor samples in time in tables, as above: a cell depends on its parent and the time that this knows.
#
# The twin of engine/cuda/kernels/hops_in_time.cu.


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
