// Ids of vertices; and the number of a thread and of its warp among all of a launch, and how many there are: loops stride over what a launch
// has no thread for.
#pragma once
#include "random.cuh"

#if WIDE  // of a graph of 2^32 vertices and more
typedef u64 vertex_t;
#else
typedef u32 vertex_t;
#endif

__device__ __forceinline__ i64 thread_number() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ i64 threads_of_grid() { return (i64)gridDim.x * blockDim.x; }
__device__ __forceinline__ i64 warp_number() { return thread_number() / 32; }
__device__ __forceinline__ i64 warps_of_grid() { return threads_of_grid() / 32; }
