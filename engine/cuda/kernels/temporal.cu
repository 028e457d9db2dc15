// Walks in time whose steps are drawn from the order of rows by time: the twin of walk_by_time in engine/cpu/kernels/temporal.py.
#include "temporal.cuh"
#include "busy.cuh"

#if LAYOUT == EVENTS
constexpr bool BY_ENVELOPE = TIME_BIAS == 2;

// Take this thread's next walk, as begin does. Its place is the range of edges that may be next, from here on.
__device__ __forceinline__ bool begin_in_time(Walker& w, i64 number, const Output& o, const vertex_t* source, const Track& track)
{
    if (!begin(w, number, o, source, track)) return false;
    const TimeSpan range = candidates_of(w.place(), w.now, HAS_START, o.window, o.last);
    w.stand_at({w.row + range.low, range.high - range.low});
    return true;
}

// Walks that read an event a step: a lane a walker. No hook of theirs decides or reads anything. Where biases are exponential, a turn of a lane is one
// trial under the envelope that its last edge knows, so that lanes whose edges are accepted do not wait for others.
extern "C" __global__ __launch_bounds__(WALK_BLOCK, 3) void walk_by_time(Output o, i64 first, Params params, u64 seed, const vertex_t* source, i64* bad)
{
    const Working working;
    __shared__ vertex_t staged[LINE][WALK_BLOCK];
    const Track track = {staged};
    Walker w;
    bool going = begin_in_time(w, o.begin + (i64)blockIdx.x * blockDim.x + threadIdx.x, o, source, track);
    u64 envelope = 0;  // not known
    u32 draw = 0;
    while (going) {
        const bool ended = w.count == 0;
        if (!ended) {
            const TimeSpan all = {0, (i64)w.count};
            const bool any_edge = FROM_EDGES && w.step == 0;
            TimedEdge e;
            if (BY_ENVELOPE && !any_edge) {
                const i64 preferred = time_of(w.place(), counted_from(all, 0));
                if (envelope == 0) envelope = envelope_of(w.place(), all, preferred, o.scale);
                const Words words = philox(seed, first + w.number, w.step, draw);
                const Under under = number_under(envelope, w.count, word64(words, 0));
                e = event_at(w.row + counted_from(all, under.number));
                if (under.number != 0 && !is_accepted(word64(words, 1), under.halvings, preferred, e.time, o.scale)) {
                    ++draw;
                    continue;
                }
                draw = 0;
            } else {
                e = event_at(w.row + place_drawn(w.place(), all, seed, first + w.number, w.step, any_edge, o.scale));
            }
            envelope = e.envelope;
            move_to(w, e.neighbor, {e.begin, (i64)e.count}, true, o.length);
            note_time(o, w.number, w.step - 1, e.time);
        }
        if (!note(w, ended, o, track)) {
            going = begin_in_time(w, next_walker(o, w.number), o, source, track);
            envelope = 0;
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
