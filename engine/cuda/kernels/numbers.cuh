// Numbers below bound[i], `tries` of each, drawn independently: the twin of draw_numbers in engine/cpu/kernels/traverse.py.
#pragma once
#include "random.cuh"

extern "C" __global__ void draw_numbers(i64 count, i64 tries, u64 seed, const i64* instance, const i64* slot, const i64* bound, i64* out)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 t = (i64)blockIdx.x * blockDim.x + threadIdx.x; t < count * tries; t += stride)
        out[t] = (i64)below(pool_word(seed, instance[t / tries], slot[t / tries], t % tries), (u64)bound[t / tries]);
}
