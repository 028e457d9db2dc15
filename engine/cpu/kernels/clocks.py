"""Frontier sampling by exponential clocks (Ribeiro and Towsley, IMC 2010, section 5): events of an instance's walkers
in order of time.

Walker w of an instance reads slot w: draw m, words 0-1 for its m-th waiting time, words 2-3 for the neighbor it then
takes. So the walkers of an instance are independent, and the earliest ``length`` events are the sample in whatever
order they are computed.

walkers  int64 [instances, walkers, 4]  AT, PREV, MOVE: moves so far, SPOT: the edge of the next move, if biases are
         equal or summed beforehand
keys, heap  f64, int64 [instances, walkers]  a tournament by (time of the next move, walker): in cell 0 who moves next,
            in cell c of the others the loser of the match of the winners of cells 2c and 2c + 1. Beside n walkers, cell
            n + w is walker w, so that the matches that its new time decides are known before the time is
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import away, borrowed, degree, is_loaded, neighbor_at, prefetch_edge, row_of
from csaw.engine.cpu.kernels.constants import SUMS, UNIFORM, vertex_bias
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.engine.cpu.kernels.weigh import accumulate, inverse_transform, weigh
from csaw.engine.draws.random import SHIFT, below, is_bias, neg_log, neg_log_of, philox
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, zeros

AT, PREV, MOVE, SPOT = 0, 1, 2, 3
TURN = 4  # instances of a thread that take turns; the state of more would not fit its cache
NOWHERE = -1  # the move of a walker that found all biases zero


@inner
def next_event(params, graph, seed, instance, walker, move, now, prev, v, wait, pick, bad):
    """(time, edge) of the next move of a walker at v, for the ``wait`` of a clock of rate 1 and the word of its
    ``pick``; infinity at a dead end.
    """
    rate = float(vertex_bias(params, graph, seed, instance, move, v, prev, v, -1, 1.0))
    if not is_bias(rate):
        bad[0], bad[1], bad[2] = 1, v, -1
        return np.inf, int64(0)
    row = graph.indptr[v]
    count = graph.indptr[v + 1] - row
    if rate == 0.0 or count == 0 or (SUMS and graph.sums[row + count - 1] == 0):
        return np.inf, int64(0)
    spot = row
    if UNIFORM:
        spot += int64(below(pick, uint64(count)))
    elif SUMS:
        spot += inverse_transform(graph.sums[row : row + count], count, pick)
    return now + wait / rate, spot


@njit(inline="always")
def play(keys, heap, time, walker):
    """Give the walker who moved last its next ``time``, and find who moves next.

    No branch depends on a time: half of them would be guessed wrong.
    """
    cell = uint64(heap.size + walker) >> uint64(1)
    while cell > uint64(0):
        other_time, other = keys[cell], heap[cell]
        beaten = (other_time < time) | ((other_time == time) & (other < walker))
        keys[cell], heap[cell] = (time, walker) if beaten else (other_time, other)
        time, walker = (other_time, other) if beaten else (time, walker)
        cell >>= uint64(1)
    keys[0], heap[0] = time, walker


@inner
def first_round(times, winners, keys, heap):
    """Play all matches of a tournament of walkers with these times; ``winners`` is room for as many numbers."""
    walkers = times.size
    for cell in range(walkers - 1, 0, -1):
        one, other = 2 * cell, 2 * cell + 1
        one = one - walkers if one >= walkers else winners[one]
        other = other - walkers if other >= walkers else winners[other]
        if times[other] < times[one] or (times[other] == times[one] and other < one):
            one, other = other, one
        winners[cell], keys[cell], heap[cell] = one, times[other], other
    heap[0] = winners[1] if walkers > 1 else 0
    keys[0] = times[heap[0]]


@njit(nogil=True)
def start_clocks(todo, first, graph, params, seed, walkers, keys, heap, bad):
    """Draw the first waiting times of the walkers of instances ``todo``, and play their first matches."""
    graph = borrowed(graph)
    times, winners = empty(heap.shape[1], np.float64), empty(heap.shape[1], np.int64)
    for i in todo:
        for w in range(heap.shape[1]):
            at = walkers[i, w, AT]
            w0, w1, w2, w3 = philox(seed, uint64(first + i), uint64(w), uint64(0))
            wait, pick = neg_log((w0 << SHIFT) | w1), (w2 << SHIFT) | w3
            times[w], walkers[i, w, SPOT] = next_event(
                params, graph, seed, first + i, w, 0, 0.0, -1, at, wait, pick, bad
            )
        first_round(times, winners, keys[i], heap[i])


@njit(inline="always")
def draw_waits(seed, instance, walker, move, waits, picks):
    """Draw what the next moves of a turn's walkers need.

    Nothing else is in the loops, so that they run in vector registers.
    """
    for j in range(TURN):
        w0, w1, w2, w3 = philox(seed, instance[j], uint64(walker[j]), uint64(move[j]))
        waits[j], picks[j] = float(((w0 << SHIFT) | w1) >> uint64(12)) + 0.5, (w2 << SHIFT) | w3
    for j in range(TURN):
        waits[j] = neg_log_of(waits[j])


@njit(nogil=True)
def run_clocks(todo, first, graph, params, seed, length, walkers, keys, heap, step, alive, src, dst, bad):
    """Draw events of instances ``todo``, at most TURN, until each is done or must wait.

    It has ``length`` events, all its walkers are stuck, or the next walker's row is not in memory.

    The instances take turns, an event each, so that none waits for the memory reads of another.
    """
    graph = borrowed(graph)
    room = 64
    biases, ctps, whole = empty(room, np.float64), empty(room, np.int64), empty(0, np.int64)
    lane, lanes = empty(TURN, np.int64), todo.size
    instance, walker, move = zeros(TURN, np.uint64), zeros(TURN, np.int64), zeros(TURN, np.int64)
    waits, picks = empty(TURN, np.float64), empty(TURN, np.uint64)
    for j in range(lanes):
        lane[j], instance[j] = todo[j], uint64(first + todo[j])
    while lanes > 0:
        for j in range(lanes - 1, -1, -1):
            i = lane[j]
            w = heap[i, 0]
            v = walkers[i, w, AT]
            over = step[i] == length or keys[i, 0] == np.inf
            if over or not is_loaded(graph, v):
                alive[i] = not over
                lanes -= 1
                lane[j], instance[j] = lane[lanes], instance[lanes]
                walker[j], move[j] = walker[lanes], move[lanes]
                continue
            position = walkers[i, w, SPOT] + away(graph, v)
            walker[j], move[j] = w, walkers[i, w, MOVE] + 1
            if not UNIFORM and not SUMS:
                row = row_of(graph, v)
                count = degree(graph, v)
                if count > room:
                    room = 2 * count
                    biases, ctps = empty(room, np.float64), empty(room, np.int64)
                prev, taken = walkers[i, w, PREV], walkers[i, w, MOVE]
                largest = weigh(params, graph, seed, first + i, taken, v, prev, v, row, whole, count, biases, bad)
                if largest < 0.0:
                    return
                if accumulate(biases, count, largest, ctps) == 0:
                    move[j] = NOWHERE
                    continue
                _, _, w2, w3 = philox(seed, uint64(first + i), uint64(w), uint64(taken))
                position = row + inverse_transform(ctps, count, (w2 << SHIFT) | w3)
            then = neighbor_at(graph, position)
            prefetch(graph.indptr, uint64(then))
            src[i, step[i]], dst[i, step[i]] = v, then
            step[i] += 1
            walkers[i, w, AT], walkers[i, w, PREV], walkers[i, w, MOVE] = then, v, move[j]
        draw_waits(seed, instance, walker, move, waits, picks)
        for j in range(lanes - 1, -1, -1):
            i, w = lane[j], walker[j]
            time = np.inf
            if move[j] != NOWHERE:
                at, prev, taken = walkers[i, w, AT], walkers[i, w, PREV], move[j]
                time, walkers[i, w, SPOT] = next_event(
                    params, graph, seed, first + i, w, taken, keys[i, 0], prev, at, waits[j], picks[j], bad
                )
                if bad[0]:
                    return
                prefetch_edge(graph, uint64(walkers[i, w, SPOT] + away(graph, at)))
            play(keys[i], heap[i], time, w)
            w = heap[i, 0]
            prefetch_edge(graph, uint64(walkers[i, w, SPOT] + away(graph, walkers[i, w, AT])))
