// Traversals with uniform picks, a block an instance, from its sources to its last depth: the twin of engine/traversals.py over engine/cpu/traverse.py.
//
// The vertices of an instance are kept by slot: its sources, then the ends of its edges in order of sampling. A frontier is a list of slots. A warp
// selects the neighbors of an entry; the block puts what was found in order. An instance that outgrows its room is named in `again`.
#include "graph.cuh"
#include "group.cuh"

constexpr int TREE_BLOCK = 128;

struct Trees {
    i64 first, count;        // number of the batch's first instance; how many to draw
    const i64* numbers;      // which ones of the batch; null: 0, 1, 2, ...
    i64 width, depths, span, buckets;  // sources of an instance, depths, room for edges, for vertices that have been seen (a power of two)
    const i64* sizes;        // neighbors of an entry at each depth; -1: all
    u64 limit;               // GEOMETRIC: a coin is a success below it
    const vertex_t* sources; // [batch, width]
    vertex_t *vertex, *src, *stage, *picked, *seen;  // room, one instance after the other: see Tree
    unsigned short* depth;
    u32 *frontier, *start, *found, *gaps, *order;
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
};

__device__ __forceinline__ Tree tree_at(const Trees& t, i64 n, i64 local)
{
    const i64 cells = t.width + t.span, warps = blockDim.x >> 5;
    return {(u64)(t.first + local), cells, (u32)t.buckets - 1, t.vertex + n * cells, t.src + n * t.span, t.depth + n * t.span, t.stage + n * t.span,
            t.picked + n * t.span, t.frontier + n * cells, t.start + n * cells, t.found + n * cells, t.gaps + n * warps * cells, t.seen + n * t.buckets,
            t.order + n * t.buckets};
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

// Forest fire's sizes: successes of a 32-bit coin before the first failure, `most` at most.
__device__ __forceinline__ i64 flips(u64 seed, u64 instance, u64 slot, u64 limit, i64 most)
{
    i64 size = 0;
    while (size < most) {
        const Words words = philox(seed, instance, slot, SIZE_DRAWS + (size >> 2));
        int part = 0;
        while (part < 4 && words.w[part] < limit) ++part;
        size += part;
        if (part < 4) break;
    }
    return min(size, most);
}

// The positions of a row that hold a vertex seen in the `slots` so far go to `gaps`, in any order; how many, -1: more than there is room for. A warp.
__device__ __forceinline__ i64 leave_out(const Tree& tree, const Place& place, i64 slots, u32* gaps)
{
    const i64 end = place.row + place.count;
    i64 gone = 0;
    for (i64 base = 0; base < slots; base += 32) {
        const i64 slot = base + lane_of();
        i64 first = end, last = end;
        if (slot < slots) {
            const i64 v = (i64)tree.vertex[slot];
            last = first = first_at_least(place.row, end, v);
            while (last < end && neighbor_at(last) == v) ++last;
            if (last > first && !is_first_visit(tree, (u32)slot)) last = first;  // counted at the first one
        }
        i64 upto = last - first;
#pragma unroll
        for (int gap = 1; gap < 32; gap <<= 1) {
            const i64 before = __shfl_up_sync(~0u, upto, gap);
            if (lane_of() >= gap) upto += before;
        }
        const i64 all = __shfl_sync(~0u, upto, 31);
        if (gone + all > tree.cells) return -1;
        for (i64 p = first; p < last; ++p) gaps[gone + upto - (last - p)] = (u32)(p - place.row);
        gone += all;
    }
    __syncwarp();
    return gone;
}

// The position of candidate `index`: the least p with p - (gaps up to p) = index, from below.
__device__ __forceinline__ i64 beyond_gaps(i64 index, const u32* gaps, i64 gone)
{
    for (i64 position = index;;) {
        i64 upto = 0;
        for (i64 g = 0; g < gone; ++g) upto += gaps[g] <= position;
        if (index + upto == position) return position;
        position = index + upto;
    }
}

// Draws become distinct: one that meets an earlier one takes the top of its range (Floyd: Bentley, CACM 30(9), 1987). A warp.
__device__ __forceinline__ void make_distinct(vertex_t* picked, i64 count, i64 k)
{
    const int lane = lane_of();
    if (k <= 32) {
        const u64 value = lane < k ? (u64)picked[lane] : ~0ull - lane;
        if (!__any_sync(~0u, __match_any_sync(~0u, value) & ((1u << lane) - 1))) return;
    }
    for (i64 j = 1; j < k; ++j) {
        const vertex_t value = picked[j];
        bool met = false;
        for (i64 i = lane; i < j; i += 32) met = met || picked[i] == value;
        met = __any_sync(~0u, met);
        if (met && lane == 0) picked[j] = (vertex_t)(count - k + j);
        __syncwarp();
    }
}

// Up to k neighbors of an entry at `slot` to `to`; how many, -1: not enough room. A warp.
//
// A pool is a row without what the `slots` so far hold. Where the row is short it is walked; else those vertices are looked up in it.
__device__ __forceinline__ i64 select_row(const Tree& tree, u64 seed, const Place& place, u64 slot, i64 slots, i64 k, vertex_t* to, vertex_t* picked, u32* gaps)
{
    const int lane = lane_of();
    const bool walked = POOLED && place.count <= 4 * slots + 64;
    i64 count = place.count, gone = 0;
    if (walked) {
        count = 0;
        for (i64 base = 0; base < place.count; base += 32)
            count += __popc(__ballot_sync(~0u, base + lane < place.count && !has_seen(tree, (vertex_t)neighbor_at(place.row + min(base + lane, place.count - 1)))));
    } else if (POOLED) {
        gone = leave_out(tree, place, slots, gaps);
        if (gone < 0) return -1;
        count -= gone;
    }
    if (count == 0) return 0;
    const bool all = !REPLACE && k >= count;
    const i64 size = all ? count : k;
    for (i64 j = lane; j < size; j += 32)
        picked[j] = (vertex_t)(all ? j : (i64)below(pick_word(seed, tree.instance, slot, j), REPLACE ? count : count - k + j + 1));
    __syncwarp();
    if (!REPLACE && !all) make_distinct(picked, count, k);
    for (i64 j = lane; !walked && j < size; j += 32) to[j] = (vertex_t)neighbor_at(place.row + beyond_gaps((i64)picked[j], gaps, gone));
    i64 before = 0;
    for (i64 base = 0; walked && base < place.count; base += 32) {
        const vertex_t dst = (vertex_t)neighbor_at(place.row + min(base + lane, place.count - 1));
        const u32 there = __ballot_sync(~0u, base + lane < place.count && !has_seen(tree, dst));
        for (i64 j = lane; j < size; j += 32) {
            i64 skip = (i64)picked[j] - before;
            if (skip < 0 || skip >= __popc(there)) continue;
            u32 left = there;
            for (; skip; --skip) left &= left - 1;
            to[j] = (vertex_t)neighbor_at(place.row + base + __ffs(left) - 1);
        }
        before += __popc(there);
    }
    return size;
}

// The most neighbors that each entry can add to found[], and where it may put them to start[]; how many in all. The block.
__device__ __forceinline__ i64 make_room(const Trees& t, const Tree& tree, u64 seed, i64 entries, i64 size, i64 most, i64& dead)
{
    i64 total = 0;
    for (i64 base = 0; base < entries && total <= most; base += blockDim.x) {
        const i64 e = base + threadIdx.x;
        i64 capacity = 0;
        if (e < entries) {
            const u32 slot = tree.frontier[e];
            const i64 degree = locate((i64)tree.vertex[slot]).count;
            capacity = size < 0 ? degree : size;
            if (GEOMETRIC) capacity = flips(seed, tree.instance, slot, t.limit, REPLACE ? most + 1 : degree);
            capacity = REPLACE ? (degree > 0 ? capacity : 0) : min(capacity, degree);
            dead += size != 0 && degree == 0;
        }
        i64 all;
        const i64 upto = total + group_scan(capacity, all);
        if (e < entries) { tree.start[e] = (u32)(upto - capacity); tree.found[e] = (u32)capacity; }
        total += all;
    }
    __syncthreads();
    return total;
}

// What was selected becomes edges from number `edges` on, in order of entry; how many. The block.
__device__ __forceinline__ i64 add_edges(const Trees& t, const Tree& tree, i64 entries, i64 edges, i64 depth)
{
    i64 added = 0;
    u32* after = tree.gaps;  // which nobody needs now
    for (i64 base = 0; base < entries; base += blockDim.x) {
        const i64 e = base + threadIdx.x;
        i64 all;
        const i64 upto = added + group_scan(e < entries ? tree.found[e] : 0, all);
        if (e < entries) after[e] = (u32)upto;
        added += all;
    }
    __syncthreads();
    for (i64 e = threadIdx.x >> 5; e < entries; e += blockDim.x >> 5) {
        const vertex_t v = tree.vertex[tree.frontier[e]];
        const i64 found = tree.found[e], edge = edges + after[e] - found;
        for (i64 j = lane_of(); j < found; j += 32) {
            const vertex_t dst = tree.stage[tree.start[e] + j];
            tree.vertex[t.width + edge + j] = dst;
            tree.src[edge + j] = v;
            tree.depth[edge + j] = (unsigned short)depth;
            if (POOLED) visit(tree, dst, (u32)(t.width + edge + j));
        }
    }
    __syncthreads();
    return added;
}

// The frontier that the latest `added` edges make; its entries. The block.
__device__ __forceinline__ i64 next_frontier(const Trees& t, const Tree& tree, i64 edges, i64 added)
{
    i64 entries = 0;
    for (i64 base = 0; base < added; base += blockDim.x) {
        const u32 slot = (u32)(t.width + edges + base + threadIdx.x);
        const bool keep = base + threadIdx.x < added && (!POOLED || is_first_visit(tree, slot));
        i64 all;
        const i64 upto = entries + group_scan(keep, all);
        if (keep) tree.frontier[upto - 1] = slot;
        entries += all;
    }
    __syncthreads();
    return entries;
}

__device__ __forceinline__ void plant(const Trees& t, const Tree& tree, i64 local)
{
    for (i64 b = threadIdx.x; b < t.buckets; b += blockDim.x) { tree.seen[b] = NONE; tree.order[b] = ~0u; }
    __syncthreads();
    for (i64 s = threadIdx.x; s < t.width; s += blockDim.x) {
        tree.vertex[s] = t.sources[local * t.width + s];
        tree.frontier[s] = (u32)s;
        if (POOLED) visit(tree, tree.vertex[s], (u32)s);
    }
    __syncthreads();
}

extern "C" __global__ __launch_bounds__(TREE_BLOCK) void grow_trees(Trees t, u64 seed)
{
    const i64 n = blockIdx.x, local = t.numbers ? t.numbers[n] : n;
    const Tree tree = tree_at(t, n, local);
    u32* gaps = tree.gaps + (threadIdx.x >> 5) * tree.cells;
    i64 entries = t.width, edges = 0, dead = 0;
    bool fits = true;
    plant(t, tree, local);
    for (i64 depth = 0; fits && depth < t.depths && entries > 0; ++depth) {
        fits = make_room(t, tree, seed, entries, t.sizes[depth], t.span - edges, dead) <= t.span - edges;
        for (i64 e = threadIdx.x >> 5; fits && e < entries; e += blockDim.x >> 5) {
            const i64 k = tree.found[e], start = tree.start[e];
            if (k == 0) continue;
            const u32 slot = tree.frontier[e];
            const i64 size = select_row(tree, seed, locate((i64)tree.vertex[slot]), slot, t.width + edges, k, tree.stage + start, tree.picked + start, gaps);
            __syncwarp();
            if (size < 0) { fits = false; break; }
            if (lane_of() == 0) tree.found[e] = (u32)size;
        }
        fits = group_all(fits);
        if (!fits) break;
        const i64 added = add_edges(t, tree, entries, edges, depth);
        entries = depth + 1 < t.depths ? next_frontier(t, tree, edges, added) : 0;
        edges += added;
    }
    dead = group_sum(dead);
    if (threadIdx.x > 0) return;
    t.held[n] = fits ? edges : -1;
    if (!fits) {
        t.again[atomicAdd(t.totals, 1ull)] = local;
        return;
    }
    t.counts[local] = edges;
    atomicAdd(t.totals + 1, (u64)edges);
    if (dead) atomicAdd(t.totals + 2, (u64)dead);
}

// Edges to where they are in the sample; `upto` is the running sum of `counts`. A warp an instance.
extern "C" __global__ void pack_trees(Trees t, const i64* upto, vertex_t* src, vertex_t* dst, i64* depth)
{
    const i64 n = ((i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (n >= t.count || t.held[n] < 0) return;
    const i64 held = t.held[n], to = upto[t.numbers ? t.numbers[n] : n] - held;
    for (i64 i = lane_of(); i < held; i += 32) {
        src[to + i] = t.src[n * t.span + i];
        dst[to + i] = t.vertex[n * (t.width + t.span) + t.width + i];
        depth[to + i] = t.depth[n * t.span + i];
    }
}
