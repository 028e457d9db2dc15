// R-MAT graphs on the device: the twin of datasets/rmat.py, edge for edge.
#include "random.cuh"

struct Rmat { int scale, scramble, loops; u64 seed, below_a, below_b, below_c; };

__device__ __forceinline__ u64 scrambled(u64 x, int scale)
{
    const u64 mask = (1ull << scale) - 1, factors[3] = {0x9E3779B97F4A7C15ull, 0xBF58476D1CE4E5B9ull, 0x94D049BB133111EBull};
    for (const u64 factor : factors) {
        x = (x * factor + 1) & mask;
        x ^= x >> ((scale + 1) / 2);
    }
    return x;
}

// Keys source << 32 | target of `count` edges, then, where `reverse`, of the same edges turned round. Self loops that do not stay become all ones.
extern "C" __global__ void rmat_keys(Rmat rmat, i64 count, i64 reverse, u64* keys)
{
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    u64 s = 0, d = 0;
    Words words;
    for (int level = 0; level < rmat.scale; ++level) {
        if ((level & 3) == 0) words = philox(rmat.seed, i, 0, level >> 2);
        const u64 word = words.w[level & 3];
        s = s << 1 | (word >= rmat.below_b);
        d = d << 1 | ((word >= rmat.below_a && word < rmat.below_b) || word >= rmat.below_c);
    }
    if (rmat.scramble) { s = scrambled(s, rmat.scale); d = scrambled(d, rmat.scale); }
    keys[i] = s == d && !rmat.loops ? ~0ull : s << 32 | d;
    if (reverse) keys[count + i] = s == d ? ~0ull : d << 32 | s;
}

extern "C" __global__ void rmat_weights(i64 count, u64 seed, const u64* keys, float* weights)
{
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const u64 s = keys[i] >> 32, d = keys[i] & 0xFFFFFFFFu, u = min(s, d), v = max(s, d);
    const u32 word = philox(seed ^ 0x57454947ull << 32, u | v << 32, 0, 0).w[0];
    weights[i] = (float)((word >> 24) + 1) / 256.0f;
}
