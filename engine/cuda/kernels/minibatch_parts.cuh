// The first cell that leads to each vertex of a mini-batch, and the number that a vertex has already.
//
// Items go to parts by a hash of their keys: the nodes so far, each with its number as value, and the cells of a hop, each with NEW + cell. A block has the hash
// table of a part in shared memory, in which the least value of a key stays.
#pragma once
#include "minibatch.cuh"

constexpr u32 WORDS = sizeof(Key) / 4;
constexpr u32 SLOTS = PART_SLOTS / WORDS;  // of a part's table; a part of more keys takes rounds
constexpr u32 TILE = PART_TILE / WORDS;    // items that a block moves to their parts
constexpr u32 HELD = 8;                    // items that a thread holds at most: more than parts have on average where all nodes and picks are different

__device__ __forceinline__ u64 mixed(u64 key)
{
    key = (key ^ key >> 33) * 0xFF51AFD7ED558CCDull;  // the finalizer of MurmurHash3: no two keys have the same
    key = (key ^ key >> 33) * 0xC4CEB9FE1A85EC53ull;
    return key ^ key >> 33;
}

__device__ __forceinline__ u32 part_of(const MiniHop& h, u64 hash) { return (u32)((hash >> 32) * h.parts >> 32); }

// The nodes so far and the cells of a hop, one after the other.
struct Items {
    const MiniBatches& b;
    const MiniHop& h;
    u32 local, nodes, count;

    __device__ __forceinline__ Items(const MiniBatches& b, const MiniHop& h, u32 local) : b(b), h(h), local(local)
    {
        nodes = (u32)ends_of(b, h, local)[1];
        count = nodes + cells_of(b, h, local);
    }

    // FREE as key: a cell without a pick.
    __device__ __forceinline__ Item at(u32 k) const
    {
        const u32 cell = k - nodes;
        const vertex_t vertex = k < nodes ? b.n_id[(i64)local * b.room + k] : h.vertex[(i64)local * h.width * h.size + cell];
        const u32 value = k < nodes ? k : NEW + cell;
        if (vertex == NONE) return {FREE, value};
        if (!DISJOINT) return {(Key)vertex, value};
        const u32 node = k < nodes ? k : (u32)ends_of(b, h, local)[0] + cell / h.size;
        return {(Key)((u64)b.owner[(i64)local * b.room + node] * (u64)GRAPH.vertices + vertex), value};
    }
};

// How many of the block's items are of each part. All threads.
__device__ __forceinline__ void sum_parts(const Items& items, u32* sums)
{
    const u32 low = blockIdx.x * TILE, high = min(low + TILE, items.count);
    for (u32 part = threadIdx.x; part < items.h.parts; part += blockDim.x) sums[part] = 0;
    __syncthreads();
#pragma unroll 4
    for (u32 k = low + threadIdx.x; k < high; k += blockDim.x) {
        const Item item = items.at(k);
        if (item.key != FREE) atomicAdd(sums + part_of(items.h, mixed(item.key)), 1u);
    }
    __syncthreads();
}

extern "C" __global__ __launch_bounds__(256) void count_parts(MiniBatches b, MiniHop h)
{
    __shared__ u32 sums[MOST_PARTS];
    const Items items(b, h, blockIdx.y);
    if (blockIdx.x * TILE >= items.count) return;
    sum_parts(items, sums);
    for (u32 part = threadIdx.x; part < h.parts; part += blockDim.x)
        if (sums[part]) atomicAdd(h.totals + blockIdx.y * h.parts + part, sums[part]);
}

// A block brings its items into order of parts first, so that threads side by side write side by side.
extern "C" __global__ __launch_bounds__(256) void fill_parts(MiniBatches b, MiniHop h)
{
    __shared__ u32 own[MOST_PARTS], to[MOST_PARTS];  // where a part begins among the block's items, later ends; and, less that, in the part
    __shared__ Item tile[TILE];
    const Items items(b, h, blockIdx.y);
    const u32 low = blockIdx.x * TILE, high = min(low + TILE, items.count), first = blockIdx.y * h.parts;
    if (low >= high) return;
    sum_parts(items, own);
    i64 before = 0;  // of the block, above 2^32 of all
    for (u32 base = 0; base < h.parts; base += blockDim.x) {
        const u32 part = base + threadIdx.x, here = part < h.parts ? own[part] : 0, whole = part < h.parts ? h.totals[first + part] : 0;
        i64 all;
        const i64 begin = before + group_scan((i64)whole << 32 | here, all) - ((i64)whole << 32 | here);
        before += all;
        if (part >= h.parts) continue;
        own[part] = (u32)begin;
        to[part] = (u32)(begin >> 32) - (u32)begin + (here ? atomicAdd(h.taken + first + part, here) : 0);
        if (blockIdx.x == 0) h.begins[first + part] = (u32)(begin >> 32);
    }
    __syncthreads();
#pragma unroll 4
    for (u32 k = low + threadIdx.x; k < high; k += blockDim.x) {
        const Item item = items.at(k);
        if (item.key != FREE) tile[atomicAdd(own + part_of(h, mixed(item.key)), 1u)] = item;
    }
    __syncthreads();
    Item* const out = h.items + (i64)blockIdx.y * h.item_room;
#pragma unroll 4
    for (u32 k = threadIdx.x; k < (u32)before; k += blockDim.x) out[to[part_of(h, mixed(tile[k].key))] + k] = tile[k];
}

// The least value of each key of a part.
struct Table {
    Key keys[SLOTS];
    u32 values[SLOTS];
    u32 full;

    __device__ __forceinline__ void clear()
    {
        static_assert(SLOTS % 4 == 0, "four words at a time");
        for (u32 i = threadIdx.x; i < sizeof(keys) / 16; i += blockDim.x) ((uint4*)keys)[i] = make_uint4(~0u, ~0u, ~0u, ~0u);
        for (u32 i = threadIdx.x; i < sizeof(values) / 16; i += blockDim.x) ((uint4*)values)[i] = make_uint4(NOWHERE, NOWHERE, NOWHERE, NOWHERE);
        if (threadIdx.x == 0) full = 0;
    }

    // Returns the place of the key.
    __device__ __forceinline__ u32 enter(Key key, u64 hash, u32 value)
    {
        u32 slot = (u32)hash % SLOTS;
        for (u32 tries = *(volatile u32*)&full ? SLOTS : 0; tries < SLOTS; ++tries, slot = (slot + 1) % SLOTS) {
            const Key there = atomicCAS(keys + slot, FREE, key);
            if (there != FREE && there != key) continue;
            atomicMin(values + slot, value);
            return slot;
        }
        full = 1;
        return 0;
    }

    // Of a key that is there.
    __device__ __forceinline__ u32 value_of(Key key, u64 hash) const
    {
        u32 slot = (u32)hash % SLOTS;
        while (keys[slot] != key) slot = (slot + 1) % SLOTS;
        return values[slot];
    }
};

// Each cell of a part gets the least value of its key. Few items, as most parts have, stay in registers; false: there are too many, of them or of their keys.
__device__ __forceinline__ bool merged_at_once(Table& table, const Item* items, u32 count, u32* value)
{
    if (count > HELD * blockDim.x) return false;
    Item item[HELD];
    u32 slot[HELD];
#pragma unroll
    for (u32 n = 0; n < HELD; ++n) {
        const u32 k = n * blockDim.x + threadIdx.x;
        item[n] = k < count ? items[k] : Item{FREE, 0};
    }
    table.clear();
    __syncthreads();
#pragma unroll
    for (u32 n = 0; n < HELD; ++n) if (item[n].key != FREE) slot[n] = table.enter(item[n].key, mixed(item[n].key), item[n].value);
    __syncthreads();
    if (table.full) return false;
#pragma unroll
    for (u32 n = 0; n < HELD; ++n) if (item[n].value >= NEW) value[item[n].value - NEW] = table.values[slot[n]];
    return true;
}

// The same in rounds, by bits of the hash that nothing else goes by, twice as many as long as a table is full.
__device__ __forceinline__ void merge_in_rounds(Table& table, const Item* items, u32 count, u32* value)
{
    for (u32 rounds = 1, round = 0; round < rounds;) {
        const auto is_meant = [&](u64 hash) { return ((u32)hash / SLOTS & rounds - 1) == round; };
        __syncthreads();
        table.clear();
        __syncthreads();
        for (u32 k = threadIdx.x; k < count; k += blockDim.x) {
            const Item item = items[k];
            const u64 hash = mixed(item.key);
            if (is_meant(hash)) table.enter(item.key, hash, item.value);
        }
        __syncthreads();
        const bool full = table.full;
        for (u32 k = full ? count : threadIdx.x; k < count; k += blockDim.x) {
            const Item item = items[k];
            const u64 hash = mixed(item.key);
            if (item.value >= NEW && is_meant(hash)) value[item.value - NEW] = table.value_of(item.key, hash);
        }
        round = full ? 0 : round + 1;
        rounds = full ? 2 * rounds : rounds;
    }
}

// A block a part.
extern "C" __global__ __launch_bounds__(256) void merge_parts(MiniBatches b, MiniHop h)
{
    __shared__ alignas(16) Table table;
    const u32 local = blockIdx.y, part = local * h.parts + blockIdx.x, count = h.totals[part];
    if (count == 0) return;
    const Item* const items = h.items + (i64)local * h.item_room + h.begins[part];
    u32* const value = b.value + first_cell(b, h, local);
    if (!merged_at_once(table, items, count, value)) merge_in_rounds(table, items, count, value);
    __syncthreads();  // after all have read the number of items
    if (threadIdx.x == 0) h.totals[part] = h.taken[part] = 0;
}
