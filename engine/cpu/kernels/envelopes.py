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
    L_COUNT,
    L_ENVELOPE,
    L_HIGH,
    L_LOW,
    L_NEXT,
    L_ROW,
    request_event,
    time_of,
)
from csaw.engine.cpu.kernels.constants import BACKWARD, FAR
from csaw.engine.cpu.kernels.memory import lowest
from csaw.engine.draws.portable import LN2, halved
from csaw.engine.draws.random import below_wide, fraction
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
