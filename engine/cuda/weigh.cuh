// Biases of one row as integers, so that their sum does not depend on the order: the twin of engine/cpu/weigh.py, a group a row.
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

__device__ __forceinline__ double weight_at(i64 position) { return NEIGHBOR_WEIGHTS ? (double)GRAPH.weights[position] : 1.0; }

// A bias that cannot be one: the first to say so is reported.
__device__ __forceinline__ bool checked(double bias, i64 src, i64 dst, i64* bad)
{
    if (bias >= 0.0 && bias <= 1.7976931348623157e308) return true;
    if (atomicCAS((u64*)bad, 0ull, 1ull) == 0) { bad[1] = src; bad[2] = dst; }
    return false;
}

struct Row {  // one selection: where, and the path that led there
    Place place;
    i64 v, prev, source, instance, depth;
    Place prev_place;
};

__device__ __forceinline__ double bias_at(const Params& params, u64 seed, const Row& row, i64 index)
{
    const i64 position = row.place.row + index, dst = neighbor_at(position);
    const Context context = {row.prev, row.v, -1, row.prev_place, row.place, {0, 0}};
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

// The index in a row that one word selects; -1 where nothing can be taken or a bias is bad. Biases are computed anew in each of three
// passes, so that a row needs no memory.
__device__ __forceinline__ i64 inverse_transform(const Params& params, u64 seed, const Row& row, u64 word, i64* bad)
{
    const i64 count = row.place.count;
    const double largest = largest_bias(params, seed, row, bad);
    if (!(largest > 0.0)) return -1;
    const int shift = shift_for(largest, count);
    i64 total = 0, before = 0;
    for (i64 i = threadIdx.x; i < count; i += blockDim.x) total += scaled(bias_at(params, seed, row, i), shift);
    total = group_sum(total);
    const i64 target = (i64)below(word, (u64)total);
    for (i64 base = 0; base < count; base += blockDim.x) {
        const i64 i = base + threadIdx.x;
        i64 all;
        const i64 upto = before + group_scan(i < count ? scaled(bias_at(params, seed, row, i), shift) : 0, all);
        const i64 first = group_min(i < count && upto > target ? i : count);
        if (first < count) return first;
        before += all;
    }
    return -1;
}

#define BIPARTITE 0
#define REPEATED 1
#define UPDATED 2

#define STRIDED 0
#define CONTIGUOUS 1
#define LINEAR 2

struct Counts { u32 redraws, collisions, conflicts; u64 compared; };  // of one thread, beside its picks

// Adds what a group has counted to the tally: see TALLY in engine/backend.py.
__device__ __forceinline__ void add_up(const Counts& n, i64 picks, u64* tally)
{
    const i64 drawn = group_sum(picks + n.redraws), tried = group_sum(picks + n.collisions), collisions = group_sum(n.collisions);
    const i64 compared = DETECT == LINEAR ? group_sum(n.compared) : 0, conflicts = DETECT == LINEAR ? 0 : group_sum(n.conflicts);
    if (threadIdx.x || drawn == 0) return;
    atomicAdd(tally, (u64)drawn);
    if (collisions) atomicAdd(tally + 1, (u64)collisions);
    if (COLLISION != UPDATED) atomicAdd(tally + 2, (u64)(DETECT == LINEAR ? compared : tried));
    atomicAdd(tally + 3, (u64)tried);
    if (conflicts) atomicAdd(tally + 4, (u64)conflicts);
}

// What a repeated candidate costs (C-SAW, section IV-B): the next target, from the rest of the draw (BIPARTITE) or by drawing again: see
// engine/cpu/select.py.
__device__ __forceinline__ void next_target(const i64* ctps, i64 candidate, i64 total, i64 k, u64 seed, u64 instance, u64 slot, u64& number, i64& target,
                                            u32& redraws)
{
    const i64 low = candidate > 0 ? ctps[candidate - 1] : 0, width = ctps[candidate] - low, rest = total - width;
    if (COLLISION == BIPARTITE && width >= 1ll << 32) {
        target = min(rest - 1, (i64)(((double)(target - low) + 0.5) / (double)width * (double)rest));
        target += target >= low ? width : 0;
    } else {
        number += k;
        target = (i64)below(pick_word(seed, instance, slot, number), (u64)total);
        ++redraws;
    }
}
