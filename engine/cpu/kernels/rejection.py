"""Second-order walks by rejection: propose a neighbor by weight, accept it by bias; see walk.py for the walkers' state.

Because the proposal has the weight in it, hooks get the weight 1.0 here: ``edge_bias`` returns the bias over the weight
of the edge.

If a row accepts hardly any proposal, because its biases or weights are far apart, the step is drawn from the whole row
instead. This depends on the row alone, and rejected trials carry no information about the accepted one, so the law is
the same.

The stages of a trial come first, then the whole row, then the walk, whose lanes take turns in these stages.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import (
    borrowed,
    can_ask,
    degree,
    find_member,
    first_bucket,
    for_hooks,
    is_member,
    may_have,
    neighbor_at,
    prefetch_edge,
    prefetch_membership,
    row_of,
    row_to_search,
    stored_weight,
)
from csaw.engine.cpu.kernels.constants import (
    ASKS_BACK,
    ASKS_LATER,
    EXTREME,
    HAS_DEAD_END,
    HAS_UPDATE,
    HASHED,
    MEMBER_WEIGHTS,
    MEMBERSHIP,
    QUESTIONS,
    SIMPLE,
    STREAMED,
    SYMMETRIC_WEIGHTS,
    UNDIRECTED,
    WEIGHTED,
    edge_bias,
)
from csaw.engine.cpu.kernels.memory import borrow, prefetch
from csaw.engine.cpu.kernels.questions import search_on, search_scratch, weight_from
from csaw.engine.cpu.kernels.walk import (
    GROUP,
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
from csaw.engine.draws.random import SHIFT, below, draw64, fraction_of, is_bias, philox
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, full, zeros

# The stages of a trial of a rejection walk, each for the lanes of a group.
#
# A trial takes 30 ns of arithmetic, and waits for two lines of memory, its candidate's and that of the answer. So
# stages are loops of their own, which run in vector registers where they can, and have no branches that nothing
# predicts: a lane that is decided goes through them like the others.

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


# Second-order walks by rejection.

# Rows where a smaller share of trials accept are not tried: plan/selection.py and cuda/kernels/whole_row.cuh have the
# same.
HOPELESS = 2.0**-20
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
        if not is_bias(biases[i]):
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
    """The state of all lanes, in the order in which take_turns unpacks it.

    Its caller holds them, so that it can use them without reference counts, which it would update at each use.
    """
    return (
        full(LANES, -1, np.int64),  # lane: its walker, -1 without one
        zeros(LANES, np.int64),  # here: where the walker is
        full(LANES, -1, np.int64),  # back: the vertex before, -1 at the source
        zeros(LANES, np.uint64),  # instance: the number of the walk
        zeros(LANES, np.uint64),  # steps: those taken
        empty(LANES, np.uint64),  # words: 64 random bits of the trial
        zeros(LANES, np.uint64),  # counts: edges of the row
        zeros(LANES, np.uint64),  # spots: the place of the proposed edge
        zeros(LANES, np.int64),  # goal: the candidate, -1 without one
        zeros(LANES, np.uint64),  # trial: its number
        zeros(LANES, np.float64),  # coin: of [0, 1), below 0 where any bias is accepted
        zeros(LANES, np.int64),  # decided: 1 where the trial is decided without a bias
        zeros(LANES, np.float64),  # returns: the weight of the return edge
        empty(LANES, np.float64),  # weight: the sum of the row's weights
        zeros(LANES, np.uint8),  # searching: what for, NOTHING, EDGE, RETURN or RETURNS
        empty(LANES, np.int64),  # asks: questions that are left for later
        full(3, -1, np.int64),  # answer: an edge a -> b, and whether it exists
        zeros(LANES, np.uint64),  # places: of a hash table's line
        search_scratch(LANES),  # low, width, end and wanted of a search in a row
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
