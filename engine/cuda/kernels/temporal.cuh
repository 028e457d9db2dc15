// Steps of walks in time: the edges that may follow are a range of the row's order by time. The twin of engine/cpu/kernels/temporal.py, where
// the way of drawing is explained; numbers and words are the same, in the same order.
#pragma once
#include "walker.cuh"

constexpr i64 LEAST_TIME = -9223372036854775807ll - 1, LARGEST_TIME = 9223372036854775807ll;

struct TimeSpan { i64 low, high; };

template <typename Number>
__device__ __forceinline__ Number column_at(i64 position, i64 column)
{
    return ((const Number*)GRAPH.edge_columns[(PIECES ? position >> OFFSET_BITS : 0) * EDGE_COLUMNS + column])[offset_of(position)];
}

__device__ __forceinline__ i64 time_at(i64 position) { return column_at<i64>(position, TIME_COLUMN); }

#if BY_TIME
// The position of the edge that is k-th by time in a row.
__device__ __forceinline__ i64 place_at(const Place& here, i64 k)
{
    return here.row + min((i64)column_at<u32>(here.row + k, TIME_ORDER), here.count - 1);
}

__device__ __forceinline__ i64 time_of(const Place& here, i64 k) { return time_at(place_at(here, k)); }

// The first place of a row whose time is at least `time`.
__device__ __forceinline__ i64 first_from(const Place& here, i64 time)
{
    i64 low = 0, high = here.count;
    while (low < high) {
        const i64 middle = (low + high) >> 1;
        if (time_of(here, middle) < time) low = middle + 1;
        else high = middle;
    }
    return low;
}

// The least and the largest time of an edge that may follow one of time `now`; `known`: whether there is one.
__device__ __forceinline__ TimeSpan times_allowed(i64 now, bool known, const Output& o)
{
    i64 low = LEAST_TIME, high = LARGEST_TIME;
    if (known && !BACKWARD) {
        if (STRICT && now == LARGEST_TIME) return {1, 0};
        low = STRICT ? now + 1 : now;
        if (HAS_WINDOW && (now < 0 || o.window <= LARGEST_TIME - now)) high = now + o.window;
    }
    if (known && BACKWARD) {
        if (STRICT && now == LEAST_TIME) return {1, 0};
        high = STRICT ? now - 1 : now;
        if (HAS_WINDOW && (now >= 0 || o.window <= now - LEAST_TIME)) low = now - o.window;
    }
    if (HAS_LAST && !BACKWARD) high = min(high, o.last);
    if (HAS_LAST && BACKWARD) low = max(low, o.last);
    return {low, high};
}

// The places of the edges that may follow: the first, and the one behind the last.
__device__ __forceinline__ TimeSpan candidates_of(const Place& here, i64 now, bool known, const Output& o)
{
    const TimeSpan allowed = times_allowed(now, known, o);
    if (allowed.low > allowed.high) return {0, 0};
    const i64 low = allowed.low == LEAST_TIME ? 0 : first_from(here, allowed.low);
    const i64 high = allowed.high == LARGEST_TIME ? here.count : first_from(here, allowed.high + 1);
    return {low, max(low, high)};
}

// A number below `count` with bias count - k for number k.
__device__ __forceinline__ i64 triangular(u64 word, i64 count)
{
    const i64 total = count % 2 == 0 ? (count >> 1) * (count + 1) : count * ((count + 1) >> 1);
    const i64 target = (i64)below(word, (u64)total);
    i64 from_end = (i64)((sqrt(8.0 * (double)target + 1.0) - 1.0) / 2.0);
    while (from_end * (from_end + 1) / 2 > target) --from_end;
    while ((from_end + 1) * (from_end + 2) / 2 <= target) ++from_end;
    return count - 1 - from_end;
}

// The place number k of a range, from the end that is preferred.
__device__ __forceinline__ i64 counted_from(const TimeSpan& range, i64 k) { return BACKWARD != FAR ? range.high - 1 - k : range.low + k; }

// The exponential bias of number k of a range, relative to its number 0, which has the time `first`.
__device__ __forceinline__ double lasting(const Place& here, const TimeSpan& range, i64 first, i64 k, double scale)
{
    const i64 time = time_of(here, counted_from(range, k));
    const u64 apart = first > time ? (u64)first - (u64)time : (u64)time - (u64)first;
    return csaw_exponential(-((double)apart / scale));
}

// A number in a range by its exponential bias.
__device__ __forceinline__ i64 exponential_place(const Place& here, const TimeSpan& range, u64 seed, u64 instance, u64 step, double scale)
{
    const i64 size = range.high - range.low;
    const int bits = 64 - __clzll(size);
    const i64 first = time_of(here, counted_from(range, 0));
    const double unit = ldexp(1.0, 61 - bits);
    i64 total = 0;
    for (i64 begin = 0, wide = 1; begin < size; begin += wide, wide *= 4) {
        const double bias = lasting(here, range, first, begin, scale);
        if (bias == 0.0) break;
        total += (i64)(bias * (double)min(wide, size - begin) * unit);
    }
    for (u64 draw = 0;; draw += 2) {
        const Words words = philox(seed, instance, step, draw);
        i64 target = (i64)below(word64(words, 0), (u64)total), begin = 0, held;
        double whole;
        for (i64 wide = 1;; begin += wide, wide *= 4) {
            whole = lasting(here, range, first, begin, scale);
            held = min(wide, size - begin);
            target -= (i64)(whole * (double)held * unit);
            if (target < 0) break;
        }
        if (held == 1) return begin;
        const i64 number = begin + (i64)below(word64(words, 1), (u64)held);
        if (fraction(draw64(seed, instance, step, draw + 1)) * whole < lasting(here, range, first, number, scale)) return number;
    }
}

// A place by its time among the different ones of a range: uniform or linear in their rank, then any of its edges.
__device__ __forceinline__ i64 place_of_time(const Place& here, const TimeSpan& range, u64 word, u64 other)
{
    i64 different = 0, before = 0;
    for (i64 k = range.low; k < range.high; ++k) {
        const i64 time = time_of(here, k);
        different += k == range.low || time != before;
        before = time;
    }
    const i64 rank = TIME_BIAS == 1 ? triangular(word, different) : (i64)below(word, (u64)different);
    const i64 wanted = BACKWARD != FAR ? different - 1 - rank : rank;
    i64 begin = range.low, end = range.high, seen = -1;
    for (i64 k = range.low; k < range.high && end == range.high; ++k) {
        const i64 time = time_of(here, k);
        if (k == range.low || time != before) {
            ++seen;
            if (seen == wanted) begin = k;
            if (seen == wanted + 1) end = k;
        }
        before = time;
    }
    return begin + (i64)below(other, (u64)(end - begin));
}

// The place that a step draws of a range, which has one.
__device__ __forceinline__ i64 place_drawn(const Place& here, const TimeSpan& range, u64 seed, u64 instance, u64 step, bool any_edge, double scale)
{
    if (!any_edge && TIME_BIAS == 2 && !PER_TIME) return counted_from(range, exponential_place(here, range, seed, instance, step, scale));
    const Words words = philox(seed, instance, step, 0);
    const u64 word = word64(words, 0), size = (u64)(range.high - range.low);
    if (any_edge || (TIME_BIAS == 0 && !PER_TIME)) return range.low + (i64)below(word, size);
    if (PER_TIME) return place_of_time(here, range, word, word64(words, 1));
    return counted_from(range, triangular(word, (i64)size));
}
#endif
