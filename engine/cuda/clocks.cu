// Frontier sampling by exponential clocks: the twin of engine/cpu/clocks.py. Walkers of an instance are independent, so every walker runs on its own
// to a horizon, and the earliest events of all of them are the sample (Ribeiro and Towsley, IMC 2010, section 5).
#include "weigh.cuh"

struct Clocks {
    i64 first, instances, walkers, length, capacity;
    i64 *at, *prev, *moves;  // of a walker
    double *next, *rate;     // when it moves next, and how fast it is
    double* time;            // of an event; events of instance i from i * capacity on, in any order
    vertex_t *src, *dst;
    u32* walker;
    u64* count;              // of an instance: events asked for, also beyond its capacity
    double* horizon;
    i64 *settled, *done;     // events that no other can precede any more; whether they are enough
};

#define INFINITE (1.0 / 0.0)
#define GROUPED (!UNIFORM && LAYOUT != CTPS)  // a group a walker, to select from whole rows; else a thread

__device__ __forceinline__ i64 instance_of(const Clocks& c, i64 w)
{
    return w < 1ll << 32 && c.walkers < 1ll << 32 ? (i64)((u32)w / (u32)c.walkers) : w / c.walkers;
}

struct Clock {  // a walker while it is looked after
    i64 v, prev, move;
    double next, rate;
    Place place;
};

// How long the walker waits where it stands since `now`.
__device__ __forceinline__ void wait(Clock& k, const Clocks& c, const Params& params, u64 seed, i64 w, double now, i64* bad)
{
    const i64 i = instance_of(c, w), instance = c.first + i;
    k.place = locate(k.v);
    const Context context = {-1, k.v, -1, {0, 0}, k.place, {0, 0}};
    const double rate = vertex_bias(params, context, seed, instance, k.move, k.v, k.prev, k.v, -1, 1.0);
    bool leads_on = k.place.count > 0;
    if (LAYOUT == CTPS && leads_on) leads_on = ((const i64*)GRAPH.entries)[k.place.row + k.place.count - 1] > 0;
    k.rate = leads_on ? rate : 0.0;
    k.next = INFINITE;
    if (!checked(rate, k.v, k.v, bad) || rate == 0.0 || !leads_on) return;
    k.next = now + neg_log(draw64(seed, instance, w - i * c.walkers, k.move)) / rate;
}

__device__ __forceinline__ void save(const Clock& k, const Clocks& c, i64 w)
{
    c.at[w] = k.v;
    c.prev[w] = k.prev;
    c.moves[w] = k.move;
    c.next[w] = k.next;
    c.rate[w] = k.rate;
}

extern "C" __global__ void start_clocks(Clocks c, Params params, u64 seed, i64* bad)
{
    const i64 w = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= c.instances * c.walkers) return;
    Clock k = {c.at[w], -1, 0, 0.0, 0.0, {0, 0}};
    wait(k, c, params, seed, w, 0.0, bad);
    save(k, c, w);
}

// One event: select a neighbor, note the event, go there, wait anew. False when there is no room for it, or no way to go.
__device__ __forceinline__ bool event(Clock& k, const Clocks& c, const Params& params, u64 seed, i64 w, i64* bad)
{
    const i64 i = instance_of(c, w), instance = c.first + i, number = w - i * c.walkers;
    const u64 word = word64(philox(seed, instance, number, k.move), 1);
    i64 index = 0;
    if (GROUPED) {
        const Place before = k.prev < 0 ? Place{0, 0} : locate(k.prev);
        index = inverse_transform(params, seed, {k.place, k.v, k.prev, k.v, instance, k.move, before}, word, bad);
        if (index < 0) {
            k.next = INFINITE;
            k.rate = 0.0;
            return false;
        }
    } else if (LAYOUT == CTPS) {
        const i64* sums = (const i64*)GRAPH.entries + k.place.row;
        index = search(sums, k.place.count, (i64)below(word, (u64)sums[k.place.count - 1]));
    } else {
        index = (i64)below(word, (u64)k.place.count);
    }
    const bool leads = !GROUPED || threadIdx.x == 0;
    u64 slot = leads ? atomicAdd(c.count + i, 1ull) : 0;
    if (GROUPED) slot = __shfl_sync(~0u, slot, 0);
    if (slot >= c.capacity) return false;  // goes on when there is more room
    const i64 then = neighbor_at(k.place.row + index);
    if (leads) {
        const i64 at = i * c.capacity + slot;
        c.time[at] = k.next;
        c.src[at] = (vertex_t)k.v;
        c.dst[at] = (vertex_t)then;
        c.walker[at] = (u32)number;
    }
    ++k.move;
    k.prev = k.v;
    k.v = then;
    wait(k, c, params, seed, w, k.next, bad);
    return true;
}

// Every walker to its instance's horizon. Few have much to do: whoever is done looks for the next one that has anything.
extern "C" __global__ void run_clocks(Clocks c, Params params, u64 seed, i64* bad)
{
    const i64 walkers = c.instances * c.walkers, stride = GROUPED ? gridDim.x : (i64)gridDim.x * blockDim.x;
    i64 w = GROUPED ? (i64)blockIdx.x : (i64)blockIdx.x * blockDim.x + threadIdx.x;
    Clock k;
    double horizon = -1.0;
    bool busy = false;
    while (true) {
        if (!busy) {
            for (; w < walkers; w += stride) {
                const i64 i = instance_of(c, w);
                horizon = c.done[i] ? -1.0 : c.horizon[i];
                if (c.next[w] <= horizon && is_loaded(c.at[w])) break;
            }
            if (w >= walkers) return;
            k = {c.at[w], c.prev[w], c.moves[w], c.next[w], c.rate[w], locate(c.at[w])};
        }
        const bool went = event(k, c, params, seed, w, bad);
        busy = went && k.next <= horizon && k.next < INFINITE && is_loaded(k.v);
        if (!busy) {
            if (!GROUPED || threadIdx.x == 0) save(k, c, w);
            w += stride;
        }
    }
}

// A group an instance: what is settled, and how far the next round goes. `ahead` scales the number of events that a round aims at.
extern "C" __global__ __launch_bounds__(HUB_BLOCK) void settle_clocks(Clocks c, double ahead)
{
    const i64 i = blockIdx.x;
    if (c.done[i]) return;
    double soonest = INFINITE, rate = 0.0;
    for (i64 w = threadIdx.x; w < c.walkers; w += blockDim.x) {
        soonest = fmin(soonest, c.next[i * c.walkers + w]);
        rate += c.rate[i * c.walkers + w];
    }
    soonest = -group_max(-soonest);
    rate = group_total(rate);
    const i64 held = min((i64)c.count[i], c.capacity);
    i64 settled = 0;
    for (i64 e = threadIdx.x; e < held; e += blockDim.x) settled += c.time[i * c.capacity + e] < soonest;
    settled = group_sum(settled);
    group_sync();
    const bool done = settled >= c.length || soonest == INFINITE;
    if (done && soonest == INFINITE) {  // all are stuck: after the last event
        double latest = 0.0;
        for (i64 e = threadIdx.x; e < held; e += blockDim.x) latest = fmax(latest, c.time[i * c.capacity + e]);
        soonest = group_max(latest) * 1.0000001 + 1e-300;
    }
    if (threadIdx.x == 0) {
        c.count[i] = held;
        c.settled[i] = settled;
        c.done[i] = done;
        c.horizon[i] = done ? soonest : soonest + ((c.length - settled) * ahead + 1.0) / rate;
    }
}

// The settled events in order of time, ties in order of walker: counted into `buckets` spans of time an instance, then ranked within each.
struct Order {
    i64 buckets;
    u32* held;           // [instances * buckets] events of a span
    const u32* upto;     // running sums of `held`
    u32* event;          // events by span, each as its number within the instance
    const i64* start;    // of an instance in the output
    vertex_t *src, *dst;
    i64* depth;
};

__device__ __forceinline__ i64 span_of(const Clocks& c, const Order& o, i64 i, double time)
{
    return i * o.buckets + min(o.buckets - 1, (i64)(time / c.horizon[i] * (double)o.buckets));
}

extern "C" __global__ void count_spans(Clocks c, Order o)
{
    const i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x, i = e / c.capacity;
    if (i < c.instances && e - i * c.capacity < (i64)c.count[i] && c.time[e] < c.horizon[i]) atomicAdd(o.held + span_of(c, o, i, c.time[e]), 1u);
}

// `held` goes down to zero again.
extern "C" __global__ void fill_spans(Clocks c, Order o)
{
    const i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x, i = e / c.capacity;
    if (i >= c.instances || e - i * c.capacity >= (i64)c.count[i] || !(c.time[e] < c.horizon[i])) return;
    const i64 span = span_of(c, o, i, c.time[e]);
    o.event[o.upto[span] - atomicSub(o.held + span, 1u)] = (u32)(e - i * c.capacity);
}

// A warp a span: an event's rank is how many of its span come before it.
extern "C" __global__ void rank_spans(Clocks c, Order o)
{
    const i64 span = (i64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, i = span / o.buckets;
    if (i >= c.instances) return;
    const u32 origin = i ? o.upto[i * o.buckets - 1] : 0, begin = span ? o.upto[span - 1] : 0, end = o.upto[span];
    const i64 base = i * c.capacity;
    for (u32 block = begin; block < end; block += 32) {
        const u32 own = block + lane_of();
        const i64 event = own < end ? base + o.event[own] : 0;
        const double time = own < end ? c.time[event] : 0.0;
        const u32 walker = own < end ? c.walker[event] : 0;
        i64 rank = begin - origin;
        for (u32 other = begin; other < end; other += 32) {
            const u32 theirs = other + lane_of();
            const i64 their_event = theirs < end ? base + o.event[theirs] : 0;
            const double their_time = theirs < end ? c.time[their_event] : INFINITE;
            const u32 their_walker = theirs < end ? c.walker[their_event] : 0;
            for (int lane = 0; lane < min(32u, end - other); ++lane) {
                const double t = __shfl_sync(~0u, their_time, lane);
                const u32 by = __shfl_sync(~0u, their_walker, lane);
                rank += t < time || (t == time && by < walker);
            }
        }
        if (own >= end || rank >= c.length) continue;
        const i64 at = o.start[i] + rank;
        o.src[at] = c.src[event];
        o.dst[at] = c.dst[event];
        o.depth[at] = rank;
    }
}
