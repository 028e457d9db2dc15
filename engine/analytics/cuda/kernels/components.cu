// Connected components by union of trees: twin of engine/analytics/cpu/kernels/components.py (Afforest). Row v of a
// block is at indptr[v - first].
#include "warp_rows.cuh"

// Join the trees of two vertices. A root is hooked to a smaller vertex alone; where it is a root no longer, both go on
// from what is above. Plain reads climb: atomics on the few vertices that all ways lead over would wait for each other.
// The first read may come from a multiprocessor's cache, and be what was above before, which is of the same tree: the
// neighbors of most threads are the same few hubs, and reads of one address wait for each other, too. Returns a vertex
// of the joined tree from which the next climb is short.
__device__ __forceinline__ vertex_t link(vertex_t one, vertex_t other, vertex_t* parent)
{
    const volatile vertex_t* const above = parent;
    vertex_t a = one, b = parent[other];
    while (a != b) {
        const vertex_t high = max(a, b), low = min(a, b), before = above[high];
        if (before == low || (before == high && atomicCAS(parent + high, high, low) == high)) return low;
        a = above[above[high]];
        b = above[low];
    }
    return a;
}

// Let each vertex point to itself.
extern "C" __global__ void number(i64 vertices, vertex_t* parent)
{
    for (i64 v = thread_number(); v < vertices; v += threads_of_grid()) parent[v] = (vertex_t)v;
}

// Join each vertex of first .. last - 1 with the first `count` neighbors of its row.
extern "C" __global__ void link_first(i64 first, i64 last, const i64* indptr, const vertex_t* indices, vertex_t* parent,
    i64 count)
{
    for (i64 v = first + thread_number(); v < last; v += threads_of_grid()) {
        const i64 begin = indptr[v - first], end = min(begin + count, indptr[v - first + 1]);
        vertex_t above = (vertex_t)v;
        for (i64 i = begin; i < end; i++) above = link(above, indices[i], parent);
    }
}

// Join each vertex with its other neighbors, unless it points where `hub` does; -1: in any case.
extern "C" __global__ void link_rest(i64 first, i64 last, const i64* indptr, const vertex_t* indices, vertex_t* parent,
    i64 count, i64 hub)
{
    const int lane = threadIdx.x % 32;
    for (i64 base = first + warp_number() * 32; base < last; base += threads_of_grid()) {
        const i64 v = base + lane;
        const bool wanted = v < last && (hub < 0 || parent[v] != parent[hub]);
        const i64 end = wanted ? indptr[v - first + 1] : 0, begin = wanted ? min(indptr[v - first] + count, end) : 0;
        vertex_t above = (vertex_t)v;
        each_entry(
            begin, end,
            [&](i64 i) {
                above = link(above, indices[i], parent);
                return true;
            },
            [&](i64 i, int owner) {
                if (i >= 0) link((vertex_t)(base + owner), indices[i], parent);
                return true;
            });
    }
}

// Join the trees of each vertex and of the one that it points to on another GPU, in whose memory `there` is.
extern "C" __global__ void link_trees(i64 vertices, const vertex_t* there, vertex_t* parent)
{
    for (i64 v = thread_number(); v < vertices; v += threads_of_grid()) link((vertex_t)v, there[v], parent);
}

// Let each vertex of first .. last - 1 point to its root. What other threads write meanwhile are roots, too.
extern "C" __global__ void flatten(i64 first, i64 last, vertex_t* parent)
{
    for (i64 v = first + thread_number(); v < last; v += threads_of_grid()) {
        vertex_t above = parent[v];
        while (above != parent[above]) above = parent[above];
        parent[v] = above;
    }
}
