// A group is a block: 32 threads for most rows, HUB_BLOCK for those of hubs. The same code serves both; what crosses warps is skipped in a warp.
#pragma once
#include "random.cuh"

__device__ __forceinline__ int lane_of() { return threadIdx.x & 31; }

__device__ __forceinline__ u32 lanes_below() { return (1u << lane_of()) - 1; }

// Across the warps of a block: every thread gives its warp's value, every thread gets all of them by `combine`.
template <typename T, typename F>
__device__ __forceinline__ T across_warps(T value, F combine)
{
    if (blockDim.x == 32) return value;
    __shared__ T values[32];
    __syncthreads();
    if (lane_of() == 0) values[threadIdx.x >> 5] = value;
    __syncthreads();
    T result = values[0];
    for (int warp = 1; warp < blockDim.x >> 5; ++warp) result = combine(result, values[warp]);
    return result;
}

__device__ __forceinline__ i64 warp_sum(i64 value)
{
#pragma unroll
    for (int gap = 16; gap; gap >>= 1) value += __shfl_xor_sync(~0u, value, gap);
    return value;
}

__device__ __forceinline__ i64 group_sum(i64 value)
{
    return across_warps(warp_sum(value), [](i64 a, i64 b) { return a + b; });
}

// A sum whose last bits depend on the size of the group: for estimates.
__device__ __forceinline__ double group_total(double value)
{
#pragma unroll
    for (int gap = 16; gap; gap >>= 1) value += __shfl_xor_sync(~0u, value, gap);
    return across_warps(value, [](double a, double b) { return a + b; });
}

__device__ __forceinline__ double group_max(double value)
{
#pragma unroll
    for (int gap = 16; gap; gap >>= 1) value = fmax(value, __shfl_xor_sync(~0u, value, gap));
    return across_warps(value, [](double a, double b) { return fmax(a, b); });
}

__device__ __forceinline__ i64 group_min(i64 value)
{
#pragma unroll
    for (int gap = 16; gap; gap >>= 1) value = min(value, __shfl_xor_sync(~0u, value, gap));
    return across_warps(value, [](i64 a, i64 b) { return min(a, b); });
}

__device__ __forceinline__ bool group_all(bool value) { return blockDim.x == 32 ? __all_sync(~0u, value) : __syncthreads_and(value); }

__device__ __forceinline__ bool group_any(bool value) { return blockDim.x == 32 ? __any_sync(~0u, value) : __syncthreads_or(value); }

// What threads wrote to memory is seen by the group.
__device__ __forceinline__ void group_sync()
{
    if (blockDim.x == 32) __syncwarp();
    else __syncthreads();
}

// Inclusive prefix sums over the threads of the group (Kogge and Stone, IEEE ToC 22(8), 1973); `total` is the sum of all.
__device__ __forceinline__ i64 group_scan(i64 value, i64& total)
{
#pragma unroll
    for (int gap = 1; gap < 32; gap <<= 1) {
        const i64 before = __shfl_up_sync(~0u, value, gap);
        if (lane_of() >= gap) value += before;
    }
    total = __shfl_sync(~0u, value, 31);
    if (blockDim.x == 32) return value;
    __shared__ i64 totals[32];
    __syncthreads();
    if (lane_of() == 31) totals[threadIdx.x >> 5] = value;
    __syncthreads();
    i64 before = 0;
    total = 0;
    for (int warp = 0; warp < blockDim.x >> 5; ++warp) {
        if (warp == threadIdx.x >> 5) before = total;
        total += totals[warp];
    }
    return value + before;
}
