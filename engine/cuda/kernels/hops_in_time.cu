// Neighbor samples in time whose samples are tables: as in hops.cu, but a parent picks among the edges of its row that are before the time that it knows.
// Picks and their words are those of neighbors_in_time.cu.
#include "by_time.cuh"
#include "hops.cuh"
#include "picks.cuh"

// A block's parents. `place` has where the row of each begins, and how many edges it picks from, which follow each other in the order by time:
struct ParentsInTime : Parents {
    i64 low[STAGED_PARENTS];    // the first of them,
    i64 whole[STAGED_PARENTS];  // and all edges of the row

    // `known`: the time of `each` cells of the parents' table after the other. Returns how many of the thread's parents may pick no edge.
    __device__ __forceinline__ u32 find(const Hop& hop, i64 base, u32 count, const i64* known, u32 each, i64 window)
    {
        u32 without = 0;
        for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
            const Parent parent = parent_at(hop, base + i);
            const bool is_there = parent.vertex != NONE;
            const Place row = is_there ? locate(parent.vertex) : Place{0, 0};
            TimeSpan range = {0, 0};
            if (is_there) range = candidates_of(row, known[divided(parent.cell, each).quotient], true, window, LARGEST_TIME);
            if (LATEST) range.low = max(range.low, range.high - (i64)hop.size);
            place[i] = {row.row, range.high - range.low};
            low[i] = range.low;
            whole[i] = row.count;
            instance[i] = parent.instance;
            slot[i] = hop.slot + parent.column;
            without += is_there && range.low == range.high;
        }
        __syncthreads();
        return without;
    }

    // Child and time at place k of those that parent i may pick from.
    __device__ __forceinline__ void read(u32 i, i64 k, vertex_t& child, i64& time) const
    {
#if LAYOUT == EVENTS
        const TimedEdge e = event_at(place[i].row + low[i] + k);
        child = (vertex_t)e.neighbor;
        time = e.time;
#else
        const i64 position = place_at({place[i].row, whole[i]}, low[i] + k);
        child = (vertex_t)neighbor_at(position);
        time = time_at(position);
#endif
    }
};

// A hop: a thread makes two picks of a parent. `time` gets the time of the edge to each child.
extern "C" __global__ __launch_bounds__(256) void hop_in_time(Hop hop, const i64* known, u32 each, i64* time, i64 window, u64 seed, u64* dead, u64* edges)
{
    __shared__ ParentsInTime parents;
    const i64 base = (i64)blockIdx.x * hop.staged, left = parents_of(hop) - base;
    if (left <= 0) return;
    const u32 staged = (u32)min((i64)hop.staged, left), without = parents.find(hop, base, staged, known, each, window);
    const u32 size = hop.size, pairs = (size + 1) / 2, tiles = 32 / pairs, tile = lane_of() / pairs, pair = lane_of() - tile * pairs, warps = blockDim.x >> 5;
    u32 found = 0;
    for (u32 begin = (threadIdx.x >> 5) * tiles; begin < staged; begin += warps * tiles) {
        const u32 i = begin + tile;
        const bool inside = tile < tiles && i < staged;
        const Place range = inside ? parents.place[i] : Place{0, 0};
        const Picks picks = picks_of(range, seed, inside ? parents.instance[i] : 0, inside ? parents.slot[i] : 0, size, pair, tile * pairs);
        if (!inside) continue;
        vertex_t child[2] = {NONE, NONE};
        i64 then[2] = {LEAST_TIME, LEAST_TIME};
        if (2 * pair < picks.count) parents.read(i, picks.first, child[0], then[0]);
        if (2 * pair + 1 < picks.count) parents.read(i, picks.second, child[1], then[1]);
        put_pair(hop.child + (base + i) * size, size, pair, child[0], child[1]);
        put_pair(time + (base + i) * size, size, pair, then[0], then[1]);
        found += (2 * pair < picks.count) + (2 * pair + 1 < picks.count);
    }
    count_up(found, without, dead, edges);
}

// Children of grouped parents and the times of the edges to them, back in the order of cells: see `ungroup`.
extern "C" __global__ __launch_bounds__(256) void ungroup_in_time(i64 cells, u32 size, const u32* number, const vertex_t* drawn, const i64* drawn_time, vertex_t* child, i64* time)
{
    put_back(cells, size, number, drawn, child, NONE);
    put_back(cells, size, number, drawn_time, time, LEAST_TIME);
}
