// Rows oriented by degree, for counts of triangles: twin of engine/cpu/kernels/oriented.py.
//
// Ranks go by degree, the highest first. A split row keeps its place among all rows: the ranks of its lower neighbors come first, ascending, and from its end
// backward the ids of its higher neighbors. So one row serves both directions of an edge, and neither edges nor offsets are sorted or stored again.

#include "group.cuh"

constexpr u32 SORTED = 1024;  // ranks that are sorted in shared memory
constexpr u32 ROWS = 2;       // most rows of a block: a warp each, or all threads one

// Sort n distinct numbers ascending. All threads of a row; `copy` has room for SORTED.
__device__ inline void sort_row(u32* row, u32 n, u32* copy)
{
    u32* const at = n <= SORTED ? copy : row;
    if (at == copy) for (u32 i = threadIdx.x; i < n; i += blockDim.x) copy[i] = row[i];
    group_sync();
    for (u32 size = 2; size < 2 * n; size *= 2)
        for (u32 step = size / 2; step; step /= 2) {
            // A bitonic network that always puts the smaller first: the first step of a merge mirrors, so any length will do.
            const u32 flip = step == size / 2 ? size - 1 : step;
            for (u32 i = threadIdx.x; i < n; i += blockDim.x) {
                const u32 j = i ^ flip;
                if (j > i && j < n && at[i] > at[j]) {
                    const u32 kept = at[i];
                    at[i] = at[j];
                    at[j] = kept;
                }
            }
            group_sync();
        }
    if (at == copy) for (u32 i = threadIdx.x; i < n; i += blockDim.x) row[i] = copy[i];
}

// Split rows: those of the vertices in `chosen`, or of all of first .. first + count - 1 with no more than `most` neighbors. Rows of a block: blockDim.y.
extern "C" __global__ void split_rows(i64 count, const i64* chosen, i64 most, i64 first, u32 hubs, const i64* indptr, const u32* indices, const u32* rank, u32* rows, u32* lower, u32* close)
{
    __shared__ u32 numbers[ROWS][3], copies[ROWS][SORTED];
    u32 &below = numbers[threadIdx.y][0], &above = numbers[threadIdx.y][1], &near = numbers[threadIdx.y][2], *const copy = copies[threadIdx.y];
    const u32 lane = threadIdx.x % 32, before = (1u << lane) - 1;
    for (i64 n = (i64)blockIdx.x * blockDim.y + threadIdx.y; n < count; n += (i64)gridDim.x * blockDim.y) {
        const i64 v = chosen ? chosen[n] : n, begin = indptr[v], end = indptr[v + 1];
        if (end - begin > most) continue;
        const u32 mine = rank[first + v];
        if (threadIdx.x == 0) below = above = near = 0;
        group_sync();
        for (i64 from = begin; from < end; from += blockDim.x) {
            const i64 i = from + threadIdx.x;
            const u32 neighbor = i < end ? indices[i] : 0, other = i < end ? rank[neighbor] : mine;
            const u32 lows = __ballot_sync(~0u, other < mine), highs = __ballot_sync(~0u, other > mine), hub = __ballot_sync(~0u, other < mine && other < hubs);
            u32 low_at = 0, high_at = 0;
            if (lane == 0) {
                low_at = atomicAdd(&below, __popc(lows));
                high_at = atomicAdd(&above, __popc(highs));
                atomicAdd(&near, __popc(hub));
            }
            low_at = __shfl_sync(~0u, low_at, 0) + __popc(lows & before);
            high_at = __shfl_sync(~0u, high_at, 0) + __popc(highs & before);
            if (other < mine) rows[begin + low_at] = other;
            if (other > mine) rows[end - 1 - high_at] = neighbor;
        }
        group_sync();
        sort_row(rows + begin, below, copy);
        if (threadIdx.x == 0) {
            lower[v] = below;
            close[v] = near;
        }
        group_sync();
    }
}

// The hubs of each split row in 16 bits. A warp a row.
extern "C" __global__ void shorten_rows(i64 count, const i64* indptr, const u32* rows, const u32* close, const i64* near_begin, unsigned short* near)
{
    const i64 warps = (i64)gridDim.x * blockDim.x / 32;
    for (i64 v = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32; v < count; v += warps) {
        const i64 out = 4 * near_begin[v], size = 4 * near_begin[v + 1] - out;
        for (i64 i = threadIdx.x % 32; i < size; i += 32) near[out + i] = i < close[v] ? (unsigned short)rows[indptr[v] + i] : 0xFFFF;
    }
}
