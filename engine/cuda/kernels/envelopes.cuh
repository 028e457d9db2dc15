// An envelope over the exponential biases of a range of edges by time: the twin of engine/cpu/kernels/envelopes.py, where it is explained.
#pragma once
#include "by_time.cuh"

#if BY_TIME
constexpr int LAST_HALVING = 31;  // with 33 levels, which a row of 2^32 edges has, it fills the word
constexpr int HEADS = 8;          // first numbers of levels that are asked for together: one wait for a range of up to 256

// The place number k of a range, from the end that is preferred.
__device__ __forceinline__ i64 counted_from(const TimeSpan& range, i64 k) { return BACKWARD != FAR ? range.high - 1 - k : range.low + k; }

__device__ __forceinline__ u64 time_between(i64 one, i64 other) { return one > other ? (u64)one - (u64)other : (u64)other - (u64)one; }

// How often an exponential bias halves from the time `first` to another, in whichever direction.
__device__ __forceinline__ double halvings_between(i64 first, i64 time, double scale)
{
    return (double)time_between(first, time) / (scale * LN2);
}

// The envelope of a range that has an edge, whose number 0 has the time `first`.
__device__ __forceinline__ u64 envelope_of(const Place& here, const TimeSpan& range, i64 first, double scale)
{
    const i64 size = range.high - range.low;
    u64 envelope = 1;
    int level = 1;
    for (i64 begin = 1; begin < size; begin <<= HEADS) {
        i64 times[HEADS];
#pragma unroll
        for (int k = 0; k < HEADS; ++k) times[k] = time_of(here, counted_from(range, min(begin << k, size - 1)));
#pragma unroll
        for (int k = 0; k < HEADS; ++k) {
            if (begin << k >= size) break;
            const double halvings = halvings_between(first, times[k], scale);
            envelope |= 1ull << ((halvings < (double)LAST_HALVING ? (int)halvings : LAST_HALVING) + level);
            ++level;
        }
    }
    return envelope;
}

struct Under { i64 number; int halvings; };

// A number below `size` by the envelope of a range of so many edges, and the halvings there. Levels without halvings, which come first, count as one.
__device__ __forceinline__ Under number_under(u64 envelope, u64 size, u64 word)
{
    const int levels = __ffsll((i64)~envelope) - 1;
    const u64 before = envelope >> levels << levels, first = min(1ull << (levels - 1), size);
    u64 begin = first, total = first << LAST_HALVING;
    int shift = LAST_HALVING + levels;
    for (u64 rest = before; rest != 0; rest &= rest - 1, ++shift) {
        const u64 held = min(begin, size - begin);
        total += held << (shift - (__ffsll((i64)rest) - 1));
        begin += held;
    }
    u64 target = below(word, total);
    if (target < first << LAST_HALVING) return {(i64)(target >> LAST_HALVING), 0};
    target -= first << LAST_HALVING;
    begin = first;
    shift = LAST_HALVING + levels;
    for (u64 rest = before;; rest &= rest - 1, ++shift) {
        const u64 held = min(begin, size - begin);
        const int by = shift - (__ffsll((i64)rest) - 1);
        if (target < held << by) return {(i64)(begin + (target >> by)), LAST_HALVING - by};
        target -= held << by;
        begin += held;
    }
}

// Whether the edge of a time is taken where the envelope has `halvings`: by its bias over that.
__device__ __forceinline__ bool is_accepted(u64 coin, int halvings, i64 first, i64 time, double scale)
{
    return fraction(coin) < halved(halvings_between(first, time, scale) - (double)halvings);
}
#endif
