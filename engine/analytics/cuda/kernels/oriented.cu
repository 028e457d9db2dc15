// Rows oriented by degree, for counts of triangles: twin of engine/analytics/cpu/kernels/oriented.py.
//
// Ranks go by degree, the highest first; vertices of too few neighbors have none, so that ranks take 32 bits where ids
// take 64. A split row keeps its place among all rows: the ranks of its lower neighbors come first, ascending, and from
// its end backward those of its higher neighbors; unranked neighbors are left out, as are all of an unranked vertex. So
// one row serves both directions of an edge, and neither edges nor offsets are sorted or stored again.

#include "group.cuh"
#include "ranked.cuh"

constexpr u32 SORTED = 1024;  // ranks that are sorted in shared memory
constexpr u32 ROWS = 2;       // rows of a block that has a warp for each
constexpr int AHEAD = 2;      // neighbors of a lane whose ranks are looked up at the same time
constexpr i64 SPAN = 1024;    // consecutive vertices of which a warp finds those that get a rank

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
    const vertex_t* indices, const u32* rank, u32* rows, u32* lower, u32* close, u32* higher)
{
    __shared__ u32 copies[ROWS][SORTED];
    u32* const copy = copies[threadIdx.y];
    const u32 lane = threadIdx.x, before = (1u << lane) - 1;
    for (i64 v = (i64)blockIdx.x * blockDim.y + threadIdx.y; v < count; v += (i64)gridDim.x * blockDim.y) {
        const i64 begin = indptr[v], end = indptr[v + 1];
        if (end - begin > most) continue;
        const u32 mine = rank[first + v], limit = mine == UNRANKED ? 0 : mine;
        u32 below = 0, above = 0, near = 0;
        for (i64 from = begin; from < end; from += 32 * AHEAD) {
            vertex_t ids[AHEAD];
            u32 others[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; ++k) ids[k] = from + 32 * k + lane < end ? indices[from + 32 * k + lane] : 0;
#pragma unroll
            for (int k = 0; k < AHEAD; ++k) others[k] = from + 32 * k + lane < end ? rank[ids[k]] : UNRANKED;
#pragma unroll
            for (int k = 0; k < AHEAD; ++k) {
                const u32 other = others[k];
                const bool is_low = other < limit, is_high = other > mine && other != UNRANKED;
                const u32 lows = __ballot_sync(~0u, is_low), highs = __ballot_sync(~0u, is_high);
                near += __popc(__ballot_sync(~0u, is_low && other < hubs));
                if (is_low) copy[below + __popc(lows & before)] = other;
                if (is_high) rows[end - 1 - above - __popc(highs & before)] = other;
                below += __popc(lows);
                above += __popc(highs);
            }
        }
        __syncwarp();
        sort_short(copy, below, rows + begin);
        if (lane == 0) {
            lower[v] = below;
            close[v] = near;
            higher[v] = above;
        }
        __syncwarp();
    }
}

// Split the rows of the vertices first + chosen[0 .. count - 1], which have ranks. A block a row.
extern "C" __global__ void split_long(i64 count, const i64* chosen, i64 first, u32 hubs, const i64* indptr,
    const vertex_t* indices, const u32* rank, u32* rows, u32* lower, u32* close, u32* higher)
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
            const u32 other = i < end ? rank[indices[i]] : UNRANKED;
            const bool is_low = other < mine, is_high = other > mine && other != UNRANKED;
            const u32 lows = __ballot_sync(~0u, is_low), highs = __ballot_sync(~0u, is_high),
                hub = __ballot_sync(~0u, is_low && other < hubs);
            u32 low_at = 0, high_at = 0;
            if (lane == 0) {
                low_at = atomicAdd(&below, __popc(lows));
                high_at = atomicAdd(&above, __popc(highs));
                atomicAdd(&near, __popc(hub));
            }
            low_at = __shfl_sync(~0u, low_at, 0) + __popc(lows & before);
            high_at = __shfl_sync(~0u, high_at, 0) + __popc(highs & before);
            if (is_low) rows[begin + low_at] = other;
            if (is_high) rows[end - 1 - high_at] = other;
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
            higher[v] = above;
        }
        __syncthreads();
    }
}

// Lists of the vertices order[0 .. count - 1]: hubs in 16 bits from near_begin[k] on, others where they are in `rows`,
// as their higher neighbors, of which there are counts[k] from begins[k] on. A warp a row.
extern "C" __global__ void place_rows(i64 count, const i64* order, const i64* indptr, const u32* rows,
    const u32* lower, const u32* close, const u32* higher, const i64* near_begin, Ranked* ranked, near_t* near,
    i64* begins, u32* counts)
{
    for (i64 k = warp_number(); k < count; k += warps_of_grid()) {
        const i64 v = order[k], begin = indptr[v], at = near_begin[k], size = 4 * (near_begin[k + 1] - at);
        const u32 below = lower[v], hubs = close[v], above = higher[v];
        for (i64 i = threadIdx.x % 32; i < size; i += 32) near[4 * at + i] = i < hubs ? (near_t)rows[begin + i] : (near_t)0xFFFF;
        if (threadIdx.x % 32) continue;
        ranked[k] = {at, hubs, 0, begin + hubs, below - hubs, 0};
        begins[k] = indptr[v + 1] - above;
        counts[k] = above;
    }
}

// How many vertices of each span have `least` >= 1 neighbors or more. A warp a span.
extern "C" __global__ void count_ranked(i64 vertices, i64 least, const i64* indptr, i64* counts)
{
    for (i64 n = warp_number(); n * SPAN < vertices; n += warps_of_grid()) {
        i64 own = 0;
        for (i64 v = n * SPAN + threadIdx.x % 32, end = min(vertices, (n + 1) * SPAN); v < end; v += 32)
            own += indptr[v + 1] - indptr[v] >= least;
        own = warp_sum(own);
        if (threadIdx.x % 32 == 0) counts[n] = own;
    }
}

// These vertices in the order of their ids, those of span n from begin[n] on, and numbers whose order is theirs by
// degree, the highest first, ties in order of ids; and that all others are unranked. A warp a span.
extern "C" __global__ void key_ranked(i64 vertices, i64 least, const i64* indptr, const i64* begin, vertex_t* chosen,
    u64* keys, u32* rank)
{
    const u32 lane = threadIdx.x % 32, before = (1u << lane) - 1;
    for (i64 n = warp_number(); n * SPAN < vertices; n += warps_of_grid()) {
        i64 at = begin[n];
        for (i64 from = n * SPAN, end = min(vertices, from + SPAN); from < end; from += 32) {
            const i64 v = from + lane, degree = v < end ? indptr[v + 1] - indptr[v] : 0;
            const u32 all = __ballot_sync(~0u, degree >= least);
            if (degree >= least) {
                const i64 place = at + __popc(all & before);
                chosen[place] = (vertex_t)v;
                // A vertex may have 2^32 neighbors and more, most of them unranked: any order of such vertices will do.
                keys[place] = (u64)(~0u - (u32)min(degree, (i64)~0u)) << 32 | (u64)place;
            } else if (v < end) rank[v] = UNRANKED;
            at += __popc(all);
        }
    }
}

// The rank of each of these vertices, of their numbers in order, which become the vertex of each rank.
extern "C" __global__ void rank_keys(i64 count, const vertex_t* chosen, u64* keys, u32* rank)
{
    for (i64 k = thread_number(); k < count; k += threads_of_grid()) {
        const vertex_t v = chosen[(u32)keys[k]];
        keys[k] = v;
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
extern "C" __global__ void count_units(i64 count, const i64* order, const u32* close, i64* units)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += stride)
        units[k] = (close[order[k]] + 3) / 4;
}

// Numbers of vertices, of those of ranks; 0 of an unranked one.
extern "C" __global__ void take_by_rank(i64 vertices, const u32* rank, const u64* of_rank, i64* out)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += stride)
        out[v] = rank[v] == UNRANKED ? 0 : (i64)of_rank[rank[v]];
}
