"""Searches in sorted rows, many side by side: none waits for another's memory reads.

A search by itself took 270 ns in rows of R-MAT scale 20, one of 64 takes 70.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import (
    borrowed,
    can_ask,
    neighbor_at,
    prefetch_edge,
    row_to_search,
    stored_weight,
)
from csaw.engine.cpu.kernels.constants import ASKS_BACK, WEIGHTED
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_arrays import empty

NEAR = 8  # entries of a row that are searched at once


@inner
def search_scratch(lanes):
    """Arrays for the searches of ``lanes`` lanes: the lane of each, where it is, how far it goes from there, where its
    row ends, and the neighbor that it looks for.
    """
    return (
        empty(lanes, np.int64),
        empty(lanes, np.uint64),
        empty(lanes, np.uint64),
        empty(lanes, np.uint64),
        empty(lanes, np.int64),
    )


@inner
def search_side_by_side(graph, count, low, width, goal):
    """Move ``low`` of ``count`` searches to the first position whose neighbor is at least ``goal``.

    It is among the ``width`` positions from there on, or behind them all.
    """
    graph, one, searching = borrowed(graph), uint64(1), True
    while searching:
        searching = False
        for i in range(count):
            rest = width[i]
            if rest > one:
                half = rest >> one
                low[i] += half if neighbor_at(graph, low[i] + half - one) < goal[i] else uint64(0)
                rest -= half
                width[i] = rest
                prefetch_edge(graph, low[i] + ((rest - one) >> one))
                searching = True
    for i in range(count):
        if width[i] == one and neighbor_at(graph, low[i]) < goal[i]:
            low[i] += one
        if WEIGHTED:
            prefetch(graph.weights, low[i])


@inner
def find_edges(graph, lanes, back, goal, decided, exists, scratch):
    """Write to ``exists`` whether the edge back -> goal of each lane is there, 1 or 0.

    Decided lanes are left out; -1 where that is not asked, or no row in memory tells.
    """
    graph, count = borrowed(graph), 0
    lane, low, width, end, wanted = scratch
    for j in range(lanes):
        exists[j] = -1
        asked = not decided[j] and back[j] >= 0 and (ASKS_BACK or goal[j] != back[j])
        if asked and can_ask(graph, back[j], goal[j]):
            first, last, wanted[count] = row_to_search(graph, back[j], goal[j])
            lane[count], low[count], width[count], end[count] = j, uint64(first), uint64(last - first), uint64(last)
            prefetch_edge(graph, uint64((first + last) >> 1))
            count += 1
    search_side_by_side(graph, count, low, width, wanted)
    for i in range(count):
        exists[lane[i]] = int64(low[i] < end[i] and neighbor_at(graph, low[i]) == wanted[i])


@njit(inline="always")
def search_on(j, graph, low, width, wanted):
    """Go on with the search of lane j, as far as it needs no memory line that has not been asked for.

    True: it is over, and ``low`` is the first position whose neighbor is at least ``wanted``.
    """
    one, here, rest = uint64(1), low[j], width[j]
    if rest > uint64(NEAR):
        half = rest >> one
        here += half if neighbor_at(graph, here + half - one) < wanted[j] else uint64(0)
        rest -= half
        prefetch_edge(graph, here + ((rest - one) >> one))
        low[j], width[j] = here, rest
        return False
    while rest > one:
        half = rest >> one
        here += half if neighbor_at(graph, here + half - one) < wanted[j] else uint64(0)
        rest -= half
    if rest == one and neighbor_at(graph, here) < wanted[j]:
        here += one
    low[j] = here
    return True


@njit(inline="always")
def weight_from(graph, position, end, wanted):
    """The sum of weights of the edges to ``wanted`` in a row, from the first of them on."""
    weight = 0.0
    while position < end and neighbor_at(graph, position) == wanted:
        weight += stored_weight(graph, position) if WEIGHTED else 1.0
        position += uint64(1)
    return weight
