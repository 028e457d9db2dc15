// Neighbor sampling whose samples are tables: children of column c of a table are columns c f .. c f + f - 1 of the next one.
// Picks are uniform or from the alias table, so nothing but the parent decides them.
#include "collide.cuh"

struct Hop {
    i64 first, parents;          // number of the first instance; cells of the parents' table
    u32 width, size, slot;       // columns of the parents' table, neighbors of each, slot of its first column
    const vertex_t* parent;
    vertex_t* child;             // in the order in which parents are numbered: of cells, or of groups
    const uint2* grouped;        // {vertex, cell} of every parent, those near each other in the graph together; null: in order of cell
    const u32* grouped_parents;  // how many those are
    u32 staged;                  // parents of a block
};

struct Parent { i64 cell; vertex_t vertex; u64 instance; u32 column; };

__device__ __forceinline__ i64 parents_of(const Hop& hop) { return hop.grouped ? *hop.grouped_parents : hop.parents; }

__device__ __forceinline__ Parent parent_at(const Hop& hop, i64 number)
{
    Parent p = {number, NONE, 0, 0};
    if (hop.grouped) {
        const uint2 item = hop.grouped[number];
        p.cell = item.y;
        p.vertex = (vertex_t)item.x;
    } else {
        p.vertex = hop.parent[number];
    }
    const i64 local = hop.parents < 1ll << 32 ? (u32)p.cell / hop.width : p.cell / hop.width;
    p.instance = hop.first + local;
    p.column = (u32)(p.cell - local * hop.width);
    return p;
}

// Columns 2 pair and 2 pair + 1 of a parent's children; one store where that is aligned.
__device__ __forceinline__ void put_pair(vertex_t* children, u32 size, u32 pair, vertex_t a, vertex_t b)
{
    struct alignas(2 * sizeof(vertex_t)) Pair { vertex_t a, b; };
    if (size % 2 == 0) {
        ((Pair*)children)[pair] = {a, b};
        return;
    }
    children[2 * pair] = a;
    if (2 * pair + 1 < size) children[2 * pair + 1] = b;
}

// Adds what each thread has seen: children, and parents without a neighbor.
__device__ __forceinline__ void count_up(u32 found, u32 without, u64* dead, u64* edges)
{
    const i64 both = group_sum((i64)without << 32 | found);
    if (threadIdx.x || both == 0) return;
    if ((u32)both) atomicAdd(edges, (u64)(u32)both);
    if (both >> 32) atomicAdd(dead, (u64)(both >> 32));
}

constexpr u32 STAGED = 128;  // parents of a block at most

// A block's parents, each looked up once for all of its picks. Blocks start in order, so that those that run at a time have parents whose rows
// are near each other, if any are.
struct Parents {
    Place place[STAGED];
    u64 instance[STAGED];
    u32 slot[STAGED];

    // Returns how many of the thread's have no neighbor.
    __device__ __forceinline__ u32 look_up(const Hop& hop, i64 base, u32 count)
    {
        u32 without = 0;
        for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
            const Parent parent = parent_at(hop, base + i);
            place[i] = parent.vertex == NONE ? Place{0, 0} : locate(parent.vertex);
            instance[i] = parent.instance;
            slot[i] = hop.slot + parent.column;
            without += parent.vertex != NONE && place[i].count == 0;
        }
        __syncthreads();
        return without;
    }
};

// With replacement: a thread makes the two picks of a draw.
extern "C" __global__ __launch_bounds__(256) void hop_with_replacement(Hop hop, u64 seed, u64* dead, u64* edges)
{
    __shared__ Parents parents;
    const i64 base = (i64)blockIdx.x * hop.staged, left = parents_of(hop) - base;
    if (left <= 0) return;
    const u32 staged = (u32)min((i64)hop.staged, left), pairs = (hop.size + 1) / 2;
    const u32 without = parents.look_up(hop, base, staged);
    u32 found = 0;
#pragma unroll 2
    for (u32 t = threadIdx.x; t < staged * pairs; t += blockDim.x) {
        const u32 i = t / pairs, pair = t - i * pairs;
        const Place place = parents.place[i];
        vertex_t child[2] = {NONE, NONE};
        if (place.count > 0) {
            const Words words = philox(seed, parents.instance[i], parents.slot[i], pair);
            Place unused;
            bool known;
            const Asked first = ask(place, word64(words, 0)), second = ask(place, word64(words, 1));
            child[0] = (vertex_t)answer(first, unused, known);
            child[1] = (vertex_t)answer(second, unused, known);
        }
        put_pair(hop.child + (base + i) * hop.size, hop.size, pair, child[0], child[1]);
        found += (child[0] != NONE) + (2 * pair + 1 < hop.size && child[1] != NONE);
    }
    count_up(found, without, dead, edges);
}

// Without replacement, uniform: a thread makes two picks of a parent (Floyd: Bentley, CACM 30(9), 1987). A pick that meets an
// earlier one of its parent's takes the top of its range instead; only parents where two words agree have to look.
extern "C" __global__ __launch_bounds__(256) void hop_distinct(Hop hop, u64 seed, u64* dead, u64* edges)
{
    __shared__ Parents parents;
    const i64 base = (i64)blockIdx.x * hop.staged, left = parents_of(hop) - base;
    if (left <= 0) return;
    const u32 staged = (u32)min((i64)hop.staged, left), without = parents.look_up(hop, base, staged);
    const u32 size = hop.size, pairs = (size + 1) / 2, tiles = 32 / pairs, lane = lane_of(), tile = lane / pairs, pair = lane - tile * pairs;
    const u32 tile_lanes = (1u << pairs) - 1, tile_begin = tile * pairs, warps = blockDim.x >> 5;
    u32 found = 0;
    for (u32 begin = (threadIdx.x >> 5) * tiles; begin < staged; begin += warps * tiles) {
        const u32 i = begin + tile;
        const bool inside = tile < tiles && i < staged;
        const Place place = inside ? parents.place[i] : Place{0, 0};
        const bool draws = place.count > size;
        const u32 k = draws ? size : (u32)place.count;
        i64 first = 2 * pair, second = 2 * pair + 1;
        if (__any_sync(~0u, draws)) {
            bool met = false;
            if (draws) {
                const Words words = philox(seed, parents.instance[i], parents.slot[i], pair);
                const i64 bound = place.count - k + 2 * pair + 1;
                first = (i64)below(word64(words, 0), (u64)bound);
                second = (i64)below(word64(words, 1), (u64)bound + 1);
                met = first == second;
            }
            for (u32 gap = 1; gap < pairs; ++gap) {
                const u32 a = __shfl_up_sync(~0u, (u32)first, gap), b = __shfl_up_sync(~0u, (u32)second, gap);
                met |= pair >= gap && (a == (u32)first || b == (u32)first || a == (u32)second || b == (u32)second);
            }
            if (__any_sync(~0u, met && draws)) {  // in order: what an earlier pick became counts
                for (u32 pick = 1; pick < size; ++pick) {
                    const bool is_second = pick & 1;
                    const i64 asked = __shfl_sync(~0u, is_second ? second : first, tile_begin + pick / 2);
                    const bool equal = (2 * pair < pick && first == asked) || (2 * pair + 1 < pick && second == asked);
                    const bool taken = __ballot_sync(~0u, equal) >> tile_begin & tile_lanes;
                    if (pair != pick / 2 || !taken || !draws) continue;
                    if (is_second) second = place.count - k + pick;
                    else first = place.count - k + pick;
                }
            }
        }
        if (!inside) continue;
        const vertex_t a = 2 * pair < k ? *index_at(place.row + first) : NONE, b = 2 * pair + 1 < k ? *index_at(place.row + second) : NONE;
        put_pair(hop.child + (base + i) * size, size, pair, a, b);
        found += (2 * pair < k) + (2 * pair + 1 < k);
    }
    count_up(found, without, dead, edges);
}

// By inverse transform over running sums made beforehand; without replacement as by_inverse_transform in select.cu, pick for pick.
constexpr int CTPS_PICKS = 32;

extern "C" __global__ __launch_bounds__(256, 4) void hop_by_ctps(Hop hop, u64 seed, u64* dead, u64* edges, u64* tally)
{
    const i64 number = (i64)blockIdx.x * blockDim.x + threadIdx.x, parents = parents_of(hop);
    const Parent parent = number < parents ? parent_at(hop, number) : Parent{0, NONE, 0, 0};
    const Place place = parent.vertex == NONE ? Place{0, 0} : locate(parent.vertex);
    const i64* ctps = (const i64*)GRAPH.entries + place.row;
    const u64 slot = hop.slot + parent.column;
    const i64 total = place.count > 0 ? ctps[place.count - 1] : 0;
    vertex_t* child = hop.child + number * hop.size;
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
    for (; number < parents && size < hop.size; ++size) child[size] = NONE;
    n.compared = compared;
    if (!REPLACE) add_up(n, picks, tally);
}

// Transit parallelism (NextDoor, EuroSys 2021, section 6): parents whose rows are near each other go together, so that what is random over the
// whole graph becomes random in a few megabytes. One counting pass and one scattering pass over `buckets` ranges of edges; a bucket's
// order is that of chance, and nothing depends on it.
constexpr int GROUP_BUCKETS = 1024, GROUP_BLOCK = 1024, GROUP_TILE = 16;  // ranges of edges; threads of a block, parents of each
constexpr int NEAR = 8;                                                   // log2 of the vertices that share an entry of `coarse`

// The bucket of a vertex: that of the vertices around it, or where those have too many edges for one bucket, its own.
__device__ __forceinline__ u32 bucket_of(vertex_t v, const u32* coarse, int shift)
{
    const u32 bucket = __ldg(coarse + (v >> NEAR));
    return bucket != ~0u ? bucket : (u32)(GRAPH.indptr[v] >> shift);
}

// The vertices of a block's tile, `GROUP_BLOCK` apart in a thread.
__device__ __forceinline__ void load_tile(i64 parents, const vertex_t* parent, vertex_t* vertex)
{
    const i64 base = (i64)blockIdx.x * GROUP_BLOCK * GROUP_TILE + threadIdx.x;
#pragma unroll
    for (int k = 0; k < GROUP_TILE; ++k) vertex[k] = base + k * GROUP_BLOCK < parents ? __ldg(parent + base + k * GROUP_BLOCK) : NONE;
}

extern "C" __global__ __launch_bounds__(GROUP_BLOCK) void group_count(i64 parents, const vertex_t* parent, const u32* coarse, i64 shift, u32* counts)
{
    __shared__ u32 held[GROUP_BUCKETS];
    vertex_t vertex[GROUP_TILE];
    load_tile(parents, parent, vertex);
    for (int b = threadIdx.x; b < GROUP_BUCKETS; b += GROUP_BLOCK) held[b] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < GROUP_TILE; ++k)
        if (vertex[k] != NONE) atomicAdd(held + bucket_of(vertex[k], coarse, (int)shift), 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < GROUP_BUCKETS; b += GROUP_BLOCK)
        if (held[b]) atomicAdd(counts + b, held[b]);
}

// `next` is where the next parent of each bucket goes; `number` gets where that of each cell went, NONE where there is no parent. A tile is put in
// order in shared memory, so that what goes to a bucket is written together.
extern "C" __global__ __launch_bounds__(GROUP_BLOCK) void group_scatter(i64 parents, const vertex_t* parent, const u32* coarse, i64 shift, u32* next,
                                                                        uint2* grouped, u32* number)
{
    __shared__ u32 held[GROUP_BUCKETS], to[GROUP_BUCKETS];
    __shared__ unsigned short order[GROUP_BLOCK * GROUP_TILE];
    const i64 base = (i64)blockIdx.x * GROUP_BLOCK * GROUP_TILE;
    vertex_t vertex[GROUP_TILE];
    u32 seat[GROUP_TILE];  // bucket, and rank in it
    load_tile(parents, parent, vertex);
    for (int b = threadIdx.x; b < GROUP_BUCKETS; b += GROUP_BLOCK) held[b] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < GROUP_TILE; ++k) {
        if (vertex[k] == NONE) continue;
        const u32 bucket = bucket_of(vertex[k], coarse, (int)shift);
        seat[k] = bucket | atomicAdd(held + bucket, 1u) * GROUP_BUCKETS;
    }
    __syncthreads();
    i64 before = 0;
    for (int first = 0; first < GROUP_BUCKETS; first += GROUP_BLOCK) {
        const int b = first + threadIdx.x;
        const u32 count = b < GROUP_BUCKETS ? held[b] : 0;
        i64 sum;
        const i64 begin = before + group_scan(count, sum) - count;
        if (b < GROUP_BUCKETS) {
            held[b] = (u32)begin;
            to[b] = count ? atomicAdd(next + b, count) - (u32)begin : 0;
        }
        before += sum;
        __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < GROUP_TILE; ++k) {
        const u32 local = k * GROUP_BLOCK + threadIdx.x;
        if (base + local >= parents) continue;
        u32 place = ~0u;
        if (vertex[k] != NONE) {
            const u32 bucket = seat[k] % GROUP_BUCKETS, at = held[bucket] + seat[k] / GROUP_BUCKETS;
            order[at] = (unsigned short)local;
            place = to[bucket] + at;
        }
        number[base + local] = place;
    }
    __syncthreads();
    for (u32 at = threadIdx.x; at < before; at += GROUP_BLOCK) {
        const u32 local = order[at];
        const vertex_t v = parent[base + local];
        grouped[to[bucket_of(v, coarse, (int)shift)] + at] = make_uint2((u32)v, (u32)(base + local));
    }
}

// Children of grouped parents, back in the order of cells. A thread has several reads under way.
extern "C" __global__ __launch_bounds__(256) void ungroup(i64 cells, u32 size, const u32* number, const vertex_t* drawn, vertex_t* child)
{
    constexpr int AHEAD = 4;
    const u32 pairs = (size + 1) / 2;
    const i64 all = cells * pairs, base = (i64)blockIdx.x * blockDim.x * AHEAD + threadIdx.x;
    vertex_t first[AHEAD], second[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
        const i64 t = base + k * blockDim.x;
        first[k] = second[k] = NONE;
        if (t >= all) continue;
        const i64 cell = all < 1ll << 32 ? (u32)t / pairs : t / pairs;
        const u32 column = 2 * (u32)(t - cell * pairs), from = __ldg(number + cell);
        if (from == ~0u) continue;
        const vertex_t* at = drawn + (i64)from * size + column;
        first[k] = __ldg(at);
        if (column + 1 < size) second[k] = __ldg(at + 1);
    }
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
        const i64 t = base + k * blockDim.x;
        if (t >= all) continue;
        const i64 cell = all < 1ll << 32 ? (u32)t / pairs : t / pairs;
        put_pair(child + cell * size, size, (u32)(t - cell * pairs), first[k], second[k]);
    }
}
