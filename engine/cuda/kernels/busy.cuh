// How long each multiprocessor works in the launches of a streamed graph: see engine/cuda/busy.py.
#pragma once
#include "group.cuh"

__device__ u64 BUSY[STREAMED ? MOST_PROCESSORS : 1];  // clocks of the warps of each multiprocessor

// Stands at the beginning of a kernel: a warp adds the clocks from there to its end.
struct Working {
    const i64 began;
    __device__ __forceinline__ Working() : began(STREAMED ? clock64() : 0) {}
    __device__ __forceinline__ ~Working()
    {
        if (!STREAMED || lane_of() != 0) return;
        u32 here;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(here));
        atomicAdd(BUSY + min(here, (u32)MOST_PROCESSORS - 1), (u64)(clock64() - began));
    }
};
