// Lists of neighbors that a block of count_hubs has at hand: see triangles.cu.
#pragma once
#include "ranked.cuh"

constexpr int TILE = 512;  // higher neighbors whose lists a block looks up at a time

struct List { i64 near; u32 x, size; };  // the hubs among the lower neighbors of vertex first + x, in units of four

// Lists that a block has at hand, long ones first: lanes that read side by side have about as much to read, and no
// lookup waits for the one before.
struct Lists {
    static constexpr int THREADS = 256, EACH_LOOKS = TILE / THREADS;
    List at[TILE];
    u32 next[33];

    // Looks up the lists of xs[0 .. count - 1], of which TILE at most, but for those that dense.cu counts with y;
    // returns how many have an entry. All threads.
    __device__ __forceinline__ u32 take(const u32* xs, i64 count, i64 first, i64 last, const Ranked* ranked, u32 y)
    {
        __syncthreads();
        if (threadIdx.x < 33) next[threadIdx.x] = 0;
        __syncthreads();
        List own[EACH_LOOKS];
#pragma unroll
        for (int n = 0; n < EACH_LOOKS; ++n) {
            const i64 k = n * THREADS + threadIdx.x, x = k < count ? (i64)xs[k] - first : -1;
            own[n] = {0, (u32)x, 0};
            if (x < 0 || x >= last - first) continue;
            const uint4 head = __ldg((const uint4*)(ranked + x));
            own[n].near = (i64)((u64)head.y << 32 | head.x);
            own[n].size = y < head.w ? 0 : (head.z + 3) / 4;
        }
#pragma unroll
        for (int n = 0; n < EACH_LOOKS; ++n) if (own[n].size) atomicAdd(&next[__clz(own[n].size)], 1u);
        __syncthreads();
        if (threadIdx.x < 32) {
            const u32 mine = next[threadIdx.x];
            u32 upto = mine;
            for (int gap = 1; gap < 32; gap *= 2) {
                const u32 before = __shfl_up_sync(~0u, upto, gap);
                if (threadIdx.x >= gap) upto += before;
            }
            next[threadIdx.x] = upto - mine;
            if (threadIdx.x == 31) next[32] = upto;
        }
        __syncthreads();
#pragma unroll
        for (int n = 0; n < EACH_LOOKS; ++n) if (own[n].size) at[atomicAdd(&next[__clz(own[n].size)], 1u)] = own[n];
        __syncthreads();
        return next[32];
    }
};
