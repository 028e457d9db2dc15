// Entries of rows in pieces of equal size, whatever the lengths of the rows, which the running sums of these say.
#pragma once
#include "grid.cuh"

// Add the amounts of all threads of a warp to *total.
__device__ __forceinline__ void add_over_warp(i64 amount, unsigned long long* total)
{
    for (int step = 16; step; step /= 2) amount += __shfl_down_sync(~0u, amount, step);
    if (threadIdx.x % 32 == 0 && amount) atomicAdd(total, (unsigned long long)amount);
}

// The first of low .. high whose row ends after entry e: `ends` has the running sums of the rows' lengths.
__device__ __forceinline__ i64 row_of(i64 e, i64 low, i64 high, const i64* ends)
{
    while (low < high) {
        const i64 middle = (low + high) / 2;
        if (ends[middle] <= e) low = middle + 1;
        else high = middle;
    }
    return low;
}

