// Neighbors in time: the edges that a vertex may select are a range of its row's order by time. The twin of engine/cpu/kernels/by_time.py.
// A warp takes 32 entries: each lane searches the range of one, side by side, so that their reads overlap; then all lanes draw the picks of one entry
// after the other, and read their edges.
#include "frontier.cuh"
#include "by_time.cuh"
#include "busy.cuh"

// Whether pick number `turn` of 32, the last of which is this lane's `value`, is among the picks before it: those of lanes, and `before` in memory.
__device__ __forceinline__ bool picked_before(i64 value, int turn, const i64* places, i64 before)
{
    const i64 asked = __shfl_sync(~0u, value, turn);
    bool met = lane_of() < turn && value == asked;
    for (i64 i = lane_of(); i < before; i += 32) met = met || places[i] == asked;
    return __any_sync(~0u, met);
}

// Places of k of `count` edges from `low` on, every subset equally likely (Floyd: Bentley, CACM 30(9), 1987). The warp.
__device__ __forceinline__ void distinct_places(u64 seed, u64 instance, u64 slot, i64 low, i64 count, i64 k, i64* places)
{
    for (i64 base = 0; base < k; base += 32) {
        const i64 j = base + lane_of(), top = count - k + j;
        i64 value = j < k ? low + (i64)below(pick_word(seed, instance, slot, j), (u64)(top + 1)) : -1 - (i64)lane_of();
        const u32 equal = __match_any_sync(~0u, value);
        if (base > 0 || __any_sync(~0u, equal != 1u << lane_of()))  // otherwise no pick is there twice
            for (int turn = 0; turn < 32 && base + turn < k; ++turn) {
                const bool met = picked_before(value, turn, places, base);
                if (met && lane_of() == turn) value = low + top;
            }
        if (j < k) places[j] = value;
        __syncwarp();
    }
}

// Neighbors of frontier entries among their edges before `now`; `time` gets the time of the edge to each, and holds its place until then.
extern "C" __global__ void select_in_time(i64 entries, const i64* numbers, Frontier f, const i64* now, i64* time, i64 window, u64 seed)
{
    const Working working;
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 first = ((i64)blockIdx.x * blockDim.x + threadIdx.x) & ~31ll; first < entries; first += stride) {
        const i64 mine = first + lane_of();
        Place own = {0, 0};
        TimeSpan range = {0, 0};
        if (mine < entries) {
            own = locate(f.vertex[numbers[mine]]);
            range = candidates_of(own, now[numbers[mine]], true, window, LARGEST_TIME);
        }
        for (int turn = 0; turn < 32 && first + turn < entries; ++turn) {
            const i64 e = numbers[first + turn], k = f.capacity[e], start = f.start[e];
            const Place place = {__shfl_sync(~0u, own.row, turn), __shfl_sync(~0u, own.count, turn)};
            const i64 low = __shfl_sync(~0u, range.low, turn), high = __shfl_sync(~0u, range.high, turn), count = high - low;
            const bool all = !REPLACE && (LATEST || k >= count);
            const i64 size = REPLACE ? (count > 0 ? k : 0) : min(k, count);
            if (!REPLACE && !all) distinct_places(seed, f.instance[e], f.slot[e], low, count, k, time + start);
            for (i64 j = lane_of(); j < size; j += 32) {
                const i64 drawn = REPLACE ? low + (i64)below(pick_word(seed, f.instance[e], f.slot[e], j), (u64)count) : 0;
                const i64 pick = REPLACE ? drawn : all ? high - size + j : time[start + j];
#if LAYOUT == EVENTS
                const TimedEdge e = event_at(place.row + pick);
                f.out[start + j] = (vertex_t)e.neighbor;
                time[start + j] = e.time;
#else
                const i64 position = place_at(place, pick);
                f.out[start + j] = (vertex_t)neighbor_at(position);
                time[start + j] = time_at(position);
                if (PLACED) f.edge[start + j] = offset_of(position);
#endif
            }
            if (lane_of() == 0) f.found[e] = size;
            __syncwarp();
        }
    }
}
