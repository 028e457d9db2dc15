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
    degree,
    for_hooks,
    neighbor_at,
    prefetch_edge,
    prefetch_membership,
    row_of,
    stored_weight,
)
from csaw.engine.cpu.kernels.constants import (
    ASKS_LATER,
    EXTREME,
    MEMBERSHIP,
    QUESTIONS,
    STREAMED,
    WEIGHTED,
    edge_bias,
)
from csaw.engine.cpu.kernels.memory import borrow, prefetch
from csaw.engine.cpu.kernels.searches import find_edges, find_returns, search_scratch
from csaw.engine.cpu.kernels.walk import (
    LANES,
    after,
    borrowed_out,
    drawn_neighbor,
    goes_on,
    put,
    put_source,
    save,
    with_path,
)
from csaw.engine.cpu.kernels.weigh import accumulate, inverse_transform
from csaw.engine.draws.random import SHIFT, below, draw64, fraction, philox
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.new_arrays import empty, full

HOPELESS = (
    2.0**-20
)  # rows where a smaller share of trials accept are not tried: selection.py and whole_row.cuh have the same
TRIALS = 64  # trials, and one for each neighbor, before the row is examined, which costs no more than they did
TRY_ON = -2  # returned instead of a vertex


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


@inner
def take_over(j, last, lane, here, back, instance, steps, trial, returns, fresh, asks):
    """Lane j goes on with the walker of the last lane."""
    lane[j], here[j], back[j] = lane[last], here[last], back[last]
    instance[j], steps[j], trial[j] = instance[last], steps[last], trial[last]
    returns[j], fresh[j], asks[j] = returns[last], fresh[last], asks[last]


@njit(nogil=True)
def walk_by_rejection(todo, first, graph, params, bounds, seed, length, walkers, questions, out, bad, tally):
    """Second-order walks: propose by weight, accept by bias / bound; no lane waits for another's trials.

    ``bounds``: (low, high, back) of Walk.bias_range. If back > high, the part of the return edge's bias above high is
    drawn apart, so the expected number of trials stays below high / low for any p (C-SAW's rejection; KnightKing, SOSP
    2019, section 4.3). For ``questions`` see questions.py.
    """
    graph, out = borrowed(graph), borrowed_out(out)
    source, at, prev = borrow(walkers.source), borrow(walkers.at), borrow(walkers.previous)
    step, alive = borrow(walkers.step), borrow(walkers.alive)
    trials, asked, sure = questions.trials, questions.asked, questions.sure
    candidates, coins = questions.candidates, questions.coins
    low, high, returning = bounds
    apart = returning > high
    lane, here, back = empty(LANES, np.int64), empty(LANES, np.int64), empty(LANES, np.int64)
    instance, steps, words = empty(LANES, np.uint64), empty(LANES, np.uint64), empty(LANES, np.uint64)
    rows, counts, goal = empty(LANES, np.int64), empty(LANES, np.int64), empty(LANES, np.int64)
    trial, coin, decided = empty(LANES, np.uint64), empty(LANES, np.float64), empty(LANES, np.uint8)
    returns, fresh, asks = empty(LANES, np.float64), empty(LANES, np.uint8), empty(LANES, np.int64)
    exists, answer, scratch = full(LANES, -1, np.int64), full(3, -1, np.int64), search_scratch(LANES)
    told = for_hooks(graph, graph.path, answer)
    lanes, taken = 0, 0
    while True:
        while lanes < LANES and taken < todo.size:
            w = todo[taken]
            lane[lanes], here[lanes], back[lanes] = w, at[w], prev[w]
            instance[lanes], steps[lanes] = uint64(first + w), uint64(step[w])
            trial[lanes] = uint64(trials[w]) if ASKS_LATER else uint64(0)
            fresh[lanes], asks[lanes] = 1, 0
            put_source(out, w, source[w])
            lanes += 1
            taken += 1
        if lanes == 0:
            return
        tally[0] += lanes
        for j in range(lanes):
            w0, w1, w2, w3 = philox(seed, instance[j], steps[j], trial[j])
            words[j] = (w0 << SHIFT) | w1
            coin[j] = fraction((w2 << SHIFT) | w3)
        for j in range(lanes):
            v = uint64(here[j])
            rows[j], counts[j], decided[j] = row_of(graph, v), degree(graph, v), 0
        if apart:
            find_returns(graph, lanes, here, back, fresh, rows, counts, returns, scratch)
        for j in range(lanes):
            if apart and counts[j] > 0 and back[j] >= 0:
                more = returns[j] * (returning - high)
                whole = (graph.strength[here[j]] if WEIGHTED else float(counts[j])) * high + more
                share = more / whole if whole > 0.0 else 0.0
                if coin[j] < share:
                    decided[j] = 1
                    continue
                coin[j] = (coin[j] - share) / (1.0 - share)
            prefetch_edge(graph, uint64(rows[j]) + below(words[j], uint64(counts[j])))
        for j in range(lanes):
            if decided[j]:
                goal[j] = back[j]
                continue
            count = uint64(counts[j])
            dst = drawn_neighbor(graph, uint64(rows[j]) + below(words[j], count), count, words[j])
            goal[j] = dst
            if dst < 0 or (dst != back[j] and coin[j] * high < low):
                decided[j] = 1
            elif MEMBERSHIP and dst != back[j]:
                prefetch_membership(graph, back[j], dst)
            prefetch(graph.indptr, uint64(max(dst, 0)))
        if STREAMED and MEMBERSHIP:  # else filters answer most
            find_edges(graph, lanes, back, goal, decided, exists, scratch)
        for j in range(lanes - 1, -1, -1):
            v, w, t = here[j], lane[j], int64(steps[j])
            paused = False
            if ASKS_LATER and not decided[j] and goal[j] != back[j] and not can_ask(graph, back[j], goal[j]):
                candidates[w, asks[j]], coins[w, asks[j]] = goal[j], coin[j]
                asks[j] += 1
                trial[j] += uint64(1)
                if asks[j] < QUESTIONS:
                    continue
                goal[j], paused = int64(-1), True
            elif not decided[j]:
                answer[0], answer[1], answer[2] = back[j], goal[j], exists[j]
                bias = edge_bias(params, told, seed, first + w, t, source[w], back[j], v, goal[j], 1.0)
                if not coin[j] * high < bias:
                    if EXTREME and not bias >= 0.0:
                        bad[0], bad[1], bad[2] = 1, v, goal[j]
                        return
                    trial[j] += uint64(1)
                    if not EXTREME or trial[j] != uint64(TRIALS + counts[j]):
                        continue
                    goal[j] = from_whole_row(
                        params,
                        graph,
                        seed,
                        first + w,
                        t,
                        source[w],
                        back[j],
                        v,
                        rows[j],
                        counts[j],
                        high,
                        trial[j],
                        bad,
                    )
                    if bad[0] != 0:
                        return
                    if goal[j] == TRY_ON:
                        continue
            if ASKS_LATER and (paused or asks[j] > 0):
                at[w], prev[w], step[w] = v, back[j], t
                trials[w], asked[w], sure[w] = trial[j], asks[j], goal[j]
                lanes -= 1
                take_over(j, lanes, lane, here, back, instance, steps, trial, returns, fresh, asks)
                continue
            known = with_path(graph, out, w)
            then = after(params, known, seed, first + w, t, source[w], back[j], v, goal[j], 1.0, bad)
            if then >= 0:
                t += 1
                put(out, w, t, then)
            if goes_on(graph, v, then, t, length):
                here[j], back[j], steps[j], trial[j], fresh[j] = then, v, uint64(t), uint64(0), 1
            else:
                save(w, v, then, t, length, at, prev, step, alive, out)
                if ASKS_LATER:
                    trials[w] = 0
                lanes -= 1
                take_over(j, lanes, lane, here, back, instance, steps, trial, returns, fresh, asks)
