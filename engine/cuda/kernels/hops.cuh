// What hops have in common: parents in a table, each looked up once for all of its picks, and children in another table. See hops.cu.
#pragma once
#include "graph.cuh"
#include "group.cuh"

struct Hop {
    i64 first, parents;          // number of the first instance; cells of the parents' table
    u32 width, size, slot;       // columns of the parents' table, neighbors of each, slot of its first column
    const vertex_t* parent;
    vertex_t* child;             // in the order in which parents are numbered: of cells, or of groups
    const uint2* grouped;        // {vertex, cell} of every cell with a vertex, those near each other in the graph together; null: in order of cell
    const u32* grouped_parents;  // how many those are
    u32 staged;                  // parents of a block
};

struct Parent { vertex_t vertex; i64 cell; u64 instance; u32 column; };

struct Part { i64 quotient; u32 rest; };

// 64-bit division takes many times as long.
__device__ __forceinline__ Part divided(i64 number, u32 by)
{
    const i64 quotient = number < 1ll << 32 ? (u32)number / by : number / by;
    return {quotient, (u32)(number - quotient * by)};
}

__device__ __forceinline__ i64 parents_of(const Hop& hop) { return hop.grouped ? *hop.grouped_parents : hop.parents; }

__device__ __forceinline__ Parent parent_at(const Hop& hop, i64 number)
{
    const uint2 item = hop.grouped ? hop.grouped[number] : make_uint2(0, 0);
    const i64 cell = hop.grouped ? item.y : number;
    const Part of = divided(cell, hop.width);
    return {hop.grouped ? (vertex_t)item.x : hop.parent[number], cell, (u64)(hop.first + of.quotient), of.rest};
}

// Columns 2 pair and 2 pair + 1 of what a parent's children have; one store where that is aligned.
template <typename T>
__device__ __forceinline__ void put_pair(T* row, u32 size, u32 pair, T a, T b)
{
    struct alignas(2 * sizeof(T)) Pair { T a, b; };
    if (size % 2 == 0) {
        ((Pair*)row)[pair] = {a, b};
        return;
    }
    row[2 * pair] = a;
    if (2 * pair + 1 < size) row[2 * pair + 1] = b;
}

// Adds what each thread has seen: children, and parents without a neighbor.
__device__ __forceinline__ void count_up(u32 found, u32 without, u64* dead, u64* edges)
{
    const i64 both = group_sum((i64)without << 32 | found);
    if (threadIdx.x || both == 0) return;
    if ((u32)both) atomicAdd(edges, (u64)(u32)both);
    if (both >> 32) atomicAdd(dead, (u64)(both >> 32));
}

// A block's parents, each looked up once for all of its picks. Blocks start in order, so that those that run at a time have parents whose rows
// are near each other, if any are.
struct Parents {
    vertex_t vertex[STAGED_PARENTS];
    Place place[STAGED_PARENTS];
    u64 instance[STAGED_PARENTS];
    u32 slot[STAGED_PARENTS];

    // Returns how many of the thread's have no neighbor.
    __device__ __forceinline__ u32 look_up(const Hop& hop, i64 base, u32 count)
    {
        u32 without = 0;
        for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
            const Parent parent = parent_at(hop, base + i);
            vertex[i] = parent.vertex;
            place[i] = parent.vertex == NONE ? Place{0, 0} : locate(parent.vertex);
            instance[i] = parent.instance;
            slot[i] = hop.slot + parent.column;
            without += parent.vertex != NONE && place[i].count == 0;
        }
        __syncthreads();
        return without;
    }
};

// What children of grouped parents have, back in the order of cells, `missing` where a cell has no parent. A thread has several reads under way.
template <typename T>
__device__ __forceinline__ void put_back(i64 cells, u32 size, const u32* number, const T* drawn, T* child, T missing)
{
    constexpr int AHEAD = 4;
    const u32 pairs = (size + 1) / 2;
    const i64 all = cells * pairs, base = (i64)blockIdx.x * blockDim.x * AHEAD + threadIdx.x;
    T first[AHEAD], second[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
        const i64 t = base + k * blockDim.x;
        first[k] = second[k] = missing;
        if (t >= all) continue;
        const Part cell = divided(t, pairs);
        const u32 column = 2 * cell.rest, from = __ldg(number + cell.quotient);
        if (from == ~0u) continue;
        const T* at = drawn + (i64)from * size + column;
        first[k] = __ldg(at);
        if (column + 1 < size) second[k] = __ldg(at + 1);
    }
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
        const i64 t = base + k * blockDim.x;
        if (t >= all) continue;
        const Part cell = divided(t, pairs);
        put_pair(child + cell.quotient * size, size, cell.rest, first[k], second[k]);
    }
}
