// Philox4x32-10 and what is made of its words: the twin of draws/addresses.py and draws/random.py, bit for bit. Compile without fused multiply-add.
#pragma once
#include "portable.cuh"

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr u64 HOOK_DRAWS = 1ull << 31;
constexpr u64 POOL_DRAWS = 5ull << 29;
constexpr u64 TRIAL_DRAWS = 11ull << 28;
constexpr u64 SIZE_DRAWS = 3ull << 30;
constexpr u64 UPDATE_DRAWS = 7ull << 29;
constexpr u64 FRONTIER_DRAWS = 15ull << 28;
constexpr u64 REST_DRAWS = HOOK_DRAWS;

struct Words { u32 w[4]; };

__device__ __forceinline__ Words philox(u64 seed, u64 instance, u64 slot, u64 draw)
{
    u32 c0 = (u32)draw, c1 = (u32)slot, c2 = (u32)instance, c3 = (u32)(instance >> 32);
    u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const u64 p0 = (u64)0xD2511F53u * c0, p1 = (u64)0xCD9E8D57u * c2;
        c0 = (u32)(p1 >> 32) ^ c1 ^ k0;
        c1 = (u32)p1;
        c2 = (u32)(p0 >> 32) ^ c3 ^ k1;
        c3 = (u32)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return {{c0, c1, c2, c3}};
}

__device__ __forceinline__ u64 word64(const Words& r, int half) { return (u64)r.w[2 * half] << 32 | r.w[2 * half + 1]; }

__device__ __forceinline__ u64 draw64(u64 seed, u64 instance, u64 slot, u64 draw)
{
    return word64(philox(seed, instance, slot, draw), 0);
}

// 64 random bits of pick `number` at a slot: two picks share a draw.
__device__ __forceinline__ u64 pick_word(u64 seed, u64 instance, u64 slot, u64 number)
{
    return word64(philox(seed, instance, slot, number >> 1), number & 1);
}

// 64 random bits of a number that is drawn from a pool of several vertices.
__device__ __forceinline__ u64 pool_word(u64 seed, u64 instance, u64 slot, u64 number)
{
    return word64(philox(seed, instance, slot, POOL_DRAWS + (number >> 1)), number & 1);
}

// 64 random bits of a pick from a pool of vertices that wait, which may be picked again.
__device__ __forceinline__ u64 frontier_word(u64 seed, u64 instance, u64 depth, u64 number)
{
    return word64(philox(seed, instance, depth, FRONTIER_DRAWS + (number >> 1)), number & 1);
}

// floor(word / 2^64 * bound), and a shorter way for bounds below 2^32.
__device__ __forceinline__ u64 below(u64 word, u64 bound) { return __umul64hi(word, bound); }

__device__ __forceinline__ u64 below_32(u64 word, u32 bound) { return ((word >> 32) * bound + ((word & 0xFFFFFFFFu) * bound >> 32)) >> 32; }

__device__ __forceinline__ double fraction(u64 word) { return (double)(word >> 11) * 0x1p-53; }

// -log(u), u in (0, 1), from + - * / alone.
#define LEAST_BIAS 1e-300  // above 0: a time neg_log / bias of a smaller one may be infinite

__device__ __forceinline__ double neg_log(u64 word)
{
    const LogParts parts = log_parts((double)(word >> 12) + 0.5);
    const double scale = parts.scale - 52.0;
    return -((scale * LN2_HIGH + parts.rest) + scale * LN2_LOW);
}

// A number from 0 on with bias exp(-k / scale) for number k; modulo n it has them among the numbers below n.
__device__ __forceinline__ i64 geometric(u64 word, double scale) { return (i64)(neg_log(word) * scale); }
