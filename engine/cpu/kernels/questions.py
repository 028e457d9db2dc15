"""Second-order walks on a graph in parts: questions that no row in memory can answer are asked later.

A trial's candidate is accepted or not by whether the previous vertex has an edge to it. If neither that vertex's row is
in memory nor, on an undirected graph, the candidate's, a walker notes the candidate and its coin and makes its next
trial, until one needs no answer (``sure``) or it has noted as many as it can. It then waits for a row that answers the
first question, instead of for two partitions at a time. Random numbers have addresses, so its walk is the same. See
engine/batches/walks.py for the arrays.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import (
    borrowed,
    can_ask,
    for_hooks,
    neighbor_at,
    prefetch_edge,
    row_to_search,
    stored_weight,
)
from csaw.engine.cpu.kernels.constants import ASKS_BACK, QUESTIONS, WEIGHTED, edge_bias
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.engine.cpu.kernels.walk import LANES, after, put, save, with_path
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, full, zeros

# Searches in sorted rows, many side by side: none waits for another's memory reads.
#
# A search by itself took 270 ns in rows of R-MAT scale 20, one of 64 takes 70.

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


# Questions of second-order walks on a graph in parts.


@njit(nogil=True)
def answer_questions(todo, first, graph, params, bounds, seed, length, walkers, questions, out, bad):
    """Answer the questions of the walkers of ``todo``, as many as rows in memory can.

    Walkers that know where to go take their step.
    """
    graph = borrowed(graph)
    source, at, prev = walkers.source, walkers.at, walkers.previous
    step, alive = walkers.step, walkers.alive
    trials, asked, sure = questions.trials, questions.asked, questions.sure
    candidates, coins = questions.candidates, questions.coins
    goals, answered = empty(LANES, np.int64), empty(LANES, np.int64)
    for begin in range(0, todo.size, LANES):
        lanes = todo[begin : begin + LANES]
        find_goals(lanes, first, graph, params, bounds[1], seed, walkers, questions, goals, answered)
        for j in range(lanes.size):
            w = lanes[j]
            v, back, t = at[w], prev[w], step[w]
            if goals[j] < 0 and answered[j] < asked[w]:
                keep_rest(w, answered[j], asked, candidates, coins)
                continue
            goal = goals[j] if goals[j] >= 0 else int64(sure[w])
            asked[w] = 0
            if goal >= 0:
                then = after(params, with_path(graph, out, w), seed, first + w, t, source[w], back, v, goal, 1.0, bad)
                if then >= 0:
                    t += 1
                    put(out, w, t, then)
                save(w, v, then, t, length, at, prev, step, alive, out)
                trials[w] = 0


@inner
def find_goals(lanes, first, graph, params, high, seed, walkers, questions, goals, answered):
    """Find the first candidate that each walker's answer accepts, or -1.

    It also counts the walker's questions that are answered until then.
    """
    graph, answer = borrowed(graph), full(3, -1, np.int64)
    source, at, prev, step = walkers.source, walkers.at, walkers.previous, walkers.step
    asked, candidates, coins = questions.asked, questions.candidates, questions.coins
    told, scratch, exists = for_hooks(graph, graph.path, answer), search_scratch(LANES), empty(LANES, np.int64)
    back, dst, over = empty(LANES, np.int64), empty(LANES, np.int64), zeros(LANES, np.uint8)
    for j in range(lanes.size):
        goals[j], answered[j], back[j] = -1, 0, prev[lanes[j]]
        prefetch(graph.indptr, uint64(back[j]))
    for number in range(QUESTIONS):
        for j in range(lanes.size):
            over[j] = over[j] or number == asked[lanes[j]]
            dst[j] = candidates[lanes[j], number]
            if not over[j]:
                prefetch(graph.indptr, uint64(dst[j]))
        find_edges(graph, lanes.size, back, dst, over, exists, scratch)
        for j in range(lanes.size):
            if over[j]:
                continue
            if exists[j] < 0:  # no row in memory tells
                over[j] = 1
                continue
            w = lanes[j]
            answer[0], answer[1], answer[2] = back[j], dst[j], exists[j]
            bias = edge_bias(params, told, seed, first + w, step[w], source[w], back[j], at[w], dst[j], 1.0)
            answered[j] += 1
            if coins[w, number] * high < bias:
                goals[j], over[j] = dst[j], 1


@inner
def keep_rest(w, answered, asked, candidates, coins):
    """Forget a walker's first ``answered`` questions."""
    rest = asked[w] - answered
    for i in range(rest):
        candidates[w, i], coins[w, i] = candidates[w, answered + i], coins[w, answered + i]
    asked[w] = rest
