// Groups of 2 to 32 neighboring threads of a warp, each of which serves a row, and blocks that serve one: the shapes
// that engine/analytics/cuda/network.py launches.
#pragma once
#include "grid.cuh"
#include "group.cuh"

// `serve(n)` for each n of 0 .. count - 1 by LANES threads. All threads of a warp come along to the end, so that they can
// exchange what they have; n is -1 past it.
template <int LANES, typename F>
__device__ __forceinline__ void each_by_lanes(i64 count, F serve)
{
    const i64 groups = threads_of_grid() / LANES, thread = thread_number();
    for (i64 first = thread / 32 * (32 / LANES); first < count; first += groups) {
        const i64 n = first + threadIdx.x % 32 / LANES;
        serve(n < count ? n : (i64)-1);
    }
}

// The same for each of `count` rows.
template <int LANES, typename F>
__device__ __forceinline__ void each_row(i64 count, const vertex_t* rows, F serve)
{
    each_by_lanes<LANES>(count, [&](i64 n) { serve(n < 0 ? n : (i64)rows[n]); });
}

// The sum over the LANES threads of a row, for all of them; LANES of 0 is a block.
template <int LANES>
__device__ __forceinline__ i64 row_sum(i64 value)
{
    if constexpr (LANES == 0) return group_sum(value);
#pragma unroll
    for (int gap = LANES / 2; gap; gap >>= 1) value += __shfl_xor_sync(~0u, value, gap);
    return value;
}
