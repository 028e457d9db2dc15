"""Biases of the edges in a range of a row's order by time.

Biases count from ``near``, the end of a range from which the walk comes, or from the other end where FAR. Exponential
ones are drawn under an envelope: see envelopes.py. Biases of different times draw edges until one is the first of its
time, so that no row is read. The twin of cuda/kernels/temporal.cuh.
"""

from numba import int64, uint64

from csaw.engine.cpu.kernels.by_time import L_COUNT, L_OTHER, L_ROW, L_WORD, time_of
from csaw.engine.cpu.kernels.constants import FROM_EDGES, PER_TIME, TIME_BIAS
from csaw.engine.cpu.kernels.envelopes import counted_from, envelope_of, is_accepted, number_under
from csaw.engine.draws.random import SHIFT, below_wide, draw64, geometric, philox, triangular
from csaw.partition.base.compile import inner

FIRST_TRIES, READ_ALL = (
    32,
    1 << 30,
)  # words that look for an edge that is the first of its time, and the number of the next


@inner(forceinline=True)
def exponential_place(graph, row, count, low, high, word, coin, seed, instance, step, scale):
    """A number in a range by its exponential bias: see envelopes.py.

    ``word`` and ``coin`` are the words of the first trial.
    """
    first, draw = time_of(graph, row, count, counted_from(low, high, 0)), uint64(0)
    envelope = envelope_of(graph, row, count, low, high, first, scale)
    while True:
        number, halvings = number_under(envelope, high - low, word)
        if number == 0:
            return number
        time = time_of(graph, row, count, counted_from(low, high, number))
        if is_accepted(coin, halvings, first, time, scale):
            return number
        draw += uint64(1)
        w0, w1, w2, w3 = philox(seed, instance, step, draw)
        word, coin = (w0 << SHIFT) | w1, (w2 << SHIFT) | w3


@inner
def number_of_item(graph, row, count, low, high, items, word, seed, instance, step, draw):
    """Any number below ``items`` that is the first of its time in a range, or the size of it; -1 where FIRST_TRIES
    random words, from ``word`` on, find none.
    """
    size, rest = high - low, draw + uint64(FIRST_TRIES)
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
        draw += uint64(FIRST_TRIES)
        word = draw64(seed, instance, step, draw)
        other = number_of_item(graph, row, count, low, high, items, word, seed, instance, step, draw)
        if one != other or one < 0:
            return min(one, other)
        draw += uint64(FIRST_TRIES)
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
def place_drawn(graph, state, j, low, high, seed, instance, step, scale):
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
    number = exponential_place(graph, row, count, low, high, word, other, seed, instance, step, scale)
    return counted_from(low, high, number)
