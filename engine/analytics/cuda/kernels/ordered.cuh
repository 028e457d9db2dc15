// Sums of floats in one order: twin of engine/analytics/cpu/kernels/sums.py. A piece of SUM_PIECE numbers is summed by
// 32 lanes, number i in lane i % 32 in their order, which are then added in halves; so are the sums of the pieces.
#pragma once
#include "grid.cuh"

// The sum of value(i) over begin .. end - 1, a piece or the sums of pieces, in each of LANES neighboring threads, of
// which this is number `lane`. Fewer than 32 threads have several lanes each. Two threads sum fewer than 8 numbers:
// theirs are four of the lanes each, since the others are empty. All threads of a warp come here.
template <int LANES, typename F>
__device__ __forceinline__ double piece_sum(i64 begin, i64 end, int lane, F value)
{
    constexpr int OWN_LANES = LANES == 2 ? 4 : 32 / LANES;
    double sums[OWN_LANES] = {};
#pragma unroll 4
    for (i64 base = begin + lane; base < end; base += LANES * OWN_LANES) {
#pragma unroll
        for (int k = 0; k < OWN_LANES; k++)
            if (base + k * LANES < end) sums[k] += value(base + k * LANES);
    }
#pragma unroll
    for (int half = OWN_LANES / 2; half; half /= 2) {
#pragma unroll
        for (int k = 0; k < half; k++) sums[k] += sums[k + half];
    }
#pragma unroll
    for (int half = LANES / 2; half; half /= 2) sums[0] += __shfl_xor_sync(~0u, sums[0], half);
    return sums[0];
}

// The sum of what the lanes of a warp have, in each of them.
__device__ __forceinline__ double lanes_sum(double own)
{
#pragma unroll
    for (int half = 16; half; half /= 2) own += __shfl_xor_sync(~0u, own, half);
    return own;
}

// The sum of value(i) over begin .. end - 1, any number of them, in all threads of a warp, which come here together.
template <typename F>
__device__ __forceinline__ double ordered_warp_sum(i64 begin, i64 end, F value)
{
    const int lane = threadIdx.x % 32;
    if (end - begin <= SUM_PIECE) return piece_sum<32>(begin, end, lane, value);
    double own = 0.0;
    int piece = 0;
    for (i64 at = begin; at < end; at += SUM_PIECE, piece++) {
        const double sum = piece_sum<32>(at, min(at + SUM_PIECE, end), lane, value);
        if (piece % 32 == lane) own += sum;
    }
    return lanes_sum(own);
}

// The same by all threads of a block; the threads of its first warp have it.
template <typename F>
__device__ __forceinline__ double ordered_block_sum(i64 begin, i64 end, F value)
{
    __shared__ double sums[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const i64 pieces = (end - begin + SUM_PIECE - 1) / SUM_PIECE;
    double own = 0.0;
    for (i64 base = 0; base < pieces; base += 32) {
        for (int k = warp; k < 32 && base + k < pieces; k += warps) {
            const i64 at = begin + (base + k) * SUM_PIECE;
            const double sum = piece_sum<32>(at, min(at + SUM_PIECE, end), lane, value);
            if (lane == 0) sums[k] = sum;
        }
        __syncthreads();
        if (warp == 0 && base + lane < pieces) own += sums[lane];
        __syncthreads();
    }
    return lanes_sum(own);
}
