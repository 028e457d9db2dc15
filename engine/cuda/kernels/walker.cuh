// A walker on a GPU: its state, where it stands, and how its walk is noted. See walk.cu.
#pragma once
#include "whole_row.cuh"

// Where many walks end early, the caller fills `out` with NONE beforehand: see Walks in engine/cuda/batches/walks.py.
#define PREFILLED (TIMED || HAS_UPDATE || HAS_DEAD_END || !UNDIRECTED)

// Whether walkers' state is in memory between launches.
#define RESUMES (STREAMED || UNLIMITED)

// Whether a warp makes its next walks ready together: pays where lanes of a warp end their walks at different times.
#define READIES (PREFILLED && !RESUMES && !TIMED)

struct Walker {  // ids and counts in as few registers as they fit: more walkers in flight
    vertex_t number, origin, here, back;
    int step;
    vertex_t count, back_count;
    i64 row, back_row;
#if TIMED
    i64 now, began;  // times of its last edge and of its first
#endif

    __device__ __forceinline__ Place place() const { return {row, (i64)count}; }
    __device__ __forceinline__ i64 previous() const { return vertex_or_none(back); }
    __device__ __forceinline__ void stand_at(const Place& place) { row = place.row; count = (vertex_t)place.count; }

    __device__ __forceinline__ Context context(i64 dst, const Place& dst_place, const vertex_t* path) const
    {
#if TIMED
        return {previous(), (i64)here, dst, {back_row, (i64)back_count}, place(), dst_place, path, 0, now, began};
#else
        return {previous(), (i64)here, dst, {back_row, (i64)back_count}, place(), dst_place, path};
#endif
    }
};

constexpr int LINE = 64 / sizeof(vertex_t);  // what memory is written in

struct Output {  // of all walks: row n of `walks` is that of walker n. UNLIMITED: of a round of steps, which ends at step `length`
    i64 begin, end, length;  // the walkers of this launch, and the steps of each
    vertex_t* walks;
    int* steps;
    const i64* places;     // UNLIMITED: where step 0 of each walker would be in `walks`, from which its steps of this round follow,
    i64 before;            // and the steps before the round
    vertex_t *at, *previous;   // RESUMES: where walkers stand,
    unsigned char* alive;  // and which have not ended
    const u32* queue;      // the partition that each walker waited for when several launches began side by side,
    i64 only;              // and the one that this launch serves; -1: all that are loaded
    u64* taken;            // not STREAMED: walkers that lanes took after their first
    u32* trials;           // ASKS_LATER: see cpu/kernels/questions.py; candidates and coins have QUESTIONS a walker
    unsigned char* asked;
    vertex_t *candidates, *sure;
    double* coins;
    i64 *times, *clock;        // TIMED: the time of each step's edge, `length` a walker; RESUMES or FROM_TIMES: of the last edge and the first, two a walker
    i64 starts, window, last;  // and the rules of engine/schedule/specialization.py
    double scale;
};

// Note the time of a step's edge. The caller fills `times` beforehand with that of no edge.
__device__ __forceinline__ void note_time(const Output& o, i64 number, i64 step, i64 time) { o.times[number * o.length + step] = time; }

// The walk of a walker from its source on, where hooks read it.
__device__ __forceinline__ const vertex_t* path_of(const Output& o, i64 number)
{
    return READS_PATH ? o.walks + (UNLIMITED ? o.places[number] : number * (o.length + 1)) : nullptr;
}

// The walker that a lane takes after `number`: of a resident graph the next that nobody has, so that lanes end together.
__device__ __forceinline__ i64 next_walker(const Output& o, i64 number)
{
    const i64 lanes = (i64)gridDim.x * blockDim.x;
    return STREAMED ? number + lanes : o.begin + lanes + (i64)atomicAdd(o.taken, 1ull);
}

// A walk's latest vertices, until they fill a line; every thread has its own column.
struct Track {
    vertex_t (*staged)[WALK_BLOCK];

    // Vertex number `step` of a walk; `last` when no other follows.
    __device__ __forceinline__ void put(const Output& o, i64 walker, i64 step, vertex_t v, bool last) const
    {
        if (UNLIMITED && step == o.before) return;  // it has taken no step in this round
        const i64 begin = UNLIMITED ? o.places[walker] : walker * (o.length + 1), row = UNLIMITED ? begin + o.before + 1 : begin, at = begin + step;
        if (STREAMED || READS_PATH) { o.walks[at] = v; return; }  // it may wait before the line is full, or its hooks read it
        staged[at & (LINE - 1)][threadIdx.x] = v;
        if ((at & (LINE - 1)) != LINE - 1 && !last) return;
        const i64 from = max(row, at & ~(i64)(LINE - 1));
        if (at - from == LINE - 1) {
#if WIDE
            for (int k = 0; k < LINE; k += 2)
                *(ulonglong2*)(o.walks + from + k) = make_ulonglong2(staged[k][threadIdx.x], staged[k + 1][threadIdx.x]);
#else
#pragma unroll
            for (int k = 0; k < LINE; k += 4)
                *(uint4*)(o.walks + from + k) =
                    make_uint4(staged[k][threadIdx.x], staged[k + 1][threadIdx.x], staged[k + 2][threadIdx.x], staged[k + 3][threadIdx.x]);
#endif
        } else {
            for (i64 i = from; i <= at; ++i) o.walks[i] = staged[i & (LINE - 1)][threadIdx.x];
        }
    }
};

// Let the walker stand at its source, whose place is known.
__device__ __forceinline__ void start(Walker& w, i64 number, vertex_t source, const Place& place)
{
    w.number = (vertex_t)number;
    w.origin = w.here = source;
    w.back = NONE;
    w.step = 0;
    w.stand_at(place);
    w.back_row = w.back_count = 0;
}

__device__ __forceinline__ void start(Walker& w, i64 number, const vertex_t* source) { start(w, number, source[number], locate(source[number])); }

// The vertex that follows: the selected one, unless `update` says otherwise; a dead end where dst is -1. What a user's own hook says may be no
// vertex at all: then the walk ends, and `bad` names the place.
__device__ __forceinline__ i64 after(const Params& params, const Context& context, u64 seed, i64 first, const Walker& w, i64 dst, double weight, i64* bad)
{
    i64 then = dst;
    if (HAS_DEAD_END && dst < 0) then = dead_end(params, context, seed, first + w.number, w.step, w.origin, w.previous(), w.here, dst, weight);
    else if (HAS_UPDATE && dst >= 0) then = update(params, context, seed, first + w.number, w.step, w.origin, w.previous(), w.here, dst, weight);
    if (CHECKED && then >= GRAPH.vertices) {
        if (atomicCAS((u64*)bad, 0ull, 2ull) == 0) { bad[1] = w.here; bad[2] = then; }
        then = -1;
    }
    return then;
}

// Stand at `then` (with its place, if known), one step on.
__device__ __forceinline__ void move_to(Walker& w, i64 then, const Place& place, bool known, i64 length)
{
    ++w.step;
    w.back = w.here;
    w.back_row = w.row;
    w.back_count = w.count;
    w.here = (vertex_t)then;
    if (w.step < length) w.stand_at(known ? place : locate(then));
}

__device__ __forceinline__ void find_rows(Walker& w)
{
    w.stand_at(locate(w.here));
    const Place before = w.back == NONE ? Place{0, 0} : locate(w.back);
    w.back_row = before.row;
    w.back_count = (vertex_t)before.count;
}

// Whether the rows that the next step must have are in memory.
__device__ __forceinline__ bool is_ready(const Walker& w, const Output& o)
{
    const bool here = o.only < 0 ? is_loaded_row(w.row) : w.row >> OFFSET_BITS == o.only;
    return here && (!MEMBERSHIP || ASKS_LATER || w.back == NONE || is_loaded_row(w.back_row));
}

// Leave a walk that is over (`last`), or has to wait.
__device__ __forceinline__ void leave(const Walker& w, bool last, const Output& o)
{
    o.steps[w.number] = w.step;
    if (!RESUMES) return;
    o.at[w.number] = w.here;
    o.previous[w.number] = w.back;
    o.alive[w.number] = !last;
#if TIMED
    o.clock[2 * (i64)w.number] = w.now;
    o.clock[2 * (i64)w.number + 1] = w.began;
#endif
}

// Note where the walker stands; false when it takes no other step now: its walk is over (`ended` if it had no way on), or it waits.
__device__ __forceinline__ bool note(const Walker& w, bool ended, const Output& o, const Track& track)
{
    const bool last = ended || w.step == o.length;
    track.put(o, w.number, w.step, w.here, last);
    if (!last && (!STREAMED || is_ready(w, o))) return true;
    leave(w, last, o);
    if (ASKS_LATER) o.trials[w.number] = 0;
    if (ended && !PREFILLED && !UNLIMITED)
        for (i64 t = w.step + 1; t <= o.length; ++t) o.walks[w.number * (o.length + 1) + t] = NONE;
    return false;
}

// Stand where the walk was left, and know where its rows are.
__device__ __forceinline__ void take_up(Walker& w, const Output& o)
{
    w.here = o.at[w.number];
    w.back = o.previous[w.number];
    w.step = o.steps[w.number];
#if TIMED
    w.now = o.clock[2 * (i64)w.number];
    w.began = o.clock[2 * (i64)w.number + 1];
#endif
    find_rows(w);
}

// Begin this thread's next walk that has steps to take, from `number` on, or go on with one that waited; false when there is none.
__device__ __forceinline__ bool begin(Walker& w, i64 number, const Output& o, const vertex_t* source, const Track& track)
{
    for (; number < o.end; number = next_walker(o, number)) {
        if (RESUMES && !o.alive[number]) continue;
        if (STREAMED && o.only >= 0 && o.queue[number] != o.only) continue;
        if (ASKS_LATER && o.asked[number]) continue;
        start(w, number, source);
#if TIMED
        w.now = w.began = FROM_TIMES ? o.clock[2 * number] : o.starts;
#endif
        if (RESUMES) {
            take_up(w, o);
            if (!STREAMED || is_ready(w, o)) return true;
            continue;
        }
        track.put(o, number, 0, w.here, o.length == 0);
        if (o.length > 0) return true;
        o.steps[number] = 0;
    }
    return false;
}

#if READIES
// The next walks of a warp, 32 at a time: a lane that asks the counter and finds the row of a source alone makes all others of its warp wait.
struct Ready {
    struct Start { vertex_t source, count; i64 row; };

    Start* starts;    // of this warp
    i64 first;        // number of the first that is ready
    u32 next, count;  // how many of them have begun, and are there
    bool more;

    __device__ __forceinline__ Ready(Start* of_block, const Output& o)
    {
        starts = of_block + (threadIdx.x & ~31u);
        first = o.begin + (i64)blockIdx.x * blockDim.x + (threadIdx.x & ~31u);
        next = count = 0;
        more = true;
    }

    // Lets lanes that are not `going` begin walks; these have then `began`. False when the whole warp is done.
    __device__ __forceinline__ bool go_on(Walker& w, bool& going, bool& began, const Output& o, const vertex_t* source, const Track& track)
    {
        const u32 idle = __ballot_sync(~0u, !going);
        began = false;
        if (idle == 0) return true;
        if (next == count && more) fill(o, source);
        const u32 at = next + __popc(idle & lanes_below());
        if (!going && at < count) {
            start(w, first + at, starts[at].source, {starts[at].row, (i64)starts[at].count});
            track.put(o, w.number, 0, w.here, o.length == 0);
            going = began = o.length > 0;
            if (!going) o.steps[w.number] = 0;
        }
        next = min(next + (u32)__popc(idle), count);
        return more || next < count || __any_sync(~0u, going);
    }

    __device__ __forceinline__ void fill(const Output& o, const vertex_t* source)
    {
        if (count > 0) {
            u64 taken = 0;
            if (lane_of() == 0) taken = atomicAdd(o.taken, 32ull);
            first = o.begin + (i64)gridDim.x * blockDim.x + (i64)__shfl_sync(~0u, taken, 0);
        }
        next = 0;
        count = (u32)max(0ll, min(32ll, o.end - first));
        more = count > 0;
        if (lane_of() < count) {
            const vertex_t v = source[first + lane_of()];
            const Place place = locate(v);
            starts[lane_of()] = {v, (vertex_t)place.count, place.row};
        }
        __syncwarp();
    }
};
#endif
