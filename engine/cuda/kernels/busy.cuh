// How long each multiprocessor works in the launches of a streamed graph: see engine/cuda/busy.py.
#pragma once
#include "group.cuh"

__device__ u64 BUSY[STREAMED ? MOST_PROCESSORS : 1];  // clocks of the warps of each multiprocessor

__device__ __forceinline__ void add_clock(bool ends)
{
    if (!STREAMED || lane_of() != 0) return;
    u32 here;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(here));
    const u64 now = (u64)clock64();
    atomicAdd(BUSY + min(here, (u32)MOST_PROCESSORS - 1), ends ? now : 0ull - now);
}

// Stands at the beginning of a kernel: a warp adds the clocks from there to its end. It keeps no register meanwhile.
struct Working {
    __device__ __forceinline__ Working() { add_clock(false); }
    __device__ __forceinline__ ~Working() { add_clock(true); }
};
