// Rows of one round of shortest ways by weight, for the kernels of one GPU and of several that share the vertices. Row v of a block is at indptr[v - first].
#pragma once
#include "warp_rows.cuh"

const int CHUNK = 4096;

// `reach(i, far)` for each entry i of the rows of the vertices first .. last - 1 that are of round `number`, and not long. `far`: the distance of the row's vertex.
template <typename F>
__device__ __forceinline__ void relax_rows(i64 first, i64 last, const i64* indptr, const double* distance, const int* round_of, i64 number, const unsigned char* active, F reach)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    const int lane = threadIdx.x % 32;
    for (i64 base = first + ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32; base < last; base += stride) {
        const i64 v = base + lane;
        const bool wanted = v < last && active[v / CHUNK] && round_of[v] == number;
        const double far = wanted ? distance[v] : 0.0;
        const i64 begin = wanted ? indptr[v - first] : 0, end = wanted ? indptr[v - first + 1] : 0;
        each_entry(
            begin, end - begin < LONG ? end : begin,
            [&](i64 i) {
                reach(i, far);
                return true;
            },
            [&](i64 i, int owner) {
                const double others = __shfl_sync(WHOLE_WARP, far, owner);
                if (i >= 0) reach(i, others);
                return true;
            });
    }
}

// The same for long rows, those of the vertices `rows`.
template <typename F>
__device__ __forceinline__ void relax_long_rows(i64 count, const u32* rows, i64 first, const i64* indptr, const double* distance, const int* round_of, i64 number, const unsigned char* active, F reach)
{
    for (i64 n = blockIdx.x; n < count; n += gridDim.x) {
        const i64 v = rows[n];
        if (!active[v / CHUNK] || round_of[v] != number) continue;
        const double far = distance[v];
        each_entry_of_long(indptr[v - first], indptr[v - first + 1], [&](i64 i) { reach(i, far); });
    }
}

// Lower a distance to `sum`. Whether it was larger.
__device__ __forceinline__ bool lowered(double* distance, double sum)
{
    if (sum >= *distance) return false;
    const unsigned long long bits = (unsigned long long)__double_as_longlong(sum);
    return bits < atomicMin((unsigned long long*)distance, bits);
}
