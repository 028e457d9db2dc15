// Neighbors of frontier entries, each (instance, slot, vertex, previous vertex): the twin of cpu/kernels/traverse.py and cpu/kernels/select.py. A group an entry.
// Entry i writes at most capacity[i] neighbors from start[i] on, and how many to found[i].
#include "coins.cuh"
#include "frontier.cuh"
#include "pool.cuh"
#include "busy.cuh"
#include "trials.cuh"

// k of the pool, every subset equally likely (Floyd: Bentley, CACM 30(9), 1987).
__device__ __forceinline__ i64 uniform_distinct(u64 seed, u64 instance, u64 slot, const Pool& pool, i64 k)
{
    for (i64 j = threadIdx.x; j < k; j += blockDim.x)
        pool.picked[j] = (i64)below(pick_word(seed, instance, slot, j), (u64)(pool.count - k + j) + 1);
    group_sync();
    for (i64 j = 1; j < k; ++j) {
        const i64 value = pool.picked[j];
        bool met = false;
        for (i64 i = threadIdx.x; i < j; i += blockDim.x) met = met || pool.picked[i] == value;
        met = group_any(met);
        if (met && threadIdx.x == 0) pool.picked[j] = pool.count - k + j;
        group_sync();
    }
    return k;
}

// UPDATED: the space is made anew without what is taken, after every pick.
__device__ __forceinline__ void select_updating(u64 seed, u64 instance, u64 slot, const Pool& pool, double largest, i64 total, i64 k)
{
    for (i64 j = 0; j < k; ++j) {
        if (j > 0) total = accumulate<true>(pool, largest);
        const i64 candidate = search(pool.ctps, pool.count, (i64)below(pick_word(seed, instance, slot, j), (u64)total));
        group_sync();
        if (threadIdx.x == 0) {
            pool.picked[j] = candidate;
            pool.biases[candidate] = 0.0;
        }
        group_sync();
    }
}

// k of the pool by successive selection (C-SAW, section IV-B): see cpu/kernels/select.py. First candidates are searched by the whole group, then
// a warp settles them.
__device__ __forceinline__ i64 by_inverse_transform(u64 seed, u64 instance, u64 slot, const Pool& pool, double largest, i64 k, u64* tally)
{
    const i64 total = accumulate<true>(pool, largest);
    i64 possible = 0;
    for (i64 i = threadIdx.x; i < pool.count; i += blockDim.x) possible += pool.biases[i] > 0.0;
    k = min(k, group_sum(possible));
    Counts n = {};
    if (COLLISION == UPDATED) {
        select_updating(seed, instance, slot, pool, largest, total, k);
        if (threadIdx.x == 0 && k > 1) atomicAdd(tally + 5, (u64)((k - 1) * pool.count));
    } else {
        __shared__ i64 near[DETECT == LINEAR ? NEAR_PICKS : 1];
        const Taken taken = {pool.taken, 2 * ((pool.count >> 6) + 1), near, pool.picked};
        if (DETECT != LINEAR)
            for (i64 i = threadIdx.x; i < taken.count; i += blockDim.x) taken.words[i] = 0;
        for (i64 j = threadIdx.x; j < k; j += blockDim.x)
            pool.picked[j] = search(pool.ctps, pool.count, (i64)below(pick_word(seed, instance, slot, j), (u64)total));
        group_sync();
        if (threadIdx.x < 32) settle(seed, instance, slot, pool.ctps, pool.count, taken, k, n);
        group_sync();
    }
    add_up(n, threadIdx.x == 0 ? k : 0, tally);
    return k;
}

// -log(u) / bias for every candidate, infinite where it cannot be taken (Efraimidis and Spirakis, IPL 97(5), 2006).
__device__ __forceinline__ void race(u64 seed, u64 instance, u64 slot, const Pool& pool)
{
    for (i64 i = threadIdx.x; i < pool.count; i += blockDim.x) {
        double time = neg_log(draw64(seed, instance, slot, (u64)pool.position(i)));
        if (!UNIFORM) time = pool.biases[i] > 0.0 ? time / pool.biases[i] : 1.0 / 0.0;
        pool.biases[i] = time;
    }
    group_sync();
}

// The k earliest of a race, in order of time.
__device__ __forceinline__ i64 by_keys(const Pool& pool, i64 k)
{
    for (i64 j = 0; j < k; ++j) {
        i64 first = 0x7FF0000000000000ll;  // times are not negative: their order is that of their bits
        for (i64 i = threadIdx.x; i < pool.count; i += blockDim.x) first = min(first, __double_as_longlong(pool.biases[i]));
        first = group_min(first);
        if (first == 0x7FF0000000000000ll) return j;
        i64 index = pool.count;
        for (i64 i = threadIdx.x; i < pool.count; i += blockDim.x)
            if (__double_as_longlong(pool.biases[i]) == first) index = min(index, i);
        index = group_min(index);
        if (threadIdx.x == 0) { pool.picked[j] = index; pool.biases[index] = 1.0 / 0.0; }
        group_sync();
    }
    return k;
}

// Candidates that can be taken, all of them; returns how many. COLLECTIVE: with their times, whatever the order.
__device__ __forceinline__ i64 take_all(const Pool& pool)
{
    return compact(pool.count, pool.picked, [&](i64 i) { return UNIFORM || (pool.biases[i] > 0.0 && pool.biases[i] < 1.0 / 0.0); });
}

// Of a race, all up to a time that at least `wanted` have and at most `room`: the earliest of several pools are among them.
__device__ __forceinline__ i64 earliest(const Pool& pool, i64 wanted, i64 room)
{
    i64 racing = 0;
    double slowest = 0.0;
    for (i64 i = threadIdx.x; i < pool.count; i += blockDim.x) {
        racing += pool.biases[i] < 1.0 / 0.0;
        if (pool.biases[i] < 1.0 / 0.0) slowest = fmax(slowest, pool.biases[i]);
    }
    racing = group_sum(racing);
    slowest = group_max(slowest);
    double low = 0.0, high = slowest, bound = slowest;
    if (racing > room) bound = slowest * (1.5 * (double)wanted + 32.0) / (double)racing / 16.0;
    while (racing > room) {
        i64 held = 0;
        for (i64 i = threadIdx.x; i < pool.count; i += blockDim.x) held += pool.biases[i] <= bound;
        held = group_sum(held);
        if (held >= wanted && held <= room) break;
        if (held < wanted) low = bound;
        else high = bound;
        bound = held < wanted && 2.0 * bound < high ? 2.0 * bound : low + (high - low) / 2.0;
    }
    return compact(pool.count, pool.picked, [&](i64 i) { return pool.biases[i] <= bound; });
}

extern "C" __global__ __launch_bounds__(HUB_BLOCK) void select_neighbors(i64 entries, const i64* numbers, Frontier f, Scratch scratch, Params params, u64 seed, i64 depth, i64 wanted,
                                           i64* bad,                                            u64* tally)
{
    const Working working;
    for (i64 n = blockIdx.x; n < entries; n += gridDim.x) {
        const i64 e = numbers[n], v = f.vertex[e], offset = scratch.offset[n];
        const i64 tried = SELECT == SELECT_REJECTION ? f.found[e] : 0, k = f.capacity[e] - tried, start = f.start[e] + tried;
        const u64 instance = f.instance[e], slot = f.slot[e];
        const Place place = locate(v), before = f.previous[e] < 0 ? Place{0, 0} : locate(f.previous[e]);
        group_sync();  // the scratch of the entry before
        Pool pool = {{place, v, f.previous[e], f.source[e], (i64)instance, depth, before}, place.count, scratch.biases + offset, scratch.ctps + offset,
                     scratch.pool + offset, scratch.picked + offset, scratch.taken + 2 * ((offset >> 6) + n), -1};
        i64 size = 0;
        double largest = 1.0;
        const i64 seen = SPARSE ? f.seen_to[e] - f.seen_from[e] : 0;
        if (SPARSE && 2 * seen + k < place.count)
            leave_out(pool, f.seen, f.seen_from[e], f.seen_to[e]);
        else if (POOLED)
            pool.count = compact(place.count, pool.chosen, [&](i64 i) {
                const i64 dst = neighbor_at(place.row + i);
                return EACH_EDGE_ONCE ? v <= dst : has(f.seen, f.seen_from[e], f.seen_to[e], dst) == bool(INDUCED);
            });
        if (pool.count > 0 && !(UNIFORM && (SELECT == SELECT_UNIFORM || SELECT == SELECT_KEYS))) largest = weigh(params, seed, pool, bad);
        if (largest < 0.0) return;
        if (tried && !REPLACE && largest > 0.0) leave_out_tried(pool, f.edge + f.start[e], tried);
        if (pool.count > 0 && largest > 0.0) {
            if (SELECT == SELECT_KEYS) {
                race(seed, instance, slot, pool);
                size = COLLECTIVE ? earliest(pool, wanted, k) : by_keys(pool, min(k, pool.count));
            } else if (REPLACE) {
                const i64 total = UNIFORM ? 0 : accumulate<false>(pool, largest);
                for (i64 j = threadIdx.x; j < k; j += blockDim.x) {
                    const u64 word = pick_word(seed, instance, slot, j);
                    const i64 picked = UNIFORM ? (i64)below(word, (u64)pool.count) : search(pool.ctps, pool.count, (i64)below(word, (u64)total));
                    const i64 position = place.row + pool.position(picked);
                    f.out[start + j] = (vertex_t)neighbor_at(position);
                    if (PLACED) f.edge[start + j] = offset_of(position);
                }
                if (threadIdx.x == 0) f.found[e] = tried + k;
                continue;
            } else if (k >= pool.count) {
                size = take_all(pool);
            } else if (UNIFORM && SELECT == SELECT_UNIFORM) {
                size = uniform_distinct(seed, instance, slot, pool, k);
            } else {
                size = by_inverse_transform(seed, instance, slot, pool, largest, k, tally);
            }
        }
        for (i64 j = threadIdx.x; j < size; j += blockDim.x) {
            const i64 position = place.row + pool.position(pool.picked[j]);
            f.out[start + j] = (vertex_t)neighbor_at(position);
            if (PLACED) f.edge[start + j] = offset_of(position);
            if (KEYED) f.key[start + j] = pool.biases[pool.picked[j]];
        }
        if (threadIdx.x == 0) f.found[e] = tried + size;
    }
}

// With replacement, uniform or by alias table: a pick a thread; every entry that can be sampled at all has `size` picks.
extern "C" __global__ void select_by_table(i64 entries, const i64* numbers, Frontier f, i64 size, u64 seed)
{
    const Working working;
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 t = (i64)blockIdx.x * blockDim.x + threadIdx.x; t < entries * size; t += stride) {
        const i64 e = numbers[t / size], j = t % size;
        if (j >= f.capacity[e]) continue;
        const Place place = locate(f.vertex[e]);
        Place unused;
        bool known;
        const u64 word = pick_word(seed, f.instance[e], f.slot[e], j);
        const i64 dst = place.count > 0 ? take(place, word, unused, known) : -1;
        f.out[f.start[e] + j] = (vertex_t)dst;
        if (PLACED) f.edge[f.start[e] + j] = offset_of(place.row) + (i64)below(word, (u64)place.count);
        if (j == 0) f.found[e] = dst < 0 ? 0 : f.capacity[e];
    }
}

#if HAS_UPDATE
// The vertices that follow sampled edges, as `update` says: the twin of update_frontier in cpu/kernels/traverse.py.
extern "C" __global__ void update_frontier(i64 edges, const Params params, u64 seed, i64 depth, const i64* instance, const i64* slot, const i64* source, const i64* prev, const i64* src, const i64* dst, i64* then, i64* bad)
{
    const i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    const Context context = {prev[e], src[e], dst[e], prev[e] < 0 ? Place{0, 0} : locate(prev[e]), locate(src[e]), locate(dst[e])};
    const u64 own = draw64(seed, (u64)instance[e], (u64)slot[e], UPDATE_DRAWS);
    const i64 to = update(params, context, own, instance[e], depth, source[e], prev[e], src[e], dst[e], 1.0);
    if (to >= GRAPH.vertices && atomicCAS((u64*)bad, 0ull, 2ull) == 0) { bad[1] = src[e]; bad[2] = to; }
    then[e] = to < -1 ? -1 : to;
}
#endif

#if SELECTS_FRONTIER
// The bias of a vertex that waits; -1 where it is none. This and the next two: the twin of engine/cpu/kernels/traverse.py.
__device__ __forceinline__ double waiting_bias(const Params& params, u64 seed, i64 depth, i64 instance, i64 source, i64 prev, i64 v, i64* bad)
{
    const Context context = {prev, v, -1, prev < 0 ? Place{0, 0} : locate(prev), locate(v), {0, 0}};
    const double bias = vertex_bias(params, context, seed, instance, depth, source, prev, v, -1, 1.0);
    return checked(bias, v, -1, bad) ? bias : -1.0;
}

// When vertices that wait arrive at this depth; -1: never.
extern "C" __global__ void race_pool(i64 entries, const Params params, u64 seed, i64 depth, const i64* instance, const i64* slot, const i64* source, const i64* prev, const i64* vertex, double* times, i64* bad)
{
    const i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= entries) return;
    const double bias = waiting_bias(params, seed, depth, instance[e], source[e], prev[e], vertex[e], bad);
    const u64 word = draw64(seed, (u64)instance[e], (u64)slot[e], FRONTIER_DRAWS + (u64)depth);
    times[e] = bias > 0.0 ? neg_log(word) / bias : -1.0;
}

// Picks from pools with replacement: a warp a pool, with room for a bias and a sum of each entry.
extern "C" __global__ void draw_pool(i64 pools, const Params params, u64 seed, i64 depth, i64 size, const i64* begins, const i64* instance, const i64* source, const i64* prev, const i64* vertex, double* biases, i64* sums, i64* picks, i64* bad)
{
    for (i64 i = blockIdx.x; i < pools; i += gridDim.x) {
        const i64 low = begins[i], count = begins[i + 1] - low;
        bool fine = true;
        double largest = 0.0;
        for (i64 e = low + threadIdx.x; e < low + count; e += blockDim.x) {
            biases[e] = waiting_bias(params, seed, depth, instance[e], source[e], prev[e], vertex[e], bad);
            fine = fine && biases[e] >= 0.0;
            largest = fmax(largest, biases[e]);
        }
        group_sync();
        Pool pool = {};
        pool.count = count;
        pool.biases = biases + low;
        pool.ctps = sums + low;
        fine = group_all(fine);
        largest = group_max(largest);
        const i64 total = fine && largest > 0.0 ? accumulate<false>(pool, largest) : 0;
        for (i64 j = threadIdx.x; j < size; j += blockDim.x) {
            const u64 word = total > 0 ? frontier_word(seed, (u64)instance[low], (u64)depth, j) : 0;
            picks[i * size + j] = total > 0 ? low + search(pool.ctps, count, (i64)below(word, (u64)total)) : -1;
        }
    }
}
#endif

// Forest fire's neighbor sizes: successes of a coin before the first failure, most[e] at most.
extern "C" __global__ void geometric_sizes(i64 entries, const i64* instance, const i64* slot, u64 seed, u64 limit, u64 rest, const i64* most, i64* sizes)
{
    const i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (e < entries) sizes[e] = flips({limit, rest}, seed, instance[e], slot[e], most[e]);
}
