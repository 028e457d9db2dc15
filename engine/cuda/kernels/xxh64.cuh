// XXH64 (Collet, the xxHash specification 0.1.1, seed 0) of blocks of 4 KiB: the twin of partition/arrays/block_hash.py. A block has four lanes, which
// take a word of 8 bytes each of every stripe of 32; words are read in halves, for an array may begin at any multiple of 4 bytes.
#pragma once
#include "random.cuh"

constexpr u64 P1 = 0x9E3779B185EBCA87ull, P2 = 0xC2B2AE3D27D4EB4Full, P3 = 0x165667B19E3779F9ull, P4 = 0x85EBCA77C2B2AE63ull;
constexpr int HASHED_BYTES = 4096, HASHED_WORDS = HASHED_BYTES / 4;

__device__ __forceinline__ u64 turned(u64 word, int bits) { return word << bits | word >> (64 - bits); }

__device__ __forceinline__ u64 hash_round(u64 lane, u64 word) { return turned(lane + word * P2, 31) * P1; }

// What lane 0 .. 3 makes of its words of a block.
__device__ __forceinline__ u64 hash_of_lane(const u32* block, int lane)
{
    u64 hash = lane == 0 ? P1 + P2 : lane == 1 ? P2 : lane == 2 ? 0 : 0 - P1;
    const u32* words = block + 2 * lane;
#pragma unroll 8
    for (int at = 0; at < HASHED_WORDS; at += 8) hash = hash_round(hash, words[at] | (u64)words[at + 1] << 32);
    return hash;
}

__device__ __forceinline__ u64 hash_merged(u64 hash, u64 lane) { return (hash ^ hash_round(0, lane)) * P1 + P4; }

// The hash of a block by what its lanes made.
__device__ __forceinline__ u64 hash_of_lanes(u64 a, u64 b, u64 c, u64 d)
{
    u64 hash = turned(a, 1) + turned(b, 7) + turned(c, 12) + turned(d, 18);
    hash = hash_merged(hash_merged(hash_merged(hash_merged(hash, a), b), c), d) + HASHED_BYTES;
    hash = (hash ^ hash >> 33) * P2;
    hash = (hash ^ hash >> 29) * P3;
    return hash ^ hash >> 32;
}
