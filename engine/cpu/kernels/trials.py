"""The stages of a trial of a rejection walk, each for the lanes of a group: see rejection.py.

A trial takes 30 ns of arithmetic, and waits for two lines of memory, its candidate's and that of the answer. So stages
are loops of their own, which run in vector registers where they can, and have no branches that nothing predicts: a lane
that is decided goes through them like the others.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import (
    degree,
    prefetch_edge,
    row_of,
)
from csaw.engine.cpu.kernels.constants import (
    ASKS_BACK,
    HAS_DEAD_END,
    HAS_UPDATE,
    HASHED,
    MEMBER_WEIGHTS,
    SIMPLE,
    STREAMED,
    SYMMETRIC_WEIGHTS,
    UNDIRECTED,
    WEIGHTED,
)
from csaw.engine.cpu.kernels.members import find_member, first_bucket, prefetch_membership
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.engine.cpu.kernels.walk import GROUP, drawn_neighbor
from csaw.engine.draws.random import SHIFT, below, fraction_of, philox
from csaw.partition.base.compile import njit

# What a lane looks for: nothing, whether an edge exists, its return edges in a row, or its return edge in a table.
NOTHING, EDGE, RETURNS, RETURN = 0, 1, 2, 3


@njit(inline="always")
def draw_trials(group, seed, instance, steps, trial, words, coin):
    """Draw the random words and coins of a group's next trials: see walk.draw_words."""
    for j in range(uint64(group), uint64(group + GROUP)):
        w0, w1, w2, w3 = philox(seed, instance[j], steps[j], trial[j])
        words[j] = (w0 << SHIFT) | w1
        coin[j] = fraction_of(w2, w3)


@njit(inline="always")
def request_candidates(group, graph, here, words, counts, spots, weight, decided):
    """Find the edges that the words of a group choose, and ask for their memory lines."""
    for j in range(uint64(group), uint64(group + GROUP)):
        v = uint64(here[j])
        counts[j], decided[j] = uint64(degree(graph, v)), 0
        weight[j] = graph.strength[v] if WEIGHTED and graph.strength.size > 0 else float(int64(counts[j]))
        spots[j] = uint64(row_of(graph, v)) + below(words[j], counts[j])
        prefetch_edge(graph, spots[j])


@njit(inline="always")
def take_apart(group, bounds, weight, returns, coin, decided):
    """Decide the lanes of a group whose coin takes the part of the return edge's bias above ``high``.

    The rest of the coins becomes a coin again.
    """
    _, high, returning = bounds
    for j in range(uint64(group), uint64(group + GROUP)):
        more = returns[j] * (returning - high)
        whole = weight[j] * high + more
        share = more / whole if whole > 0.0 else 0.0
        rest = (coin[j] - share) / (1.0 - share)
        decided[j] = int64(1) if coin[j] < share else int64(0)
        coin[j] = rest


@njit(inline="always")
def look_at_candidates(group, graph, bounds, lane, back, words, coin, decided, counts, spots, goal):
    """Look at the candidates of a group, decide those that any bias accepts, and ask for their rows.

    There are no branches, because no processor would predict them; a coin below zero is one that any bias accepts.
    """
    low, high, _ = bounds
    for j in range(uint64(group), uint64(group + GROUP)):
        if STREAMED and lane[j] < 0:
            continue
        before, dst = back[j], drawn_neighbor(graph, spots[j], counts[j], words[j])
        dst = before if decided[j] != 0 else dst
        goal[j] = dst
        decided[j] |= int64((dst < 0) | ((dst != before) & (coin[j] * high < low)))
        coin[j] -= 2.0 * float(decided[j])
        prefetch(graph.indptr, uint64(max(dst, 0)))


@njit(inline="always")
def request_answers(group, graph, lane, back, decided, goal, places):
    """Ask for the memory lines that tell whether the previous vertices of a group have edges to the candidates."""
    for j in range(uint64(group), uint64(group + GROUP)):
        if HASHED:
            first, _, bucket = first_bucket(graph, max(back[j], 0), goal[j])
            place = (first + bucket) * uint64(16 if MEMBER_WEIGHTS else 8)
            places[j] = place & (uint64(decided[j]) - uint64(1))  # a line that is there, if nothing is asked
            prefetch(graph.members, places[j])
        elif lane[j] >= 0 and decided[j] == 0 and back[j] >= 0 and (ASKS_BACK or goal[j] != back[j]):
            prefetch_membership(graph, back[j], goal[j])


@njit(inline="always")
def weight_of_member(graph, v, neighbor):
    """The weight of an edge of v by the hash table of its row, 1 in a graph without weights, or 0 if there is none."""
    place = find_member(graph, v, neighbor)
    if place < 0:
        return 0.0
    return np.float64(graph.member_weights[uint64(place) + uint64(8)]) if MEMBER_WEIGHTS else 1.0


@njit(inline="always")
def look_up_returns(group, graph, lane, here, back, returns, searching):
    """Look up the return edges of a group's lanes that have asked for their memory lines."""
    for j in range(uint64(group), uint64(group + GROUP)):
        if lane[j] >= 0 and searching[j] == RETURN:
            returns[j] = weight_of_member(graph, here[j], back[j])
            searching[j] = NOTHING


@njit(inline="always")
def begin_return(j, graph, here, back, returns, searching, low, width, end, wanted):
    """Begin to look for the return edges of lane j, whose sum of weights is wanted, where it is not known.

    An undirected edge that is not repeated weighs the same from both ends, so the shorter row is searched.
    """
    # True if the walk must have come along that edge, so that its weight is 1.
    known = SIMPLE and UNDIRECTED and not HAS_UPDATE and not HAS_DEAD_END and not WEIGHTED
    returns[j] = 1.0 if known and back[j] >= 0 else 0.0
    if known or back[j] < 0:
        return
    if HASHED and SIMPLE:
        prefetch_membership(graph, here[j], back[j])
        searching[j] = RETURN
        return
    first, count, wanted[j] = row_of(graph, here[j]), degree(graph, here[j]), back[j]
    if SIMPLE and SYMMETRIC_WEIGHTS and not STREAMED and degree(graph, back[j]) < count:
        first, count, wanted[j] = row_of(graph, back[j]), degree(graph, back[j]), here[j]
    low[j], width[j], end[j], searching[j] = uint64(first), uint64(count), uint64(first + count), RETURNS
    prefetch_edge(graph, uint64(first + (count >> 1)))
