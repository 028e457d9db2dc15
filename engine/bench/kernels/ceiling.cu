// The rate of the memory, by which every sampling rate is judged: gathers of random elements, independent of each other
// or one after the other.
#include "random.cuh"

extern "C" __global__ void gather_16(i64 elements, const uint4* table, i64 rounds, u32* out)
{
    const i64 thread = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    u64 state = (u64)thread * 0x9E3779B97F4A7C15ull + 1;
    u32 sum = 0;
    for (i64 r = 0; r < rounds; ++r) {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            sum += __ldg(table + __umul64hi(state ^ state >> 32, (u64)elements)).x;
        }
    }
    if (sum == 12345) out[0] = sum;  // so that the gathers are made
}

// A thread a chain: where it gathers next depends on what it found.
extern "C" __global__ void chase_16(i64 elements, const uint4* table, i64 rounds, u32* out)
{
    u64 state = ((u64)blockIdx.x * blockDim.x + threadIdx.x) * 0x9E3779B97F4A7C15ull + 1;
    for (i64 r = 0; r < rounds; ++r) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        state += __ldg(table + __umul64hi(state ^ state >> 32, (u64)elements)).x;
    }
    if (state == 12345) out[0] = (u32)state;  // so that the gathers are made
}
