// One instance of a traversal in its room: its vertices by slot, its edges, its frontier, and which vertices it has seen. See trees.cu.
#pragma once
#include "coins.cuh"
#include "weigh.cuh"

// Whether a vertex that has been seen is left out of pools, and enters a frontier once.
#define ONCE (POOLED && !EACH_EDGE_ONCE)

struct Trees {
    i64 first, count;        // number of the batch's first instance; how many to draw
    const i64* numbers;      // which ones of the batch; null: 0, 1, 2, ...
    i64 width, depths, span, buckets;  // sources of an instance, depths, room for edges, for vertices that have been seen (a power of two)
    i64 total;               // an instance of so many vertices draws at no further depth
    const i64* sizes;        // neighbors of an entry at each depth; -1: all
    u64 limit, rest;         // GEOMETRIC: of the coin
    const vertex_t* sources; // [batch, width]
    vertex_t *vertex, *src, *stage, *picked, *seen;  // room, one instance after the other: see Tree
    unsigned short* depth;
    u32 *frontier, *start, *found, *gaps, *order;
    i64 *sums, *chosen;
    i64 *held, *counts, *again;  // [count] edges of an instance, -1: too many; [batch] the same; the batch's instances that need more room
    u64* totals;             // instances in `again`, edges, dead ends
};

struct Tree {  // one instance's room; cells are width + span
    u64 instance;
    i64 cells;
    u32 mask;
    vertex_t *vertex, *src;        // [cells] by slot; [span] where an edge begins
    unsigned short* depth;         // [span]
    vertex_t *stage, *picked;      // [span] neighbors as they are selected, entry after entry from start[e] on; their numbers within the pool
    u32 *frontier, *start, *found; // [cells] of a frontier's entries
    u32* gaps;                     // [warps, cells] positions of a row that are not in the pool
    vertex_t* seen;                // [buckets] a hash table: vertices of the depths before, and the slot of the first visit
    u32* order;
    i64 *sums, *chosen;            // COLLECTIVE: [cells] running sums of a frontier's degrees; [span] numbers picked from its pool
};

__device__ __forceinline__ Tree tree_at(const Trees& t, i64 n, i64 local)
{
    const i64 cells = t.width + t.span, warps = blockDim.x >> 5;
    return {(u64)(t.first + local), cells, (u32)t.buckets - 1, t.vertex + n * cells, t.src + n * t.span, t.depth + n * t.span, t.stage + n * t.span,
            t.picked + n * t.span, t.frontier + n * cells, t.start + n * cells, t.found + n * cells, t.gaps + n * warps * cells, t.seen + n * t.buckets,
            t.order + n * t.buckets, t.sums + n * cells, t.chosen + n * t.span};
}

__device__ __forceinline__ u32 home_of(const Tree& tree, vertex_t v) { return (u32)((u64)v * 0x9E3779B97F4A7C15ull >> 32) & tree.mask; }

// Where a vertex is in the table, or would be.
__device__ __forceinline__ u32 bucket_of(const Tree& tree, vertex_t v)
{
    u32 b = home_of(tree, v);
    while (tree.seen[b] != v && tree.seen[b] != NONE) b = (b + 1) & tree.mask;
    return b;
}

__device__ __forceinline__ bool has_seen(const Tree& tree, vertex_t v) { return tree.seen[bucket_of(tree, v)] == v; }

__device__ __forceinline__ void visit(const Tree& tree, vertex_t v, u32 slot)
{
    u32 b = home_of(tree, v);
    for (vertex_t there = atomicCAS(tree.seen + b, NONE, v); there != NONE && there != v; there = atomicCAS(tree.seen + b, NONE, v)) b = (b + 1) & tree.mask;
    atomicMin(tree.order + b, slot);
}

__device__ __forceinline__ bool is_first_visit(const Tree& tree, u32 slot) { return tree.order[bucket_of(tree, tree.vertex[slot])] == slot; }

// Draws become distinct: one that meets an earlier one takes the top of its range (Floyd: Bentley, CACM 30(9), 1987). A warp.
template <typename T>
__device__ __forceinline__ void make_distinct(T* picked, i64 count, i64 k)
{
    const int lane = lane_of();
    if (k <= 32) {
        const u64 value = lane < k ? (u64)picked[lane] : ~0ull - lane;
        if (!__any_sync(~0u, __match_any_sync(~0u, value) & ((1u << lane) - 1))) return;
    }
    for (i64 j = 1; j < k; ++j) {
        const T value = picked[j];
        bool met = false;
        for (i64 i = lane; i < j; i += 32) met = met || picked[i] == value;
        met = __any_sync(~0u, met);
        if (met && lane == 0) picked[j] = (T)(count - k + j);
        __syncwarp();
    }
}

__device__ __forceinline__ void note(const Trees& t, const Tree& tree, i64 number, vertex_t src, vertex_t dst, i64 depth)
{
    tree.vertex[t.width + number] = dst;
    tree.src[number] = src;
    tree.depth[number] = (unsigned short)depth;
}

// The frontier that the latest `added` edges make; its entries. The block.
__device__ __forceinline__ i64 next_frontier(const Trees& t, const Tree& tree, i64 edges, i64 added)
{
    i64 entries = 0;
    for (i64 base = 0; base < added; base += blockDim.x) {
        const u32 slot = (u32)(t.width + edges + base + threadIdx.x);
        const bool keep = base + threadIdx.x < added && (!ONCE || is_first_visit(tree, slot));
        i64 all;
        const i64 upto = entries + group_scan(keep, all);
        if (keep) tree.frontier[upto - 1] = slot;
        entries += all;
    }
    __syncthreads();
    return entries;
}
