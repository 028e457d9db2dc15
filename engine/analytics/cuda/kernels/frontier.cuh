// Pushing along the rows of a frontier: pieces of their entries by blocks, whatever the lengths of the rows.
#pragma once
#include "pieces.cuh"
#include "warp_rows.cuh"

// `reach(u)` for each neighbor u of the `size` vertices of the queue that is not visited yet, once; the sum of what it
// returns is added to *total. The rows have `entries` entries together.
template <typename F>
__device__ __forceinline__ void push_along(i64 entries, i64 size, const u32* queue, const i64* ends,
    const i64* indptr, const u32* indices, u32* visited, unsigned long long* total, F reach)
{
    __shared__ i64 range[2];
    for (i64 begin = (i64)blockIdx.x * PUSH_PIECE; begin < entries; begin += (i64)gridDim.x * PUSH_PIECE) {
        const i64 stop = min(begin + PUSH_PIECE, entries);
        __syncthreads();
        if (threadIdx.x < 2) range[threadIdx.x] = row_of(threadIdx.x ? stop - 1 : begin, 0, size - 1, ends);
        __syncthreads();
        i64 sum = 0;
        for (i64 e = begin + threadIdx.x; e < stop; e += blockDim.x) {
            const i64 row = row_of(e, range[0], range[1], ends), v = queue[row];
            const u32 u = indices[indptr[v + 1] - (ends[row] - e)], bit = 1u << u % 32;
            if (visited[u / 32] & bit || atomicOr(visited + u / 32, bit) & bit) continue;
            sum += reach(u);
        }
        __syncwarp();
        add_over_warp(sum, total);
    }
}
