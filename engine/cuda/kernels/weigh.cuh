// Biases of one row as integers, so that their sum does not depend on the order: the twin of engine/cpu/kernels/weigh.py, a group a row.
#pragma once
#include "graph.cuh"
#include "group.cuh"

__device__ __forceinline__ int shift_for(double largest, i64 count)
{
    int exponent;
    frexp(largest, &exponent);
    return 61 - exponent - (64 - __clzll(count));
}

__device__ __forceinline__ i64 scaled(double bias, int shift)
{
    const i64 value = (i64)ldexp(bias, shift);
    return value > 0 ? value : (bias > 0.0 ? 1 : 0);
}

// A bias in whole units, and what is left of it, in 2^-32 of one: carried to the next biases, it makes whole units again, so that no running sum is
// off by more than one. KEEPS: for successive picks without replacement, a possible edge keeps a unit instead, because all others may be taken.
struct Units { i64 whole, rest; };

__device__ __forceinline__ i64 in_units(const Units& sum) { return sum.whole + (sum.rest >> 32); }

template <bool KEEPS = false>
__device__ __forceinline__ Units units_of(double bias, int shift)
{
    if (KEEPS) return {scaled(bias, shift), 0};
    const double units = ldexp(bias, shift);
    const i64 whole = (i64)units;
    return {whole, (i64)((units - (double)whole) * 4294967296.0)};
}

// The sums of a group up to each thread's own, which go on from `before`, the sums before the group.
template <bool KEEPS = false>
__device__ __forceinline__ Units add_up(const Units& own, Units& before)
{
    i64 all, all_rest = 0;
    const i64 whole = before.whole + group_scan(own.whole, all);
    i64 rest = before.rest;
    if (!KEEPS && group_any(own.rest > 0)) rest += group_scan(own.rest, all_rest);  // rare: floats of 24 bits near each other are whole
    before = {before.whole + all, before.rest + all_rest};
    return {whole, rest};
}

__device__ __forceinline__ double weight_at(i64 position) { return NEIGHBOR_WEIGHTS ? (double)stored_weight(position) : 1.0; }

// A bias that cannot be one: the first to say so is reported. A vertex bias has no dst: -1.
__device__ __forceinline__ bool checked(double bias, i64 src, i64 dst, i64* bad)
{
    if (bias == 0.0 || (bias >= LEAST_BIAS && bias <= 1.7976931348623157e308)) return true;
    if (atomicCAS((u64*)bad, 0ull, 1ull) == 0) { bad[1] = src; bad[2] = dst; }
    return false;
}

struct Row {  // one selection: where, and the path that led there
    Place place;
    i64 v, prev, source, instance, depth;
    Place prev_place;
    const vertex_t* path;
#if TIMED
    i64 previous_time, start_time;
#endif
};

__device__ __forceinline__ double bias_at(const Params& params, u64 seed, const Row& row, i64 index)
{
    const i64 position = row.place.row + index, dst = neighbor_at(position);
#if TIMED
    const Context context = {row.prev, row.v, -1, row.prev_place, row.place, {0, 0}, row.path, position, row.previous_time, row.start_time};
#else
    const Context context = {row.prev, row.v, -1, row.prev_place, row.place, {0, 0}, row.path, position};
#endif
    return edge_bias(params, context, seed, row.instance, row.depth, row.source, row.prev, row.v, dst, weight_at(position));
}

// The largest bias of a row; -1 when one is bad.
__device__ __forceinline__ double largest_bias(const Params& params, u64 seed, const Row& row, i64* bad)
{
    double largest = 0.0;
    bool fine = true;
    for (i64 i = threadIdx.x; i < row.place.count; i += blockDim.x) {
        const double bias = bias_at(params, seed, row, i);
        fine = checked(bias, row.v, neighbor_at(row.place.row + i), bad) && fine;
        largest = fmax(largest, bias);
    }
    return group_all(fine) ? group_max(largest) : -1.0;
}

// The first i with ctps[i] > target: never one of bias zero.
__device__ __forceinline__ i64 search(const i64* ctps, i64 count, i64 target)
{
    i64 low = 0, high = count - 1;
    while (low < high) {
        const i64 middle = (low + high) >> 1;
        if (ctps[middle] > target) high = middle;
        else low = middle + 1;
    }
    return low;
}

// The same with fewer reads: where the target would be if what is left weighed the same everywhere, a few times, and then by halves.
__device__ __forceinline__ i64 search_near(const i64* ctps, i64 count, i64 total, i64 target)
{
    constexpr int GUESSES = 8;
    i64 low = 0, high = count - 1, before = 0, upto = total;  // the sums before `low` and up to `high`
    for (int turn = 0; low < high; ++turn) {
        const float share = __fdividef((float)(target - before), (float)(upto - before));
        const i64 middle = turn < GUESSES ? min(low + (i64)(share * (float)(high - low + 1)), high - 1) : (low + high) >> 1;
        const i64 sum = ctps[middle];
        if (sum > target) { high = middle; upto = sum; }
        else { low = middle + 1; before = sum; }
    }
    return low;
}

// The index in a row that one word selects; -1 where nothing can be taken or a bias is bad. Biases are computed anew in each of three
// passes, so that a row needs no memory.
__device__ __forceinline__ i64 inverse_transform(const Params& params, u64 seed, const Row& row, u64 word, i64* bad)
{
    const i64 count = row.place.count;
    const double largest = largest_bias(params, seed, row, bad);
    if (!(largest > 0.0)) return -1;
    const int shift = shift_for(largest, count);
    Units sum = {0, 0}, before = {0, 0};
    for (i64 i = threadIdx.x; i < count; i += blockDim.x) {
        const Units own = units_of(bias_at(params, seed, row, i), shift);
        sum = {sum.whole + own.whole, sum.rest + own.rest};
    }
    const i64 target = (i64)below(word, (u64)in_units({group_sum(sum.whole), group_sum(sum.rest)}));
    for (i64 base = 0; base < count; base += blockDim.x) {
        const i64 i = base + threadIdx.x;
        const i64 upto = in_units(add_up(i < count ? units_of(bias_at(params, seed, row, i), shift) : Units{0, 0}, before));
        const i64 first = group_min(i < count && upto > target ? i : count);
        if (first < count) return first;
    }
    return -1;
}
