"""An envelope over the exponential biases of a range of edges by time, under which one is drawn without any table.

Number 0 of a range is a level of its own, and level j has the numbers from 2^(j-1) up to 2^j. Biases fall along it, so
the first of a level is the largest there, and the envelope of the level is 2^-h, where h counts the whole times that
biases have halved until then, at most LAST_HALVING. A number is drawn in proportion to the envelope, by integers alone,
and accepted by its bias over the envelope: at least once in five trials on average in a row of up to 2^30 edges, as a
level counts for at most four times the biases of the level before; where times lie at random, once in 1.3 to 1.8.
(Devroye, Non-Uniform Random Variate Generation, 1986, section II.3.)

The h of all levels make one word, in which bit h + j is set for level j. A row is read for it once in a step, or once
for each edge that such a step may follow. Biases are relative to number 0, so no span of times is too long. The twin of
cuda/kernels/envelopes.cuh.
"""

from numba import int64, uint64

from csaw.engine.cpu.kernels.by_time import (
    L_BEGIN,
    L_COUNT,
    L_ENVELOPE,
    L_HALVINGS,
    L_HIGH,
    L_LEVEL,
    L_LOW,
    L_NEXT,
    L_NUMBER,
    L_OTHER,
    L_PLACE,
    L_POSITION,
    L_REST,
    L_ROW,
    L_SHIFT,
    L_STEP,
    L_TAKEN,
    L_TARGET,
    L_TIME,
    L_WORD,
    event_time,
    request_event,
    time_of,
)
from csaw.engine.cpu.kernels.constants import BACKWARD, FAR, FROM_EDGES, PER_TIME, TIME_BIAS
from csaw.engine.cpu.kernels.memory import borrow, lowest
from csaw.engine.draws.portable import LN2, halved
from csaw.engine.draws.random import SHIFT, below_wide, draw64, fraction, geometric, philox, triangular
from csaw.partition.base.compile import inner

LAST_HALVING = 31  # with 33 levels, which a row of 2^32 edges has, it fills the word


@inner(forceinline=True)
def counted_from(low, high, k):
    """The place number k of a range, from the end that is preferred."""
    return high - 1 - k if BACKWARD != FAR else low + k


@inner(forceinline=True)
def halvings_between(first, time, scale):
    """How often an exponential bias halves from the time ``first`` to another, in whichever direction: a float64."""
    apart = uint64(first) - uint64(time) if first > time else uint64(time) - uint64(first)
    return float(apart) / (scale * LN2)


@inner(forceinline=True)
def envelope_of(graph, row, count, low, high, first, scale):
    """The envelope (int64, its bits) of a range that has an edge, whose number 0 has the time ``first``."""
    envelope, end, begin = uint64(1), uint64(1), int64(1)
    while begin < high - low:
        halvings = halvings_between(first, time_of(graph, row, count, counted_from(low, high, begin)), scale)
        whole = uint64(halvings) if halvings < float(LAST_HALVING) else uint64(LAST_HALVING)
        envelope |= uint64(1) << (whole + end)
        end += uint64(1)
        begin *= 2
    return int64(envelope)


@inner(forceinline=True)
def request_envelope(graph, state, j):
    """Ask for the memory lines that the envelope of a lane's range reads, of edges in the order by time."""
    low, high, begin = state[L_LOW + j], state[L_HIGH + j], int64(1)
    if low < high:
        request_event(graph, state[L_ROW + j] + counted_from(low, high, 0))
    while begin < high - low:
        request_event(graph, state[L_ROW + j] + counted_from(low, high, begin))
        begin *= 2


@inner(forceinline=True)
def find_envelope(graph, state, j, scale):
    """Set ENVELOPE and NEXT of a lane by its range; 0 where that has no edge."""
    row, count, low, high = state[L_ROW + j], state[L_COUNT + j], state[L_LOW + j], state[L_HIGH + j]
    state[L_ENVELOPE + j] = state[L_NEXT + j] = 0
    if low < high:
        state[L_NEXT + j] = time_of(graph, row, count, counted_from(low, high, 0))
        state[L_ENVELOPE + j] = envelope_of(graph, row, count, low, high, state[L_NEXT + j], scale)


@inner
def find_envelopes(lanes, state, graph, scale):
    """Set ENVELOPE and NEXT of lanes by their ranges of edges in the order by time."""
    for j in range(lanes):
        request_envelope(graph, state, j)
    for j in range(lanes):
        find_envelope(graph, state, j, scale)


@inner(forceinline=True)
def number_under(envelope, size, word):
    """A number below ``size`` by the envelope of a range of so many edges, and the halvings there, which are int64.

    Levels without halvings, which come first, count as one.
    """
    size, levels = uint64(size), lowest(~uint64(envelope))
    before, first = uint64(envelope) >> levels << levels, min(uint64(1) << (levels - uint64(1)), size)
    begin, rest, shift = first, before, uint64(LAST_HALVING) + levels
    total = first << uint64(LAST_HALVING)
    while rest != uint64(0):
        held = min(begin, size - begin)
        total += held << (shift - lowest(rest))
        rest &= rest - uint64(1)
        begin += held
        shift += uint64(1)
    target = below_wide(word, total)
    if target < first << uint64(LAST_HALVING):
        return int64(target >> uint64(LAST_HALVING)), int64(0)
    target -= first << uint64(LAST_HALVING)
    begin, rest, shift = first, before, uint64(LAST_HALVING) + levels
    while True:
        held, by = min(begin, size - begin), shift - lowest(rest)
        if target < held << by:
            return int64(begin + (target >> by)), int64(uint64(LAST_HALVING) - by)
        target -= held << by
        rest &= rest - uint64(1)
        begin += held
        shift += uint64(1)


@inner(forceinline=True)
def is_accepted(coin, halvings, first, time, scale):
    """Whether the edge of a time is taken where the envelope has ``halvings``: by its bias over that."""
    return fraction(uint64(coin)) < halved(halvings_between(first, time, scale) - float(halvings))


# Biases of the edges in a range of a row's order by time.
#
# Biases count from `near`, the end of a range from which the walk comes, or from the other end where FAR. Exponential
# ones are drawn under an envelope: see above. Biases of different times draw edges until one is the first of its
# time, so that no row is read. The twin of cuda/kernels/temporal.cuh.

FIRST_TRIES, READ_ALL = (
    32,
    1 << 30,
)  # words that look for an edge that is the first of its time, and the number of the next


@inner(forceinline=True)
def exponential_place(graph, row, count, low, high, word, coin, seed, instance, step, scale):
    """A number in a range by its exponential bias, under its envelope.

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


# Trials under envelopes, of all lanes of a group: the arithmetic is loops over lanes with nothing else in them, so it
# runs in vector registers and no branch is guessed wrong. They give what number_under and is_accepted give one by one.

LEVELS = 34  # most levels of an envelope, and one: of each lane there is room for so many
TOP = 9223372036854775808  # a bit to find where no other is set


@inner(forceinline=True)
def request_envelopes(lanes, state, graph):
    """Ask for the memory that the envelopes of lanes are made of, where their last edges do not know them."""
    for j in range(lanes):
        if state[L_ENVELOPE + j] == 0:
            request_envelope(graph, state, j)


@inner(forceinline=True)
def begin_levels(lanes, state, sums, shifts):
    """Put lanes behind the levels without halvings, which count as one; returns whether any has another level."""
    going = uint64(0)
    for j in range(uint64(lanes)):
        envelope = uint64(state[uint64(L_ENVELOPE) + j]) | uint64(1)
        size = uint64(max(state[uint64(L_HIGH) + j] - state[uint64(L_LOW) + j], 1))
        levels = lowest(~envelope)
        first, rest = min(uint64(1) << (levels - uint64(1)), size), envelope >> levels << levels
        sums[j], shifts[j] = first << uint64(LAST_HALVING), uint64(LAST_HALVING)
        state[uint64(L_REST) + j], state[uint64(L_BEGIN) + j] = int64(rest), int64(first)
        state[uint64(L_SHIFT) + j] = int64(uint64(LAST_HALVING) + levels)
        going |= rest
    return going != uint64(0)


@inner(forceinline=True)
def add_level(lanes, state, sums, shifts, level):
    """Add the level of a number to the running ``sums`` of lanes, and note its ``shifts``; returns whether any lane has
    another one.
    """
    going, before, here = uint64(0), uint64(level - 1) * uint64(lanes), uint64(level) * uint64(lanes)
    for j in range(uint64(lanes)):
        rest, begin = uint64(state[uint64(L_REST) + j]), uint64(state[uint64(L_BEGIN) + j])
        size = uint64(max(state[uint64(L_HIGH) + j] - state[uint64(L_LOW) + j], 1))
        ended, shift = rest == uint64(0), uint64(state[uint64(L_SHIFT) + j])
        by = shift - lowest(rest | uint64(TOP))
        by, held = uint64(0) if ended else by, uint64(0) if ended else min(begin, size - begin)
        sums[here + j], shifts[here + j] = sums[before + j] + (held << by), by
        rest &= rest - uint64(1)
        state[uint64(L_REST) + j], state[uint64(L_BEGIN) + j] = int64(rest), int64(begin + held)
        state[uint64(L_SHIFT) + j] = int64(shift + uint64(1))
        going |= rest
    return going != uint64(0)


@inner(forceinline=True)
def number_lanes(lanes, state, sums, shifts):
    """Set NUMBER and HALVINGS of lanes as number_under does; ``sums`` and ``shifts`` [LEVELS * lanes] are room."""
    last, going = 0, begin_levels(lanes, state, sums, shifts)
    while going:
        last += 1
        going = add_level(lanes, state, sums, shifts, last)
    for j in range(uint64(lanes)):
        target = below_wide(uint64(state[uint64(L_WORD) + j]), sums[uint64(last) * uint64(lanes) + j])
        state[uint64(L_TARGET) + j], state[uint64(L_LEVEL) + j] = int64(target), 0
    for level in range(last):
        for j in range(uint64(lanes)):
            beyond = uint64(state[uint64(L_TARGET) + j]) >= sums[uint64(level) * uint64(lanes) + j]
            state[uint64(L_LEVEL) + j] += 1 if beyond else 0
    for j in range(lanes):
        level, first = state[L_LEVEL + j], sums[j] >> uint64(LAST_HALVING)
        before = sums[(level - 1) * lanes + j] if level > 0 else uint64(0)
        begin = first << uint64(level - 1) if level > 0 else uint64(0)
        by = shifts[level * lanes + j]
        state[L_NUMBER + j] = int64(begin + ((uint64(state[L_TARGET + j]) - before) >> by))
        state[L_HALVINGS + j] = int64(uint64(LAST_HALVING) - by)


@inner(forceinline=True)
def place_trials(lanes, state, graph, scale, room):
    """Set PLACE of lanes to those of edges under their envelopes; -1 where none may follow.

    ``room`` uint64 [2 * LEVELS * lanes]: for sums and shifts of number_lanes.
    """
    for j in range(lanes):
        if state[L_ENVELOPE + j] == 0:
            find_envelope(graph, state, j, scale)
    number_lanes(lanes, state, borrow(room[: LEVELS * lanes]), borrow(room[LEVELS * lanes :]))
    for j in range(lanes):
        low, high = state[L_LOW + j], state[L_HIGH + j]
        place = counted_from(low, high, state[L_NUMBER + j])
        if FROM_EDGES and state[L_STEP + j] == 0:  # any edge
            place = low + int64(below_wide(uint64(state[L_WORD + j]), uint64(max(high - low, 0))))
            state[L_NUMBER + j] = 0
        state[L_PLACE + j] = place if low < high else -1


@inner(forceinline=True)
def judge_trials(lanes, state, graph, scale):
    """Set TAKEN of lanes to whether they take the edges of their trials; number 0 is always taken, as is the end of a
    walk.
    """
    for j in range(lanes):
        position = state[L_POSITION + j]
        state[L_TIME + j] = event_time(graph, position) if position >= 0 else state[L_NEXT + j]
    for j in range(uint64(lanes)):
        coin, halvings = state[uint64(L_OTHER) + j], state[uint64(L_HALVINGS) + j]
        following, time = state[uint64(L_NEXT) + j], state[uint64(L_TIME) + j]
        taken = is_accepted(coin, halvings, following, time, scale) or state[uint64(L_NUMBER) + j] == 0
        state[uint64(L_TAKEN) + j] = 1 if taken or state[uint64(L_POSITION) + j] < 0 else 0
