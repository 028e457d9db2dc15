"""An envelope over the exponential biases of a range of edges by time, by which they are drawn without any table.

Number 0 of a range is a level of its own; level j has the numbers from 2^(j-1) up to 2^j. Biases fall along a range, so
none of a level is above that of its first number, which has halved a whole number of times or more since number 0: at
most LAST_HALVING of them count. An edge is drawn in proportion to the envelope, from integers alone, and accepted by
its bias over that: at least once in four trials on average where a row has less than 2^30 edges, because what a level
counts for is at most four times the biases of the level before, and twice in four where times lie as at random. See
Devroye, Non-Uniform Random Variate Generation (1986), section II.3.

The halvings of all levels make one word, in which bit ``halvings + j`` is set for level j: it is read of the row once
for each step, or once for each edge that such a step may follow. Biases are relative to number 0, so that no span of
times is too long. The twin of cuda/kernels/envelopes.cuh.
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
    """A number below ``size`` by the envelope of a range of so many edges, and the halvings there, which are int64."""
    total, level, rest, held = uint64(0), uint64(0), uint64(envelope), uint64(1)
    begin = uint64(0)
    while rest != uint64(0):
        total += held << (uint64(LAST_HALVING) + level - lowest(rest))
        rest &= rest - uint64(1)
        begin, level = begin + held, level + uint64(1)
        held = min(begin, uint64(size) - begin)
    target = below_wide(word, total)
    level, rest, held, begin = uint64(0), uint64(envelope), uint64(1), uint64(0)
    while True:
        shift = uint64(LAST_HALVING) + level - lowest(rest)
        if target < held << shift:
            return int64(begin + (target >> shift)), int64(uint64(LAST_HALVING) - shift)
        target -= held << shift
        rest &= rest - uint64(1)
        begin, level = begin + held, level + uint64(1)
        held = min(begin, uint64(size) - begin)


@inner(forceinline=True)
def is_accepted(coin, halvings, first, time, scale):
    """Whether the edge of a time is taken where the envelope has ``halvings``: by its bias over that."""
    return fraction(uint64(coin)) < halved(halvings_between(first, time, scale) - float(halvings))
