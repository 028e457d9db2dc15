// Whether a graph is simple: twin of is_simple in engine/analytics/cpu/kernels/adjacency.py; and the keys by which rows
// are sorted once vertices have other numbers. A warp goes along a row.
#include "grid.cuh"

// Count entries of sorted rows that are the row's own vertex, or the same as the entry before. Row v, of first .. last
// - 1, is at indptr[v - first].
extern "C" __global__ void count_faults(i64 first, i64 last, const i64* indptr, const vertex_t* indices,
    unsigned long long* faults)
{
    const int lane = threadIdx.x % 32;
    i64 found = 0;
    for (i64 v = first + warp_number(); v < last; v += warps_of_grid()) {
        const i64 begin = indptr[v - first], end = indptr[v - first + 1];
        for (i64 i = begin + lane; i < end; i += 32) found += indices[i] == v || (i > begin && indices[i] == indices[i - 1]);
    }
    if (found) atomicAdd(faults, (unsigned long long)found);
}

// Make the key of each entry of the rows 0 .. vertices - 1: the number of the row's vertex in the high 32 bits, that of
// the neighbor in the low ones. The `numbered` vertices, all that have neighbors, are numbered from the last rank on.
extern "C" __global__ void key_entries(i64 vertices, i64 numbered, const i64* indptr, const vertex_t* indices,
    const u32* rank, u64* keys)
{
    const u32 last = (u32)(numbered - 1);
    for (i64 v = warp_number(); v < vertices; v += warps_of_grid()) {
        const u64 row = (u64)(last - rank[v]) << 32;
        for (i64 i = indptr[v] + threadIdx.x % 32; i < indptr[v + 1]; i += 32)
            keys[i] = row | (last - rank[indices[i]]);
    }
}
