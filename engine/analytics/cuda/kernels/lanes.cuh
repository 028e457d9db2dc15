// Groups of 2 to 32 neighboring threads of a warp, each of which serves a row, and blocks that serve one: the shapes
// that row_classes.py launches.
#pragma once
#include "grid.cuh"
#include "group.cuh"

// `serve(row)` for each of `count` rows by LANES threads. All threads of a warp come along to the end, so that they can
// exchange what they have; row is -1 past it.
template <int LANES, typename F>
__device__ __forceinline__ void each_row(i64 count, const vertex_t* rows, F serve)
{
    const i64 groups = threads_of_grid() / LANES, thread = thread_number();
    for (i64 first = thread / 32 * (32 / LANES); first < count; first += groups) {
        const i64 at = first + threadIdx.x % 32 / LANES;
        serve(at < count ? (i64)rows[at] : (i64)-1);
    }
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
