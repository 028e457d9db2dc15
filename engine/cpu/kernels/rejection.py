"""Second-order walks by rejection: propose a neighbor by weight, accept it by bias; see walk.py for the walkers' state.

If a row accepts hardly any proposal, because its biases or weights are far apart, the step is drawn from the whole row
instead. This depends on the row alone, and rejected trials carry no information about the accepted one, so the law is
the same.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import (
    borrowed,
    can_ask,
    for_hooks,
    neighbor_at,
    prefetch_edge,
    row_of,
    row_to_search,
    stored_weight,
)
from csaw.engine.cpu.kernels.constants import (
    ASKS_BACK,
    ASKS_LATER,
    EXTREME,
    HASHED,
    MEMBERSHIP,
    QUESTIONS,
    SIMPLE,
    WEIGHTED,
    edge_bias,
)
from csaw.engine.cpu.kernels.members import is_member, may_have
from csaw.engine.cpu.kernels.memory import borrow, prefetch
from csaw.engine.cpu.kernels.searches import search_on, search_scratch, weight_from
from csaw.engine.cpu.kernels.trials import (
    EDGE,
    NOTHING,
    RETURNS,
    begin_return,
    draw_trials,
    look_at_candidates,
    look_up_returns,
    request_answers,
    request_candidates,
    take_apart,
)
from csaw.engine.cpu.kernels.walk import GROUP, LANES, after, borrowed_out, goes_on, put, put_source, save, with_path
from csaw.engine.cpu.kernels.weigh import accumulate, inverse_transform
from csaw.engine.draws.random import draw64
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_arrays import empty, full, zeros

HOPELESS = (
    2.0**-20
)  # rows where a smaller share of trials accept are not tried: selection.py and whole_row.cuh have the same
TRIALS = 64  # trials, and one for each neighbor, before the row is examined, which costs no more than they did
TRY_ON = -2  # returned instead of a vertex
LEAST_LANES = 48  # three groups, so that no two of the turns of one fall together


@inner
def from_whole_row(params, graph, seed, instance, step, source, back, here, row, count, high, trial, bad):
    """Draw a neighbor by inverse transform over the row if trials are hopeless, else return TRY_ON.

    It returns -1 at a dead end or a bad bias.

    The share of trials that accept is the sum of ``weight * bias`` over the sum of ``weight * max(high, bias)``,
    because the part of the return edge's bias above ``high`` is drawn apart.
    """
    biases, ctps = empty(count, np.float64), empty(count, np.int64)
    accepted, proposed, largest = 0.0, 0.0, 0.0
    for i in range(count):
        dst = neighbor_at(graph, row + i)
        times = float(edge_bias(params, graph, seed, instance, step, source, back, here, dst, 1.0))
        weight = stored_weight(graph, row + i) if WEIGHTED else 1.0
        biases[i] = weight * times
        if not (biases[i] >= 0.0) or biases[i] == np.inf:
            bad[0], bad[1], bad[2] = 1, here, dst
            return -1
        accepted += biases[i]
        proposed += weight * max(high, times)
        largest = max(largest, biases[i])
    if not accepted < HOPELESS * proposed:
        return TRY_ON
    if accumulate(biases, count, largest, ctps) == 0:
        return -1
    word = draw64(seed, uint64(instance), uint64(step), trial)  # of the next trial, which is not made
    return neighbor_at(graph, row + inverse_transform(ctps, count, word))


@njit(nogil=True)
def walk_by_rejection(todo, first, graph, params, bounds, seed, length, walkers, questions, out, bad, tally):
    """Second-order walks: propose by weight, accept by bias / bound; no lane waits for another's trials.

    ``bounds``: (low, high, back) of Walk.bias_range. If back > high, the part of the return edge's bias above high is
    drawn apart, so the expected number of trials stays below high / low for any p (C-SAW's rejection; KnightKing, SOSP
    2019, section 4.3). For ``questions`` see questions.py.

    Groups of lanes take turns, as in walk_by_edge: a group decides on its trials and draws words for the next ones, the
    group before it asks for the edges that they choose, and the one before that for the lines that tell whether edges
    exist. A lane that searches a row makes one halving a turn.
    """
    take_turns(todo, first, graph, params, bounds, seed, length, walkers, questions, out, bad, tally, trial_lanes())


@inner
def trial_lanes():
    """The state of all lanes: arrays that take_turns names.

    Its caller holds them, so that it can use them without reference counts, which it would update at each use.
    """
    return (
        full(LANES, -1, np.int64),
        zeros(LANES, np.int64),
        full(LANES, -1, np.int64),
        zeros(LANES, np.uint64),
        zeros(LANES, np.uint64),
        empty(LANES, np.uint64),
        zeros(LANES, np.uint64),
        zeros(LANES, np.uint64),
        zeros(LANES, np.int64),
        zeros(LANES, np.uint64),
        zeros(LANES, np.float64),
        zeros(LANES, np.int64),
        zeros(LANES, np.float64),
        empty(LANES, np.float64),
        zeros(LANES, np.uint8),
        empty(LANES, np.int64),
        full(3, -1, np.int64),
        zeros(LANES, np.uint64),
        search_scratch(LANES),
    )


@inner(error_model="numpy")
def take_turns(todo, first, graph, params, bounds, seed, length, walkers, questions, out, bad, tally, state):
    """Walk as walk_by_rejection says, in the lanes of ``state``."""
    graph, out = borrowed(graph), borrowed_out(out)
    todo, bad, tally = borrow(todo), borrow(bad), borrow(tally)
    source, at, prev = borrow(walkers.source), borrow(walkers.at), borrow(walkers.previous)
    step, alive = borrow(walkers.step), borrow(walkers.alive)
    trials, asked, sure = borrow(questions.trials), borrow(questions.asked), borrow(questions.sure)
    candidates, coins = borrow(questions.candidates), borrow(questions.coins)
    lane, here, back, instance, steps, words, counts, spots, goal = borrow(state[:9])
    trial, coin, decided, returns, weight, searching, asks, answer, places = borrow(state[9:18])
    _, low, width, end, wanted = borrow(state[18])
    high, apart = bounds[1], bounds[2] > bounds[1]
    lanes = min(LANES, max(LEAST_LANES, -(-todo.size // GROUP) * GROUP))
    told = for_hooks(graph, graph.path, answer)
    tried, taken, ended, before, earlier = 0, 0, 0, lanes - GROUP, lanes - 2 * GROUP
    while ended < todo.size:
        for group in range(0, lanes, GROUP):
            for j in range(uint64(group), uint64(group + GROUP)):
                w = lane[j]
                if w >= 0:
                    v, t = here[j], int64(steps[j])
                    paused, exists, bias = False, int64(0), 0.0
                    if (not HASHED or not SIMPLE) and searching[j] != NOTHING:
                        if not search_on(j, graph, low, width, wanted):
                            continue
                        if searching[j] == RETURNS:
                            returns[j] = weight_from(graph, low[j], end[j], wanted[j])
                            searching[j] = NOTHING
                            continue
                        exists = int64(low[j] < end[j] and neighbor_at(graph, low[j]) == wanted[j])
                        searching[j] = NOTHING
                    elif HASHED:
                        exists = int64(is_member(graph, back[j], goal[j], places[j], decided[j] != 0))
                    elif MEMBERSHIP and decided[j] == 0 and back[j] >= 0 and (ASKS_BACK or goal[j] != back[j]):
                        if ASKS_LATER and not can_ask(graph, back[j], goal[j]):
                            candidates[w, asks[j]], coins[w, asks[j]] = goal[j], coin[j]
                            asks[j] += 1
                            trial[j] += uint64(1)
                            if asks[j] < QUESTIONS:
                                tried += 1
                                continue
                            goal[j], paused, decided[j] = int64(-1), True, 1
                        elif may_have(graph, back[j], goal[j]):
                            begin, last, wanted[j] = row_to_search(graph, back[j], goal[j])
                            low[j], width[j], end[j] = uint64(begin), uint64(last - begin), uint64(last)
                            searching[j] = EDGE
                            prefetch_edge(graph, uint64((begin + last) >> 1))
                            continue
                    tried += 1
                    if HASHED or decided[j] == 0:  # known where it is decided already, but not branched on
                        answer[0], answer[1], answer[2] = back[j], goal[j], exists
                        if goal[j] >= 0:
                            bias = edge_bias(params, told, seed, first + w, t, source[w], back[j], v, goal[j], 1.0)
                    if not coin[j] * high < bias and decided[j] == 0:
                        if EXTREME and not bias >= 0.0:
                            bad[0], bad[1], bad[2] = 1, v, goal[j]
                            return
                        trial[j] += uint64(1)
                        if not EXTREME or trial[j] != uint64(TRIALS) + counts[j]:
                            continue
                        row, count, k = row_of(graph, v), int64(counts[j]), trial[j]
                        given = seed, first + w, t, source[w], back[j], v, row, count, high, k, bad
                        goal[j] = from_whole_row(params, graph, *given)
                        if bad[0] != 0:
                            return
                        if goal[j] == TRY_ON:
                            continue
                    if ASKS_LATER and (paused or asks[j] > 0):
                        at[w], prev[w], step[w] = v, back[j], t
                        trials[w], asked[w], sure[w] = trial[j], asks[j], goal[j]
                    else:
                        known = with_path(graph, out, w)
                        then = after(params, known, seed, first + w, t, source[w], back[j], v, goal[j], 1.0, bad)
                        if then >= 0:
                            t += 1
                            put(out, w, t, then)
                            prefetch(graph.indptr, uint64(then))
                        if goes_on(graph, v, then, t, length):
                            here[j], back[j], steps[j], trial[j] = then, v, uint64(t), uint64(0)
                            if apart:
                                begin_return(j, graph, here, back, returns, searching, low, width, end, wanted)
                            continue
                        save(w, v, then, t, length, at, prev, step, alive, out)
                        if ASKS_LATER:
                            trials[w] = 0
                    lane[j] = -1
                    ended += 1
                if taken < todo.size:
                    w = todo[taken]
                    lane[j], here[j], back[j], instance[j], steps[j] = w, at[w], prev[w], uint64(first + w), step[w]
                    trial[j] = uint64(trials[w]) if ASKS_LATER else uint64(0)
                    asks[j] = 0
                    put_source(out, w, source[w])
                    prefetch(graph.indptr, uint64(here[j]))
                    if apart:
                        begin_return(j, graph, here, back, returns, searching, low, width, end, wanted)
                    taken += 1
            draw_trials(group, seed, instance, steps, trial, words, coin)
            if apart and HASHED:
                look_up_returns(before, graph, lane, here, back, returns, searching)
            request_candidates(before, graph, here, words, counts, spots, weight, decided)
            if apart:
                take_apart(before, bounds, weight, returns, coin, decided)
            look_at_candidates(earlier, graph, bounds, lane, back, words, coin, decided, counts, spots, goal)
            if MEMBERSHIP:
                request_answers(earlier, graph, lane, back, decided, goal, places)
            earlier, before = before, group
    tally[0] += tried
