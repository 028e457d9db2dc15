// Walkers with clocks: the arrays of a batch, and a walker while it is looked after. See clocks.cu.
#pragma once
#include "weigh.cuh"

struct Clocks {
    i64 first, instances, walkers, length, capacity;
    i64 *at, *prev, *moves;  // of a walker
    double *next, *rate;     // when it moves next; how fast it was where it started
    i64* queue;              // walkers that move before their instance's horizon
    u64* tally;              // how many they are and how many of them are taken; instances that are not done, and those of them without room
    double* time;            // of an event; events of instance i from i * capacity on, in any order
    vertex_t *src, *dst;
    u32* walker;
    u64* count;              // of an instance: events asked for, also beyond its capacity
    double *since, *horizon; // when a walker moved next at the last look: all events before are drawn; and how far the next ones go
    i64* last;               // the walker that moves next: at the same time, events of those up to it are drawn
    i64 *settled, *done;     // events that no other can precede any more; whether they are enough
};

#define INFINITE (1.0 / 0.0)
#define LATEST 1.7976931348623157e308
#define QUEUED 0
#define TAKEN 1
#define OPEN 2
#define FULL 3
#define SPARE_LANES 16  // of a warp: as many take walkers at a time
#define GROUPED (!UNIFORM && LAYOUT != CTPS)  // a group a walker, to select from whole rows; else a thread

__device__ __forceinline__ i64 instance_of(const Clocks& c, i64 w)
{
    return w < 1ll << 32 && c.walkers < 1ll << 32 ? (i64)((u32)w / (u32)c.walkers) : w / c.walkers;
}

struct Clock {  // a walker while it is looked after
    i64 v, prev, move;
    double next;
    Place place;
    u64 word;  // chooses the neighbor
};

// What the walker draws where it stands: word 0 for its waiting time, word 1 for the neighbor it then takes.
__device__ __forceinline__ Words draw(const Clock& k, const Clocks& c, u64 seed, i64 w, i64 i)
{
    return philox(seed, c.first + i, w - i * c.walkers, k.move);
}

// How long the walker waits where it stands, and where `place` is, since `now`; gives its rate.
__device__ __forceinline__ double wait(Clock& k, const Clocks& c, const Params& params, u64 seed, i64 w, double now, i64* bad)
{
    const i64 i = instance_of(c, w), instance = c.first + i;
    const Context context = {-1, k.v, -1, {0, 0}, k.place, {0, 0}};
    const double rate = vertex_bias(params, context, seed, instance, k.move, k.v, k.prev, k.v, -1, 1.0);
    bool leads_on = k.place.count > 0;
    if (LAYOUT == CTPS && leads_on) leads_on = ((const i64*)GRAPH.entries)[k.place.row + k.place.count - 1] > 0;
    k.next = INFINITE;
    if (!checked(rate, k.v, -1, bad) || rate == 0.0 || !leads_on) return 0.0;
    const Words words = draw(k, c, seed, w, i);
    k.next = now + neg_log(word64(words, 0)) / rate;
    k.word = word64(words, 1);
    return rate;
}

__device__ __forceinline__ void save(const Clock& k, const Clocks& c, i64 w)
{
    c.at[w] = k.v;
    c.prev[w] = k.prev;
    c.moves[w] = k.move;
    c.next[w] = k.next;
}
