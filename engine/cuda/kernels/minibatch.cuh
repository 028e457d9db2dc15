// What mini-batches keep, and the chunks of their cells.
//
// A frontier is the nodes that the last hop met; its node j has the cells j size .. + size - 1 for its picks. The first of the cells that lead to a vertex stands for
// it, unless the vertex is a node already, so new nodes are numbered in order of their first cells.
#pragma once
#include "group.cuh"
#include "graph.cuh"

#if DISJOINT || WIDE
typedef u64 Key;
#else
typedef u32 Key;
#endif

constexpr Key FREE = (Key)~0ull;
constexpr u32 NEW = 1u << 31;    // added to a cell: what is less is the number of a node
constexpr u32 NOWHERE = ~0u;     // a cell without a pick
constexpr u32 WARPS = 8;         // of a block
constexpr u32 WARP_CELLS = CHUNK_CELLS / WARPS;

struct MiniBatches {
    i64 first;                 // number of the first mini-batch
    u32 count, seeds, hops;    // mini-batches, most seeds of one, hops
    u32 room, edge_room;       // nodes and cells of a mini-batch, at most
    u32 chunks;                // of CHUNK_CELLS cells of a hop, in all hops
    const i64* sources;        // [count, seeds, 2]: vertex and position in the list of sources; -1: none
    vertex_t* n_id;            // [count, room]
    u32* owner;                // [count, room] DISJOINT: the seed that a node belongs to
    i64* node_ends;            // [count, hops + 2] 0, then nodes after the seeds and after each hop
    i64* edge_ends;            // [count, hops + 1] 0, then edges after each hop
    u32* value;                // [count, edge_room] of a cell: NOWHERE, the number of its node, or NEW + the first cell of that
    i64* e_id;                 // [count, edge_room]
    i64* counts;               // [count, chunks] cells of a chunk with a pick, below 2^32 those of new nodes; later how many come before
    u64* dead;
};

struct alignas(2 * sizeof(Key)) Item { Key key; u32 value; };

// TYPED: of a relation, the first vertex that it leaves and the one after the last, what is added to a vertex for its row (see
// partition/graph/relation_rows.py), the picks of a node, and the place of the first among the node's cells.
struct Relation { i64 low, high, shift, size, offset; };

struct MiniHop {
    u32 hop, width, size;      // most nodes of a frontier, picks of each
    u32 staged;                // nodes of a block
    u32 cells, chunks;         // in the hops before
    u32 parts, item_room;
    vertex_t* vertex;          // [count, width size] to which a cell leads
    Item* items;               // [count, item_room] part after part
    u32* totals;               // [count, parts] items of each part: 0 before a hop
    u32* taken;                // [count, parts] of its places that have an item: 0 before a hop
    u32* begins;               // [count, parts]
    u32 relations;
    const Relation* relation;  // [relations] TYPED
};

__device__ __forceinline__ const i64* ends_of(const MiniBatches& b, const MiniHop& h, u32 local) { return b.node_ends + (i64)local * (b.hops + 2) + h.hop; }

// Cells of nodes that the frontier has; it may have fewer than `width`.
__device__ __forceinline__ u32 cells_of(const MiniBatches& b, const MiniHop& h, u32 local)
{
    const i64* const ends = ends_of(b, h, local);
    return (u32)(ends[1] - ends[0]) * h.size;
}

__device__ __forceinline__ i64 first_cell(const MiniBatches& b, const MiniHop& h, u32 local) { return (i64)local * b.edge_room + h.cells; }

// Calls use(cell, value, is there, is new) for the cells of a chunk, in order; a warp takes 32 that stand side by side at a time. All threads.
template <typename Use>
__device__ __forceinline__ void over_chunk(const MiniBatches& b, const MiniHop& h, u32 local, Use use)
{
    const u32 cells = cells_of(b, h, local), low = blockIdx.x * CHUNK_CELLS + (threadIdx.x >> 5) * WARP_CELLS + lane_of();
    const u32* const value = b.value + first_cell(b, h, local);
#pragma unroll
    for (u32 k = 0; k < WARP_CELLS; k += 32) {
        const u32 cell = low + k, found = cell < cells ? value[cell] : NOWHERE;
        use(cell, found, found != NOWHERE, found == NEW + cell);
    }
}

// How many cells of a chunk are there, above 2^32, and new, of all warps and of those before the thread's. All threads.
__device__ __forceinline__ i64 counted(const MiniBatches& b, const MiniHop& h, u32 local, i64& before)
{
    __shared__ i64 sums[WARPS];
    i64 own = 0, all = 0;
    over_chunk(b, h, local, [&](u32, u32, bool there, bool is_new) { own += (i64)__popc(__ballot_sync(~0u, there)) << 32 | __popc(__ballot_sync(~0u, is_new)); });
    if (lane_of() == 0) sums[threadIdx.x >> 5] = own;
    __syncthreads();
    before = 0;
    for (u32 warp = 0; warp < WARPS; ++warp) {
        before += warp < threadIdx.x >> 5 ? sums[warp] : 0;
        all += sums[warp];
    }
    return all;
}
