"""Trials under envelopes, of all lanes of a group: the arithmetic is loops over lanes with nothing else in them, so it
runs in vector registers and no branch is guessed wrong. They give what number_under and is_accepted give one by one, as
envelopes.py has it.
"""

from numba import int64, uint64

from csaw.engine.cpu.kernels.by_time import (
    L_BEGIN,
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
    L_SHIFT,
    L_STEP,
    L_TAKEN,
    L_TARGET,
    L_TIME,
    L_WORD,
    event_time,
)
from csaw.engine.cpu.kernels.constants import FROM_EDGES
from csaw.engine.cpu.kernels.envelopes import (
    LAST_HALVING,
    counted_from,
    find_envelope,
    is_accepted,
    request_envelope,
)
from csaw.engine.cpu.kernels.memory import borrow, lowest
from csaw.engine.draws.random import below_wide
from csaw.partition.base.compile import inner

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
