// Edges from the pool of a whole frontier: the twin of engine/batches/collective.py. The block.
#pragma once
#include "tree.cuh"

struct Edge { i64 src, dst; };

// The edge that has a number in the frontier's pool. EVERYWHERE the frontier is all vertices.
__device__ __forceinline__ Edge edge_at(const Tree& tree, i64 entries, i64 number)
{
    const i64* sums = EVERYWHERE ? GRAPH.indptr + 1 : tree.sums;
    const i64 e = search(sums, EVERYWHERE ? GRAPH.vertices : entries, number);
    if (EVERYWHERE) return {e, neighbor_at(number)};
    const i64 v = (i64)tree.vertex[tree.frontier[e]];
    return {v, neighbor_at(locate(v).row + number - (e ? sums[e - 1] : 0))};
}

__device__ __forceinline__ bool may_take(const Tree& tree, const Edge& edge)
{
    return EACH_EDGE_ONCE ? edge.src <= edge.dst : !ONCE || !has_seen(tree, (vertex_t)edge.dst);
}

// Running sums of a frontier's degrees; their total. The block.
__device__ __forceinline__ i64 number_pool(const Tree& tree, i64 entries, i64 size, i64& dead)
{
    i64 total = 0;
    for (i64 base = 0; base < entries; base += blockDim.x) {
        const i64 e = base + threadIdx.x, degree = e < entries ? locate((i64)tree.vertex[tree.frontier[e]]).count : 0;
        dead += size != 0 && e < entries && degree == 0;
        i64 all;
        const i64 upto = total + group_scan(degree, all);
        if (e < entries) tree.sums[e] = upto;
        total += all;
    }
    __syncthreads();
    return total;
}

// Of `tries` numbers below `pool` the first `size` different ones that may be taken; how many there were. The block.
__device__ __forceinline__ i64 take_tried(const Trees& t, const Tree& tree, u64 seed, u64 slot, i64 entries, i64 pool, i64 tries, i64 size, i64 edges, i64 depth)
{
    __shared__ i64 numbers[TREE_BLOCK];
    i64 taken = 0;
    for (i64 base = 0; base < tries && taken < size; base += blockDim.x) {
        const i64 turn = base + threadIdx.x;
        i64 number = -1;
        Edge edge = {0, 0};
        if (turn < tries) {
            number = (i64)below(pool_word(seed, tree.instance, slot, turn), (u64)pool);
            edge = edge_at(tree, entries, number);
            if (!may_take(tree, edge)) number = -1;
        }
        for (i64 i = 0; number >= 0 && i < taken; ++i)
            if (tree.chosen[i] == number) number = -1;
        numbers[threadIdx.x] = number;
        __syncthreads();
        for (int i = 0; number >= 0 && i < threadIdx.x; ++i)
            if (numbers[i] == number) number = -1;
        i64 all;
        const i64 rank = taken + group_scan(number >= 0, all) - 1;
        if (number >= 0 && rank < size) {
            tree.chosen[rank] = number;
            note(t, tree, edges + rank, (vertex_t)edge.src, (vertex_t)edge.dst, depth);
        }
        taken = min(size, taken + all);
        __syncthreads();
    }
    return taken;
}

// All of a pool that may be taken, or `size` of it where it is more, by the numbers from `first` on; -1: more than there is room for. The block.
__device__ __forceinline__ i64 take_listed(const Trees& t, const Tree& tree, u64 seed, u64 slot, i64 entries, i64 pool, i64 first, i64 size, i64 edges, i64 depth)
{
    i64 count = 0, before = 0;
    for (i64 number = threadIdx.x; number < pool; number += blockDim.x) count += may_take(tree, edge_at(tree, entries, number));
    count = group_sum(count);
    const bool whole = count <= size;
    if (whole && count > t.span - edges) return -1;
    if (!whole) {
        for (i64 j = threadIdx.x; j < size; j += blockDim.x)
            tree.chosen[j] = (i64)below(pool_word(seed, tree.instance, slot, first + j), (u64)(count - size + j) + 1);
        __syncthreads();
        if (threadIdx.x < 32) make_distinct(tree.chosen, count, size);
        __syncthreads();
    }
    for (i64 base = 0; base < pool; base += blockDim.x) {
        const i64 number = base + threadIdx.x;
        const Edge edge = edge_at(tree, entries, min(number, pool - 1));
        const bool possible = number < pool && may_take(tree, edge);
        i64 all;
        const i64 index = before + group_scan(possible, all) - 1;
        if (possible && whole) note(t, tree, edges + index, (vertex_t)edge.src, (vertex_t)edge.dst, depth);
        for (i64 j = 0; possible && !whole && j < size; ++j)
            if (tree.chosen[j] == index) note(t, tree, edges + j, (vertex_t)edge.src, (vertex_t)edge.dst, depth);
        before += all;
    }
    return whole ? count : size;
}

// `size` edges of the frontier's pool from number `edges` on; how many, -1: more than there is room for. The block.
__device__ __forceinline__ i64 pick_from_pool(const Trees& t, const Tree& tree, u64 seed, i64 entries, i64 size, i64 edges, i64 depth, i64& dead)
{
    const i64 pool = EVERYWHERE ? GRAPH.indptr[GRAPH.vertices] : number_pool(tree, entries, size, dead);
    const i64 tries = 4 * size + 64;  // as plan.tries
    const u64 slot = EVERYWHERE ? 0 : tree.frontier[0];
    if (size == 0 || pool == 0) return 0;
    if (size > t.span - edges) return -1;
    i64 added = pool > tries ? take_tried(t, tree, seed, slot, entries, pool, tries, size, edges, depth) : 0;
    if (added < size) added = take_listed(t, tree, seed, slot, entries, pool, tries, size, edges, depth);
    __syncthreads();
    for (i64 i = edges + threadIdx.x; ONCE && i < edges + added; i += blockDim.x) visit(tree, tree.vertex[t.width + i], (u32)(t.width + i));
    __syncthreads();
    return added;
}
