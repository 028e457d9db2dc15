"""Steps of walks in time: the edges that may follow are a range of the row's order by time, found by two searches.

``near`` is the end of a range from which the walk comes, and biases count from there, or from the other end where FAR.
Each bias falls along a range, so an exponential one is drawn without any table: ranges of 1, 4, 16, ... edges are
chosen by the bias of their first edge times their size, a place within is uniform, and it is accepted by its bias over
that of the first: at least once in five trials on average, because what a range counts for is at most four times the
biases of the range before it. The biases are relative to the edge next in time, so no span of times is too long.

Biases of different times draw edges until one is the first of its time, so that no row is read. The twin of
cuda/kernels/temporal.cuh.
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
    L_COUNT,
    L_EDGE,
    L_HERE,
    L_HIGH,
    L_LOW,
    L_NOW,
    L_PLACE,
    L_POSITION,
    L_ROW,
    L_STEP,
    L_WALKER,
    find_candidates,
    place_at,
    time_of,
)
from csaw.engine.cpu.kernels.constants import BACKWARD, FAR, FOLLOWED, FROM_EDGES, PER_TIME, TIME_BIAS
from csaw.engine.cpu.kernels.memory import borrow, prefetch
from csaw.engine.cpu.kernels.times import keep_times, time_at
from csaw.engine.cpu.kernels.walk import after, borrowed_out, goes_on, put, put_source, save, with_path
from csaw.engine.draws.portable import exponential as csaw_exponential
from csaw.engine.draws.random import SHIFT, below_wide, draw64, fraction, geometric, philox, triangular
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_arrays import full

TRIES, READ_ALL = 32, 1 << 30  # words that look for an edge that is the first of its time, and the number of the next


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
def exponential_place(graph, row, count, low, high, seed, instance, step, scale):
    """A number in a range by its exponential bias."""
    size, bits = high - low, 0
    while size >> bits:
        bits += 1
    first = time_of(graph, row, count, counted_from(low, high, 0))
    unit, total, begin, wide = math.ldexp(1.0, 61 - bits), int64(0), int64(0), int64(1)
    while begin < size:
        bias = lasting(graph, row, count, low, high, first, begin, scale)
        if bias == 0.0:
            break
        total += int64(bias * float(min(wide, size - begin)) * unit)
        begin += wide
        wide *= 4
    draw = uint64(0)
    while True:
        w0, w1, w2, w3 = philox(seed, instance, step, draw)
        target = int64(below_wide((w0 << SHIFT) | w1, uint64(total)))
        begin, wide = int64(0), int64(1)
        while True:
            whole = lasting(graph, row, count, low, high, first, begin, scale)
            held = min(wide, size - begin)
            target -= int64(whole * float(held) * unit)
            if target < 0:
                break
            begin += wide
            wide *= 4
        if held == 1:
            return begin
        number = begin + int64(below_wide((w2 << SHIFT) | w3, uint64(held)))
        w0, w1, _, _ = philox(seed, instance, step, draw + uint64(1))
        if fraction((w0 << SHIFT) | w1) * whole < lasting(graph, row, count, low, high, first, number, scale):
            return number
        draw += uint64(2)


@inner
def number_of_item(graph, row, count, low, high, items, word, seed, instance, step, draw):
    """Any number below ``items`` that is the first of its time in a range, or the size of it; -1 where TRIES random
    words, from ``word`` on, find none.
    """
    size, rest = high - low, draw + uint64(TRIES)
    while True:
        k = int64(below_wide(word, uint64(items)))
        if k == 0 or k == size:
            return k
        time = time_of(graph, row, count, counted_from(low, high, k))
        if time_of(graph, row, count, counted_from(low, high, k - 1)) != time:
            return k
        draw += uint64(1)
        if draw == rest:
            return int64(-1)
        word = draw64(seed, instance, step, draw)


@inner
def first_of_time(graph, row, count, low, high, word, seed, instance, step, linear):
    """The first number of a time in a range, uniform or linear in the rank of the time; -1 where too many words find
    none.

    A rank is linear if it is the less of two different ones, of which one may stand behind all: of d ranks and that
    one, as many pairs begin with rank r as biases linear have for it, d - r.
    """
    if not linear:
        return number_of_item(graph, row, count, low, high, high - low, word, seed, instance, step, uint64(0))
    draw, items = uint64(0), high - low + 1
    while True:
        one = number_of_item(graph, row, count, low, high, items, word, seed, instance, step, draw)
        draw += uint64(TRIES)
        word = draw64(seed, instance, step, draw)
        other = number_of_item(graph, row, count, low, high, items, word, seed, instance, step, draw)
        if one != other or one < 0:
            return min(one, other)
        draw += uint64(TRIES)
        word = draw64(seed, instance, step, draw)


@inner
def place_of_time(graph, row, count, low, high, word, last, seed, instance, step, linear):
    """A place by its time among the different ones of a range: uniform or linear in their rank, then any edge of it.

    Where many edges share few times, so that words find no first one, all are read.
    """
    size = high - low
    begin = first_of_time(graph, row, count, low, high, word, seed, instance, step, linear)
    if begin < 0:
        different, before, k = int64(0), int64(0), int64(0)
        while k < size:
            time = time_of(graph, row, count, counted_from(low, high, k))
            different += k == 0 or time != before
            before = time
            k += 1
        word = draw64(seed, instance, step, uint64(READ_ALL))
        rank = triangular(word, different) if linear else int64(below_wide(word, uint64(different)))
        return place_of_near_time(graph, row, count, low, high, rank, last)
    time, end = time_of(graph, row, count, counted_from(low, high, begin)), begin + 1
    while end < size and time_of(graph, row, count, counted_from(low, high, end)) == time:
        end += 1
    return counted_from(low, high, begin + int64(below_wide(last, uint64(end - begin))))


@inner
def place_of_near_time(graph, row, count, low, high, rank, other):
    """A place of the time that has this rank, modulo their number, among the different ones of a range: any of its
    edges. Times beyond it are not read.
    """
    size, seen, begin, k = high - low, int64(0), int64(0), int64(0)
    while True:
        begin, time = k, time_of(graph, row, count, counted_from(low, high, k))
        while k < size and time_of(graph, row, count, counted_from(low, high, k)) == time:
            k += 1
        if seen == rank:
            return counted_from(low, high, begin + int64(below_wide(other, uint64(k - begin))))
        seen += 1
        if k == size:
            rank, seen, k = rank % seen, int64(0), int64(0)


@inner
def place_drawn(graph, row, count, low, high, seed, instance, step, any_edge, scale):
    """The place that a step draws of those from ``low`` up to ``high``, of which there is one."""
    w0, w1, w2, w3 = philox(seed, instance, step, uint64(0))
    word, size = (w0 << SHIFT) | w1, high - low
    if any_edge or (TIME_BIAS == 0 and not PER_TIME):
        return low + int64(below_wide(word, uint64(size)))
    if TIME_BIAS == 3 and PER_TIME:
        rank = geometric(word, scale)
        return place_of_near_time(graph, row, count, low, high, rank, (w2 << SHIFT) | w3)
    if TIME_BIAS == 3:
        return counted_from(low, high, geometric(word, scale) % size)
    if PER_TIME:
        last = (w2 << SHIFT) | w3
        return place_of_time(graph, row, count, low, high, word, last, seed, instance, step, TIME_BIAS == 1)
    if TIME_BIAS == 1:
        return counted_from(low, high, triangular(word, size))
    return counted_from(low, high, exponential_place(graph, row, count, low, high, seed, instance, step, scale))


@inner
def draw_edges(lanes, state, graph, seed, first, scale):
    """Set POSITION of each lane to the edge that its step draws; -1 where none may follow."""
    for j in range(lanes):
        low, high, step = state[L_LOW + j], state[L_HIGH + j], state[L_STEP + j]
        state[L_PLACE + j] = -1
        if low < high:
            instance, any_edge = uint64(first + state[L_WALKER + j]), FROM_EDGES and step == 0
            row, count = state[L_ROW + j], state[L_COUNT + j]
            state[L_PLACE + j] = place_drawn(
                graph, row, count, low, high, seed, instance, uint64(step), any_edge, scale
            )
    for j in range(lanes):
        place = state[L_PLACE + j]
        state[L_POSITION + j] = place_at(graph, state[L_ROW + j], state[L_COUNT + j], place) if place >= 0 else -1
    for j in range(lanes):
        if state[L_POSITION + j] >= 0:
            prefetch_edge(graph, uint64(state[L_POSITION + j]))
            if FOLLOWED:
                prefetch(graph.followers, uint64(state[L_POSITION + j]))


@inner
def take_walker(j, w, state, graph, walkers, out):
    """Let a lane go on with walker w."""
    state[L_WALKER + j], state[L_HERE + j], state[L_BACK + j] = w, walkers.at[w], walkers.previous[w]
    state[L_STEP + j], state[L_NOW + j], state[L_BEGAN + j] = walkers.step[w], walkers.clock[w, 0], walkers.clock[w, 1]
    state[L_EDGE + j] = -1
    put_source(out, w, walkers.source[w])
    prefetch(graph.indptr, uint64(state[L_HERE + j]))


@njit(nogil=True)
def walk_by_time(todo, first, graph, params, seed, length, walkers, out, bad):
    """Walks whose steps are drawn from the order of a row by time, BESIDE of them in turn."""
    graph, out, walkers = borrowed(graph), borrowed_out(out), borrow(walkers)
    state, lanes = full(FIELDS, -1, np.int64), min(BESIDE, todo.size)
    taken, ended = 0, 0
    while ended < todo.size:
        for j in range(lanes):
            if state[L_WALKER + j] < 0 and taken < todo.size:
                take_walker(j, todo[taken], state, graph, walkers, out)
                taken += 1
        find_candidates(lanes, state, graph, walkers.rules)
        draw_edges(lanes, state, graph, seed, first, walkers.scale[0])
        for j in range(lanes):
            w, v, t, position = state[L_WALKER + j], state[L_HERE + j], state[L_STEP + j], state[L_POSITION + j]
            if w < 0:
                continue
            now, began, dst = state[L_NOW + j], state[L_BEGAN + j], int64(-1)
            seen = at_edge(with_times(with_path(graph, out, w), now, began), max(position, 0))
            if position >= 0:
                dst, now = neighbor_at(graph, position), time_at(graph, position)
            then = after(params, seen, seed, first + w, t, walkers.source[w], state[L_BACK + j], v, dst, 1.0, bad)
            if then >= 0:
                t += 1
                put(out, w, t, then)
                prefetch(graph.indptr, uint64(then))
                walkers.times[w, t - 1], began = now, now if t == 1 else began
            if goes_on(graph, v, then, t, length):
                state[L_HERE + j], state[L_BACK + j], state[L_STEP + j] = then, v, t
                state[L_NOW + j], state[L_BEGAN + j] = now, began
                state[L_EDGE + j] = position if then == dst else -1
                continue
            save(w, v, then, t, length, walkers.at, walkers.previous, walkers.step, walkers.alive, out)
            keep_times(w, then, t, length, now, began, walkers)
            state[L_WALKER + j] = -1
            ended += 1
