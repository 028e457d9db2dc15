// Matches of a pattern by filter and join: twin of engine/analytics/cpu/kernels/patterns.py.
//
// Rows are of a simple undirected graph, sorted, its vertices numbered so that degrees rise. A table has the matches of
// the first vertices of a pattern: vertex i of match r is table[i * stride + r]. It is joined with the next vertex, of
// level `level`, in two steps. Of each match, `begin_candidates` finds the shortest row among those of its vertices that
// the next one is joined to, and the entries of it above the numbers that symmetry asks for. All these candidates of all
// matches are then entries of rows that are shared in equal pieces: `join` filters them by degree and label, searches
// them in the other rows, and writes the longer matches in any order; `join_last` counts them; and where the last vertex
// is joined to one alone, `count_last` counts them without a look at each.
//
//     joined, after               of the next vertex: bit i is set if it is joined to vertex i, or if it has a higher
//                                 number than that one
//     need, want, labels          its degree, and the number of its label, of `labels`, or -1
//     begin, ends, drivers        of each match: its first candidate among all entries, the running sum of candidates up
//                                 to its last one, and the vertex in whose row they are
//     low, high                   candidates that are joined, of all

#include "pieces.cuh"

typedef unsigned long long count_t;
constexpr i64 PIECE = 2048;  // candidates that a block joins at a time
constexpr u32 ALL = ~0u;     // threads of a warp

// Number of entries of the sorted row from `begin` to `end` that are at most `value`.
__device__ __forceinline__ i64 up_to(const u32* indices, i64 begin, i64 end, u32 value)
{
    i64 low = begin, high = end;
    while (low < high) {
        const i64 middle = (low + high) / 2;
        if (indices[middle] <= value) low = middle + 1;
        else high = middle;
    }
    return low - begin;
}

__device__ __forceinline__ bool has(const i64* indptr, const u32* indices, u32 v, u32 value)
{
    const i64 begin = indptr[v], place = up_to(indices, begin, indptr[v + 1], value);
    return place > 0 && indices[begin + place - 1] == value;
}

// Find the candidates of each of `count` matches, and how many there are.
extern "C" __global__ void begin_candidates(i64 count, i64 stride, u32 level, u32 joined, u32 after, const u32* table,
                                            const i64* indptr, const u32* indices,
                                            i64* begin, i64* sizes, u32* drivers)
{
    for (i64 r = thread_number(); r < count; r += threads_of_grid()) {
        i64 first = 0, last = 0, bound = -1;
        u32 driver = ALL;
        for (u32 i = 0; i < level; ++i) {
            const u32 v = table[i * stride + r];
            if (after >> i & 1) bound = max(bound, (i64)v);
            if (!(joined >> i & 1)) continue;
            const i64 from = indptr[v], to = indptr[v + 1];
            if (driver != ALL && to - from >= last - first) continue;
            driver = i;
            first = from;
            last = to;
        }
        if (bound >= 0) first += up_to(indices, first, last, (u32)bound);
        begin[r] = first;
        sizes[r] = last - first;
        drivers[r] = driver;
    }
}

// Whether candidate c makes match r longer.
__device__ __forceinline__ bool fits(u32 c, i64 r, i64 stride, u32 level, u32 joined, i64 need, i64 want,
    const int* labels, const u32* table, u32 driver, const i64* indptr, const u32* indices)
{
    if (want >= 0 && labels[c] != want) return false;
    if (indptr[c + 1] - indptr[c] < need) return false;
    for (u32 i = 0; i < level; ++i) {
        const u32 v = table[i * stride + r];
        if (!(joined >> i & 1)) {
            if (v == c) return false;
        } else if (i != driver && !has(indptr, indices, v, c)) return false;
    }
    return true;
}

// `visit(c, r)` for each of the candidates low .. high - 1 that fits, c of match r; and visit(0, -1) by the threads of
// a warp that have none, so that all of them can exchange what they have. All threads of a block come here.
template <typename F>
__device__ __forceinline__ void each_fitting(i64 low, i64 high, i64 count, i64 stride, u32 level, u32 joined, i64 need,
    i64 want, const int* labels, const u32* table, const i64* begin, const i64* ends, const u32* drivers,
    const i64* indptr, const u32* indices, F visit)
{
    __shared__ i64 range[2];
    for (i64 from = low + (i64)blockIdx.x * PIECE; from < high; from += (i64)gridDim.x * PIECE) {
        const i64 stop = min(from + PIECE, high);
        __syncthreads();
        if (threadIdx.x < 2) range[threadIdx.x] = row_of(threadIdx.x ? stop - 1 : from, 0, count - 1, ends);
        __syncthreads();
        for (i64 at = from; at < stop; at += blockDim.x) {
            const i64 e = at + threadIdx.x;
            u32 c = 0;
            i64 r = -1;
            if (e < stop) {
                r = row_of(e, range[0], range[1], ends);
                const i64 before = r ? ends[r - 1] : 0;
                c = indices[begin[r] + (e - before)];
                if (!fits(c, r, stride, level, joined, need, want, labels, table, drivers[r], indptr, indices)) r = -1;
            }
            __syncwarp();
            visit(c, r);
        }
    }
}

// Write the longer matches to the table `longer`, and add their number to *made.
extern "C" __global__ void __launch_bounds__(256) join(i64 low, i64 high, i64 count, i64 stride, u32 level, u32 joined,
                                                       i64 need, i64 want, const int* labels, const u32* table,
                                                       const i64* begin, const i64* ends, const u32* drivers,
                                                       const i64* indptr, const u32* indices,
                                                       i64 longer_stride, u32* longer, count_t* made)
{
    const u32 lane = threadIdx.x % 32;
    each_fitting(low, high, count, stride, level, joined, need, want, labels, table, begin, ends, drivers, indptr,
        indices, [&](u32 c, i64 r) {
            const u32 fitting = __ballot_sync(ALL, r >= 0);
            count_t place = 0;
            if (lane == 0 && fitting) place = atomicAdd(made, (count_t)__popc(fitting));
            place = __shfl_sync(ALL, place, 0) + __popc(fitting & ((1u << lane) - 1));
            if (r < 0) return;
            for (u32 i = 0; i < level; ++i) longer[i * longer_stride + place] = table[i * stride + r];
            longer[level * longer_stride + place] = c;
        });
}

// Add the number of matches of the whole pattern to *total, and with EACH those of each vertex to `counts`.
extern "C" __global__ void __launch_bounds__(256) join_last(i64 low, i64 high, i64 count, i64 stride, u32 level,
                                                            u32 joined, i64 need, i64 want, const int* labels,
                                                            const u32* table, const i64* begin, const i64* ends,
                                                            const u32* drivers, const i64* indptr, const u32* indices,
                                                            count_t* total, count_t* counts)
{
    i64 found = 0;
    each_fitting(low, high, count, stride, level, joined, need, want, labels, table, begin, ends, drivers, indptr,
        indices, [&](u32 c, i64 r) {
            found += r >= 0;
            if (!EACH) return;
            const u32 same = __match_any_sync(ALL, r);  // threads with candidates of the same match
            if (r < 0) return;
            atomicAdd(&counts[c], 1ull);
            if (threadIdx.x % 32 != __ffs(same) - 1) return;
            for (u32 i = 0; i < level; ++i) atomicAdd(&counts[table[i * stride + r]], (count_t)__popc(same));
        });
    __syncwarp();
    add_over_warp(found, total);
}

// Add the candidates for the last vertex of each match to *total, less the vertices of the match among them.
extern "C" __global__ void count_last(i64 count, i64 stride, u32 level, u32 after, const u32* table, const i64* sizes,
                                      const u32* drivers, const i64* indptr, const u32* indices, count_t* total)
{
    i64 found = 0;
    for (i64 r = thread_number(); r < count; r += threads_of_grid()) {
        const u32 driver = drivers[r], row = table[driver * stride + r];
        i64 bound = -1;
        for (u32 i = 0; i < level; ++i) if (after >> i & 1) bound = max(bound, (i64)table[i * stride + r]);
        found += sizes[r];
        for (u32 i = 0; i < level; ++i) {
            const u32 v = table[i * stride + r];
            if (i != driver && (i64)v > bound && has(indptr, indices, row, v)) found -= 1;
        }
    }
    __syncwarp();
    add_over_warp(found, total);
}
