// Lists of lower neighbors of vertices that are ranked by degree, the highest first: as kernels that count triangles
// read them.
#pragma once
#include "grid.cuh"

typedef unsigned short near_t;  // the rank of a hub; 65,535, which no hub has, fills a unit of four
constexpr u32 UNRANKED = ~0u;   // in place of the rank of a vertex that has none

// The lower neighbors of a vertex, ascending: hubs in 16 bits, others behind. A sector of memory.
struct alignas(32) Ranked {
    i64 near;   // place of the hubs, in units of four
    u32 close;  // how many there are
    u32 dense;  // vertices of the dense part in which it has many neighbors, or 0 (dense.cu)
    i64 far;    // place of the others
    u32 wide;   // how many there are
    u32 none;
};

__device__ __forceinline__ Ranked row_of(const Ranked* rows, i64 x)
{
    const uint4 *const at = (const uint4*)(rows + x), head = __ldg(at), tail = __ldg(at + 1);
    return {(i64)((u64)head.y << 32 | head.x), head.z, head.w, (i64)((u64)tail.y << 32 | tail.x), tail.z, 0};
}
