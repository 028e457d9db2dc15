// The order of a row by time, and the range of it that the edges have which may follow one of a time: the twin of engine/cpu/kernels/by_time.py.
#pragma once
#include "graph.cuh"

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

// LAYOUT EVENTS: an edge in the order by time of its row, with the range that may follow it: where that begins, in the order of its end, its edges, and
// where biases are exponential the envelope of these (envelopes.cuh), with how much later, or earlier, the time of number 0 is, if the bits beside `begin`
// hold that.
struct alignas(32) TimedEdge {
    u32 neighbor, count;
    u64 begin_and_apart;
    i64 time;
    u64 envelope;

    __device__ __forceinline__ i64 begin() const { return (i64)begin_and_apart & OFFSET; }
    __device__ __forceinline__ u32 apart() const { return (u32)(begin_and_apart >> OFFSET_BITS); }
};

constexpr u32 FAR_APART = (1u << (64 - OFFSET_BITS)) - 1;  // more than the bits hold

__device__ __forceinline__ u64 begin_and_apart(i64 begin, u64 apart) { return (apart < FAR_APART ? apart : FAR_APART) << OFFSET_BITS | (u64)begin; }

__device__ __forceinline__ TimedEdge event_at(i64 position)
{
    const uint4* const at = (const uint4*)GRAPH.entries + 2 * position;
    const uint4 a = __ldg(at), b = __ldg(at + 1);
    return {a.x, a.y, (u64)a.w << 32 | a.z, (i64)((u64)b.y << 32 | b.x), (u64)b.w << 32 | b.z};
}

// The time of the edge that is k-th by time in a row. Events are made of the columns.
__device__ __forceinline__ i64 time_of(const Place& here, i64 k)
{
#if LAYOUT == EVENTS && !BUILDS
    return __ldg(&((const TimedEdge*)GRAPH.entries)[here.row + k].time);
#else
    return time_at(place_at(here, k));
#endif
}

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

// The least and the largest time of an edge that may follow one of time `now`, if that is `known`; or of the edge at which a walk starts: `now`.
__device__ __forceinline__ TimeSpan times_allowed(i64 now, bool known, i64 window, i64 last)
{
    i64 low = LEAST_TIME, high = LARGEST_TIME;
    if (FROM_TIMES && !known) return {now, now};
    if (known && !BACKWARD) {
        if (STRICT && now == LARGEST_TIME) return {1, 0};
        low = STRICT ? now + 1 : now;
        if (HAS_WINDOW && (now < 0 || window <= LARGEST_TIME - now)) high = now + window;
    }
    if (known && BACKWARD) {
        if (STRICT && now == LEAST_TIME) return {1, 0};
        high = STRICT ? now - 1 : now;
        if (HAS_WINDOW && (now >= 0 || window <= now - LEAST_TIME)) low = now - window;
    }
    if (HAS_LAST && !BACKWARD) high = min(high, last);
    if (HAS_LAST && BACKWARD) low = max(low, last);
    return {low, high};
}

// The places of the edges that may follow: the first, and the one behind the last.
__device__ __forceinline__ TimeSpan candidates_of(const Place& here, i64 now, bool known, i64 window, i64 last)
{
    const TimeSpan allowed = times_allowed(now, known, window, last);
    if (allowed.low > allowed.high) return {0, 0};
    const i64 low = allowed.low == LEAST_TIME ? 0 : first_from(here, allowed.low);
    const bool all = allowed.high == LARGEST_TIME || here.count == 0 || time_of(here, here.count - 1) <= allowed.high;  // often: seeds are of today
    const i64 high = all ? here.count : first_from(here, allowed.high + 1);
    return {low, max(low, high)};
}
#endif
