// Biases of the edges in a range of a row's order by time. The twin of engine/cpu/kernels/time_biases.py, where
// the way of drawing is explained; numbers and words are the same, in the same order.
#pragma once
#include "walker.cuh"
#include "by_time.cuh"

#if BY_TIME
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
