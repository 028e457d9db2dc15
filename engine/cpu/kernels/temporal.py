"""Steps of walks in time: the edges that may follow are a range of the row's order by time, found by two searches.

A place k of a row is that of the edge which is k-th by time. ``near`` is the end of a range from which the walk comes,
and biases count from there, or from the other end where FAR. Each bias falls along a range, so an exponential one is
drawn without any table: ranges of 1, 4, 16, ... edges are chosen by the bias of their first edge times their size, a
place within is uniform, and it is accepted by its bias over that of the first: at least once in five trials on average,
because what a range counts for is at most four times the biases of the range before it. The biases are relative to the
edge next in time, so no span of times is too long. The twin of cuda/kernels/temporal.cuh.
"""

import math

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import at_edge, degree, neighbor_at, prefetch_edge, row_of, with_times
from csaw.engine.cpu.kernels.constants import (
    BACKWARD,
    FAR,
    FROM_EDGES,
    HAS_LAST,
    HAS_START,
    HAS_WINDOW,
    PER_TIME,
    STRICT,
    TIME_BIAS,
    TIME_ORDER,
)
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.engine.cpu.kernels.times import keep_times, time_at
from csaw.engine.cpu.kernels.walk import after, goes_on, put, put_source, save, with_path
from csaw.engine.draws.portable import exponential as csaw_exponential
from csaw.engine.draws.random import SHIFT, below_wide, fraction, philox
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_arrays import full

LEAST, LARGEST = -9223372036854775808, 9223372036854775807
BESIDE, FIELDS = (
    32,
    480,
)  # walkers side by side, and all numbers of theirs, which are 32 of each kind from these places on:
L_WALKER, L_HERE, L_BACK, L_STEP, L_NOW, L_BEGAN = (
    0,
    32,
    64,
    96,
    128,
    160,
)  # -1 for none; where it is, and was; its clock
L_ROW, L_COUNT, L_LOW, L_HIGH, L_GOAL, L_LAST = 192, 224, 256, 288, 320, 352  # its row, and what is searched for there
L_FIRST, L_PLACE, L_POSITION = 384, 416, 448  # a place in the order by time, and the edge there


@inner(forceinline=True)
def place_at(graph, row, count, k):
    """The position of the edge that is k-th by time in a row."""
    return row + min(int64(graph.edge_columns[TIME_ORDER][row + k]), count - 1)


@inner
def times_allowed(now, known, rules):
    """The least and the largest time of an edge that may follow one of time ``now``, if any is ``known``."""
    low, high = int64(LEAST), int64(LARGEST)
    if known and not BACKWARD:
        if STRICT and now == LARGEST:
            return int64(1), int64(0)
        low = now + 1 if STRICT else now
        if HAS_WINDOW and (now < 0 or rules[1] <= LARGEST - now):
            high = now + rules[1]
    if known and BACKWARD:
        if STRICT and now == LEAST:
            return int64(1), int64(0)
        high = now - 1 if STRICT else now
        if HAS_WINDOW and (now >= 0 or rules[1] <= now - LEAST):
            low = now - rules[1]
    if HAS_LAST and not BACKWARD:
        high = min(high, rules[2])
    if HAS_LAST and BACKWARD:
        low = max(low, rules[2])
    return low, high


@inner
def search_together(lanes, state, graph):
    """Move LOW of each lane to the first place, from there up to HIGH, whose time is at least GOAL.

    Lanes take turns, so that their reads of memory overlap: all of the order, then all of the times.
    """
    going = True
    while going:
        going = False
        for j in range(lanes):
            low, high = state[L_LOW + j], state[L_HIGH + j]
            if low < high:
                state[L_POSITION + j] = place_at(graph, state[L_ROW + j], state[L_COUNT + j], (low + high) >> 1)
                going = True
        for j in range(lanes):
            low, high = state[L_LOW + j], state[L_HIGH + j]
            if low < high:
                middle = (low + high) >> 1
                before = time_at(graph, state[L_POSITION + j]) < state[L_GOAL + j]
                state[L_LOW + j] = middle + 1 if before else low
                state[L_HIGH + j] = high if before else middle


@inner
def find_candidates(lanes, state, graph, rules):
    """Set LOW and HIGH of each lane to the places of the edges that may follow: the first, and that behind the last."""
    for j in range(lanes):
        state[L_LOW + j] = state[L_HIGH + j] = state[L_LAST + j] = 0
        if state[L_WALKER + j] >= 0:
            v = state[L_HERE + j]
            state[L_ROW + j], state[L_COUNT + j] = row_of(graph, v), degree(graph, v)
            first, last = times_allowed(state[L_NOW + j], state[L_STEP + j] > 0 or HAS_START, rules)
            state[L_GOAL + j], state[L_LAST + j] = first, last
            state[L_HIGH + j] = state[L_COUNT + j] if first != LEAST and first <= last else 0
            state[L_COUNT + j] = state[L_COUNT + j] if first <= last else 0
    search_together(lanes, state, graph)
    if not (HAS_WINDOW or HAS_LAST or BACKWARD):
        for j in range(lanes):
            state[L_HIGH + j] = state[L_COUNT + j] if state[L_WALKER + j] >= 0 else 0
        return
    for j in range(lanes):
        state[L_FIRST + j] = state[L_LOW + j]
        whole = state[L_LAST + j] == LARGEST
        count = state[L_COUNT + j] if state[L_WALKER + j] >= 0 else 0
        state[L_GOAL + j], state[L_HIGH + j] = state[L_LAST + j] + (0 if whole else 1), count
        state[L_LOW + j] = count if whole else state[L_LOW + j]
    search_together(lanes, state, graph)
    for j in range(lanes):
        state[L_LOW + j], state[L_HIGH + j] = state[L_FIRST + j], state[L_LOW + j]


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
    time = time_at(graph, place_at(graph, row, count, counted_from(low, high, k)))
    apart = uint64(first) - uint64(time) if first > time else uint64(time) - uint64(first)
    return csaw_exponential(-(float(apart) / scale))


@inner
def exponential_place(graph, row, count, low, high, seed, instance, step, scale):
    """A number in a range by its exponential bias."""
    size, bits = high - low, 0
    while size >> bits:
        bits += 1
    first = time_at(graph, place_at(graph, row, count, counted_from(low, high, 0)))
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
def place_of_time(graph, row, count, low, high, word, other, linear):
    """A place by its time among the different ones of a range: uniform or linear in their rank, then any edge of it."""
    different, k = int64(0), low
    before = int64(0)
    while k < high:
        time = time_at(graph, place_at(graph, row, count, k))
        different += k == low or time != before
        before = time
        k += 1
    rank = triangular(word, different) if linear else int64(below_wide(word, uint64(different)))
    wanted = different - 1 - rank if BACKWARD != FAR else rank
    begin, end, seen, k = low, high, int64(-1), low
    while k < high and end == high:
        time = time_at(graph, place_at(graph, row, count, k))
        if k == low or time != before:
            seen += 1
            begin = k if seen == wanted else begin
            end = k if seen == wanted + 1 else end
        before = time
        k += 1
    return begin + int64(below_wide(other, uint64(end - begin)))


@inner
def place_drawn(graph, row, count, low, high, seed, instance, step, any_edge, scale):
    """The place that a step draws of those from ``low`` up to ``high``, of which there is one."""
    w0, w1, w2, w3 = philox(seed, instance, step, uint64(0))
    word, size = (w0 << SHIFT) | w1, high - low
    if any_edge or (TIME_BIAS == 0 and not PER_TIME):
        return low + int64(below_wide(word, uint64(size)))
    if PER_TIME:
        return place_of_time(graph, row, count, low, high, word, (w2 << SHIFT) | w3, TIME_BIAS == 1)
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


@inner
def take_walker(j, w, state, graph, walkers, out):
    """Let a lane go on with walker w."""
    state[L_WALKER + j], state[L_HERE + j], state[L_BACK + j] = w, walkers.at[w], walkers.previous[w]
    state[L_STEP + j], state[L_NOW + j], state[L_BEGAN + j] = walkers.step[w], walkers.clock[w, 0], walkers.clock[w, 1]
    put_source(out, w, walkers.source[w])
    prefetch(graph.indptr, uint64(state[L_HERE + j]))


@njit(nogil=True)
def walk_by_time(todo, first, graph, params, seed, length, walkers, out, bad):
    """Walks whose steps are drawn from the order of a row by time, BESIDE of them in turn."""
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
                continue
            save(w, v, then, t, length, walkers.at, walkers.previous, walkers.step, walkers.alive, out)
            keep_times(w, then, t, length, now, began, walkers)
            state[L_WALKER + j] = -1
            ended += 1
