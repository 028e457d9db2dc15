// Walks in time whose steps are drawn from the order of rows by time: the twin of walk_by_time in engine/cpu/kernels/temporal.py.
#include "temporal.cuh"
#include "busy.cuh"

#if LAYOUT == EVENTS
// A walk's latest times, until they fill a line; every thread has its own column. See Track.
struct TimeTrack {
    static constexpr int LINE = 64 / sizeof(i64);
    i64 (*staged)[WALK_BLOCK];

    // The time of step number `step`.
    __device__ __forceinline__ void put(const Output& o, i64 walker, i64 step, i64 time) const
    {
        const i64 at = walker * o.length + step;
        staged[at & (LINE - 1)][threadIdx.x] = time;
        if ((at & (LINE - 1)) == LINE - 1 || step + 1 == o.length) write(o, walker, step);
    }

    // Write what is staged of a walk that ends after so many steps.
    __device__ __forceinline__ void end(const Output& o, i64 walker, i64 steps) const
    {
        if (steps > 0 && steps < o.length && ((walker * o.length + steps) & (LINE - 1)) != 0) write(o, walker, steps - 1);
    }

    // Write the line of step number `step`, up to it.
    __device__ __forceinline__ void write(const Output& o, i64 walker, i64 step) const
    {
        const i64 row = walker * o.length, at = row + step, from = max(row, at & ~(i64)(LINE - 1));
        for (i64 i = from; i <= at; i += 2 - (i & 1)) {
            const i64 first = staged[i & (LINE - 1)][threadIdx.x];
            if ((i & 1) || i == at) o.times[i] = first;
            else *(longlong2*)(o.times + i) = make_longlong2(first, staged[(i + 1) & (LINE - 1)][threadIdx.x]);
        }
    }
};

// Walkers that the lanes of a warp take next. A warp takes as many as it has lanes at a time: all lanes of a GPU share one counter, which answers about two
// of them in a nanosecond, and walks in time end after a few steps.
struct Reserve {
    u32 warp;  // the lanes that there are
    i64 next, end;

    __device__ __forceinline__ Reserve() : warp(__activemask()), next(0), end(0) {}

    // A walker for each lane that `asks`, the end of all or more where none is left. All lanes of the warp.
    __device__ __forceinline__ i64 take(const Output& o, bool asks)
    {
        const u32 asking = __ballot_sync(warp, asks);
        if (asking == 0) return 0;
        i64 number = next + __popc(asking & lanes_below());
        next += __popc(asking);
        if (next <= end) return number;
        const int leader = __ffs(warp) - 1;
        u64 first = 0;
        if (lane_of() == leader) first = atomicAdd(o.taken, 32ull);
        const i64 begin = o.begin + (i64)gridDim.x * blockDim.x + (i64)__shfl_sync(warp, first, leader);
        if (number >= end) number += begin - end;
        next += begin - end;
        end = begin + 32;
        return number;
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

// What a lane knows of the exponential biases of the edges that may follow.
struct Followers {
    u64 envelope;   // 0 where it is not known yet,
    i64 preferred;  // and the time of number 0
    u32 trial;

    __device__ __forceinline__ void look_up(const Place& here, const TimeSpan& all, double scale)
    {
        preferred = time_of(here, counted_from(all, 0));
        if (envelope == 0) envelope = envelope_of(here, all, preferred, scale);
    }

    // Those of an edge that is taken.
    __device__ __forceinline__ void follow(const TimedEdge& e, const Place& here)
    {
        envelope = e.envelope;
        trial = 0;
        const u64 apart = e.apart();
        if (TIME_BIAS != 2 || e.count == 0) return;
        if (apart == FAR_APART) preferred = time_of(here, counted_from({0, (i64)e.count}, 0));
        else preferred = BACKWARD ? e.time - (i64)apart : e.time + (i64)apart;
    }
};

// The event that a step draws of those that may follow; where biases are exponential, in one trial under their envelope. Returns whether it is taken.
__device__ __forceinline__ bool draw_event(const Walker& w, u64 seed, i64 first, double scale, Followers& followers, TimedEdge& e)
{
    const TimeSpan all = {0, (i64)w.count};
    const bool any_edge = FROM_EDGES && w.step == 0;
    if (TIME_BIAS != 2 || any_edge) {
        e = event_at(w.row + place_drawn(w.place(), all, seed, first + w.number, w.step, any_edge, scale));
        return true;
    }
    if (followers.envelope == 0) followers.look_up(w.place(), all, scale);
    const Words words = philox(seed, first + w.number, w.step, followers.trial);
    const Under under = number_under(followers.envelope, w.count, word64(words, 0));
    e = event_at(w.row + counted_from(all, under.number));
    ++followers.trial;
    return under.number == 0 || is_accepted(word64(words, 1), under.halvings, followers.preferred, e.time, scale);
}

// Walks that read an event a step: a lane a walker, which makes one trial a turn, so that none waits for another's. No hook of theirs decides or reads
// anything.
extern "C" __global__ __launch_bounds__(WALK_BLOCK, 3) void walk_by_time(Output o, i64 first, Params params, u64 seed, const vertex_t* source, i64* bad)
{
    static_assert(!RESUMES, "a walk is drawn in one launch");
    const Working working;
    __shared__ vertex_t staged[LINE][WALK_BLOCK];
    __shared__ i64 staged_times[TimeTrack::LINE][WALK_BLOCK];
    const Track track = {staged};
    const TimeTrack times = {staged_times};
    Reserve reserve;
    Walker w;
    Followers followers = {};
    bool going = begin_in_time(w, o.begin + (i64)blockIdx.x * blockDim.x + threadIdx.x, o, source, track);
    while (__any_sync(reserve.warp, going)) {
        TimedEdge e;
        const bool moves = going && w.count > 0 && draw_event(w, seed, first, o.scale, followers, e);
        if (moves) {
            const Place there = {e.begin(), (i64)e.count};
            followers.follow(e, there);
            move_to(w, e.neighbor, there, true, o.length);
            times.put(o, w.number, w.step - 1, e.time);
        }
        const bool stuck = going && w.count == 0;  // also behind an edge that nothing may follow: its walk ends in the same turn
        const bool ends = (moves || stuck) && !note(w, stuck, o, track);
        if (ends) times.end(o, w.number, w.step);
        const i64 number = reserve.take(o, ends);
        if (ends) {
            going = begin_in_time(w, number, o, source, track);
            followers = {};
        }
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
