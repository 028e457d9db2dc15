"""Searches in sorted rows, many side by side: none waits for another's memory reads.

A search by itself took 270 ns in rows of R-MAT scale 20, one of 64 takes 70.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import (
    borrowed,
    can_ask,
    degree,
    neighbor_at,
    prefetch_edge,
    row_of,
    row_to_search,
    stored_weight,
)
from csaw.engine.cpu.kernels.constants import HAS_DEAD_END, HAS_UPDATE, SIMPLE, STREAMED, UNDIRECTED, WEIGHTED
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.partition.base.compile import inner
from csaw.partition.base.new_arrays import empty


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
        if not decided[j] and back[j] >= 0 and goal[j] != back[j] and can_ask(graph, back[j], goal[j]):
            first, last, wanted[count] = row_to_search(graph, back[j], goal[j])
            lane[count], low[count], width[count], end[count] = j, uint64(first), uint64(last - first), uint64(last)
            prefetch_edge(graph, uint64((first + last) >> 1))
            count += 1
    search_side_by_side(graph, count, low, width, wanted)
    for i in range(count):
        exists[lane[i]] = int64(low[i] < end[i] and neighbor_at(graph, low[i]) == wanted[i])


@inner
def find_returns(graph, lanes, here, back, fresh, rows, counts, returns, scratch):
    """Write the sum of weights of the return edges of each ``fresh`` lane to ``returns``.

    A fresh lane takes up a step; its return edges lead to the vertex it came from.

    An undirected edge that is not repeated weighs the same from both ends, so the shorter row is searched.
    """
    # True if the walk must have come along that edge, so that its weight is 1.
    known = SIMPLE and UNDIRECTED and not HAS_UPDATE and not HAS_DEAD_END and not WEIGHTED
    graph, count = borrowed(graph), 0
    lane, low, width, end, wanted = scratch
    for j in range(lanes):
        if not fresh[j]:
            continue
        fresh[j] = 0
        returns[j] = 1.0 if known and back[j] >= 0 else 0.0
        if known or back[j] < 0 or counts[j] == 0:
            continue
        first, last, wanted[count] = rows[j], rows[j] + counts[j], back[j]
        if SIMPLE and UNDIRECTED and not STREAMED and degree(graph, back[j]) < counts[j]:
            first, wanted[count] = row_of(graph, back[j]), here[j]
            last = first + degree(graph, back[j])
        lane[count], low[count], width[count], end[count] = j, uint64(first), uint64(last - first), uint64(last)
        prefetch_edge(graph, uint64((first + last) >> 1))
        count += 1
    search_side_by_side(graph, count, low, width, wanted)
    for i in range(count):
        position = low[i]
        while position < end[i] and neighbor_at(graph, position) == wanted[i]:
            returns[lane[i]] += stored_weight(graph, position) if WEIGHTED else 1.0
            position += uint64(1)
