// Neighbor sampling whose samples are tables: children of column c of a table are columns c f .. c f + f - 1 of the next one.
// Picks are uniform or from the alias table, so nothing but the parent decides them.
#include "weigh.cuh"

struct Hop {
    i64 first, parents;          // number of the first instance; cells of the parents' table
    u32 width, size, slot;       // columns of the parents' table, neighbors of each, slot of its first column
    const vertex_t* parent;
    vertex_t* child;
};

// With replacement: a thread makes the two picks of one draw.
extern "C" __global__ void hop_with_replacement(Hop hop, u64 seed)
{
    const u32 pairs = (hop.size + 1) / 2;
    const i64 threads = hop.parents * pairs, stride = (i64)gridDim.x * blockDim.x;
    for (i64 t = (i64)blockIdx.x * blockDim.x + threadIdx.x; t < threads; t += stride) {
        const i64 cell = threads < 1ll << 32 ? (u32)t / pairs : t / pairs;
        const u32 pair = (u32)(t - cell * pairs);
        const i64 instance = hop.parents < 1ll << 32 ? (u32)cell / hop.width : cell / hop.width;
        const u32 column = (u32)(cell - instance * hop.width);
        const vertex_t parent = hop.parent[cell];
        const Place place = parent == NONE ? Place{0, 0} : locate(parent);
        const Words words = philox(seed, hop.first + instance, hop.slot + column, pair);
        vertex_t* to = hop.child + cell * hop.size + 2 * pair;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            if (2 * pair + half >= hop.size) break;
            Place unused;
            bool known;
            const i64 dst = place.count > 0 ? take(place, word64(words, half), unused, known) : -1;
            to[half] = (vertex_t)dst;
        }
    }
}

// Without replacement, uniform: a tile of LANES threads a parent, a pick a thread (Floyd: Bentley, CACM 30(9), 1987). A pick that meets an earlier
// one of its tile takes the top of its range instead; only tiles where two words agree have to look.
template <int LANES>
__device__ __forceinline__ void distinct(const Hop& hop, u64 seed)
{
    const int j = threadIdx.x & (LANES - 1), tile = lane_of() & ~(LANES - 1);
    const u32 mask = (LANES == 32 ? ~0u : (1u << LANES) - 1) << tile;
    const i64 stride = (i64)gridDim.x * blockDim.x / LANES, rounds = (hop.parents + stride - 1) / stride;
    i64 cell = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    for (i64 round = 0; round < rounds; ++round, cell += stride) {
        const bool inside = cell < hop.parents;
        const vertex_t parent = inside ? hop.parent[cell] : NONE;
        const Place place = parent == NONE ? Place{0, 0} : locate(parent);
        const i64 instance = hop.parents < 1ll << 32 ? (u32)cell / hop.width : cell / hop.width;
        const u32 k = (u32)min((i64)hop.size, place.count);
        i64 value = j;
        if (place.count > hop.size) {
            const Words words = philox(seed, hop.first + instance, hop.slot + (u32)(cell - instance * hop.width), (u64)j >> 1);
            const i64 top = place.count - k + j;
            value = j < k ? (i64)below(word64(words, j & 1), (u64)top + 1) : -1 - j;
            const u32 same = __match_any_sync(mask, value);
            if (__any_sync(mask, same != 1u << lane_of()))
                for (int i = 1; i < k; ++i) {
                    const i64 asked = __shfl_sync(mask, value, tile + i);
                    const bool met = __any_sync(mask, j < i && value == asked);
                    if (j == i && met) value = top;
                }
        }
        if (inside && j < hop.size) hop.child[cell * hop.size + j] = j < k ? (vertex_t)neighbor_at(place.row + value) : NONE;
    }
}

extern "C" __global__ void hop_distinct_4(Hop hop, u64 seed) { distinct<4>(hop, seed); }
extern "C" __global__ void hop_distinct_8(Hop hop, u64 seed) { distinct<8>(hop, seed); }
extern "C" __global__ void hop_distinct_16(Hop hop, u64 seed) { distinct<16>(hop, seed); }
extern "C" __global__ void hop_distinct_32(Hop hop, u64 seed) { distinct<32>(hop, seed); }

// How many parents have no neighbor, and how many children there are.
extern "C" __global__ void hop_counts(Hop hop, u64* dead, u64* edges)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    i64 without = 0, found = 0;
    for (i64 c = (i64)blockIdx.x * blockDim.x + threadIdx.x; c < hop.parents; c += stride)
        without += hop.parent[c] != NONE && locate(hop.parent[c]).count == 0;
    for (i64 c = (i64)blockIdx.x * blockDim.x + threadIdx.x; c < hop.parents * hop.size; c += stride) found += hop.child[c] != NONE;
    without = group_sum(without);
    found = group_sum(found);
    if (threadIdx.x == 0) { atomicAdd(dead, (u64)without); atomicAdd(edges, (u64)found); }
}
