// Neighbors of frontier entries by running sums of their rows, made when a partition was loaded. After select.cu.
// Without replacement, by running sums made beforehand: `size` lanes an entry, which selects its capacity, at most so many; as hop_distinct_by_sums in hops.cu.
extern "C" __global__ __launch_bounds__(256) void select_by_sums(i64 entries, const i64* numbers, Frontier f, u32 size, u64 seed, u64* tally)
{
    __shared__ i64 picks_of_block[256];
    const Working working;
    const u32 tiles = 32 / size, tile = lane_of() / size, lane = lane_of() - tile * size;
    const u32 self = 1u << lane_of(), of_tile = tile < tiles ? (u32)((1ull << size) - 1) << tile * size : 0;
    i64* const picked = picks_of_block + threadIdx.x - lane;
    const i64 warps = (i64)gridDim.x * (blockDim.x >> 5), warp = (i64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    u32 settled = 0;
    Counts n = {};
    for (i64 begin = warp * tiles; begin < entries; begin += warps * tiles) {
        const bool inside = tile < tiles && begin + tile < entries;
        const i64 e = inside ? numbers[begin + tile] : 0, v = inside ? f.vertex[e] : -1;
        const Place place = inside ? locate(v) : Place{0, 0};
        const i64* const ctps = inside ? (const i64*)entries_of(place.row) + offset_of(place.row) : nullptr;
        const i64 total = place.count > 0 ? ctps[place.count - 1] : 0;
        const u32 wanted = inside ? (u32)f.capacity[e] : 0;
        const bool takes_all = wanted >= place.count, taken = takes_all && lane < place.count && ctps[lane] > (lane ? ctps[lane - 1] : 0);
        const u32 all = __ballot_sync(~0u, taken) & of_tile;
        if (taken) picked[__popc(all & (self - 1))] = lane;
        __syncwarp();
        const u32 k = takes_all || total == 0 ? __popc(all) : min(wanted, GRAPH.possible[v]);
        const Draw draw = {seed, inside ? (u64)f.instance[e] : 0, inside ? (u64)f.slot[e] : 0, ctps, place.count, total, k};
        const bool open = !takes_all && lane < k;
        settle_side_by_side(draw, open, lane, of_tile, picked, n);
        settled += open;
        if (inside && lane < k) {
            const i64 position = place.row + picked[lane], at = f.start[e] + lane;
            f.out[at] = (vertex_t)neighbor_at(position);
            if (PLACED) f.edge[at] = offset_of(position);
        }
        if (inside && lane == 0) f.found[e] = k;
        __syncwarp();
    }
    add_up(n, settled, tally);
}
