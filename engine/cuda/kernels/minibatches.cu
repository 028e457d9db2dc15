// Mini-batches of neighbor samples with uniform picks: their vertices are numbered as they are met. The twin of engine/cpu/kernels/minibatches.py.
//
// Some mini-batches at a time, so that their hash tables stay in the cache. A frontier is the nodes that the last hop met; node j of the frontier of mini-batch
// i has the cells (i width + j) size .. + size - 1 for its picks. A pick enters its vertex into the table with its place among the mini-batch's cells;
// the first place stays, whichever thread came first. So new nodes are known, and their numbers follow by counting in order of cells.
#include "group.cuh"
#include "picks.cuh"

constexpr u32 NEW = 1u << 31;    // added to the place of a pick: what is less is the number of a node
constexpr u32 NOWHERE = ~0u;     // the table's cell of a pick that is none

struct MiniBatches {
    i64 first;                 // number of the first mini-batch
    u32 count, seeds, hops;    // mini-batches, most seeds of one, hops
    u32 room, edge_room;       // nodes and edges of a mini-batch, at most
    u32 buckets;               // of a table: a power of two
    const i64* sources;        // [count, seeds, 2]: vertex and position in the list of sources; -1: none
    u64* keys;                 // [count, buckets] all ones: empty
    u32* values;               // [count, buckets] not if PACKED
    vertex_t* n_id;            // [count, room]
    u32* owner;                // [count, room] DISJOINT: the seed that a node belongs to
    i64* node_ends;            // [count, hops + 2] 0, then nodes after the seeds and after each hop
    i64* edge_ends;            // [count, hops + 1] 0, then edges after each hop
    u32 *bucket, *col;         // [count, edge_room] of an edge: its vertex in the table, later the number of that; the node that it was drawn for
    i64* e_id;                 // [count, edge_room]
    u64* dead;
};

struct MiniHop {
    u32 hop, width, size;      // most nodes of a frontier, picks of each
    u32 staged;                // nodes of a block
    u32* bucket;               // [count, width size]
    i64* e_id;
    i64* counts;               // [count, chunks] edges below 2^32 nodes that are new; later how many come before
    u32 chunks;                // of CHUNK_CELLS cells
};

__device__ __forceinline__ u64 key_of(const MiniBatches& b, u32 owner, u64 vertex) { return DISJOINT ? (u64)owner * (u64)GRAPH.vertices + vertex : vertex; }

// PACKED: a bucket is {vertex, value} in one word, and what another thread has entered is known with the first access.
#define PACKED (!WIDE && !DISJOINT)

__device__ __forceinline__ u64* table_of(const MiniBatches& b, u32 local) { return b.keys + (u64)local * b.buckets; }

__device__ __forceinline__ u32 value_in(const MiniBatches& b, u32 local, u32 bucket)
{
    return PACKED ? (u32)table_of(b, local)[bucket] : b.values[(u64)local * b.buckets + bucket];
}

__device__ __forceinline__ u64 key_in(const MiniBatches& b, u32 local, u32 bucket) { return table_of(b, local)[bucket] >> (PACKED ? 32 : 0); }

__device__ __forceinline__ void set_value(const MiniBatches& b, u32 local, u32 bucket, u32 value)
{
    if (PACKED) table_of(b, local)[bucket] = key_in(b, local, bucket) << 32 | value;
    else b.values[(u64)local * b.buckets + bucket] = value;
}

// Enters a node under the smallest of all values that come with it; returns its bucket.
__device__ __forceinline__ u32 enter(const MiniBatches& b, u32 local, u64 key, u32 value)
{
    u64* const table = table_of(b, local);
    const u32 mask = b.buckets - 1;
    const u64 wanted = PACKED ? key << 32 | value : key;
    u32 at = (u32)(key * 0x9E3779B97F4A7C15ull >> 32) & mask;
    for (;; at = (at + 1) & mask) {
        const u64 there = atomicCAS(table + at, ~0ull, wanted);
        if (PACKED) {
            if (there == ~0ull) return at;
            if (there >> 32 != key) continue;
            if ((u32)there > value) atomicMin(table + at, wanted);
            return at;
        }
        if (there == ~0ull || there == key) break;
    }
    atomicMin(b.values + (u64)local * b.buckets + at, value);
    return at;
}

extern "C" __global__ void plant_seeds(MiniBatches b)
{
    const i64 t = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= (i64)b.count * b.seeds) return;
    const u32 local = (u32)(t / b.seeds), node = (u32)(t - (i64)local * b.seeds);
    const i64 vertex = b.sources[2 * t];
    if (vertex >= 0) {
        b.n_id[(i64)local * b.room + node] = (vertex_t)vertex;
        if (DISJOINT) b.owner[(i64)local * b.room + node] = node;
        enter(b, local, key_of(b, node, (u64)vertex), node);
    }
    i64* const ends = b.node_ends + (i64)local * (b.hops + 2);
    if (vertex >= 0 && (node + 1 == b.seeds || b.sources[2 * t + 2] < 0)) ends[1] = node + 1;  // seeds come first
}

// The nodes of a block, each looked up once for all of its picks.
struct Nodes {
    Place place[STAGED_PARENTS];
    u32 local[STAGED_PARENTS], node[STAGED_PARENTS], owner[STAGED_PARENTS];

    // Returns how many of the thread's have no neighbor.
    __device__ __forceinline__ u32 look_up(const MiniBatches& b, const MiniHop& h, i64 base, u32 count)
    {
        u32 without = 0;
        for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
            const i64 entry = base + i;
            const u32 in = (u32)(entry / h.width), j = (u32)(entry - (i64)in * h.width);
            const i64* const ends = b.node_ends + (i64)in * (b.hops + 2) + h.hop;
            const i64 at = ends[0] + j;
            local[i] = in;
            node[i] = (u32)at;
            place[i] = {0, -1};
            if (at >= ends[1]) continue;
            place[i] = locate(b.n_id[(i64)in * b.room + at]);
            owner[i] = DISJOINT ? b.owner[(i64)in * b.room + at] : 0;
            without += place[i].count == 0;
        }
        __syncthreads();
        return without;
    }
};

// Picks 2 pair and 2 pair + 1 of a node, whose reads are under way together.
__device__ __forceinline__ void put_pair(const MiniBatches& b, const MiniHop& h, const Nodes& f, u32 i, i64 node_cell, u32 pair, const Picks& picks)
{
    const u64 row = offset_of(f.place[i].row);
    const u32 from = (u32)(node_cell - (i64)f.local[i] * h.width * h.size);
    const i64 offset[2] = {picks.first, picks.second};
    u64 vertex[2];
#pragma unroll
    for (u32 k = 0; k < 2; ++k) vertex[k] = 2 * pair + k < picks.count ? *index_at(f.place[i].row + offset[k]) : 0;
#pragma unroll
    for (u32 k = 0; k < 2; ++k) {
        const u32 pick = 2 * pair + k;
        if (pick >= h.size) return;
        const bool there = pick < picks.count;
        if (there) h.e_id[node_cell + pick] = row + offset[k];
        h.bucket[node_cell + pick] = there ? enter(b, f.local[i], key_of(b, f.owner[i], vertex[k]), NEW + from + pick) : NOWHERE;
    }
}

extern "C" __global__ __launch_bounds__(256) void draw_picks(MiniBatches b, MiniHop h, u64 seed)
{
    __shared__ Nodes f;
    const i64 base = (i64)blockIdx.x * h.staged, left = (i64)b.count * h.width - base;
    const u32 staged = (u32)min((i64)h.staged, left), without = f.look_up(b, h, base, staged);
    const u32 size = h.size, pairs = (size + 1) / 2;
#if REPLACE
    for (u32 t = threadIdx.x; t < staged * pairs; t += blockDim.x) {
        const u32 i = t / pairs, pair = t - i * pairs;
        const Place place = f.place[i];
        Picks picks = {0, 0, 0};
        if (place.count > 0) {
            const Words words = philox(seed, (u64)(b.first + f.local[i]), f.node[i], pair);
            picks = {(i64)below(word64(words, 0), (u64)place.count), (i64)below(word64(words, 1), (u64)place.count), size};
        }
        put_pair(b, h, f, i, (base + i) * size, pair, picks);
    }
#else
    const u32 tiles = 32 / pairs, tile = lane_of() / pairs, pair = lane_of() - tile * pairs, warps = blockDim.x >> 5;
    for (u32 begin = (threadIdx.x >> 5) * tiles; begin < staged; begin += warps * tiles) {
        const u32 i = begin + tile;
        const bool inside = tile < tiles && i < staged;
        Place place = inside ? f.place[i] : Place{0, 0};
        place.count = max(place.count, 0ll);
        const Picks picks = distinct_picks(place, seed, inside ? (u64)(b.first + f.local[i]) : 0, inside ? f.node[i] : 0, size, pair, tile * pairs);
        if (inside) put_pair(b, h, f, i, (base + i) * size, pair, picks);
    }
#endif
    const i64 dead = group_sum(without);
    if (threadIdx.x == 0 && dead) atomicAdd(b.dead, (u64)dead);
}

// What a thread of a block finds in a cell of a chunk: whether an edge is there, above whether it leads to a new node.
__device__ __forceinline__ i64 found_in(const MiniBatches& b, const MiniHop& h, u32 local, u32 place, u32& bucket)
{
    const u32 cells = h.width * h.size;
    bucket = place < cells ? h.bucket[(i64)local * cells + place] : NOWHERE;
    if (bucket == NOWHERE) return 0;
    return 1ll << 32 | (value_in(b, local, bucket) == NEW + place);
}

extern "C" __global__ __launch_bounds__(256) void count_new(MiniBatches b, MiniHop h)
{
    const u32 local = blockIdx.y;
    i64 sum = 0;
    u32 bucket;
    for (u32 k = threadIdx.x; k < CHUNK_CELLS; k += blockDim.x) sum += found_in(b, h, local, blockIdx.x * CHUNK_CELLS + k, bucket);
    sum = group_sum(sum);
    if (threadIdx.x == 0) h.counts[(i64)local * h.chunks + blockIdx.x] = sum;
}

// A block a mini-batch: how many come before each chunk, and the ends of the hop.
extern "C" __global__ __launch_bounds__(256) void settle_hop(MiniBatches b, MiniHop h)
{
    i64* const counts = h.counts + (i64)blockIdx.x * h.chunks;
    i64 before = 0;
    for (u32 base = 0; base < h.chunks; base += blockDim.x) {
        const u32 k = base + threadIdx.x;
        const i64 own = k < h.chunks ? counts[k] : 0;
        i64 all;
        const i64 upto = group_scan(own, all);
        if (k < h.chunks) counts[k] = before + upto - own;
        before += all;
    }
    if (threadIdx.x) return;
    i64* const nodes = b.node_ends + (i64)blockIdx.x * (b.hops + 2) + h.hop + 1;
    i64* const edges = b.edge_ends + (i64)blockIdx.x * (b.hops + 1) + h.hop;
    nodes[1] = nodes[0] + (u32)before;
    edges[1] = edges[0] + (before >> 32);
}

// Numbers the new nodes, and moves the hop's edges to those of the mini-batch.
extern "C" __global__ __launch_bounds__(256) void number_new(MiniBatches b, MiniHop h)
{
    const u32 local = blockIdx.y;
    const i64 nodes = b.node_ends[(i64)local * (b.hops + 2) + h.hop + 1], edges = b.edge_ends[(i64)local * (b.hops + 1) + h.hop];
    const i64 frontier = b.node_ends[(i64)local * (b.hops + 2) + h.hop];
    i64 before = h.counts[(i64)local * h.chunks + blockIdx.x];
    for (u32 k = 0; k < CHUNK_CELLS; k += blockDim.x) {
        const u32 place = blockIdx.x * CHUNK_CELLS + k + threadIdx.x;
        u32 bucket;
        const i64 own = found_in(b, h, local, place, bucket);
        i64 all;
        const i64 upto = before + group_scan(own, all) - own;
        before += all;
        if (!own) continue;
        const i64 edge = (i64)local * b.edge_room + edges + (upto >> 32), cell = (i64)local * h.width * h.size + place;
        const u32 from = (u32)frontier + place / h.size;
        b.bucket[edge] = bucket;
        b.col[edge] = from;
        b.e_id[edge] = h.e_id[cell];
        if (!(u32)own) continue;
        const i64 node = nodes + (u32)upto;
        const u64 key = key_in(b, local, bucket);
        const u32 owner = DISJOINT ? b.owner[(i64)local * b.room + from] : 0;
        b.n_id[(i64)local * b.room + node] = (vertex_t)(key - (DISJOINT ? (u64)owner * (u64)GRAPH.vertices : 0));
        if (DISJOINT) b.owner[(i64)local * b.room + node] = owner;
        set_value(b, local, bucket, (u32)node);
    }
}

// From the bucket of each edge to the number of its node.
extern "C" __global__ void number_edges(MiniBatches b)
{
    const u32 local = blockIdx.y;
    const i64 edges = b.edge_ends[(i64)local * (b.hops + 1) + b.hops];
    for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < edges; k += (i64)gridDim.x * blockDim.x) {
        u32* const bucket = b.bucket + (i64)local * b.edge_room + k;
        *bucket = value_in(b, local, *bucket);
    }
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

// Nodes and edges side by side; the running sums of their numbers say where each mini-batch ends.
extern "C" __global__ void pack_minibatches(MiniBatches b, const i64* nodes_upto, const i64* edges_upto, vertex_t* n_id, int* batch, int* row, int* col, i64* e_id)
{
    const u32 local = blockIdx.y;
    const i64 nodes = b.node_ends[(i64)local * (b.hops + 2) + b.hops + 1], edges = b.edge_ends[(i64)local * (b.hops + 1) + b.hops];
    const i64 to_nodes = nodes_upto[local] - nodes, to_edges = edges_upto[local] - edges, step = (i64)gridDim.x * blockDim.x;
    const i64 begin = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    for (i64 k = begin; k < nodes; k += step) {
        n_id[to_nodes + k] = b.n_id[(i64)local * b.room + k];
        if (DISJOINT) batch[to_nodes + k] = (int)b.owner[(i64)local * b.room + k];
    }
    for (i64 k = begin; k < edges; k += step) {
        const i64 from = (i64)local * b.edge_room + k;
        row[to_edges + k] = (int)b.bucket[from];
        col[to_edges + k] = (int)b.col[from];
        e_id[to_edges + k] = b.e_id[from];
    }
}
