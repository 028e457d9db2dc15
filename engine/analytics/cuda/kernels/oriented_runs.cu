// Lists of lower neighbors that are written run by run and read piece by piece: see
// engine/analytics/cuda/oriented.py.
//
// A run has the lists of some consecutive vertices of the graph, those that have ranks, in order of these; a piece has
// the lists of consecutive ranks, of all runs. Of each list a run says its rank, how many of its neighbors are hubs, and
// where these and the others begin in the run; behind the last, where they end.

#include "graph.cuh"
#include "ranked.cuh"

struct Listed { u32 rank, close, near, far; };

// The most bytes that the list of each rank takes, whose vertices are order[0 .. count - 1]: `list`, and `neighbor` for
// each neighbor that is lower.
extern "C" __global__ void bound_lists(i64 count, i64 list, i64 neighbor, const i64* order, const i64* indptr,
    i64* out)
{
    for (i64 k = thread_number(); k < count; k += threads_of_grid())
        out[k] = list + neighbor * min(indptr[order[k] + 1] - indptr[order[k]], k);
}

// Units of four for the hubs of each list of a run, and its others, of the vertices first + order[0 .. count - 1].
extern "C" __global__ void measure_run(i64 count, const i64* order, const u32* lower, const u32* close, i64* units,
    i64* others)
{
    for (i64 k = thread_number(); k < count; k += threads_of_grid()) {
        const u32 hubs = close[order[k]];
        units[k] = (hubs + 3) / 4;
        others[k] = lower[order[k]] - hubs;
    }
}

// Write the run of the vertices first + order[0 .. count - 1], of their split rows (oriented.cu). A warp a row.
extern "C" __global__ void place_run(i64 count, const i64* order, const u32* rank, const i64* indptr, const u32* rows,
    const u32* lower, const u32* close, const i64* near_begin, const i64* far_begin,
                                     Listed* entries, near_t* near, u32* far)
{
    const i64 lane = threadIdx.x % 32;
    for (i64 k = warp_number(); k <= count; k += warps_of_grid()) {
        if (k == count) {
            if (lane == 0) entries[k] = {~0u, 0, (u32)near_begin[k], (u32)far_begin[k]};
            continue;
        }
        const i64 v = order[k], size = 4 * (near_begin[k + 1] - near_begin[k]);
        const u32 *const row = rows + indptr[v], hubs = close[v], others = lower[v] - hubs;
        for (i64 i = lane; i < size; i += 32) near[4 * near_begin[k] + i] = i < hubs ? (near_t)row[i] : (near_t)0xFFFF;
        for (i64 i = lane; i < others; i += 32) far[far_begin[k] + i] = row[hubs + i];
        if (lane == 0) entries[k] = {rank[v], hubs, (u32)near_begin[k], (u32)far_begin[k]};
    }
}

// Lists of a run that were copied: `entries` are its count from `begin` on; where its hubs and others stand is what the
// entry says, and these units and places more.
struct Copied { i64 begin, count, near, far; };

// Say where the lists of copied[0 .. segments - 1] stand. ranked[0] is of rank `first`.
extern "C" __global__ void place_piece(i64 segments, const Copied* copied, const Listed* entries, i64 first,
    Ranked* ranked)
{
    for (i64 segment = blockIdx.y; segment < segments; segment += gridDim.y) {
        const Copied run = copied[segment];
        for (i64 k = thread_number(); k < run.count; k += threads_of_grid()) {
            const Listed one = entries[run.begin + k];
            ranked[one.rank - first] = {run.near + one.near, one.close, 0, run.far + one.far,
                entries[run.begin + k + 1].far - one.far, 0};
        }
    }
}

// Calls `with` for each neighbor y in low .. high - 1 of each x = first .. first + count - 1. A warp a list.
template <typename With>
__device__ __forceinline__ void over_lists(i64 count, i64 first, const Ranked* ranked, const near_t* near,
    const u32* far, i64 low, i64 high, With with)
{
    for (i64 k = warp_number(); k < count; k += warps_of_grid()) {
        const Ranked row = row_of(ranked, k);
        for (u32 i = threadIdx.x % 32; low < 0xFFFF && i < row.close; i += 32) {
            const i64 y = near[4 * row.near + i];
            if (low <= y && y < high) with((u32)(first + k), y - low);
        }
        for (u32 i = threadIdx.x % 32; i < row.wide; i += 32) {
            const i64 y = far[row.far + i];
            if (y >= high) break;
            if (low <= y) with((u32)(first + k), y - low);
        }
    }
}

// How many of the vertices x are higher neighbors of each y.
extern "C" __global__ void count_higher(i64 count, i64 first, const Ranked* ranked, const near_t* near,
    const u32* far, i64 low, i64 high, u32* higher)
{
    over_lists(count, first, ranked, near, far, low, high, [&](u32, i64 y) { atomicAdd(&higher[y], 1u); });
}

// Which ones: from at[y] on, which moves on to its end.
extern "C" __global__ void fill_higher(i64 count, i64 first, const Ranked* ranked, const near_t* near, const u32* far,
    i64 low, i64 high, u64* at, u32* words)
{
    over_lists(count, first, ranked, near, far, low, high, [&](u32 x,
        i64 y) { words[atomicAdd((unsigned long long*)&at[y], 1ull)] = x; });
}
