// Neighbor sampling whose samples are tables: children of column c of a table are columns c f .. c f + f - 1 of the next one.
// Picks are uniform, from alias tables, or by running sums, so nothing but the parent decides them.
#include "collide.cuh"
#include "hops.cuh"
#include "picks.cuh"

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

// What a hop takes from one relation: `wanted` edges of each parent from vertex `low` on and below `high`, whose row is `shift` further on. They are
// the children from number `base` on, and `relation` has the number of the relation for each.
struct OfRelation { i64 low, high, shift; u32 wanted, base, number, relations; unsigned char* relation; };

// Those of a block's parents that leave the relation, in any order.
struct ParentsOfRelation : Parents {
    u32 place_in_block[STAGED_PARENTS];
    u32 count;

    // Returns how many of the thread's have no neighbor.
    __device__ __forceinline__ u32 find(const Hop& hop, const OfRelation& of, i64 base, u32 staged)
    {
        u32 without = 0;
        if (threadIdx.x == 0) count = 0;
        __syncthreads();
        for (u32 i = threadIdx.x; i < staged; i += blockDim.x) {
            const Parent parent = parent_at(hop, base + i);
            if (parent.vertex == NONE || (i64)parent.vertex < of.low || (i64)parent.vertex >= of.high) continue;
            const u32 at = atomicAdd(&count, 1u);
            place_in_block[at] = i;
            place[at] = locate((i64)parent.vertex + of.shift);
            instance[at] = parent.instance;
            slot[at] = (hop.slot + parent.column) * of.relations + of.number;
            without += place[at].count == 0;
        }
        __syncthreads();
        return without;
    }
};

// Uniform picks from a relation: a thread makes two of a parent. The caller fills the children with NONE beforehand, and their relations with 0.
extern "C" __global__ __launch_bounds__(256) void hop_of_relation(Hop hop, OfRelation of, u64 seed, u64* dead, u64* edges)
{
    __shared__ ParentsOfRelation parents;
    const i64 base = (i64)blockIdx.x * hop.staged, left = parents_of(hop) - base;
    if (left <= 0) return;
    const u32 without = parents.find(hop, of, base, (u32)min((i64)hop.staged, left));
    const u32 pairs = (of.wanted + 1) / 2, tiles = 32 / pairs, tile = lane_of() / pairs, pair = lane_of() - tile * pairs, warps = blockDim.x >> 5;
    u32 found = 0;
    for (u32 begin = (threadIdx.x >> 5) * tiles; begin < parents.count; begin += warps * tiles) {
        const u32 i = begin + tile;
        const bool inside = tile < tiles && i < parents.count;
        const Place place = inside ? parents.place[i] : Place{0, 0};
        const Picks picks = picks_of(place, seed, inside ? parents.instance[i] : 0, inside ? parents.slot[i] : 0, of.wanted, pair, tile * pairs);
        if (!inside) continue;
        const i64 at = (base + parents.place_in_block[i]) * hop.size + of.base + 2 * pair;
        const bool first = 2 * pair < picks.count, second = 2 * pair + 1 < picks.count;
        const vertex_t a = first ? *index_at(place.row + picks.first) : NONE, b = second ? *index_at(place.row + picks.second) : NONE;
        if (first) { hop.child[at] = a; of.relation[at] = (unsigned char)of.number; }
        if (second) { hop.child[at + 1] = b; of.relation[at + 1] = (unsigned char)of.number; }
        found += first + second;
    }
    count_up(found, without, dead, edges);
}
