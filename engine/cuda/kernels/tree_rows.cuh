// Neighbors of each entry of a frontier on its own: the twin of engine/cpu/kernels/traverse.py for uniform picks. A warp an entry.
#pragma once
#include "tree.cuh"

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

// Up to k neighbors of an entry at `slot` to `to`; how many, -1: not enough room. A warp.
//
// A pool is a row without what the `slots` so far hold. Where the row is short it is walked; else those vertices are looked up in it.
__device__ __forceinline__ i64 select_row(const Tree& tree, u64 seed, const Place& place, u64 slot, i64 slots, i64 k, vertex_t* to, vertex_t* picked, u32* gaps)
{
    const int lane = lane_of();
    const bool walked = ONCE && place.count <= 4 * slots + 64;
    i64 count = place.count, gone = 0;
    if (walked) {
        count = 0;
        for (i64 base = 0; base < place.count; base += 32)
            count += __popc(__ballot_sync(~0u, base + lane < place.count && !has_seen(tree, (vertex_t)neighbor_at(place.row + min(base + lane, place.count - 1)))));
    } else if (ONCE) {
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
            if (GEOMETRIC) capacity = flips({t.limit, t.rest}, seed, tree.instance, slot, REPLACE ? most + 1 : degree);
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
            note(t, tree, edge + j, v, dst, depth);
            if (ONCE) visit(tree, dst, (u32)(t.width + edge + j));
        }
    }
    __syncthreads();
    return added;
}

// `size` neighbors of every entry from number `edges` on; how many, -1: more than there is room for. The block.
__device__ __forceinline__ i64 pick_from_rows(const Trees& t, const Tree& tree, u64 seed, i64 entries, i64 size, i64 edges, i64 depth, i64& dead)
{
    u32* gaps = tree.gaps + (threadIdx.x >> 5) * tree.cells;
    bool fits = make_room(t, tree, seed, entries, size, t.span - edges, dead) <= t.span - edges;
    for (i64 e = threadIdx.x >> 5; fits && e < entries; e += blockDim.x >> 5) {
        const i64 k = tree.found[e], start = tree.start[e];
        if (k == 0) continue;
        const u32 slot = tree.frontier[e];
        const i64 found = select_row(tree, seed, locate((i64)tree.vertex[slot]), slot, t.width + edges, k, tree.stage + start, tree.picked + start, gaps);
        __syncwarp();
        if (lane_of() == 0) tree.found[e] = (u32)found;
        fits = found >= 0;
    }
    return group_all(fits) ? add_edges(t, tree, entries, edges, depth) : -1;
}
