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
#define GROUPED (!UNIFORM)  // a group a walker, to select from whole rows; else a thread

__device__ __forceinline__ void wait(const Clocks& c, const Params& params, u64 seed, i64 w, double now, i64* bad)
{
    const i64 v = c.at[w], instance = c.first + w / c.walkers;
    const Place place = locate(v);
    const Context context = {-1, v, -1, {0, 0}, place, {0, 0}};
    const double rate = vertex_bias(params, context, seed, instance, c.moves[w], v, c.prev[w], v, -1, 1.0);
    c.rate[w] = place.count > 0 ? rate : 0.0;
    c.next[w] = INFINITE;
    if (!checked(rate, v, v, bad) || rate == 0.0 || place.count == 0) return;
    c.next[w] = now + neg_log(draw64(seed, instance, w % c.walkers, c.moves[w])) / rate;
}

extern "C" __global__ void start_clocks(Clocks c, Params params, u64 seed, i64* bad)
{
    const i64 w = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (w < c.instances * c.walkers) wait(c, params, seed, w, 0.0, bad);
}

extern "C" __global__ void run_clocks(Clocks c, Params params, u64 seed, i64* bad)
{
    const i64 w = GROUPED ? (i64)blockIdx.x : (i64)blockIdx.x * blockDim.x + threadIdx.x;
    const bool leads = !GROUPED || threadIdx.x == 0;
    if (w >= c.instances * c.walkers) return;
    const i64 i = w / c.walkers;
    if (c.done[i]) return;
    while (c.next[w] <= c.horizon[i] && c.next[w] < INFINITE) {
        const i64 v = c.at[w], instance = c.first + i, move = c.moves[w];
        const u64 word = word64(philox(seed, instance, w % c.walkers, move), 1);
        const Place place = locate(v);
        i64 index = 0;
        if (GROUPED) {
            const Place before = c.prev[w] < 0 ? Place{0, 0} : locate(c.prev[w]);
            index = inverse_transform(params, seed, {place, v, c.prev[w], v, instance, move, before}, word, bad);
            if (index < 0) {
                if (leads) { c.next[w] = INFINITE; c.rate[w] = 0.0; }
                group_sync();
                break;
            }
        } else {
            index = (i64)below(word, (u64)place.count);
        }
        u64 slot = leads ? atomicAdd(c.count + i, 1ull) : 0;
        if (GROUPED) slot = __shfl_sync(~0u, slot, 0);
        if (slot >= c.capacity) break;  // goes on when there is more room
        const i64 then = neighbor_at(place.row + index);
        if (leads) {
            const i64 event = i * c.capacity + slot;
            c.time[event] = c.next[w];
            c.src[event] = (vertex_t)v;
            c.dst[event] = (vertex_t)then;
            c.walker[event] = (u32)(w % c.walkers);
            c.moves[w] = move + 1;
            c.at[w] = then;
            c.prev[w] = v;
            wait(c, params, seed, w, c.next[w], bad);
        }
        if (GROUPED) group_sync();
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
    if (threadIdx.x == 0) {
        c.count[i] = held;
        c.settled[i] = settled;
        c.done[i] = settled >= c.length || soonest == INFINITE;
        c.horizon[i] = soonest + ((c.length - settled) * ahead + 1.0) / rate;
    }
}
