// R-MAT graphs on the device: the twin of datasets/generate.py, edge for edge.
#include "group.cuh"

struct Rmat {
    i64 draws;
    int scale, scramble, loops, undirected;
    u64 seed, below_a, below_b, below_c;
    double a, b, c, d, noise;  // the chances of the first level, and the share by which later ones may differ
};

__device__ __forceinline__ u64 below_of(double chance) { return (u64)(min(chance, 1.0) * 4294967296.0); }

__device__ __forceinline__ double varied(double chance, double noise, u32 word)
{
    return chance * (1.0 + noise * (2.0 * ((double)word / 4294967296.0) - 1.0));
}

__device__ __forceinline__ u64 scrambled(u64 x, int scale)
{
    const u64 mask = (1ull << scale) - 1, factors[3] = {0x9E3779B97F4A7C15ull, 0xBF58476D1CE4E5B9ull,
        0x94D049BB133111EBull};
    for (const u64 factor : factors) {
        x = (x * factor + 1) & mask;
        x ^= x >> ((scale + 1) / 2);
    }
    return x;
}

// The vertices of draw number i.
__device__ __forceinline__ void draw_edge(const Rmat& rmat, i64 i, u64& s, u64& d)
{
    s = d = 0;
    Words words;
    u64 below_a = rmat.below_a, below_b = rmat.below_b, below_c = rmat.below_c;
    double of_a = rmat.a, of_b = rmat.b, of_c = rmat.c, of_d = rmat.d;
    for (int level = 0; level < rmat.scale; ++level) {
        if ((level & 3) == 0) words = philox(rmat.seed, i, 0, level >> 2);
        const u64 word = words.w[level & 3];
        s = s << 1 | (word >= below_b);
        d = d << 1 | ((word >= below_a && word < below_b) || word >= below_c);
        if (rmat.noise == 0.0) continue;
        const Words other = philox(rmat.seed, i, 1, level);
        of_a = varied(of_a, rmat.noise, other.w[0]);
        of_b = varied(of_b, rmat.noise, other.w[1]);
        of_c = varied(of_c, rmat.noise, other.w[2]);
        of_d = varied(of_d, rmat.noise, other.w[3]);
        const double total = of_a + of_b + of_c + of_d;
        of_a /= total;
        of_b /= total;
        of_c /= total;
        of_d /= total;
        below_a = below_of(of_a);
        below_b = below_of(of_a + of_b);
        below_c = below_of(of_a + of_b + of_c);
    }
    if (rmat.scramble) { s = scrambled(s, rmat.scale); d = scrambled(d, rmat.scale); }
}

// Put a key behind those that are held; all lanes of a warp together.
__device__ __forceinline__ void append(bool has, u64 key, u64* held, u64* keys)
{
    const u32 having = __ballot_sync(~0u, has);
    u64 at = 0;
    if (lane_of() == 0 && having) at = atomicAdd(held, (u64)__popc(having));
    at = __shfl_sync(~0u, at, 0) + __popc(having & lanes_below());
    if (has) keys[at] = key;
}

// How many keys have a source in each run of 2^shift vertices.
extern "C" __global__ void rmat_runs(Rmat rmat, i64 shift, u64* runs)
{
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < rmat.draws; i += (i64)gridDim.x * blockDim.x) {
        u64 s, d;
        draw_edge(rmat, i, s, d);
        if (s != d || rmat.loops) atomicAdd(runs + (s >> shift), 1ull);
        if (s != d && rmat.undirected) atomicAdd(runs + (d >> shift), 1ull);
    }
}

// Keys source << 32 | target whose source is low .. high - 1, in any order, and how many are `held`; of an undirected
// graph both directions of an edge.
extern "C" __global__ void rmat_keys(Rmat rmat, u64 low, u64 high, u64* held, u64* keys)
{
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i - lane_of() < rmat.draws; i += (i64)gridDim.x * blockDim.x) {
        u64 s = 0, d = 0;
        draw_edge(rmat, i, s, d);
        const bool drawn = i < rmat.draws, there = drawn && (s != d || rmat.loops),
            back = drawn && s != d && rmat.undirected;
        append(there && s >= low && s < high, s << 32 | d, held, keys);
        append(back && d >= low && d < high, d << 32 | s, held, keys);
    }
}

// Multiples of 1/256 in (0, 1]; or, of `range` integers from `low` on, one of them.
extern "C" __global__ void rmat_weights(i64 count, u64 seed, u64 low, u64 range, const u64* keys, float* weights)
{
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const u64 s = keys[i] >> 32, d = keys[i] & 0xFFFFFFFFu, u = min(s, d), v = max(s, d);
    const u32 word = philox(seed ^ 0x57454947ull << 32, u | v << 32, 0, 0).w[0];
    weights[i] = range ? (float)(low + (word * range >> 32)) : (float)((word >> 24) + 1) / 256.0f;
}
