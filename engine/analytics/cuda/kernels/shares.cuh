// Vertices that several GPUs share: each owns those of a range, bounds[n] .. bounds[n + 1] - 1, and notes those of
// another that it came upon in a list for it.
#pragma once
#include "warp_rows.cuh"

// The GPU that owns a vertex.
__device__ __forceinline__ int owner_of(vertex_t v, i64 gpus, const i64* bounds)
{
    int owner = 0;
    while (owner + 1 < gpus && v >= bounds[owner + 1]) owner++;
    return owner;
}

// A place in the list `number`, of counts[number] vertices so far. Threads of a warp that come together add to a count
// once.
__device__ __forceinline__ unsigned long long place_in(int number, unsigned long long* counts)
{
    const unsigned int here = __activemask(), same = __match_any_sync(here, number);
    const int leader = __ffs(same) - 1, lane = threadIdx.x % 32;
    unsigned long long begin = 0;
    if (lane == leader) begin = atomicAdd(counts + number, (unsigned long long)__popc(same));
    return __shfl_sync(same, begin, leader) + __popc(same & ((1u << lane) - 1));
}
