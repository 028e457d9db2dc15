// Frontier sampling by exponential clocks: the twin of engine/cpu/kernels/clocks.py. Walkers of an instance are independent, so every walker runs on its own
// to a horizon, and the earliest events of all of them are the sample (Ribeiro and Towsley, IMC 2010, section 5).
#include "clock.cuh"

extern "C" __global__ void start_clocks(Clocks c, Params params, u64 seed, i64* bad)
{
    const i64 w = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= c.instances * c.walkers) return;
    Clock k = {c.at[w], -1, 0, 0.0, locate(c.at[w]), 0};
    c.rate[w] = wait(k, c, params, seed, w, 0.0, bad);
    save(k, c, w);
}

// Ask for the neighbor that the walker goes to: `position` is -1 where there is none.
__device__ __forceinline__ Asked choose(const Clock& k, const Clocks& c, const Params& params, u64 seed, i64 i, i64* bad)
{
    if (!GROUPED && LAYOUT != CTPS) return ask(k.place, k.word);
    i64 index;
    if (GROUPED) {
        const Place before = k.prev < 0 ? Place{0, 0} : locate(k.prev);
        index = inverse_transform(params, seed, {k.place, k.v, k.prev, k.v, c.first + i, k.move, before}, k.word, bad);
    } else {
        const i64* sums = (const i64*)GRAPH.entries + k.place.row;
        index = search(sums, k.place.count, (i64)below(k.word, (u64)sums[k.place.count - 1]));
    }
    Asked q;
    q.position = index < 0 ? -1 : k.place.row + index;
    if (index >= 0 && !WIDE) q.a.x = *index_at(q.position);
    return q;
}

// Room for an event in each instance that lanes have one of; lanes with the same instance ask together, for they are many and its counter is one.
__device__ __forceinline__ i64 slot_of(const Clocks& c, bool goes, i64 i)
{
    const u32 peers = __match_any_sync(~0u, goes ? (u32)i : ~0u);
    const int leader = __ffs(peers) - 1;
    u64 slot = 0;
    if (goes && lane_of() == leader) slot = atomicAdd(c.count + i, GROUPED ? 1ull : (u64)__popc(peers));
    slot = __shfl_sync(~0u, slot, leader);
    return (i64)slot + (GROUPED ? 0 : __popc(peers & lanes_below()));
}

// Queue the walkers that have anything to do.
extern "C" __global__ void find_clocks(Clocks c)
{
    const i64 w = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    bool due = w < c.instances * c.walkers;
    if (due) {
        const i64 i = instance_of(c, w);
        due = !c.done[i];
        if (due && w == i * c.walkers) {
            atomicAdd(c.tally + OPEN, 1ull);
            if ((i64)c.count[i] > c.capacity) atomicAdd(c.tally + FULL, 1ull);
        }
        due = due && c.next[w] <= c.horizon[i] && is_loaded(c.at[w]);
    }
    __shared__ u64 first;
    i64 total;
    const i64 place = group_scan(due, total) - due;
    if (threadIdx.x == 0 && total) first = atomicAdd(c.tally + QUEUED, (u64)total);
    group_sync();
    if (due) c.queue[first + place] = w;
}

// The walker that a lane gets when some of its warp ask for one together; none (-1) for lanes that have one, and when no more are queued.
__device__ __forceinline__ i64 take_walker(const Clocks& c, u32 idle, i64 queued, bool& more)
{
    const int wanted = GROUPED ? 1 : __popc(idle);
    u64 first = lane_of() == 0 ? atomicAdd(c.tally + TAKEN, (u64)wanted) : 0;
    first = __shfl_sync(~0u, first, 0);
    more = (i64)first + wanted < queued;
    const i64 mine = (i64)first + (GROUPED ? 0 : __popc(idle & lanes_below()));
    const bool asks = idle & 1u << lane_of();
    return asks && mine < queued ? c.queue[mine] : -1;
}

__device__ __forceinline__ void note(const Clocks& c, const Clock& k, i64 then, i64 at, i64 walker)
{
    c.time[at] = k.next;
    c.src[at] = (vertex_t)k.v;
    c.dst[at] = (vertex_t)then;
    c.walker[at] = (u32)walker;
}

// Every queued walker to its instance's horizon. Few have much to do: lanes that are done take other ones, some together, for all wait while they do.
extern "C" __global__ __launch_bounds__(GROUPED ? 32 : 256, GROUPED ? 32 : 6) void run_clocks(Clocks c, Params params, u64 seed, i64* bad)
{
    const i64 queued = (i64)c.tally[QUEUED];
    const bool leads = !GROUPED || threadIdx.x == 0;
    bool more = queued > 0;
    i64 w = -1, i = 0;
    Clock k;
    double horizon = 0.0;
    while (true) {
        const u32 idle = __ballot_sync(~0u, w < 0);
        if (more && __popc(idle) >= SPARE_LANES) {
            const i64 taken = take_walker(c, idle, queued, more);
            if (taken >= 0) {
                w = taken;
                i = instance_of(c, w);
                horizon = c.horizon[i];
                k = {c.at[w], c.prev[w], c.moves[w], c.next[w], locate(c.at[w]), 0};
                k.word = word64(draw(k, c, seed, w, i), 1);
            }
        } else if (idle == ~0u) {
            return;
        }
        Asked asked;
        asked.position = -1;
        if (w >= 0) asked = choose(k, c, params, seed, i, bad);
        const bool goes = asked.position >= 0;
        const i64 slot = slot_of(c, goes, i);  // while the neighbor is on its way
        if (w < 0) continue;
        bool on = goes && slot < c.capacity;  // without room, later
        if (on) {
            bool known;
            const i64 then = answer(asked, k.place, known);
            if (!known) k.place = locate(then);
            if (leads) note(c, k, then, i * c.capacity + slot, w - i * c.walkers);
            ++k.move;
            k.prev = k.v;
            k.v = then;
            wait(k, c, params, seed, w, k.next, bad);
            on = k.next <= horizon && is_loaded(k.v);
        } else if (!goes) {
            k.next = INFINITE;
        }
        if (on) continue;
        if (leads) save(k, c, w);
        w = -1;
    }
}

// Whether no event can come before this one any more: walkers move next at `soonest` or later, `last` the first of those that move then.
__device__ __forceinline__ bool is_settled(const Clocks& c, i64 event, double soonest, i64 last)
{
    return c.time[event] < soonest || (c.time[event] == soonest && (i64)c.walker[event] <= last);
}

// How far an instance's next round goes. Where that is does not matter to the sample: too near takes more rounds, too far draws events in vain. The
// first look is short, each next one at most 8 times as far. Of two estimates, the rate so far and that since the last look, the lower one is less
// often disturbed by a walker on a hub, which moves once and is gone.
__device__ __forceinline__ double look_ahead(const Clocks& c, i64 i, i64 settled, double soonest, double first_rate)
{
    if (settled == 0) return soonest + (c.length / 64.0 + 1.0) / first_rate;
    const double left = (double)(c.length - settled);
    const double rate = fmin((settled + 1) / soonest, (settled - c.settled[i] + 1) / (soonest - c.since[i]));
    return fmin(8.0 * soonest, soonest + (1.05 * left + 2.0 * sqrt(left) + 1.0) / rate);
}

// A group an instance: what is settled, and how far the next round goes.
extern "C" __global__ __launch_bounds__(HUB_BLOCK) void settle_clocks(Clocks c)
{
    const i64 i = blockIdx.x, base = i * c.capacity;
    if (c.done[i]) return;
    const double* next = c.next + i * c.walkers;
    double soonest = INFINITE, rate = 0.0;
    for (i64 w = threadIdx.x; w < c.walkers; w += blockDim.x) {
        soonest = fmin(soonest, next[w]);
        if (c.settled[i] == 0) rate += c.rate[i * c.walkers + w];  // else the rate so far is known
    }
    soonest = -group_max(-soonest);
    rate = group_total(rate);
    const i64 held = min((i64)c.count[i], c.capacity);
    const bool stuck = soonest == INFINITE;
    if (stuck) {  // all of them: settled is what is before the moment after the last event
        soonest = 0.0;
        for (i64 e = threadIdx.x; e < held; e += blockDim.x) soonest = fmax(soonest, c.time[base + e]);
        soonest = group_max(soonest) * 1.0000001 + 1e-300;
    }
    i64 last = c.walkers, settled = 0;
    for (i64 w = threadIdx.x; w < c.walkers; w += blockDim.x)
        if (next[w] == soonest) last = min(last, w);
    last = group_min(last);
    for (i64 e = threadIdx.x; e < held; e += blockDim.x) settled += is_settled(c, base + e, soonest, last);
    settled = group_sum(settled);
    if (threadIdx.x != 0) return;
    const bool done = stuck || settled >= c.length;
    c.horizon[i] = done ? soonest : fmin(look_ahead(c, i, settled, soonest, rate), LATEST);
    c.last[i] = last;
    c.settled[i] = settled;
    c.done[i] = done;
    c.since[i] = soonest;
}

// The settled events in order of time, ties in order of walker: put into `spans` spans of time an instance, then ranked within each.
struct alignas(16) Event { double time; u32 number, instance; };  // the number within its instance

struct Order {
    i64 spans;
    u32* held;           // [instances * spans] events of a span; once they are counted, also of all before it
    u32* place;          // of an event in its span, in any order
    Event* event;        // span by span
    i64 events;
    const i64* start;    // of an instance in the output
    vertex_t *src, *dst;
    i64* depth;
};

__device__ __forceinline__ i64 span_of(const Clocks& c, const Order& o, i64 i, double time)
{
    return i * o.spans + min(o.spans - 1, (i64)(time / c.horizon[i] * (double)o.spans));
}

// The events that are put in order: what is settled of a slot that is in use.
__device__ __forceinline__ bool is_kept(const Clocks& c, i64 event, i64 i)
{
    return i < c.instances && event - i * c.capacity < (i64)c.count[i] && is_settled(c, event, c.horizon[i], c.last[i]);
}

__device__ __forceinline__ u32 first_of(const Order& o, i64 span) { return span ? o.held[span - 1] : 0; }

extern "C" __global__ void count_spans(Clocks c, Order o)
{
    const i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x, i = e / c.capacity;
    if (is_kept(c, e, i)) o.place[e] = atomicAdd(o.held + span_of(c, o, i, c.time[e]), 1u);
}

extern "C" __global__ void fill_spans(Clocks c, Order o)
{
    const i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x, i = e / c.capacity;
    if (!is_kept(c, e, i)) return;
    const i64 span = span_of(c, o, i, c.time[e]);
    o.event[first_of(o, span) + o.place[e]] = {c.time[e], (u32)(e - i * c.capacity), (u32)i};
}

// Of two events at the same time: that of the walker with the lower number, or of one walker the one that it made first.
__device__ __forceinline__ bool precedes(const Clocks& c, i64 a, i64 b) { return c.walker[a] < c.walker[b] || (c.walker[a] == c.walker[b] && a < b); }

// A thread an event: its rank is how many of its span come before it.
extern "C" __global__ void rank_spans(Clocks c, Order o)
{
    const i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= o.events) return;
    const Event own = o.event[at];
    const i64 i = own.instance, span = span_of(c, o, i, own.time), base = i * c.capacity, number = base + own.number;
    const u32 begin = first_of(o, span), end = first_of(o, span + 1), origin = first_of(o, i * o.spans);
    i64 rank = begin - origin;
    for (u32 other = begin; other < end; ++other) {
        const Event theirs = o.event[other];
        rank += theirs.time < own.time || (theirs.time == own.time && other != at && precedes(c, base + theirs.number, number));
    }
    if (rank >= c.length) return;
    const i64 to = o.start[i] + rank;
    o.src[to] = c.src[number];
    o.dst[to] = c.dst[number];
    o.depth[to] = rank;
}
