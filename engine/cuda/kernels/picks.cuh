// Uniform picks of a row without replacement, by lanes side by side: the twin of `choose` in engine/cpu/kernels/hops.py.
#pragma once
#include "graph.cuh"
#include "group.cuh"

struct Picks { i64 first, second; u32 count; };  // two positions within the row, of which those below `count` of all picks are meant

// Picks 2 pair and 2 pair + 1 of `size` from a row, one lane for each pair (Floyd: Bentley, CACM 30(9), 1987). A pick that meets an earlier one of
// its row takes the top of its range instead; only rows where two words agree have to look. `begin`: the lane that has the row's first pair. The warp.
__device__ __forceinline__ Picks distinct_picks(const Place& place, u64 seed, u64 instance, u64 slot, u32 size, u32 pair, u32 begin)
{
    const u32 pairs = (size + 1) / 2, lanes = (1u << pairs) - 1;
    const bool draws = place.count > size;
    const u32 k = draws ? size : (u32)place.count;
    i64 first = 2 * pair, second = 2 * pair + 1;
    if (!__any_sync(~0u, draws)) return {first, second, k};
    bool met = false;
    if (draws) {
        const Words words = philox(seed, instance, slot, pair);
        const i64 bound = place.count - k + 2 * pair + 1;
        first = (i64)below(word64(words, 0), (u64)bound);
        second = (i64)below(word64(words, 1), (u64)bound + 1);
        met = first == second;
    }
    for (u32 gap = 1; gap < pairs; ++gap) {
        const u32 a = __shfl_up_sync(~0u, (u32)first, gap), b = __shfl_up_sync(~0u, (u32)second, gap);
        met |= pair >= gap && (a == (u32)first || b == (u32)first || a == (u32)second || b == (u32)second);
    }
    if (__any_sync(~0u, met && draws)) {  // in order: what an earlier pick became counts
        for (u32 pick = 1; pick < size; ++pick) {
            const bool is_second = pick & 1;
            const i64 asked = __shfl_sync(~0u, is_second ? second : first, begin + pick / 2);
            const bool equal = (2 * pair < pick && first == asked) || (2 * pair + 1 < pick && second == asked);
            const bool taken = __ballot_sync(~0u, equal) >> begin & lanes;
            if (pair != pick / 2 || !taken || !draws) continue;
            if (is_second) second = place.count - k + pick;
            else first = place.count - k + pick;
        }
    }
    return {first, second, k};
}

// Picks 2 pair and 2 pair + 1 of `size` from a range, with or without replacement: see distinct_picks. The warp.
__device__ __forceinline__ Picks picks_of(const Place& range, u64 seed, u64 instance, u64 slot, u32 size, u32 pair, u32 begin)
{
    if (!REPLACE) return distinct_picks(range, seed, instance, slot, size, pair, begin);
    if (range.count == 0) return {0, 0, 0};
    const Words words = philox(seed, instance, slot, pair);
    return {(i64)below(word64(words, 0), (u64)range.count), (i64)below(word64(words, 1), (u64)range.count), size};
}
