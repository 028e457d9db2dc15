// Neighbor sampling whose samples are tables: children of column c of a table are columns c f .. c f + f - 1 of the next one.
// Picks are uniform, from alias tables, or by running sums, so nothing but the parent decides them.
#include "collide.cuh"
#include "picks.cuh"

struct Hop {
    i64 first, parents;          // number of the first instance; cells of the parents' table
    u32 width, size, slot;       // columns of the parents' table, neighbors of each, slot of its first column
    const vertex_t* parent;
    vertex_t* child;             // in the order in which parents are numbered: of cells, or of groups
    const uint2* grouped;        // {vertex, cell} of every cell with a vertex, those near each other in the graph together; null: in order of cell
    const u32* grouped_parents;  // how many those are
    u32 staged;                  // parents of a block
};

struct Parent { vertex_t vertex; u64 instance; u32 column; };

struct Part { i64 quotient; u32 rest; };

// 64-bit division takes many times as long.
__device__ __forceinline__ Part divided(i64 number, u32 by)
{
    const i64 quotient = number < 1ll << 32 ? (u32)number / by : number / by;
    return {quotient, (u32)(number - quotient * by)};
}

__device__ __forceinline__ i64 parents_of(const Hop& hop) { return hop.grouped ? *hop.grouped_parents : hop.parents; }

__device__ __forceinline__ Parent parent_at(const Hop& hop, i64 number)
{
    const uint2 item = hop.grouped ? hop.grouped[number] : make_uint2(0, 0);
    const Part cell = divided(hop.grouped ? item.y : number, hop.width);
    return {hop.grouped ? (vertex_t)item.x : hop.parent[number], (u64)(hop.first + cell.quotient), cell.rest};
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

// A block's parents, each looked up once for all of its picks. Blocks start in order, so that those that run at a time have parents whose rows
// are near each other, if any are.
struct Parents {
    vertex_t vertex[STAGED_PARENTS];
    Place place[STAGED_PARENTS];
    u64 instance[STAGED_PARENTS];
    u32 slot[STAGED_PARENTS];

    // Returns how many of the thread's have no neighbor.
    __device__ __forceinline__ u32 look_up(const Hop& hop, i64 base, u32 count)
    {
        u32 without = 0;
        for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
            const Parent parent = parent_at(hop, base + i);
            vertex[i] = parent.vertex;
            place[i] = parent.vertex == NONE ? Place{0, 0} : locate(parent.vertex);
            instance[i] = parent.instance;
            slot[i] = hop.slot + parent.column;
            without += parent.vertex != NONE && place[i].count == 0;
        }
        __syncthreads();
        return without;
    }
};

// A neighbor by the running sums of its row; NONE where no bias is above zero.
__device__ __forceinline__ vertex_t by_sums(const Place& place, u64 word)
{
    const i64* const ctps = (const i64*)GRAPH.entries + place.row;
    const i64 total = ctps[place.count - 1];
    return total > 0 ? (vertex_t)neighbor_at(place.row + search_near(ctps, place.count, total, (i64)below(word, (u64)total))) : NONE;
}

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
            const bool both = 2 * pair + 1 < hop.size;
#if LAYOUT == CTPS
            child[0] = by_sums(place, word64(words, 0));
            if (both) child[1] = by_sums(place, word64(words, 1));
#else
            Place unused;
            bool known;
            Asked first = ask(place, word64(words, 0)), second;
            if (both) second = ask(place, word64(words, 1));
            child[0] = (vertex_t)answer(first, unused, known);
            if (both) child[1] = (vertex_t)answer(second, unused, known);
#endif
        }
        put_pair(hop.child + (base + i) * hop.size, hop.size, pair, child[0], child[1]);
        found += (child[0] != NONE) + (child[1] != NONE);
    }
    count_up(found, without, dead, edges);
}

// Without replacement, uniform: a thread makes two picks of a parent.
extern "C" __global__ __launch_bounds__(256) void hop_distinct(Hop hop, u64 seed, u64* dead, u64* edges)
{
    __shared__ Parents parents;
    const i64 base = (i64)blockIdx.x * hop.staged, left = parents_of(hop) - base;
    if (left <= 0) return;
    const u32 staged = (u32)min((i64)hop.staged, left), without = parents.look_up(hop, base, staged);
    const u32 size = hop.size, pairs = (size + 1) / 2, tiles = 32 / pairs, lane = lane_of(), tile = lane / pairs, pair = lane - tile * pairs;
    const u32 warps = blockDim.x >> 5;
    u32 found = 0;
    for (u32 begin = (threadIdx.x >> 5) * tiles; begin < staged; begin += warps * tiles) {
        const u32 i = begin + tile;
        const bool inside = tile < tiles && i < staged;
        const Place place = inside ? parents.place[i] : Place{0, 0};
        const Picks picks = distinct_picks(place, seed, inside ? parents.instance[i] : 0, inside ? parents.slot[i] : 0, size, pair, tile * pairs);
        if (!inside) continue;
        const u32 k = picks.count;
        const vertex_t a = 2 * pair < k ? *index_at(place.row + picks.first) : NONE, b = 2 * pair + 1 < k ? *index_at(place.row + picks.second) : NONE;
        put_pair(hop.child + (base + i) * size, size, pair, a, b);
        found += (2 * pair < k) + (2 * pair + 1 < k);
    }
    count_up(found, without, dead, edges);
}

// Without replacement, by running sums made beforehand: a lane makes a pick of a parent, and takes another where an earlier one has it already, as if
// they came one after the other: by_inverse_transform in select.cu, pick for pick.
extern "C" __global__ __launch_bounds__(256, 4) void hop_distinct_by_sums(Hop hop, u64 seed, u64* dead, u64* edges, u64* tally)
{
    __shared__ Parents parents;
    __shared__ i64 picks_of_block[256];
    const i64 base = (i64)blockIdx.x * hop.staged, left = parents_of(hop) - base;
    if (left <= 0) return;
    const u32 staged = (u32)min((i64)hop.staged, left), without = parents.look_up(hop, base, staged);
    const u32 size = hop.size, tiles = 32 / size, tile = lane_of() / size, lane = lane_of() - tile * size, warps = blockDim.x >> 5;
    const u32 self = 1u << lane_of(), of_tile = tile < tiles ? (u32)((1ull << size) - 1) << tile * size : 0;
    i64* const picked = picks_of_block + threadIdx.x - lane;
    u32 found = 0, settled = 0;
    Counts n = {};
    for (u32 begin = (threadIdx.x >> 5) * tiles; begin < staged; begin += warps * tiles) {
        const u32 i = begin + tile;
        const bool inside = tile < tiles && i < staged;
        const Place place = inside ? parents.place[i] : Place{0, 0};
        const i64* const ctps = (const i64*)GRAPH.entries + place.row;
        const i64 total = place.count > 0 ? ctps[place.count - 1] : 0;
        const bool takes_all = size >= place.count, taken = takes_all && lane < place.count && ctps[lane] > (lane ? ctps[lane - 1] : 0);
        const u32 all = __ballot_sync(~0u, taken) & of_tile;
        if (taken) picked[__popc(all & (self - 1))] = lane;
        __syncwarp();
        const u32 k = takes_all || total == 0 ? __popc(all) : min(size, GRAPH.possible[parents.vertex[i]]);
        const Draw draw = {seed, inside ? parents.instance[i] : 0, inside ? parents.slot[i] : 0, ctps, place.count, total, k};
        const bool open = !takes_all && lane < k;
        settle_side_by_side(draw, open, lane, of_tile, picked, n);
        settled += open;
        if (inside) {
            hop.child[(base + i) * size + lane] = lane < k ? (vertex_t)neighbor_at(place.row + picked[lane]) : NONE;
            found += lane < k;
        }
        __syncwarp();
    }
    count_up(found, without, dead, edges);
    add_up(n, settled, tally);
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
        const Part cell = divided(t, pairs);
        const u32 column = 2 * cell.rest, from = __ldg(number + cell.quotient);
        if (from == ~0u) continue;
        const vertex_t* at = drawn + (i64)from * size + column;
        first[k] = __ldg(at);
        if (column + 1 < size) second[k] = __ldg(at + 1);
    }
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
        const i64 t = base + k * blockDim.x;
        if (t >= all) continue;
        const Part cell = divided(t, pairs);
        put_pair(child + cell.quotient * size, size, cell.rest, first[k], second[k]);
    }
}
