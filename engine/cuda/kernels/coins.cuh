// Forest fire's coins: the twin of geometric_sizes in engine/cpu/kernels/traverse.py.
#pragma once
#include "random.cuh"

// A coin of 32 bits: a word below `limit` is a success, and of those equal to it `rest` of 2^64.
struct Coin { u64 limit, rest; };

// How many of the four flips of draw number `draw` are successes before the first failure.
__device__ __forceinline__ int successes(const Coin& coin, u64 seed, u64 instance, u64 slot, u64 draw)
{
    const Words words = philox(seed, instance, slot, SIZE_DRAWS + draw);
    int part = 0;
    while (part < 4 && (words.w[part] < coin.limit || (words.w[part] == coin.limit && coin.rest
                                                      && draw64(seed, instance, slot, REST_DRAWS + 4 * draw + part) < coin.rest)))
        ++part;
    return part;
}

// Forest fire's sizes: successes before the first failure, `most` at most.
__device__ __forceinline__ i64 flips(const Coin& coin, u64 seed, u64 instance, u64 slot, i64 most)
{
    i64 size = 0;
    while (size < most) {
        const int more = successes(coin, seed, instance, slot, size >> 2);
        size += more;
        if (more < 4) break;
    }
    return min(size, most);
}
