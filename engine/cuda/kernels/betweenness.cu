// Numbers of shortest ways and what depends on them: twin of engine/cpu/kernels/betweenness.py. A warp serves a row, or a piece of a long one; sums have the order that is
// said there.
#include "warp_rows.cuh"

constexpr i64 PIECE = LONG;

// The sum of `values` over the neighbors of a piece of a row that are at `level`, in the first thread of the warp.
__device__ __forceinline__ double piece_sum(i64 begin, i64 end, const u32* indices, const int* distance, i64 level, const double* values)
{
    double sum = 0.0;
    for (i64 i = begin + threadIdx.x % 32; i < end; i += 32) {
        const u32 u = indices[i];
        if (distance[u] == level) sum += values[u];
    }
    for (int half = 16; half; half /= 2) sum += __shfl_down_sync(0xFFFFFFFF, sum, half);
    return sum;
}

// The same of a long row, in the first thread of the block.
__device__ __forceinline__ double long_row_sum(i64 begin, i64 end, const u32* indices, const int* distance, i64 level, const double* values)
{
    __shared__ double sums[32];
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    double whole = 0.0;
    for (i64 low = begin; low < end; low += warps * PIECE) {
        const i64 from = min(low + warp * PIECE, end);
        const double sum = piece_sum(from, min(from + PIECE, end), indices, distance, level, values);
        if (threadIdx.x % 32 == 0) sums[warp] = sum;
        __syncthreads();
        if (threadIdx.x == 0) for (int n = 0; n < warps && low + n * PIECE < end; ++n) whole += sums[n];
        __syncthreads();
    }
    return whole;
}

// ways[v] of the vertices of `order` at `level` whose rows are not long: the sum of those of neighbors a level nearer. Rows are those backward; row v is at
// indptr[v - first].
extern "C" __global__ void count_ways(i64 count, const u32* order, i64 first, const i64* indptr, const u32* indices, const int* distance, i64 level, double* ways)
{
    const i64 warps = (i64)gridDim.x * blockDim.x / 32;
    for (i64 at = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32; at < count; at += warps) {
        const i64 v = order[at], begin = indptr[v - first], end = indptr[v - first + 1];
        if (end - begin >= LONG) continue;
        const double sum = piece_sum(begin, end, indices, distance, level - 1, ways);
        if (threadIdx.x % 32 == 0) ways[v] = sum;
    }
}

// The same for the long rows of the vertices `rows`, a block each.
extern "C" __global__ void count_ways_long(i64 count, const u32* rows, i64 first, const i64* indptr, const u32* indices, const int* distance, i64 level, double* ways)
{
    for (i64 at = blockIdx.x; at < count; at += gridDim.x) {
        const i64 v = rows[at];
        if (distance[v] != level) continue;
        const double sum = long_row_sum(indptr[v - first], indptr[v - first + 1], indices, distance, level - 1, ways);
        if (threadIdx.x == 0) ways[v] = sum;
    }
}

__device__ __forceinline__ void settle(i64 v, double sum, i64 level, const double* ways, double* passed, double* total)
{
    const double dependency = ways[v] * sum;
    passed[v] = (1.0 + dependency) / ways[v];
    if (level) total[v] += dependency;
}

// Add to `total` what depends on the vertices of `order` at `level` whose rows are not long, except on the source; passed[v] = (1 + dependency of v) / ways[v].
extern "C" __global__ void depend(i64 count, const u32* order, i64 first, const i64* indptr, const u32* indices, const int* distance, i64 level, const double* ways, double* passed, double* total)
{
    const i64 warps = (i64)gridDim.x * blockDim.x / 32;
    for (i64 at = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32; at < count; at += warps) {
        const i64 v = order[at], begin = indptr[v - first], end = indptr[v - first + 1];
        if (end - begin >= LONG) continue;
        const double sum = piece_sum(begin, end, indices, distance, level + 1, passed);
        if (threadIdx.x % 32 == 0) settle(v, sum, level, ways, passed, total);
    }
}

// The same for the long rows of the vertices `rows`, a block each.
extern "C" __global__ void depend_long(i64 count, const u32* rows, i64 first, const i64* indptr, const u32* indices, const int* distance, i64 level, const double* ways, double* passed, double* total)
{
    for (i64 at = blockIdx.x; at < count; at += gridDim.x) {
        const i64 v = rows[at];
        if (distance[v] != level) continue;
        const double sum = long_row_sum(indptr[v - first], indptr[v - first + 1], indices, distance, level + 1, passed);
        if (threadIdx.x == 0) settle(v, sum, level, ways, passed, total);
    }
}
