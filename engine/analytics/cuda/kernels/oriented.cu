// Rows oriented by degree, for counts of triangles: twin of engine/analytics/cpu/kernels/oriented.py.
//
// Ranks go by degree, the highest first. A split row keeps its place among all rows: the ranks of its lower neighbors
// come first, ascending, and from its end backward those of its higher neighbors. So one row serves both directions of
// an edge, and neither edges nor offsets are sorted or stored again.

#include "group.cuh"
#include "ranked.cuh"

constexpr u32 SORTED = 1024;  // ranks that are sorted in shared memory
constexpr u32 ROWS = 2;       // rows of a block that has a warp for each
constexpr int AHEAD = 2;      // neighbors of a lane whose ranks are looked up at the same time

// Sort n distinct numbers ascending, where they are. All threads of a group.
__device__ inline void sort_there(u32* row, u32 n)
{
    for (u32 size = 2; size < 2 * n; size *= 2)
        for (u32 step = size / 2; step; step /= 2) {
            // A bitonic network that always puts the smaller first: the first step of a merge mirrors, so any length
            // will do.
            const u32 flip = step == size / 2 ? size - 1 : step;
            for (u32 i = threadIdx.x; i < n; i += blockDim.x) {
                const u32 j = i ^ flip;
                if (j > i && j < n && row[i] > row[j]) {
                    const u32 kept = row[i];
                    row[i] = row[j];
                    row[j] = kept;
                }
            }
            group_sync();
        }
}

// Write n <= 32 N distinct numbers in ascending order to `out`: the same network in the registers of a warp.
template <int N>
__device__ __forceinline__ void sort_in_registers(const u32* row, u32 n, u32* out)
{
    const u32 lane = threadIdx.x % 32;
    u32 own[N];
#pragma unroll
    for (int k = 0; k < N; ++k) own[k] = k * 32 + lane < n ? row[k * 32 + lane] : ~0u;
#pragma unroll
    for (u32 size = 2; size <= 32 * N; size *= 2)
#pragma unroll
        for (u32 step = size / 2; step; step /= 2) {
            const u32 flip = step == size / 2 ? size - 1 : step;
            u32 kept[N];
#pragma unroll
            for (int k = 0; k < N; ++k) {
                const u32 other = __shfl_xor_sync(~0u, own[k ^ (flip / 32)], flip % 32);
                kept[k] = (k * 32 + lane) & step ? max(own[k], other) : min(own[k], other);
            }
#pragma unroll
            for (int k = 0; k < N; ++k) own[k] = kept[k];
        }
#pragma unroll
    for (int k = 0; k < N; ++k) if (k * 32 + lane < n) out[k * 32 + lane] = own[k];
}

__device__ inline void sort_short(u32* row, u32 n, u32* out)
{
    if (n <= 32) return sort_in_registers<1>(row, n, out);
    if (n <= 64) return sort_in_registers<2>(row, n, out);
    if (n <= 128) return sort_in_registers<4>(row, n, out);
    sort_there(row, n);
    for (u32 i = threadIdx.x; i < n; i += 32) out[i] = row[i];
}

// Split the rows of the vertices first .. first + count - 1 that have no more than `most` <= SORTED neighbors. A warp a
// row.
extern "C" __global__ void split_short(i64 count, i64 most, i64 first, u32 hubs, const i64* indptr,
    const u32* indices, const u32* rank, u32* rows, u32* lower, u32* close)
{
    __shared__ u32 copies[ROWS][SORTED];
    u32* const copy = copies[threadIdx.y];
    const u32 lane = threadIdx.x, before = (1u << lane) - 1;
    for (i64 v = (i64)blockIdx.x * blockDim.y + threadIdx.y; v < count; v += (i64)gridDim.x * blockDim.y) {
        const i64 begin = indptr[v], end = indptr[v + 1];
        if (end - begin > most) continue;
        const u32 mine = rank[first + v];
        u32 below = 0, above = 0, near = 0;
        for (i64 from = begin; from < end; from += 32 * AHEAD) {
            u32 others[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; ++k) others[k] = from + 32 * k + lane < end ? indices[from + 32 * k + lane] : ~0u;
#pragma unroll
            for (int k = 0; k < AHEAD; ++k) others[k] = from + 32 * k + lane < end ? rank[others[k]] : mine;
#pragma unroll
            for (int k = 0; k < AHEAD; ++k) {
                const u32 other = others[k], lows = __ballot_sync(~0u, other < mine), highs = __ballot_sync(~0u,
                    other > mine);
                near += __popc(__ballot_sync(~0u, other < mine && other < hubs));
                if (other < mine) copy[below + __popc(lows & before)] = other;
                if (other > mine) rows[end - 1 - above - __popc(highs & before)] = other;
                below += __popc(lows);
                above += __popc(highs);
            }
        }
        __syncwarp();
        sort_short(copy, below, rows + begin);
        if (lane == 0) {
            lower[v] = below;
            close[v] = near;
        }
        __syncwarp();
    }
}

// Split the rows of the vertices first + chosen[0 .. count - 1]. A block a row.
extern "C" __global__ void split_long(i64 count, const i64* chosen, i64 first, u32 hubs, const i64* indptr,
    const u32* indices, const u32* rank, u32* rows, u32* lower, u32* close)
{
    __shared__ u32 below, above, near, copy[SORTED];
    const u32 lane = threadIdx.x % 32, before = (1u << lane) - 1;
    for (i64 n = blockIdx.x; n < count; n += gridDim.x) {
        const i64 v = chosen[n], begin = indptr[v], end = indptr[v + 1];
        const u32 mine = rank[first + v];
        if (threadIdx.x == 0) below = above = near = 0;
        __syncthreads();
        for (i64 from = begin; from < end; from += blockDim.x) {
            const i64 i = from + threadIdx.x;
            const u32 other = i < end ? rank[indices[i]] : mine;
            const u32 lows = __ballot_sync(~0u, other < mine), highs = __ballot_sync(~0u, other > mine),
                hub = __ballot_sync(~0u, other < mine && other < hubs);
            u32 low_at = 0, high_at = 0;
            if (lane == 0) {
                low_at = atomicAdd(&below, __popc(lows));
                high_at = atomicAdd(&above, __popc(highs));
                atomicAdd(&near, __popc(hub));
            }
            low_at = __shfl_sync(~0u, low_at, 0) + __popc(lows & before);
            high_at = __shfl_sync(~0u, high_at, 0) + __popc(highs & before);
            if (other < mine) rows[begin + low_at] = other;
            if (other > mine) rows[end - 1 - high_at] = other;
        }
        __syncthreads();
        u32 *const row = rows + begin, length = below;
        if (length <= SORTED) {
            for (u32 i = threadIdx.x; i < length; i += blockDim.x) copy[i] = row[i];
            __syncthreads();
            sort_there(copy, length);
            for (u32 i = threadIdx.x; i < length; i += blockDim.x) row[i] = copy[i];
        } else {
            sort_there(row, length);
        }
        if (threadIdx.x == 0) {
            lower[v] = length;
            close[v] = near;
        }
        __syncthreads();
    }
}

// Lists of the vertices order[0 .. count - 1]: hubs in 16 bits from near_begin[k] on, others where they are in `rows`,
// as their higher neighbors. A warp a row.
extern "C" __global__ void place_rows(i64 count, const u32* order, const i64* indptr, const u32* rows,
    const u32* lower, const u32* close, const i64* near_begin, Ranked* ranked, near_t* near, i64* higher_begin,
    u32* higher)
{
    for (i64 k = warp_number(); k < count; k += warps_of_grid()) {
        const i64 v = order[k], begin = indptr[v], at = near_begin[k], size = 4 * (near_begin[k + 1] - at);
        const u32 below = lower[v], hubs = close[v];
        for (i64 i = threadIdx.x % 32; i < size; i += 32) near[4 * at + i] = i < hubs ? (near_t)rows[begin + i] : (near_t)0xFFFF;
        if (threadIdx.x % 32) continue;
        ranked[k] = {at, hubs, 0, begin + hubs, below - hubs, 0};
        higher_begin[k] = begin + below;
        higher[k] = (u32)(indptr[v + 1] - begin) - below;
    }
}

// Numbers whose order is that of the vertices by degree, the highest first, ties in order of ids.
extern "C" __global__ void key_degrees(i64 vertices, const i64* indptr, u64* keys)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += stride)
        keys[v] = (u64)(~0u - (u32)(indptr[v + 1] - indptr[v])) << 32 | (u64)v;
}

// The rank of each vertex, and the vertex of each rank, of these numbers in order.
extern "C" __global__ void rank_keys(i64 vertices, const u64* keys, u32* rank, u32* order)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < vertices; k += stride) {
        const u32 v = (u32)keys[k];
        order[k] = v;
        rank[v] = (u32)k;
    }
}

// The rows with more than `most` entries, in any order, and how many there are.
extern "C" __global__ void list_long(i64 count, i64 most, const i64* indptr, i64* chosen, u64* found)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < count; v += stride)
        if (indptr[v + 1] - indptr[v] > most) chosen[atomicAdd(found, (u64)1)] = v;
}

// How many vertices have `least` neighbors or more.
extern "C" __global__ void count_many(i64 vertices, i64 least, const i64* indptr, u64* many)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    u32 own = 0;
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += stride)
        own += indptr[v + 1] - indptr[v] >= least;
    for (int step = 16; step; step /= 2) own += __shfl_down_sync(~0u, own, step);
    if (threadIdx.x % 32 == 0 && own) atomicAdd(many, (u64)own);
}

// Units of four for the hubs of the vertices order[0 .. count - 1].
extern "C" __global__ void count_units(i64 count, const u32* order, const u32* close, i64* units)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += stride)
        units[k] = (close[order[k]] + 3) / 4;
}

// Numbers of vertices, of those of ranks.
extern "C" __global__ void take_by_rank(i64 vertices, const u32* rank, const u64* of_rank, i64* out)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += stride) out[v] = (i64)of_rank[rank[v]];
}
