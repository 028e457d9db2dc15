"""Steps of walks in time: the edges that may follow are a range of the row's order by time, found by two searches.

A place k of a row is that of the edge which is k-th by time. ``near`` is the end of a range from which the walk comes,
and biases count from there, or from the other end where FAR. Each bias falls along a range, so an exponential one is
drawn without any table: ranges of 1, 4, 16, ... edges are chosen by the bias of their first edge times their size, a
place within is uniform, and it is accepted by its bias over that of the first: at least once in five trials on average,
because what a range counts for is at most four times the biases of the range before it. The biases are relative to the
edge next in time, so no span of times is too long. The twin of cuda/kernels/temporal.cuh.
"""

import math

from numba import int64, uint64

from csaw.engine.cpu.kernels.access import at_edge, degree, neighbor_at, row_of, with_times
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
from csaw.engine.cpu.kernels.times import keep_times, time_at
from csaw.engine.cpu.kernels.walk import after, goes_on, put, put_source, save, with_path
from csaw.engine.draws.portable import exponential as csaw_exponential
from csaw.engine.draws.random import SHIFT, below_wide, fraction, philox
from csaw.partition.base.compile import inner, njit

LEAST, LARGEST = -9223372036854775808, 9223372036854775807


@inner(forceinline=True)
def place_at(graph, row, count, k):
    """The position of the edge that is k-th by time in a row."""
    return row + min(int64(graph.edge_columns[TIME_ORDER][row + k]), count - 1)


@inner
def first_from(graph, row, count, time):
    """The first place of a row whose time is at least ``time``."""
    low, high = int64(0), int64(count)
    while low < high:
        middle = (low + high) >> 1
        if time_at(graph, place_at(graph, row, count, middle)) < time:
            low = middle + 1
        else:
            high = middle
    return low


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
def candidates(graph, row, count, now, known, rules):
    """The places of the edges that may follow: the first, and the one behind the last."""
    low_time, high_time = times_allowed(now, known, rules)
    if low_time > high_time:
        return int64(0), int64(0)
    low = int64(0) if low_time == LEAST else first_from(graph, row, count, low_time)
    high = int64(count) if high_time == LARGEST else first_from(graph, row, count, high_time + 1)
    return low, max(low, high)


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


@njit(nogil=True)
def walk_by_time(todo, first, graph, params, seed, length, walkers, out, bad):
    """Walks whose steps are drawn from the order of a row by time."""
    source, at, prev = walkers.source, walkers.at, walkers.previous
    step, alive = walkers.step, walkers.alive
    scale = walkers.scale[0]
    for w in todo:
        v, back, t = at[w], prev[w], step[w]
        now, began = walkers.clock[w, 0], walkers.clock[w, 1]
        put_source(out, w, source[w])
        known = with_path(graph, out, w)
        going = True
        while going:
            row, count = row_of(graph, v), degree(graph, v)
            low, high = candidates(graph, row, count, now, t > 0 or HAS_START, walkers.rules)
            position, dst, taken = row, int64(-1), now
            if low < high:
                any_edge = FROM_EDGES and t == 0
                k = place_drawn(graph, row, count, low, high, seed, uint64(first + w), uint64(t), any_edge, scale)
                position = place_at(graph, row, count, k)
                dst, taken = neighbor_at(graph, position), time_at(graph, position)
            seen = at_edge(with_times(known, now, began), position)
            then = after(params, seen, seed, first + w, t, source[w], back, v, dst, 1.0, bad)
            if then >= 0:
                t += 1
                put(out, w, t, then)
                walkers.times[w, t - 1] = taken
                now, began = taken, taken if t == 1 else began
            going = goes_on(graph, v, then, t, length)
            if going:
                v, back = then, v
            else:
                save(w, v, then, t, length, at, prev, step, alive, out)
                keep_times(w, then, t, length, now, began, walkers)
