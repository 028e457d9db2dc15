// Common neighbors of the ends of edges, by which triangles are listed, and counted of each edge: twin of
// engine/analytics/cpu/kernels/triangles.py.
//
// Rows are of a simple undirected graph, sorted. Entry j of the row of u is the edge from u to v = indices[j], of which
// those with u < v are looked at. A warp takes an entry: it goes along the smaller of the sets of both ends, 32 vertices
// at a time, and searches each in the larger one. So what it finds rises; and where only vertices `above` v count, all
// triangles u < v < w come by u, then v, then w.

#include "grid.cuh"

// The first place from `low` to before `high` whose entry is `wanted` or more; `high` where there is none.
__device__ __forceinline__ i64 place_of(const vertex_t* indices, i64 low, i64 high, vertex_t wanted)
{
    while (low < high) {
        const i64 middle = low + (high - low) / 2;
        if (indices[middle] < wanted) low = middle + 1;
        else high = middle;
    }
    return low;
}

// The vertex whose row has entry j.
__device__ __forceinline__ i64 row_with(const i64* indptr, i64 vertices, i64 j)
{
    i64 low = 0, high = vertices;
    while (high - low > 1) {
        const i64 middle = low + (high - low) / 2;
        if (indptr[middle] <= j) low = middle;
        else high = middle;
    }
    return low;
}

// Calls found(is, w) for 32 vertices w of the smaller set at a time, as they rise: whether w of this thread is a common
// neighbor. All threads of a warp come here and there together.
template <typename Found>
__device__ __forceinline__ void over_common(i64 u, i64 j, const i64* indptr, const vertex_t* indices, bool above,
    Found found)
{
    const vertex_t v = indices[j];
    i64 own = indptr[u], own_end = indptr[u + 1], other = indptr[v], other_end = indptr[v + 1];
    if (above) {
        own = j + 1;
        other = place_of(indices, other, other_end, v);
    }
    if (other_end - other < own_end - own) {
        const i64 begin = own, end = own_end;
        own = other;
        own_end = other_end;
        other = begin;
        other_end = end;
    }
    for (i64 base = own; base < own_end; base += 32) {
        const i64 i = base + threadIdx.x % 32;
        const vertex_t w = i < own_end ? indices[i] : 0;
        const i64 place = i < own_end ? place_of(indices, other, other_end, w) : other_end;
        found(place < other_end && indices[place] == w, w);
        other = __shfl_sync(~0u, place, 31);  // whatever follows is larger
    }
}

// The number of common neighbors of each entry low .. high - 1; 0 where u > v.
extern "C" __global__ void count_common(i64 low, i64 high, i64 vertices, const i64* indptr, const vertex_t* indices,
    i64 above, i64* counts)
{
    for (i64 j = low + warp_number(); j < high; j += warps_of_grid()) {
        const i64 u = row_with(indptr, vertices, j);
        i64 count = 0;
        if (u < (i64)indices[j])
            over_common(u, j, indptr, indices, above, [&](bool is, vertex_t) { count += __popc(__ballot_sync(~0u, is)); });
        if (threadIdx.x % 32 == 0) counts[j - low] = count;
    }
}

// The triangles u < v < w of the entries low .. high - 1, three vertices each. Those of entry low + k are the rows
// begin[k] - begin[0] up to before begin[k + 1] - begin[0] of the table.
extern "C" __global__ void write_triangles(i64 low, i64 high, i64 vertices, const i64* indptr, const vertex_t* indices,
    const i64* begin, vertex_t* table)
{
    const u32 before = (1u << threadIdx.x % 32) - 1;
    for (i64 j = low + warp_number(); j < high; j += warps_of_grid()) {
        if (begin[j - low] == begin[j - low + 1]) continue;
        const i64 u = row_with(indptr, vertices, j);
        i64 at = begin[j - low] - begin[0];
        over_common(u, j, indptr, indices, true, [&](bool is, vertex_t w) {
            const u32 all = __ballot_sync(~0u, is);
            if (is) {
                vertex_t* const triangle = table + 3 * (at + __popc(all & before));
                triangle[0] = (vertex_t)u;
                triangle[1] = indices[j];
                triangle[2] = w;
            }
            at += __popc(all);
        });
    }
}
