// Rows by warps: a warp takes 32 neighboring vertices, each thread begins the row of one, and all go on together with
// rows that are long.
#pragma once
#include "grid.cuh"

const int OWN = 16;      // entries that a thread reads by itself
const int LONG = 2048;   // entries from which a row is for blocks: a warp of its own would keep all others waiting
const int LONG_BLOCK = 256;  // threads of a block for long rows, as engine/analytics/cuda/network.py launches
const unsigned int WHOLE_WARP = 0xFFFFFFFF;

// `visit(entry, owner)` for the entries begin .. end - 1 of each thread's row, as long as it returns true. `owner`: the
// thread whose row it is. All threads of a warp come here; one without a row has begin == end. Threads past a row's end
// call with entry -1, so that a visit can ask the whole warp.
template <typename F, typename G>
__device__ __forceinline__ void each_entry(i64 begin, i64 end, F visit_own, G visit_together)
{
    const int lane = threadIdx.x % 32;
    i64 at = begin;
    bool wanted = at < end;
    for (const i64 stop = min(end, begin + OWN); wanted && at < stop; at++) wanted = visit_own(at);
    unsigned int waiting = __ballot_sync(WHOLE_WARP, wanted && at < end);
    while (waiting) {
        const int owner = __ffs(waiting) - 1;
        waiting &= waiting - 1;
        const i64 last = __shfl_sync(WHOLE_WARP, end, owner);
        bool going = true;
        for (i64 i = __shfl_sync(WHOLE_WARP, at,
            owner); going && i < last; i += 32) going = visit_together(i + lane < last ? i + lane : -1, owner);
    }
}

// `visit(entry)` for the block's share of the entries begin .. end - 1 of a long row. Blocks of a column of the grid,
// blockIdx.y, have shares of the same row.
template <typename F>
__device__ __forceinline__ void each_entry_of_long(i64 begin, i64 end, F visit)
{
    for (i64 i = begin + (i64)blockIdx.y * blockDim.x + threadIdx.x; i < end; i += (i64)gridDim.y * blockDim.x) visit(i);
}

// `visit(v)` for those of the long rows' vertices rows[0 .. count - 1] that are `wanted(v)`, by all threads of a block
// together: blocks of a column of the grid come with the same ones. Each thread asks for another row; if all asked for
// one row after the other, the block would wait for each of them.
template <typename W, typename F>
__device__ __forceinline__ void each_long_row(i64 count, const vertex_t* rows, W wanted, F visit)
{
    __shared__ vertex_t found[LONG_BLOCK];
    __shared__ u32 many;
    for (i64 base = blockIdx.x; base < count; base += (i64)gridDim.x * blockDim.x) {
        if (threadIdx.x == 0) many = 0;
        __syncthreads();
        const i64 n = base + (i64)threadIdx.x * gridDim.x;
        const vertex_t v = n < count ? rows[n] : 0;
        if (n < count && wanted(v)) found[atomicAdd(&many, 1u)] = v;
        __syncthreads();
        for (u32 k = 0; k < many; k++) visit((i64)found[k]);
        __syncthreads();
    }
}
