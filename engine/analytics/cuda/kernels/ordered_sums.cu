// Sums of floating-point numbers over the neighbors of each vertex: twin of
// engine/analytics/cpu/kernels/ordered_sums.py, in the order of lanes.py: number i of a piece of 512 in lane i % 32, lanes
// added in halves, and the sums of pieces in the same way. Fewer threads serve a short row, each for several lanes.
#include "lanes.cuh"

const int PIECE = SUM_PIECE;
const unsigned int WHOLE_WARP = 0xFFFFFFFF;

// Add the lanes of a warp, or of groups of 2 * `half` threads: the sum is in the first thread.
__device__ __forceinline__ double halves(double sum, int half)
{
    for (; half; half /= 2) sum += __shfl_down_sync(WHOLE_WARP, sum, half);
    return sum;
}

// The sum over a part of a row of a piece at most, by a warp, in the first thread.
__device__ __forceinline__ double piece_sum(i64 begin, i64 end, const vertex_t* indices, const double* values)
{
    double sum = 0.0;
    for (i64 i = begin + threadIdx.x % 32; i < end; i += 32) sum += values[indices[i]];
    return halves(sum, 16);
}

// out[rows[k]] = the sum of `values` of the neighbors in that row, for k < count. Row r of the block is at indptr[r].
// Rows of fewer than 8 entries, whose lanes are one entry each.
extern "C" __global__ void ordered_sums_2(i64 count, const vertex_t* rows, const i64* indptr, const vertex_t* indices,
    const double* values, double* out)
{
    each_row<2>(count, rows, [&](i64 row) {
        if (row < 0 || threadIdx.x % 2) return;
        const i64 begin = indptr[row], size = indptr[row + 1] - begin;
        double lanes[8];
#pragma unroll
        for (int i = 0; i < 8; i++) lanes[i] = i < size ? 0.0 + values[indices[begin + i]] : 0.0;
#pragma unroll
        for (int half = 4; half; half /= 2) {
#pragma unroll
            for (int i = 0; i < half; i++) lanes[i] += lanes[i + half];
        }
        out[row] = lanes[0];
    });
}

// Rows of 8 to 63 entries: thread j of 8 has the lanes j, j + 8, j + 16 and j + 24.
extern "C" __global__ void ordered_sums_8(i64 count, const vertex_t* rows, const i64* indptr, const vertex_t* indices,
    const double* values, double* out)
{
    each_row<8>(count, rows, [&](i64 row) {
        const i64 begin = row < 0 ? 0 : indptr[row], end = row < 0 ? 0 : indptr[row + 1];
        double lanes[4] = {0.0, 0.0, 0.0, 0.0};
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const i64 i = begin + threadIdx.x % 8 + 8 * k;
            if (i < end) lanes[k % 4] += values[indices[i]];
        }
        const double sum = halves((lanes[0] + lanes[2]) + (lanes[1] + lanes[3]), 4);
        if (row >= 0 && threadIdx.x % 8 == 0) out[row] = sum;
    });
}

// Rows of 64 to 2047 entries, which have four pieces at most.
extern "C" __global__ void ordered_sums_32(i64 count, const vertex_t* rows, const i64* indptr,
    const vertex_t* indices, const double* values, double* out)
{
    const int lane = threadIdx.x % 32;
    each_row<32>(count, rows, [&](i64 row) {
        const i64 begin = row < 0 ? 0 : indptr[row], end = row < 0 ? 0 : indptr[row + 1];
        double sum = 0.0;
        for (int piece = 0; begin + PIECE * piece < end; piece++) {
            const i64 low = begin + PIECE * piece;
            const double found = __shfl_sync(WHOLE_WARP, piece_sum(low, min(low + PIECE, end), indices, values), 0);
            if (lane == piece) sum += found;
        }
        sum = halves(sum, 16);
        if (row >= 0 && lane == 0) out[row] = sum;
    });
}

// Longer rows, by a block: the pieces of a lane by one warp.
extern "C" __global__ void ordered_sums_hub(i64 count, const vertex_t* rows, const i64* indptr,
    const vertex_t* indices, const double* values, double* out)
{
    __shared__ double lanes[32];
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (i64 at = blockIdx.x; at < count; at += gridDim.x) {
        const i64 row = rows[at], begin = indptr[row], end = indptr[row + 1];
        for (int lane = warp; lane < 32; lane += warps) {
            double sum = 0.0;
            for (i64 low = begin + PIECE * lane; low < end; low += PIECE * 32)
                sum += piece_sum(low, min(low + PIECE, end), indices, values);
            if (threadIdx.x % 32 == 0) lanes[lane] = sum;
        }
        __syncthreads();
        if (warp == 0) {
            const double sum = halves(lanes[threadIdx.x], 16);
            if (threadIdx.x == 0) out[row] = sum;
        }
        __syncthreads();
    }
}
