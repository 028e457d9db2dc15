// Neighbor sampling whose samples are tables: children of column c of a table are columns c f .. c f + f - 1 of the next one.
// Picks are uniform or from the alias table, so nothing but the parent decides them.
#include "collide.cuh"

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

// Adds what each thread has seen: children, and parents without a neighbor.
__device__ __forceinline__ void count_up(i64 found, i64 without, u64* dead, u64* edges)
{
    found = group_sum(found);
    without = group_sum(without);
    if (threadIdx.x == 0 && found) atomicAdd(edges, (u64)found);
    if (threadIdx.x == 0 && without) atomicAdd(dead, (u64)without);
}

// With replacement: a thread makes the two picks of one draw.
extern "C" __global__ void hop_with_replacement(Hop hop, u64 seed, u64* dead, u64* edges)
{
    i64 found = 0, without = 0;
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
            found += dst >= 0;
        }
        without += pair == 0 && parent.vertex != NONE && place.count == 0;
    }
    count_up(found, without, dead, edges);
}

// Without replacement, uniform: as many threads as picks a parent, a pick a thread (Floyd: Bentley, CACM 30(9), 1987). A pick that meets an
// earlier one of its parent's takes the top of its range instead; only parents where two words agree have to look.
extern "C" __global__ __launch_bounds__(256) void hop_distinct(Hop hop, u64 seed, u64* dead, u64* edges)
{
    const u32 size = hop.size, tiles = 32 / size, lane = lane_of(), tile = lane / size, j = lane - tile * size, tile_begin = tile * size;
    const i64 warps = ((i64)gridDim.x * blockDim.x) >> 5, rounds = (hop.parents + warps * tiles - 1) / (warps * tiles);
    i64 number = (((i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5) * tiles + tile;
    i64 found = 0, without = 0;
    for (i64 round = 0; round < rounds; ++round, number += warps * tiles) {
        const bool inside = tile < tiles && number < hop.parents;
        const Parent parent = inside ? parent_at(hop, number) : Parent{0, NONE, 0, 0};
        const Place place = parent.vertex == NONE ? Place{0, 0} : locate(parent.vertex);
        const u32 k = (u32)min((i64)size, place.count);
        i64 value = j;
        bool met = false;
        if (place.count > size) {
            const i64 top = place.count - k + j;
            value = (i64)below(word64(philox(seed, parent.instance, hop.slot + parent.column, j >> 1), j & 1), (u64)top + 1);
        }
        for (u32 gap = 1; gap < size; ++gap) met |= __shfl_up_sync(~0u, value, gap) == value && j >= gap;
        u32 clashes = __ballot_sync(~0u, met && place.count > size);
        if (clashes) {  // in order: what an earlier pick became counts
            for (u32 i = 1; i < size; ++i) {
                const i64 asked = __shfl_sync(~0u, value, tile_begin + i);
                const u32 earlier = __ballot_sync(~0u, j < i && value == asked) >> tile_begin & ((1u << i) - 1);
                if (j == i && earlier && place.count > size) value = place.count - k + j;
            }
        }
        if (inside) hop.child[parent.cell * size + j] = j < k ? (vertex_t)neighbor_at(place.row + value) : NONE;
        found += inside && j < k;
        without += inside && j == 0 && parent.vertex != NONE && place.count == 0;
    }
    count_up(found, without, dead, edges);
}

// By inverse transform over running sums made beforehand; without replacement as by_inverse_transform in select.cu, pick for pick.
constexpr int CTPS_PICKS = 32;

extern "C" __global__ __launch_bounds__(256, 4) void hop_by_ctps(Hop hop, u64 seed, u64* dead, u64* edges, u64* tally)
{
    const i64 number = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    const Parent parent = number < hop.parents ? parent_at(hop, number) : Parent{0, NONE, 0, 0};
    const Place place = parent.vertex == NONE ? Place{0, 0} : locate(parent.vertex);
    const i64* ctps = (const i64*)GRAPH.entries + place.row;
    const u64 slot = hop.slot + parent.column;
    const i64 total = place.count > 0 ? ctps[place.count - 1] : 0;
    vertex_t* child = hop.child + parent.cell * hop.size;
    i64 picked[CTPS_PICKS];
    u32 size = 0, picks = 0, compared = 0;
    Counts n = {};
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
            u32 tries = 0;
            i64 target = (i64)below(pick_word(seed, parent.instance, slot, word_number), (u64)total), candidate = search(ctps, place.count, target);
            for (u32 j = 0; j < size; ++j) {
                ++compared;
                if (picked[j] != candidate) continue;
                ++n.collisions;
                if (++tries == TRIES) {
                    candidate = search_rest(ctps, place.count, picked, size, pick_word(seed, parent.instance, slot, word_number + k), 1);
                    ++n.redraws;
                } else {
                    next_target(ctps, candidate, total, k, seed, parent.instance, slot, word_number, target, n.redraws);
                    candidate = search(ctps, place.count, target);
                }
                j = ~0u;  // look at all of them again
            }
            picked[size] = candidate;
            child[size] = (vertex_t)neighbor_at(place.row + candidate);
        }
        picks = size;
    }
    count_up(size, parent.vertex != NONE && place.count == 0, dead, edges);
    for (; number < hop.parents && size < hop.size; ++size) child[size] = NONE;
    n.compared = compared;
    if (!REPLACE) add_up(n, picks, tally);
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
