// Neighbor sampling whose samples are tables: children of column c of a table are columns c f .. c f + f - 1 of the next one.
// Picks are uniform or from the alias table, so nothing but the parent decides them.
#include "weigh.cuh"

struct Hop {
    i64 first, parents;          // number of the first instance; cells of the parents' table
    u32 width, size, slot;       // columns of the parents' table, neighbors of each, slot of its first column
    const vertex_t* parent;
    vertex_t* child;
    const uint2* grouped;        // {vertex, cell} of every parent, those near each other in the graph together; null: in order of cell
};

struct Parent { i64 cell; vertex_t vertex; u64 instance; u32 column; };

__device__ __forceinline__ Parent parent_at(const Hop& hop, i64 number)
{
    Parent p = {number, NONE, 0, 0};
    if (hop.grouped) {
        const uint2 item = hop.grouped[number];
        p.cell = item.y;
        p.vertex = item.x == ~0u ? NONE : (vertex_t)item.x;
    } else {
        p.vertex = hop.parent[number];
    }
    const i64 local = hop.parents < 1ll << 32 ? (u32)p.cell / hop.width : p.cell / hop.width;
    p.instance = hop.first + local;
    p.column = (u32)(p.cell - local * hop.width);
    return p;
}

// With replacement: a thread makes the two picks of one draw.
extern "C" __global__ void hop_with_replacement(Hop hop, u64 seed)
{
    const u32 pairs = (hop.size + 1) / 2;
    const i64 threads = hop.parents * pairs, stride = (i64)gridDim.x * blockDim.x;
    for (i64 t = (i64)blockIdx.x * blockDim.x + threadIdx.x; t < threads; t += stride) {
        const i64 number = threads < 1ll << 32 ? (u32)t / pairs : t / pairs;
        const u32 pair = (u32)(t - number * pairs);
        const Parent parent = parent_at(hop, number);
        const Place place = parent.vertex == NONE ? Place{0, 0} : locate(parent.vertex);
        const Words words = philox(seed, parent.instance, hop.slot + parent.column, pair);
        vertex_t* to = hop.child + parent.cell * hop.size + 2 * pair;
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
    i64 number = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    for (i64 round = 0; round < rounds; ++round, number += stride) {
        const bool inside = number < hop.parents;
        const Parent parent = inside ? parent_at(hop, number) : Parent{0, NONE, 0, 0};
        const Place place = parent.vertex == NONE ? Place{0, 0} : locate(parent.vertex);
        const u32 k = (u32)min((i64)hop.size, place.count);
        i64 value = j;
        if (place.count > hop.size) {
            const Words words = philox(seed, parent.instance, hop.slot + parent.column, (u64)j >> 1);
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
        if (inside && j < hop.size) hop.child[parent.cell * hop.size + j] = j < k ? (vertex_t)neighbor_at(place.row + value) : NONE;
    }
}

extern "C" __global__ void hop_distinct_4(Hop hop, u64 seed) { distinct<4>(hop, seed); }
extern "C" __global__ void hop_distinct_8(Hop hop, u64 seed) { distinct<8>(hop, seed); }
extern "C" __global__ void hop_distinct_16(Hop hop, u64 seed) { distinct<16>(hop, seed); }
extern "C" __global__ void hop_distinct_32(Hop hop, u64 seed) { distinct<32>(hop, seed); }

// By inverse transform over running sums made beforehand; without replacement as by_inverse_transform in select.cu, pick for pick.
constexpr int CTPS_PICKS = 32;

extern "C" __global__ __launch_bounds__(256) void hop_by_ctps(Hop hop, u64 seed, u64* tally)
{
    const i64 number = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= hop.parents) return;
    const Parent parent = parent_at(hop, number);
    const Place place = parent.vertex == NONE ? Place{0, 0} : locate(parent.vertex);
    const i64* ctps = (const i64*)GRAPH.entries + place.row;
    const u64 slot = hop.slot + parent.column;
    const i64 total = place.count > 0 ? ctps[place.count - 1] : 0;
    vertex_t* child = hop.child + parent.cell * hop.size;
    i64 picked[CTPS_PICKS];
    u32 size = 0;
    u64 draws = 0, collisions = 0;
    if (total > 0 && REPLACE) {
        for (; size < hop.size; ++size)
            child[size] = (vertex_t)neighbor_at(place.row + search(ctps, place.count, (i64)below(pick_word(seed, parent.instance, slot, size), (u64)total)));
    } else if (total > 0 && hop.size >= place.count) {
        for (i64 i = 0; i < place.count; ++i)
            if (ctps[i] > (i ? ctps[i - 1] : 0)) child[size++] = (vertex_t)neighbor_at(place.row + i);
    } else if (total > 0) {
        const u32 k = min(hop.size, GRAPH.possible[parent.vertex]);
        for (; size < k; ++size) {
            u64 word_number = size;
            i64 target = (i64)below(pick_word(seed, parent.instance, slot, word_number), (u64)total), candidate = search(ctps, place.count, target);
            ++draws;
            for (u32 j = 0; j < size; ++j) {
                if (picked[j] != candidate) continue;
                ++collisions;
                next_target(ctps, candidate, total, k, seed, parent.instance, slot, word_number, target, draws);
                candidate = search(ctps, place.count, target);
                j = ~0u;  // look at all of them again
            }
            picked[size] = candidate;
            child[size] = (vertex_t)neighbor_at(place.row + candidate);
        }
    }
    for (; size < hop.size; ++size) child[size] = NONE;
    if (draws) { atomicAdd(tally, draws); atomicAdd(tally + 1, collisions); }
}

// Transit parallelism (NextDoor, EuroSys 2021, section 6): parents whose rows are near each other go together, so that what is random over the
// whole graph becomes random in a few megabytes. One counting pass and one scattering pass over `buckets` ranges of edges; a bucket's
// order is that of chance, and nothing depends on it.
constexpr int GROUP_BUCKETS = 2048, GROUP_TILE = 32, NEAR = 8;  // ranges of edges; parents a thread; log2 of the vertices that share an entry of `coarse`

// The bucket of a vertex: that of the vertices around it, or where those have too many edges for one bucket, its own.
__device__ __forceinline__ u32 bucket_of(vertex_t v, const u32* coarse, int shift)
{
    if (v == NONE) return 0;
    const u32 bucket = __ldg(coarse + (v >> NEAR));
    return bucket != ~0u ? bucket : (u32)(GRAPH.indptr[v] >> shift);
}

extern "C" __global__ __launch_bounds__(256) void group_count(i64 parents, const vertex_t* parent, const u32* coarse, i64 shift, u32* counts)
{
    __shared__ u32 held[GROUP_BUCKETS];
    for (int b = threadIdx.x; b < GROUP_BUCKETS; b += blockDim.x) held[b] = 0;
    __syncthreads();
    for (i64 c = (i64)blockIdx.x * blockDim.x + threadIdx.x; c < parents; c += (i64)gridDim.x * blockDim.x)
        atomicAdd(held + bucket_of(parent[c], coarse, (int)shift), 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < GROUP_BUCKETS; b += blockDim.x)
        if (held[b]) atomicAdd(counts + b, held[b]);
}

// `next` is where the next parent of each bucket goes.
extern "C" __global__ __launch_bounds__(256) void group_scatter(i64 parents, const vertex_t* parent, const u32* coarse, i64 shift, u32* next, uint2* grouped)
{
    __shared__ u32 held[GROUP_BUCKETS], from[GROUP_BUCKETS];
    const i64 base = (i64)blockIdx.x * 256 * GROUP_TILE;
    u32 bucket[GROUP_TILE], rank[GROUP_TILE];
    for (int b = threadIdx.x; b < GROUP_BUCKETS; b += 256) held[b] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < GROUP_TILE; ++k) {
        const i64 c = base + k * 256 + threadIdx.x;
        if (c >= parents) continue;
        bucket[k] = bucket_of(parent[c], coarse, (int)shift);
        rank[k] = atomicAdd(held + bucket[k], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < GROUP_BUCKETS; b += 256)
        if (held[b]) from[b] = atomicAdd(next + b, held[b]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < GROUP_TILE; ++k) {
        const i64 c = base + k * 256 + threadIdx.x;
        if (c < parents) grouped[from[bucket[k]] + rank[k]] = make_uint2((u32)parent[c], (u32)c);
    }
}

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
