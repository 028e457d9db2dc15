// Edges in the order by time of their rows, each with the range that may follow it, made of indptr, indices and the columns of times: see TimedEdge in by_time.cuh.
#include "envelopes.cuh"

// The events of rows [first, last): one group a row, hubs in a launch of larger groups, as in build.cu. `window`, `last_time`, `scale`: the rules of walks.
// Neighbors in time follow the time of a seed, or of an edge whose place is not kept, so that no range is noted for them.
extern "C" __global__ __launch_bounds__(HUB_BLOCK) void build_events(i64 first, i64 last, i64 window, i64 last_time, double scale, TimedEdge* events)
{
    for (i64 v = first + blockIdx.x; v < last; v += gridDim.x) {
        const Place place = locate(v);
        if ((place.count >= LONG_ROW) != (blockDim.x > 32)) continue;
        for (i64 k = threadIdx.x; k < place.count; k += blockDim.x) {
            const i64 position = place_at(place, k), neighbor = neighbor_at(position), time = time_at(position);
            const Place there = locate(neighbor);
            const TimeSpan next = TIMED ? candidates_of(there, time, true, window, last_time) : TimeSpan{0, 0};
            u64 envelope = 0, apart = 0;
            if (TIME_BIAS == 2 && next.low < next.high) {
                const i64 preferred = time_of(there, counted_from(next, 0));
                envelope = envelope_of(there, next, preferred, scale);
                apart = time_between(time, preferred);
            }
            events[place.row + k] = {(u32)neighbor, (u32)(next.high - next.low), begin_and_apart(there.row + next.low, apart), time, envelope};
        }
    }
}
