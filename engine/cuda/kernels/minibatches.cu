// Mini-batches of neighbor samples with uniform picks: their vertices are numbered as they are met. The twin of engine/cpu/kernels/hops.py.
//
// Nothing waits for random atomics on memory, one for each pick: they took longer than all else together.
#include "minibatch_parts.cuh"
#include "picks.cuh"

extern "C" __global__ void plant_seeds(MiniBatches b)
{
    const i64 t = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= (i64)b.count * b.seeds) return;
    const u32 local = (u32)(t / b.seeds), node = (u32)(t - (i64)local * b.seeds);
    const i64 vertex = b.sources[2 * t];
    if (vertex < 0) return;
    b.n_id[(i64)local * b.room + node] = (vertex_t)vertex;
    if (DISJOINT) b.owner[(i64)local * b.room + node] = node;
    if (node + 1 == b.seeds || b.sources[2 * t + 2] < 0) b.node_ends[(i64)local * (b.hops + 2) + 1] = node + 1;  // seeds come first
}

// Picks 2 pair and 2 pair + 1 of `size`, whose reads are under way together. `cell`: the first of them.
__device__ __forceinline__ void put_pair(const MiniBatches& b, const MiniHop& h, const Place& place, u32 local, u32 cell, u32 size, u32 pair, const Picks& picks)
{
    const u64 row = offset_of(place.row);
    const i64 offset[2] = {picks.first, picks.second}, to = first_cell(b, h, local);
    vertex_t vertex[2];
#pragma unroll
    for (u32 k = 0; k < 2; ++k) vertex[k] = 2 * pair + k < picks.count ? *index_at(place.row + offset[k]) : NONE;
#pragma unroll
    for (u32 k = 0; k < 2; ++k) {
        const u32 pick = 2 * pair + k;
        if (pick >= size) return;
        h.vertex[(i64)local * h.width * h.size + cell + pick] = vertex[k];
        if (pick < picks.count) b.e_id[to + cell + pick] = row + offset[k];
        else b.value[to + cell + pick] = NOWHERE;
    }
}

// Draws `size` picks of each of `count` places, whose slots and first cells these functions give. The block.
template <typename Slot, typename Cell>
__device__ __forceinline__ void draw_from(const MiniBatches& b, const MiniHop& h, u64 seed, u32 local, const Place* places, u32 count, u32 size, Slot slot_of, Cell cell_of)
{
    const u32 pairs = (size + 1) / 2;
    const u64 instance = (u64)(b.first + local);
#if REPLACE
    for (u32 t = threadIdx.x; t < count * pairs; t += blockDim.x) {
        const u32 i = t / pairs, pair = t - i * pairs;
        const Place place = places[i];
        Picks picks = {0, 0, 0};
        if (place.count > 0) {
            const Words words = philox(seed, instance, slot_of(i), pair);
            picks = {(i64)below(word64(words, 0), (u64)place.count), (i64)below(word64(words, 1), (u64)place.count), size};
        }
        put_pair(b, h, place, local, cell_of(i), size, pair, picks);
    }
#else
    const u32 tiles = 32 / pairs, tile = lane_of() / pairs, pair = lane_of() - tile * pairs, warps = blockDim.x >> 5;
    for (u32 begin = (threadIdx.x >> 5) * tiles; begin < count; begin += warps * tiles) {
        const u32 i = begin + tile;
        const bool inside = tile < tiles && i < count;
        const Place place = inside ? places[i] : Place{0, 0};
        const Picks picks = distinct_picks(place, seed, instance, inside ? slot_of(i) : 0, size, pair, tile * pairs);
        if (inside) put_pair(b, h, place, local, cell_of(i), size, pair, picks);
    }
#endif
}

extern "C" __global__ __launch_bounds__(256) void draw_picks(MiniBatches b, MiniHop h, u64 seed)
{
    __shared__ Place places[STAGED_PARENTS];
    const u32 local = blockIdx.y, size = h.size;
    const i64 before = ends_of(b, h, local)[0], base = before + (i64)blockIdx.x * h.staged, left = ends_of(b, h, local)[1] - base;
    if (left <= 0) return;
    const u32 staged = (u32)min((i64)h.staged, left), cells = (u32)(base - before) * size;
    const vertex_t* const nodes = b.n_id + (i64)local * b.room + base;
    u32 without = 0;
#if TYPED
    __shared__ u32 chosen[STAGED_PARENTS], count;  // the nodes that a relation leaves, in any order: each has its own slot and cells
    for (u32 t = threadIdx.x; t < staged * size; t += blockDim.x) {
        h.vertex[(i64)local * h.width * size + cells + t] = NONE;
        b.value[first_cell(b, h, local) + cells + t] = NOWHERE;
    }
    for (u32 r = 0; r < h.relations; ++r) {
        const Relation relation = h.relation[r];
        if (relation.size == 0) continue;
        __syncthreads();
        if (threadIdx.x == 0) count = 0;
        __syncthreads();
        for (u32 i = threadIdx.x; i < staged; i += blockDim.x) {
            const i64 v = nodes[i];
            if (v < relation.low || v >= relation.high) continue;
            const u32 j = atomicAdd(&count, 1u);
            chosen[j] = i;
            places[j] = locate(v + relation.shift);
            without += places[j].count == 0;
        }
        __syncthreads();
        const u32 first = cells + (u32)relation.offset;
        draw_from(b, h, seed, local, places, count, (u32)relation.size, [&](u32 j) { return (u64)(base + chosen[j]) * h.relations + r; },
            [&](u32 j) { return first + chosen[j] * size; });
    }
#else
    for (u32 i = threadIdx.x; i < staged; i += blockDim.x) {
        places[i] = locate(nodes[i]);
        without += places[i].count == 0;
    }
    __syncthreads();
    draw_from(b, h, seed, local, places, staged, size, [&](u32 i) { return (u64)(base + i); }, [&](u32 i) { return cells + i * size; });
#endif
    const i64 dead = group_sum(without);
    if (threadIdx.x == 0 && dead) atomicAdd(b.dead, (u64)dead);
}

extern "C" __global__ __launch_bounds__(32 * WARPS) void count_new(MiniBatches b, MiniHop h)
{
    const u32 local = blockIdx.y;
    if (blockIdx.x * CHUNK_CELLS >= cells_of(b, h, local)) return;
    i64 before;
    const i64 all = counted(b, h, local, before);
    if (threadIdx.x == 0) b.counts[(i64)local * b.chunks + h.chunks + blockIdx.x] = all;
}

// A block a mini-batch: how many come before each chunk, and the ends of the hop.
extern "C" __global__ __launch_bounds__(256) void settle_hop(MiniBatches b, MiniHop h)
{
    const u32 chunks = (cells_of(b, h, blockIdx.x) + CHUNK_CELLS - 1) / CHUNK_CELLS;
    i64* const counts = b.counts + (i64)blockIdx.x * b.chunks + h.chunks;
    i64 before = 0;
    for (u32 base = 0; base < chunks; base += blockDim.x) {
        const u32 k = base + threadIdx.x;
        const i64 own = k < chunks ? counts[k] : 0;
        i64 all;
        const i64 upto = group_scan(own, all);
        if (k < chunks) counts[k] = before + upto - own;
        before += all;
    }
    if (threadIdx.x) return;
    i64* const nodes = b.node_ends + (i64)blockIdx.x * (b.hops + 2) + h.hop + 1;
    i64* const edges = b.edge_ends + (i64)blockIdx.x * (b.hops + 1) + h.hop;
    nodes[1] = nodes[0] + (u32)before;
    edges[1] = edges[0] + (before >> 32);
}

// Numbers the new nodes in order of their first cells, which get these numbers.
extern "C" __global__ __launch_bounds__(32 * WARPS) void number_new(MiniBatches b, MiniHop h)
{
    const u32 local = blockIdx.y;
    if (blockIdx.x * CHUNK_CELLS >= cells_of(b, h, local)) return;
    i64 before;
    counted(b, h, local, before);
    const i64 frontier = ends_of(b, h, local)[0], to = (i64)local * b.room;
    i64 next = ends_of(b, h, local)[1] + (u32)(b.counts[(i64)local * b.chunks + h.chunks + blockIdx.x] + before);
    over_chunk(b, h, local, [&](u32 cell, u32, bool, bool is_new) {
        const u32 all = __ballot_sync(~0u, is_new);
        const i64 node = next + __popc(all & lanes_below());
        next += __popc(all);
        if (!is_new) return;
        b.n_id[to + node] = h.vertex[(i64)local * h.width * h.size + cell];
        if (DISJOINT) b.owner[to + node] = b.owner[to + frontier + cell / h.size];
        b.value[first_cell(b, h, local) + cell] = (u32)node;
    });
}

struct Numbers {      // of nodes and edges
    i64 *nodes, *edges, *seeds;       // [count]
    i64 *nodes_upto, *edges_upto;     // [count] running sums
    i64 *hop_nodes, *hop_edges;       // [count, hops + 1], [count, hops]
};

// One block.
extern "C" __global__ __launch_bounds__(256) void sum_up(MiniBatches b, Numbers n)
{
    i64 nodes_before = 0, edges_before = 0;
    for (u32 base = 0; base < b.count; base += blockDim.x) {
        const i64 local = base + threadIdx.x;
        const bool inside = local < b.count;
        const i64 *node_ends = b.node_ends + local * (b.hops + 2), *edge_ends = b.edge_ends + local * (b.hops + 1);
        const i64 nodes = inside ? node_ends[b.hops + 1] : 0, edges = inside ? edge_ends[b.hops] : 0;
        i64 all_nodes, all_edges;
        const i64 nodes_upto = nodes_before + group_scan(nodes, all_nodes), edges_upto = edges_before + group_scan(edges, all_edges);
        nodes_before += all_nodes;
        edges_before += all_edges;
        if (!inside) continue;
        n.nodes[local] = nodes;
        n.edges[local] = edges;
        n.seeds[local] = node_ends[1];
        n.nodes_upto[local] = nodes_upto;
        n.edges_upto[local] = edges_upto;
        for (u32 hop = 0; hop <= b.hops; ++hop) n.hop_nodes[local * (b.hops + 1) + hop] = node_ends[hop + 1] - node_ends[hop];
        for (u32 hop = 0; hop < b.hops; ++hop) n.hop_edges[local * b.hops + hop] = edge_ends[hop + 1] - edge_ends[hop];
    }
}

// Nodes side by side; the running sums of their numbers say where each mini-batch ends.
extern "C" __global__ void pack_nodes(MiniBatches b, const i64* nodes_upto, vertex_t* n_id, int* batch)
{
    const u32 local = blockIdx.y;
    const i64 nodes = b.node_ends[(i64)local * (b.hops + 2) + b.hops + 1], to = nodes_upto[local] - nodes;
    for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < nodes; k += (i64)gridDim.x * blockDim.x) {
        n_id[to + k] = b.n_id[(i64)local * b.room + k];
        if (DISJOINT) batch[to + k] = (int)b.owner[(i64)local * b.room + k];
    }
}

// The edges of a hop, side by side in order of their cells.
extern "C" __global__ __launch_bounds__(32 * WARPS) void pack_edges(MiniBatches b, MiniHop h, const i64* edges_upto, int* row, int* col, i64* e_id)
{
    const u32 local = blockIdx.y;
    if (blockIdx.x * CHUNK_CELLS >= cells_of(b, h, local)) return;
    i64 before;
    counted(b, h, local, before);
    const i64* const ends = b.edge_ends + (i64)local * (b.hops + 1);
    const i64 frontier = ends_of(b, h, local)[0], cells = first_cell(b, h, local);
    i64 next = edges_upto[local] - ends[b.hops] + ends[h.hop] + (b.counts[(i64)local * b.chunks + h.chunks + blockIdx.x] + before >> 32);
    over_chunk(b, h, local, [&](u32 cell, u32 value, bool there, bool) {
        const u32 all = __ballot_sync(~0u, there);
        const i64 edge = next + __popc(all & lanes_below());
        next += __popc(all);
        if (!there) return;
        row[edge] = (int)(value < NEW ? value : b.value[cells + value - NEW]);
        col[edge] = (int)(frontier + cell / h.size);
        e_id[edge] = b.e_id[cells + cell];
    });
}
