// Picks of a vertex by trials: any edge is proposed, and accepted by its bias over a bound of all biases. A warp an entry, a lane a trial.
// The twin of by_trials in engine/cpu/kernels/traverse.py: what trials do not pick is left to select_neighbors, which knows by f.edge what they did.
#pragma once
#include "busy.cuh"
#include "frontier.cuh"
#include "pool.cuh"

constexpr i64 EDGES_A_PICK = 8, EDGES_A_TRIAL = 4, TRIED_PICKS = 256, LEAST_TRIED = 32, MOST_TRIALS = 1ll << 27, FIRST_TRIALS = 32;  // as there

struct TrialBounds { double low, high, highest; };  // see plan/selection.py

__device__ __forceinline__ bool is_tried(i64 count, i64 k)
{
    return k <= TRIED_PICKS && count > EDGES_A_PICK * k && count >= LEAST_TRIED;
}

// The biases of what trials picked, by the numbers of its edges, become 0. The group.
__device__ __forceinline__ void leave_out_tried(const Pool& pool, const i64* edge, i64 tried)
{
    for (i64 j = threadIdx.x; j < tried; j += blockDim.x) {
        const i64 position = edge[j] - offset_of(pool.row.place.row);
        i64 low = 0, high = POOLED ? pool.count - 1 : 0;
        while (low < high) {
            const i64 middle = (low + high) >> 1;
            if (pool.chosen[middle] < position) low = middle + 1;
            else high = middle;
        }
        pool.biases[POOLED ? low : position] = 0.0;
    }
    group_sync();
}

#if SELECT == SELECT_REJECTION
struct Trial { bool accepted; i64 position; };

__device__ __forceinline__ Trial try_edge(const Frontier& f, i64 e, const Params& params, u64 seed, const Row& row, u64 slot, const TrialBounds& bounds, i64 trial)
{
    const Words words = philox(seed, (u64)row.instance, slot, TRIAL_DRAWS + trial);
    const i64 position = (i64)below(word64(words, 0), (u64)row.place.count);
    if (POOLED && has(f.seen, f.seen_from[e], f.seen_to[e], neighbor_at(row.place.row + position))) return {false, position};
    const double level = fraction(word64(words, 1)) * bounds.highest, weight = weight_at(row.place.row + position);
    if (level < bounds.low * weight || level >= bounds.high * weight) return {level < bounds.low * weight, position};
    return {level < bias_at(params, seed, row, position), position};
}

// Positions within the row of the picks, in order, to `picked`; how many. `trials`: how many it took, one after the other. The warp.
__device__ __forceinline__ i64 by_trials(const Frontier& f, i64 e, const Params& params, u64 seed, const Row& row, const TrialBounds& bounds, i64* picked, i64& trials)
{
    const int lane = lane_of();
    const i64 k = f.capacity[e], most = min(row.place.count / EDGES_A_TRIAL, MOST_TRIALS);
    const u64 slot = f.slot[e];
    i64 size = 0, accepted = 0, look = FIRST_TRIALS;
    for (i64 first = 0; first < most && size < k; first += 32) {
        Trial trial = {false, 0};
        if (first + lane < most) trial = try_edge(f, e, params, seed, row, slot, bounds, first + lane);
        trials = min(first + 32, most);
        const u32 these = __ballot_sync(~0u, trial.accepted);
        accepted += __popc(these);
        for (u32 open = these; open && size < k; open &= open - 1) {
            const int from = __ffs(open) - 1;
            const i64 position = __shfl_sync(~0u, trial.position, from);
            bool met = false;
            for (i64 i = lane; !REPLACE && i < size; i += 32) met = met || picked[i] == position;
            if (__any_sync(~0u, met)) continue;
            if (lane == 0) picked[size] = position;
            __syncwarp();
            if (++size == k) trials = first + from + 1;
        }
        if (first + 32 < look) continue;
        if ((accepted + 1) * most < look * k) break;
        look *= 2;
    }
    return size;
}

extern "C" __global__ __launch_bounds__(TRIAL_BLOCK) void try_edges(i64 entries, const i64* numbers, Frontier f, Params params, u64 seed, i64 depth, TrialBounds bounds, u64* tally)
{
    const Working working;
    __shared__ i64 picks_of_block[TRIAL_BLOCK / 32][TRIED_PICKS];
    i64* const picked = picks_of_block[threadIdx.x >> 5];
    const i64 stride = (i64)gridDim.x * (blockDim.x >> 5);
    for (i64 n = ((i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; n < entries; n += stride) {
        const i64 e = numbers[n], v = f.vertex[e];
        const Place place = v < 0 ? Place{0, 0} : locate(v), before = f.previous[e] < 0 ? Place{0, 0} : locate(f.previous[e]);
        const Row row = {place, v, f.previous[e], f.source[e], f.instance[e], depth, before};
        i64 size = 0, trials = 0;
        if (f.capacity[e] > 0 && is_tried(place.count, f.capacity[e])) size = by_trials(f, e, params, seed, row, bounds, picked, trials);
        for (i64 j = lane_of(); j < size; j += 32) {
            f.out[f.start[e] + j] = (vertex_t)neighbor_at(place.row + picked[j]);
            f.edge[f.start[e] + j] = offset_of(place.row) + picked[j];
        }
        if (lane_of() == 0) {
            f.found[e] = size;
            if (trials) atomicAdd(tally, (u64)trials);
        }
        __syncwarp();
    }
}
#endif
