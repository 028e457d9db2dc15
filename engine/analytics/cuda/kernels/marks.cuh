// The lower neighbors of a vertex in shared memory, and how often each was found: hubs as a bitmap, others in a hash
// table. See triangles.cu.
#pragma once
#include "ranked.cuh"

typedef unsigned long long count_t;
constexpr int LANES = 8;     // threads that read a list together
constexpr int WORDS = 2048;  // of the bitmap
constexpr u32 FREE = ~0u;    // no vertex, and none is marked

__device__ inline void add(count_t* counts, i64 vertex, u32 many) { atomicAdd(&counts[vertex], (count_t)many); }

// Sum over the threads of a warp, in its first.
__device__ inline u32 warp_sum(u32 value)
{
    for (int gap = 16; gap; gap >>= 1) value += __shfl_down_sync(~0u, value, gap);
    return value;
}

__device__ inline u32 lanes_together() { return ((1u << LANES) - 1) << (threadIdx.x % 32 / LANES * LANES); }

// Sum over the LANES threads that read a list, in the first of them.
__device__ inline u32 list_sum(u32 value, u32 together)
{
    for (int gap = LANES / 2; gap; gap >>= 1) value += __shfl_down_sync(together, value, gap, LANES);
    return value;
}

// Add the triangles that LANES threads have counted of a vertex x to `counts`.
__device__ __forceinline__ void add_list(u32 hits, u32 together, i64 x, count_t* counts)
{
    __syncwarp(together);
    const u32 all = list_sum(hits, together);
    if (threadIdx.x % LANES == 0 && all) add(counts, x, all);
}

// Place of w in a sorted list, or its length.
template <typename T>
__device__ inline u32 place_of(const T* list, u32 length, u32 w)
{
    u32 low = 0, high = length;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (list[middle] < w) low = middle + 1;
        else high = middle;
    }
    return low < length && list[low] == w ? low : length;
}

// The four hubs of a unit.
struct Four {
    u32 w[4];
    __device__ Four(uint2 pairs) : w{pairs.x & 0xFFFF, pairs.x >> 16, pairs.y & 0xFFFF, pairs.y >> 16} {}
};

// Hubs, exactly. With EACH, the first COUNTED of them are counted here, by their place among all, and others in
// `counts`.
template <u32 COUNTED>
struct Hubs {
    u32 words[WORDS], found[EACH ? COUNTED : 1];
    near_t before[EACH ? WORDS : 1];  // hubs before those of a word

    __device__ void clear()
    {
        for (int i = threadIdx.x; i < WORDS; i += blockDim.x) words[i] = 0;
        if (EACH) for (u32 i = threadIdx.x; i < COUNTED; i += blockDim.x) found[i] = 0;
    }

    __device__ void mark(const near_t* own, u32 count)
    {
        for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
            const u32 w = own[i];
            atomicOr(&words[w >> 5], 1u << (w & 31));
            if (EACH) if (i == 0 || own[i - 1] >> 5 != w >> 5) before[w >> 5] = (near_t)i;
        }
    }

    __device__ u32 has(u32 w) const { return words[w >> 5] >> (w & 31) & 1; }

    __device__ void count(u32 w, count_t* counts)
    {
        const u32 place = before[w >> 5] + __popc(words[w >> 5] & ((1u << (w & 31)) - 1));
        if (place < COUNTED) atomicAdd(&found[place], 1u);
        else add(counts, w, 1);
    }

    // How many hubs below `limit` <= 65,535 a list has, from its unit `at` to before `end`, of which this thread takes
    // every LANES-th.
    __device__ __forceinline__ u32 look_up(const uint2* at, const uint2* end, u32 limit, count_t* counts)
    {
        u32 here = 0;
        uint2 pairs = at < end ? __ldg(at) : make_uint2(FREE, FREE);
        while ((pairs.x & 0xFFFF) < limit) {
            const Four four(pairs);
            at += LANES;
            pairs = at < end ? __ldg(at) : make_uint2(FREE, FREE);  // under way while these are looked up
            u32 bits = 0;
#pragma unroll
            for (int n = 0; n < 4; ++n) bits |= has(four.w[n]) << n;
            here += __popc(bits);
            if (EACH)
#pragma unroll
                for (int n = 0; n < 4; ++n) if (bits >> n & 1) count(four.w[n], counts);
        }
        return here;
    }

    // Add what was counted, and forget these hubs if others follow.
    __device__ void finish(const near_t* own, u32 count, count_t* counts, bool others)
    {
        for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
            if (others) words[own[i] >> 5] = 0;
            if (EACH) if (i < COUNTED && found[i]) {
                add(counts, own[i], found[i]);
                found[i] = 0;
            }
        }
    }
};

// Others: SLOTS / 2 of them at a time, each in the first free slot from a hash on, so that most that are not there meet
// a free one at once.
template <u32 SLOTS>
struct Others {
    u32 keys[SLOTS], found[EACH ? SLOTS : 1];

    static __device__ u32 hash(u32 w) { return (w * 0x9E3779B1u) >> 16; }

    __device__ void clear()
    {
        for (u32 i = threadIdx.x; i < SLOTS; i += blockDim.x) {
            keys[i] = FREE;
            if (EACH) found[i] = 0;
        }
    }

    __device__ void mark(const u32* own, u32 count)
    {
        for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
            u32 slot = hash(own[i]) % SLOTS;
            while (atomicCAS(&keys[slot], FREE, own[i]) != FREE) slot = (slot + 1) % SLOTS;
        }
    }

    // How many that are marked, and before `limit`, a list has.
    __device__ __forceinline__ u32 look_up(const u32* list, u32 length, u32 limit)
    {
        u32 here = 0, i = threadIdx.x % LANES, w = i < length ? __ldg(list + i) : FREE;
        while (w < limit) {
            const u32 wanted = w;
            i += LANES;
            w = i < length ? __ldg(list + i) : FREE;
            u32 slot = hash(wanted) % SLOTS, key = keys[slot];
            while (key != wanted && key != FREE) {
                slot = (slot + 1) % SLOTS;
                key = keys[slot];
            }
            if (key == FREE) continue;
            here += 1;
            if (EACH) atomicAdd(&found[slot], 1u);
        }
        return here;
    }

    // Add what was counted, and forget them.
    __device__ void finish(count_t* counts)
    {
        for (u32 i = threadIdx.x; i < SLOTS; i += blockDim.x) {
            if (keys[i] == FREE) continue;
            if (EACH) if (found[i]) {
                add(counts, keys[i], found[i]);
                found[i] = 0;
            }
            keys[i] = FREE;
        }
    }
};
