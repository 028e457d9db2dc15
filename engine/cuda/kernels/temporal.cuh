// Biases of the edges in a range of a row's order by time. The twin of engine/cpu/kernels/envelopes.py, where
// the way of drawing is explained; numbers and words are the same, in the same order.
#pragma once
#include "walker.cuh"
#include "envelopes.cuh"

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

// A number in a range by its exponential bias: see envelopes.cuh.
__device__ __forceinline__ i64 exponential_place(const Place& here, const TimeSpan& range, u64 seed, u64 instance, u64 step, double scale)
{
    const i64 first = time_of(here, counted_from(range, 0));
    const u64 envelope = envelope_of(here, range, first, scale);
    for (u64 draw = 0;; ++draw) {
        const Words words = philox(seed, instance, step, draw);
        const Under under = number_under(envelope, (u64)(range.high - range.low), word64(words, 0));
        if (under.number == 0) return 0;
        const i64 time = time_of(here, counted_from(range, under.number));
        if (is_accepted(word64(words, 1), under.halvings, first, time, scale)) return under.number;
    }
}

// A place of the time that has this rank, modulo their number, among the different ones of a range: any of its edges.
__device__ __forceinline__ i64 place_of_near_time(const Place& here, const TimeSpan& range, i64 rank, u64 other)
{
    const i64 size = range.high - range.low;
    i64 seen = 0, k = 0;
    while (true) {
        const i64 begin = k, time = time_of(here, counted_from(range, k));
        while (k < size && time_of(here, counted_from(range, k)) == time) ++k;
        if (seen == rank) return counted_from(range, begin + (i64)below(other, (u64)(k - begin)));
        ++seen;
        if (k == size) {
            rank %= seen;
            seen = k = 0;
        }
    }
}

constexpr int TRIES = 32;
constexpr u64 READ_ALL = 1ull << 30;

// Any number below `items` that is the first of its time in a range, or the size of it; -1 where TRIES words, from `word` on, find none.
__device__ __forceinline__ i64 number_of_item(const Place& here, const TimeSpan& range, i64 items, u64 word, u64 seed, u64 instance, u64 step, u64 draw)
{
    const i64 size = range.high - range.low;
    const u64 rest = draw + TRIES;
    while (true) {
        const i64 k = (i64)below(word, (u64)items);
        if (k == 0 || k == size) return k;
        if (time_of(here, counted_from(range, k - 1)) != time_of(here, counted_from(range, k))) return k;
        if (++draw == rest) return -1;
        word = draw64(seed, instance, step, draw);
    }
}

// The first number of a time in a range, uniform or linear in the rank of the time; -1 where too many words find none.
__device__ __forceinline__ i64 first_of_time(const Place& here, const TimeSpan& range, u64 word, u64 seed, u64 instance, u64 step)
{
    const i64 size = range.high - range.low;
    if (TIME_BIAS != 1) return number_of_item(here, range, size, word, seed, instance, step, 0);
    for (u64 draw = 0;; draw += TRIES, word = draw64(seed, instance, step, draw)) {
        const i64 one = number_of_item(here, range, size + 1, word, seed, instance, step, draw);
        draw += TRIES;
        const i64 other = number_of_item(here, range, size + 1, draw64(seed, instance, step, draw), seed, instance, step, draw);
        if (one != other || one < 0) return min(one, other);
    }
}

// A place by its time among the different ones of a range: uniform or linear in their rank, then any of its edges.
__device__ __forceinline__ i64 place_of_time(const Place& here, const TimeSpan& range, u64 word, u64 last, u64 seed, u64 instance, u64 step)
{
    const i64 size = range.high - range.low, begin = first_of_time(here, range, word, seed, instance, step);
    if (begin < 0) {
        i64 different = 0, before = 0;
        for (i64 k = 0; k < size; ++k) {
            const i64 time = time_of(here, counted_from(range, k));
            different += k == 0 || time != before;
            before = time;
        }
        const u64 read = draw64(seed, instance, step, READ_ALL);
        return place_of_near_time(here, range, TIME_BIAS == 1 ? triangular(read, different) : (i64)below(read, (u64)different), last);
    }
    const i64 time = time_of(here, counted_from(range, begin));
    i64 end = begin + 1;
    while (end < size && time_of(here, counted_from(range, end)) == time) ++end;
    return counted_from(range, begin + (i64)below(last, (u64)(end - begin)));
}

// The place that a step draws of a range, which has one.
__device__ __forceinline__ i64 place_drawn(const Place& here, const TimeSpan& range, u64 seed, u64 instance, u64 step, bool any_edge, double scale)
{
    if (!any_edge && TIME_BIAS == 2 && !PER_TIME) return counted_from(range, exponential_place(here, range, seed, instance, step, scale));
    const Words words = philox(seed, instance, step, 0);
    const u64 word = word64(words, 0), size = (u64)(range.high - range.low);
    if (any_edge || (TIME_BIAS == 0 && !PER_TIME)) return range.low + (i64)below(word, size);
    if (TIME_BIAS == 3 && PER_TIME) return place_of_near_time(here, range, geometric(word, scale), word64(words, 1));
    if (TIME_BIAS == 3) return counted_from(range, geometric(word, scale) % (i64)size);
    if (PER_TIME) return place_of_time(here, range, word, word64(words, 1), seed, instance, step);
    return counted_from(range, triangular(word, (i64)size));
}
#endif
