// Walks in time whose steps are drawn from the order of rows by time: the twin of walk_by_time in engine/cpu/kernels/temporal.py.
#include "temporal.cuh"
#include "busy.cuh"

#if LAYOUT == EVENTS
#ifndef VARIANT
#define VARIANT 7
#endif
// A walk's latest times, until they fill a line; every thread has its own column. See Track.
struct TimeTrack {
    static constexpr int LINE = 8;
    i64 (*staged)[WALK_BLOCK];

    __device__ __forceinline__ void put(const Output& o, i64 walker, i64 step, i64 time) const
    {
        const i64 at = walker * o.length + step;
        if (!(VARIANT & 4)) { o.times[at] = time; return; }
        staged[at & (LINE - 1)][threadIdx.x] = time;
        if ((at & (LINE - 1)) == LINE - 1 || step + 1 == o.length) write(o, walker, step);
    }

    // Write what is staged up to this step, the walk's last for now.
    __device__ __forceinline__ void write(const Output& o, i64 walker, i64 step) const
    {
        const i64 row = walker * o.length, at = row + step, from = max(row, at & ~(i64)(LINE - 1));
        if (at - from == LINE - 1) {
#pragma unroll
            for (int k = 0; k < LINE; k += 2) *(longlong2*)(o.times + from + k) = make_longlong2(staged[k][threadIdx.x], staged[k + 1][threadIdx.x]);
        } else {
            for (i64 i = from; i <= at; ++i) o.times[i] = staged[i & (LINE - 1)][threadIdx.x];
        }
    }

    // Write what is left of a walk that has ended after so many steps.
    __device__ __forceinline__ void end(const Output& o, i64 walker, i64 steps) const
    {
        if ((VARIANT & 4) && steps > 0 && (walker * o.length + steps & LINE - 1) != 0) write(o, walker, steps - 1);
    }
};

// The walk that a lane takes next: its number is asked for when the one before begins, its source a step later, and the place of its row another step
// later. Walks in time end after a few steps, and all lanes of a warp would wait for these whenever a walk of one of them does.
struct Upcoming {
    i64 number, left;
    vertex_t source;
    int asked;

    // A lane takes few numbers at a time, of which all lanes together count: fewer the less walkers are left, so that lanes end together.
    __device__ __forceinline__ void take(const Output& o, i64 before)
    {
        asked = 0;
        if (left > 0) {
            --left;
            ++number;
            return;
        }
        const i64 lanes = (i64)gridDim.x * blockDim.x;
        const i64 many = (VARIANT & 2) ? max(min((o.end - before) / (8 * lanes), 8ll), 1ll) : 1;
        number = o.begin + lanes + (i64)atomicAdd(o.taken, (u64)many);
        left = many - 1;
    }

    __device__ __forceinline__ void ask(const Output& o, const vertex_t* sources)
    {
        if (asked == 2 || number >= o.end) return;
        if (asked == 0) source = __ldg(sources + number);
        else asm volatile("prefetch.global.L2 [%0];" ::"l"(GRAPH.indptr + source));
        ++asked;
    }
};

// Take this thread's next walk, as begin does. Its place is the range of edges that may be next, from here on.
__device__ __forceinline__ bool begin_in_time(Walker& w, i64 number, const Output& o, const vertex_t* source, const Track& track)
{
    if (!begin(w, number, o, source, track)) return false;
    const TimeSpan range = candidates_of(w.place(), w.now, HAS_START, o.window, o.last);
    w.stand_at({w.row + range.low, range.high - range.low});
    return true;
}

// Walks that read an event a step: a lane a walker. No hook of theirs decides or reads anything.
extern "C" __global__ __launch_bounds__(WALK_BLOCK, 3) void walk_by_time(Output o, i64 first, Params params, u64 seed, const vertex_t* source, i64* bad)
{
    const Working working;
    __shared__ vertex_t staged[LINE][WALK_BLOCK];
    __shared__ i64 staged_times[TimeTrack::LINE][WALK_BLOCK];
    const Track track = {staged};
    const TimeTrack times = {staged_times};
    Walker w;
    Upcoming next = {0, 0, 0, 2};
    bool going = begin_in_time(w, o.begin + (i64)blockIdx.x * blockDim.x + threadIdx.x, o, source, track);
    if ((VARIANT & 1) && going) next.take(o, w.number);
    while (going) {
        if (VARIANT & 1) next.ask(o, source);
        const bool ended = w.count == 0;
        if (!ended) {
            const TimeSpan all = {0, (i64)w.count};
            const i64 k = place_drawn(w.place(), all, seed, first + w.number, w.step, FROM_EDGES && w.step == 0, o.scale);
            const TimedEdge e = event_at(w.row + k);
            move_to(w, e.neighbor, {e.begin, (i64)e.count}, true, o.length);
            times.put(o, w.number, w.step - 1, e.time);
        }
        if (note(w, ended, o, track)) continue;
        if (ended) times.end(o, w.number, w.step);
        if (!(VARIANT & 1)) next.take(o, w.number);
        going = begin_in_time(w, next.number, o, source, track);
        if ((VARIANT & 1) && going) next.take(o, w.number);
    }
}
#else
// Walks whose steps are drawn from the order of a row by time: a lane a walker.
extern "C" __global__ __launch_bounds__(WALK_BLOCK, 3) void walk_by_time(Output o, i64 first, Params params, u64 seed, const vertex_t* source, i64* bad)
{
    const Working working;
    __shared__ vertex_t staged[LINE][WALK_BLOCK];
    const Track track = {staged};
    Walker w;
    bool going = begin(w, o.begin + (i64)blockIdx.x * blockDim.x + threadIdx.x, o, source, track);
    while (going) {
        const TimeSpan range = candidates_of(w.place(), w.now, w.step > 0 || HAS_START, o.window, o.last);
        i64 dst = -1, position = w.row, taken = w.now;
        if (range.low < range.high) {
            const i64 k = place_drawn(w.place(), range, seed, first + w.number, w.step, FROM_EDGES && w.step == 0, o.scale);
            position = place_at(w.place(), k);
            dst = neighbor_at(position);
            taken = time_at(position);
        }
        Context context = w.context(-1, {0, 0}, path_of(o, w.number));
        context.edge = position;
        const i64 then = after(params, context, seed, first, w, dst, 1.0, bad);
        if (then >= 0) {
            move_to(w, then, {0, 0}, false, o.length);
            note_time(o, w.number, w.step - 1, taken);
            w.now = taken;
            if (w.step == 1) w.began = taken;
        }
        if (!note(w, then < 0, o, track)) going = begin(w, next_walker(o, w.number), o, source, track);
    }
}
#endif
