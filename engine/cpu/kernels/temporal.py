"""Steps of walks in time: the edges that may follow are a range of the row's order by time, found by two searches.

``near`` is the end of a range from which the walk comes, and biases count from there, or from the other end where FAR.
Each bias falls along a range, so an exponential one is drawn without any table: ranges of 1, 4, 16, ... edges are
chosen by the bias of their first edge times their size, a place within is uniform, and it is accepted by its bias over
that of the first: at least once in five trials on average, because what a range counts for is at most four times the
biases of the range before it. The biases are relative to the edge next in time, so no span of times is too long. The
twin of cuda/kernels/temporal.cuh.
"""

import math

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import at_edge, borrowed, neighbor_at, prefetch_edge, with_times
from csaw.engine.cpu.kernels.by_time import (
    BESIDE,
    FIELDS,
    L_BACK,
    L_BEGAN,
    L_COIN,
    L_COUNT,
    L_FOLLOWER,
    L_HERE,
    L_HIGH,
    L_LOW,
    L_NOW,
    L_OTHER,
    L_PLACE,
    L_POSITION,
    L_ROW,
    L_STEP,
    L_WALKER,
    L_WORD,
    event_follower,
    event_neighbor,
    event_time,
    find_candidates,
    place_at,
    time_of,
)
from csaw.engine.cpu.kernels.constants import BACKWARD, EVENTS, FAR, FROM_EDGES, HAS_UPDATE, PER_TIME, TIME_BIAS
from csaw.engine.cpu.kernels.memory import borrow, prefetch
from csaw.engine.cpu.kernels.times import keep_times, time_at
from csaw.engine.cpu.kernels.walk import after, borrowed_out, goes_on, put, put_source, save, with_path
from csaw.engine.draws.portable import exponential as csaw_exponential
from csaw.engine.draws.random import SHIFT, below_wide, draw64, fraction, philox
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_arrays import empty, full

LEVELS = 33  # most ranges of 1, 4, 16, ... edges in a row


@inner
def triangular(word, count):
    """A number below ``count`` with bias count - k for number k."""
    total = (count >> 1) * (count + 1) if count % 2 == 0 else count * ((count + 1) >> 1)
    target = int64(below_wide(word, uint64(total)))
    from_end = int64((math.sqrt(8.0 * float(target) + 1.0) - 1.0) / 2.0)
    while from_end * (from_end + 1) // 2 > target:
        from_end -= 1
    while (from_end + 1) * (from_end + 2) // 2 <= target:
        from_end += 1
    return count - 1 - from_end


@inner
def counted_from(low, high, k):
    """The place number k of a range, from the end that is preferred."""
    return high - 1 - k if BACKWARD != FAR else low + k


@inner
def lasting(graph, row, count, low, high, first, k, scale):
    """The exponential bias of number k of a range, relative to its number 0, which has the time ``first``."""
    time = time_of(graph, row, count, counted_from(low, high, k))
    apart = uint64(first) - uint64(time) if first > time else uint64(time) - uint64(first)
    return csaw_exponential(-(float(apart) / scale))


@inner
def exponential_place(graph, row, count, low, high, word, other, coin, seed, instance, step, scale, biases):
    """A number in a range by its exponential bias; ``biases`` [LEVELS] is room for those of the first edges.

    ``word``, ``other`` and ``coin`` are the words of the first trial.
    """
    size, bits = high - low, 0
    while size >> bits:
        bits += 1
    first = time_of(graph, row, count, counted_from(low, high, 0))
    unit, total, begin, wide, level = math.ldexp(1.0, 61 - bits), int64(0), int64(0), int64(1), 0
    while begin < size:
        bias = lasting(graph, row, count, low, high, first, begin, scale)
        if bias == 0.0:
            break
        biases[level] = bias
        total += int64(bias * float(min(wide, size - begin)) * unit)
        begin += wide
        wide *= 4
        level += 1
    draw = uint64(0)
    while True:
        target = int64(below_wide(word, uint64(total)))
        begin, wide, level = int64(0), int64(1), 0
        while True:
            whole, held = biases[level], min(wide, size - begin)
            target -= int64(whole * float(held) * unit)
            if target < 0:
                break
            begin += wide
            wide *= 4
            level += 1
        if held == 1:
            return begin
        number = begin + int64(below_wide(other, uint64(held)))
        if fraction(coin) * whole < lasting(graph, row, count, low, high, first, number, scale):
            return number
        draw += uint64(2)
        w0, w1, w2, w3 = philox(seed, instance, step, draw)
        word, other = (w0 << SHIFT) | w1, (w2 << SHIFT) | w3
        coin = draw64(seed, instance, step, draw + uint64(1))


@inner
def place_of_time(graph, row, count, low, high, word, other, linear):
    """A place by its time among the different ones of a range: uniform or linear in their rank, then any edge of it."""
    different, k = int64(0), low
    before = int64(0)
    while k < high:
        time = time_of(graph, row, count, k)
        different += k == low or time != before
        before = time
        k += 1
    rank = triangular(word, different) if linear else int64(below_wide(word, uint64(different)))
    wanted = different - 1 - rank if BACKWARD != FAR else rank
    begin, end, seen, k = low, high, int64(-1), low
    while k < high and end == high:
        time = time_of(graph, row, count, k)
        if k == low or time != before:
            seen += 1
            begin = k if seen == wanted else begin
            end = k if seen == wanted + 1 else end
        before = time
        k += 1
    return begin + int64(below_wide(other, uint64(end - begin)))


@inner
def draw_step_words(lanes, state, seed, first):
    """Draw the random words of a step of each lane.

    Nothing else is in the loop, so that it runs in vector registers.
    """
    for j in range(uint64(lanes)):
        instance, step = uint64(first + state[uint64(L_WALKER) + j]), uint64(state[uint64(L_STEP) + j])
        w0, w1, w2, w3 = philox(seed, instance, step, uint64(0))
        state[uint64(L_WORD) + j] = int64((w0 << SHIFT) | w1)
        if PER_TIME or TIME_BIAS == 2:
            state[uint64(L_OTHER) + j] = int64((w2 << SHIFT) | w3)
        if TIME_BIAS == 2:
            state[uint64(L_COIN) + j] = int64(draw64(seed, instance, step, uint64(1)))


@inner
def place_drawn(graph, state, j, low, high, seed, instance, step, scale, biases):
    """The place that the step of a lane draws of those from ``low`` up to ``high``, of which there is one."""
    row, count, size = state[L_ROW + j], state[L_COUNT + j], high - low
    word, other = uint64(state[L_WORD + j]), uint64(state[L_OTHER + j])
    if (FROM_EDGES and step == 0) or (TIME_BIAS == 0 and not PER_TIME):
        return low + int64(below_wide(word, uint64(size)))
    if PER_TIME:
        return place_of_time(graph, row, count, low, high, word, other, TIME_BIAS == 1)
    if TIME_BIAS == 1:
        return counted_from(low, high, triangular(word, size))
    coin = uint64(state[L_COIN + j])
    return counted_from(
        low,
        high,
        exponential_place(graph, row, count, low, high, word, other, coin, seed, instance, step, scale, biases),
    )


@inner
def draw_edges(lanes, state, graph, seed, first, scale, biases):
    """Set PLACE of each lane to that of the edge that its step draws, and POSITION to where it is read; -1 where none
    may follow.
    """
    draw_step_words(lanes, state, seed, first)
    for j in range(lanes):
        low, high, step = state[L_LOW + j], state[L_HIGH + j], uint64(state[L_STEP + j])
        state[L_PLACE + j] = state[L_POSITION + j] = -1
        if low < high:
            instance = uint64(first + state[L_WALKER + j])
            place = place_drawn(graph, state, j, low, high, seed, instance, step, scale, biases)
            state[L_PLACE + j] = place
            if EVENTS:
                state[L_POSITION + j] = state[L_ROW + j] + place
                prefetch(graph.events, uint64(4) * uint64(state[L_POSITION + j]))
    if EVENTS:
        return
    for j in range(lanes):
        place = state[L_PLACE + j]
        state[L_POSITION + j] = place_at(graph, state[L_ROW + j], state[L_COUNT + j], place) if place >= 0 else -1
    for j in range(lanes):
        if state[L_POSITION + j] >= 0:
            prefetch_edge(graph, uint64(state[L_POSITION + j]))


@inner
def take_walker(j, w, state, graph, walkers, out):
    """Let a lane go on with walker w."""
    state[L_WALKER + j], state[L_HERE + j], state[L_BACK + j] = w, walkers.at[w], walkers.previous[w]
    state[L_STEP + j], state[L_NOW + j], state[L_BEGAN + j] = walkers.step[w], walkers.clock[w, 0], walkers.clock[w, 1]
    state[L_FOLLOWER + j] = -1
    put_source(out, w, walkers.source[w])
    prefetch(graph.indptr, uint64(state[L_HERE + j]))


@inner
def edge_of(graph, state, j):
    """The position of the edge that a lane has drawn, where hooks may read its columns; 0 where there is none."""
    if EVENTS and HAS_UPDATE and state[L_PLACE + j] >= 0:
        return place_at(graph, state[L_ROW + j], state[L_COUNT + j], state[L_PLACE + j])
    return int64(0) if EVENTS else max(state[L_POSITION + j], 0)


@njit(nogil=True)
def walk_by_time(todo, first, graph, params, seed, length, walkers, out, bad):
    """Walks whose steps are drawn from the order of a row by time, BESIDE of them in turn."""
    graph, out, walkers = borrowed(graph), borrowed_out(out), borrow(walkers)
    state, biases, lanes = full(FIELDS, -1, np.int64), empty(LEVELS, np.float64), min(BESIDE, todo.size)
    taken, ended = lanes, 0
    for j in range(lanes):
        take_walker(j, todo[j], state, graph, walkers, out)
    while ended < todo.size:
        find_candidates(lanes, state, graph, walkers.rules)
        draw_edges(lanes, state, graph, seed, first, walkers.scale[0], biases)
        for j in range(lanes):
            w, v, t, position = state[L_WALKER + j], state[L_HERE + j], state[L_STEP + j], state[L_POSITION + j]
            if w < 0:
                continue
            now, began = state[L_NOW + j], state[L_BEGAN + j]
            seen = at_edge(with_times(with_path(graph, out, w), now, began), edge_of(graph, state, j))
            dst, follower = int64(-1), int64(-1)
            if position >= 0:
                dst = event_neighbor(graph, position) if EVENTS else neighbor_at(graph, position)
                now = event_time(graph, position) if EVENTS else time_at(graph, position)
                follower = event_follower(graph, position) if EVENTS else int64(-1)
            then = after(params, seen, seed, first + w, t, walkers.source[w], state[L_BACK + j], v, dst, 1.0, bad)
            if then >= 0:
                t += 1
                put(out, w, t, then)
                prefetch(graph.indptr, uint64(then))
                walkers.times[w, t - 1], began = now, now if t == 1 else began
            if goes_on(graph, v, then, t, length):
                state[L_HERE + j], state[L_BACK + j], state[L_STEP + j] = then, v, t
                state[L_NOW + j], state[L_BEGAN + j] = now, began
                state[L_FOLLOWER + j] = follower if then == dst else -1
                continue
            save(w, v, then, t, length, walkers.at, walkers.previous, walkers.step, walkers.alive, out)
            keep_times(w, then, t, length, now, began, walkers)
            state[L_WALKER + j] = -1
            ended += 1
            if taken < todo.size:
                take_walker(j, todo[taken], state, graph, walkers, out)
                taken += 1
