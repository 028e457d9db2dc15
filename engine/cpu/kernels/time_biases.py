"""Biases of the edges in a range of a row's order by time.

``near`` is the end of a range from which the walk comes, and biases count from there, or from the other end where FAR.
Each bias falls along a range, so an exponential one is drawn without any table: ranges of 1, 4, 16, ... edges are
chosen by the bias of their first edge times their size, a place within is uniform, and it is accepted by its bias over
that of the first: at least once in five trials on average, because what a range counts for is at most four times the
biases of the range before it. The biases are relative to the edge next in time, so no span of times is too long.

Biases of different times draw edges until one is the first of its time, so that no row is read. The twin of
cuda/kernels/temporal.cuh.
"""

import math

from numba import int64, uint64

from csaw.engine.cpu.kernels.by_time import L_COIN, L_COUNT, L_OTHER, L_ROW, L_WORD, time_of
from csaw.engine.cpu.kernels.constants import BACKWARD, FAR, FROM_EDGES, PER_TIME, TIME_BIAS
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.engine.draws.portable import exponential as csaw_exponential
from csaw.engine.draws.random import SHIFT, below_wide, draw64, fraction, geometric, philox, triangular
from csaw.partition.base.compile import inner

LEVELS = 33  # most ranges of 1, 4, 16, ... edges in a row
TRIES, READ_ALL = 32, 1 << 30  # words that look for an edge that is the first of its time, and the number of the next


@inner(forceinline=True)
def counted_from(low, high, k):
    """The place number k of a range, from the end that is preferred."""
    return high - 1 - k if BACKWARD != FAR else low + k


@inner(forceinline=True)
def lasting(graph, row, count, low, high, first, k, scale):
    """The exponential bias of number k of a range, relative to its number 0, which has the time ``first``."""
    time = time_of(graph, row, count, counted_from(low, high, k))
    apart = uint64(first) - uint64(time) if first > time else uint64(time) - uint64(first)
    return csaw_exponential(-(float(apart) / scale))


@inner(forceinline=True)
def request_biases(graph, row, low, high):
    """Ask for the memory lines of the times that an exponential bias of a range reads first."""
    begin, wide = int64(0), int64(1)
    while begin < high - low:
        prefetch(graph.events, uint64(4) * uint64(row + counted_from(low, high, begin)))
        begin += wide
        wide *= 4


@inner(forceinline=True)
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


@inner(forceinline=True)
def place_drawn(graph, state, j, low, high, seed, instance, step, scale, biases):
    """The place that the step of a lane draws of those from ``low`` up to ``high``, of which there is one."""
    row, count, size = state[L_ROW + j], state[L_COUNT + j], high - low
    word, other = uint64(state[L_WORD + j]), uint64(state[L_OTHER + j])
    if FROM_EDGES and step == 0:
        return low + int64(below_wide(word, uint64(size)))
    if TIME_BIAS == 3 and PER_TIME:
        return place_of_near_time(graph, row, count, low, high, geometric(word, scale), other)
    if TIME_BIAS == 3:
        return counted_from(low, high, geometric(word, scale) % size)
    if PER_TIME:
        return place_of_time(graph, row, count, low, high, word, other, seed, instance, step, TIME_BIAS == 1)
    if TIME_BIAS == 1:
        return counted_from(low, high, triangular(word, size))
    coin = uint64(state[L_COIN + j])
    return counted_from(
        low,
        high,
        exponential_place(graph, row, count, low, high, word, other, coin, seed, instance, step, scale, biases),
    )
