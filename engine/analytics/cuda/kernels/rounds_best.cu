// Rounds of a measure of the user's own that keeps the best of all that came: twin of
// engine/analytics/cpu/kernels/rounds.py. Row v of a block is at indptr[v - first]. Then what is combined has the
// type of values, and `following` has those with what has come in this round, which `settle` takes over.
#include "rounds.cuh"

// Lower a number that other threads lower, too; returns the one before.
__device__ __forceinline__ i64 fetch_least(i64* place, i64 value)
{
    return (i64)atomicMin((long long*)place, (long long)value);
}

__device__ __forceinline__ i64 fetch_most(i64* place, i64 value)
{
    return (i64)atomicMax((long long*)place, (long long)value);
}

// Floats without a sign have the order of their bits as integers; those with one come before as signed integers, and
// have the opposite order of their bits. A value is never the negative zero: see as_value.
__device__ __forceinline__ double fetch_least(double* place, double value)
{
    const long long bits = __double_as_longlong(value);
    return __longlong_as_double(bits >= 0 ? atomicMin((long long*)place, bits)
                                          : (long long)atomicMax((u64*)place, (u64)bits));
}

__device__ __forceinline__ double fetch_most(double* place, double value)
{
    const long long bits = __double_as_longlong(value);
    return __longlong_as_double(bits >= 0 ? atomicMax((long long*)place, bits)
                                          : (long long)atomicMin((u64*)place, (u64)bits));
}

// Combine the value at `place` with `fresh`, while other threads do; returns the one before.
__device__ __forceinline__ value_t improve(value_t* place, value_t fresh)
{
    if constexpr (COMBINE == MIN) return fetch_least(place, fresh);
    if constexpr (COMBINE == MAX) return fetch_most(place, fresh);
    return (value_t)atomicOr((u64*)place, (u64)fresh);
}

// Pass `value` of vertex v along entry i; the vertex there is reached if that improves it.
__device__ __forceinline__ void pass_on(const Params& params, const Round& push, i64 v, value_t value, i64 i)
{
    const vertex_t u = push.indices[i];
    const value_t fresh = along(params, push.number, push.vertices, 0, v, u, push.degrees[v], push.degrees[u], value,
        value, weight_at(push.weights, i), push.faults);
    if (is_better(fresh, push.following[u]) && is_better(fresh, improve(push.following + u, fresh)))
        push.changed[u] = 1;
}

// Pass the values of the active vertices of first .. last - 1 along their rows, unless these are long.
extern "C" __global__ void push(i64 last, Params params, Round push)
{
    const int lane = threadIdx.x % 32;
    for (i64 base = push.first + warp_number() * 32; base < last; base += threads_of_grid()) {
        const i64 v = base + lane;
        const bool wanted = v < last && push.active[v];
        const value_t value = wanted ? push.values[v] : value_t(0);
        const i64 begin = wanted ? push.indptr[v - push.first] : 0, end = wanted ? push.indptr[v - push.first + 1] : 0;
        each_entry(
            begin, end - begin < LONG ? end : begin,
            [&](i64 i) {
                pass_on(params, push, v, value, i);
                return true;
            },
            [&](i64 i, int owner) {
                const value_t its = __shfl_sync(WHOLE_WARP, value, owner);
                if (i >= 0) pass_on(params, push, base + owner, its, i);
                return true;
            });
    }
}

// The same along the long rows, those of the vertices `rows`.
extern "C" __global__ void push_long(i64 count, const vertex_t* rows, i64, Params params, Round push)
{
    each_long_row(count, rows, [&](i64 v) { return push.active[v]; }, [&](i64 v) {
        const value_t value = push.values[v];
        each_entry_of_long(push.indptr[v - push.first], push.indptr[v - push.first + 1],
            [&](i64 i) { pass_on(params, push, v, value, i); });
    });
}

// Improve the own vertices first .. last - 1 by what another GPU has passed to them: to those that it reached, or `all`.
extern "C" __global__ void gather(i64 first, i64 last, i64 all, const unsigned char* reached_there,
    const value_t* following_there, value_t* following, unsigned char* reached)
{
    for (i64 v = first + thread_number(); v < last; v += threads_of_grid()) {
        if (!all && !reached_there[v]) continue;
        const value_t there = following_there[v], here = following[v];
        if (!is_better(there, here)) continue;
        following[v] = joined(here, there);
        reached[v] = 1;
    }
}

// What comes along entry i of a row backward, where nothing but values decides. Without an edge of the class's own,
// values of inactive vertices, which came before, change nothing.
__device__ __forceinline__ value_t pulled(const Params& params, const Round& push, i64 v, i64 i)
{
    const vertex_t u = push.indices[i];
    if (HAS_EDGE_HOOK && !push.active[u]) return nothing<value_t>();
    const value_t value = push.values[u];
    return along(params, 0, push.vertices, 0, u, v, 0, 0, value, value, 1.0, push.faults);
}

// Improve the vertices first .. last - 1 by what the active ones in their rows pass along, `bound` at best: a row is
// left as soon as that is reached. Rows are those backward; long ones are left out.
extern "C" __global__ void pull_best(i64 last, Params params, value_t bound, Round push)
{
    const int lane = threadIdx.x % 32;
    for (i64 base = push.first + warp_number() * 32; base < last; base += threads_of_grid()) {
        const i64 v = base + lane;
        const value_t before = v < last ? push.values[v] : bound;
        const bool wanted = v < last && is_better(bound, before);
        const i64 begin = wanted ? push.indptr[v - push.first] : 0, end = wanted ? push.indptr[v - push.first + 1] : 0;
        value_t here = before;
        each_entry(
            begin, end - begin < LONG ? end : begin,
            [&](i64 i) {
                here = joined(here, pulled(params, push, v, i));
                return is_better(bound, here);
            },
            [&](i64 i, int owner) {
                value_t best = i < 0 ? nothing<value_t>() : pulled(params, push, base + owner, i);
                for (int half = 16; half; half /= 2) best = joined(best, __shfl_xor_sync(WHOLE_WARP, best, half));
                if (lane == owner) here = joined(here, best);
                return is_better(bound, best);
            });
        if (here != before) {
            push.following[v] = here;
            push.changed[v] = 1;
        }
    }
}

// The same for the long rows, those of the vertices `rows`: all threads leave one once any of them has the bound.
extern "C" __global__ void pull_best_long(i64 count, const vertex_t* rows, i64, Params params, value_t bound, Round push)
{
    each_long_row(count, rows, [&](i64 v) { return is_better(bound, push.values[v]); }, [&](i64 v) {
        const i64 end = push.indptr[v - push.first + 1];
        const value_t before = push.values[v];
        value_t best = before;
        i64 i = push.indptr[v - push.first] + (i64)blockIdx.y * blockDim.x + threadIdx.x;
        for (; i < end && is_better(bound, best) && is_better(bound, __ldcg(push.following + v));
             i += (i64)gridDim.y * blockDim.x) best = joined(best, pulled(params, push, v, i));
        if (is_better(best, before) && is_better(best, improve(push.following + v, best))) push.changed[v] = 1;
    });
}

// What goes along any edge of a vertex of this value, where nothing else decides it.
extern "C" __global__ void passed_along(i64 vertices, Params params, value_t value, value_t* out, i64* fault)
{
    *out = along(params, 0, vertices, 0, 0, 0, 0, 0, value, value, 1.0, fault);
}

// Let those of the vertices first .. last - 1 that were reached have their new values. Nobody is `active` any longer,
// since `reached` are from now on. found[0]: how many there are; found[1]: entries of their rows; found[2], found[3]:
// bits of the least and the largest of their values.
extern "C" __global__ void settle(i64 first, i64 last, const unsigned char* reached, unsigned char* active,
    const i64* degrees, value_t* values, const value_t* following, u64* found)
{
    i64 count = 0, entries = 0;
    value_t least = largest<value_t>(), most = -largest<value_t>();
    for (i64 v = first + thread_number(); v < last; v += threads_of_grid()) {
        active[v] = 0;
        if (!reached[v]) continue;
        const value_t value = following[v];
        least = min(least, value);
        most = max(most, value);
        values[v] = value;
        count += 1;
        entries += degrees[v];
    }
    __syncwarp();
    for (int half = 16; half; half /= 2) {
        least = min(least, __shfl_xor_sync(WHOLE_WARP, least, half));
        most = max(most, __shfl_xor_sync(WHOLE_WARP, most, half));
    }
    count = warp_sum(count);
    entries = warp_sum(entries);
    if (threadIdx.x % 32 || !count) return;
    atomicAdd(found, (u64)count);
    atomicAdd(found + 1, (u64)entries);
    fetch_least((value_t*)found + 2, least);
    fetch_most((value_t*)found + 3, most);
}

// The same for vertices first .. last - 1 of another GPU, of which it knows who was reached and their new values, in
// place of all that was passed to them here: of those that were reached there, or of `all`.
extern "C" __global__ void learn(i64 first, i64 last, i64 all, const unsigned char* reached_there,
    const value_t* following_there, unsigned char* reached, unsigned char* active, value_t* values, value_t* following)
{
    for (i64 v = first + thread_number(); v < last; v += threads_of_grid()) {
        active[v] = 0;
        const bool differs = reached_there[v];
        if (!all && !differs) continue;
        values[v] = following[v] = following_there[v];
        reached[v] = differs;
    }
}

// Push from the `size` vertices of the queue, round after round, by one block, which needs no launch for each: as long
// as their rows have fewer than `most` entries, and no round after `last` is begun. `queue` has those that changed in
// the round `number`. found[0]: the last round; found[1]: how many changed in it; found[2]: whether they are in `room`.
extern "C" __global__ __launch_bounds__(1024) void push_few(i64 size, i64 last, i64 most, Params params, Round push,
    value_t* values, vertex_t* queue, vertex_t* room, u64* found)
{
    __shared__ u64 count, entries;
    i64 rounds = 0;
    for (bool going = true; going && size && push.number + rounds < last; rounds++) {
        if (threadIdx.x == 0) count = entries = 0;
        __syncthreads();
        const bool alone = size < blockDim.x / 32;  // few rows, which the block goes along together; else a warp each
        const int from = alone ? threadIdx.x : threadIdx.x % 32, step = alone ? blockDim.x : 32;
        for (i64 n = alone ? 0 : threadIdx.x / 32; n < size; n += alone ? 1 : blockDim.x / 32) {
            const vertex_t v = queue[n];
            const value_t value = values[v];
            for (i64 i = push.indptr[v] + from; i < push.indptr[v + 1]; i += step) {
                const vertex_t u = push.indices[i];
                const value_t fresh = along(params, push.number + rounds + 1, push.vertices, 0, v, u, push.degrees[v],
                    push.degrees[u], value, value, weight_at(push.weights, i), push.faults);
                if (!is_better(fresh, __ldcg(push.following + u))) continue;
                const value_t before = improve(push.following + u, fresh);
                // Values are those before the round: whoever finds one of them there is the first to improve it.
                if (!is_better(fresh, before) || before != values[u]) continue;
                room[atomicAdd(&count, 1ull)] = u;
                atomicAdd(&entries, (u64)push.degrees[u]);
            }
        }
        __syncthreads();
        size = (i64)count;
        going = (i64)entries < most && __ldcg(push.faults) < 0;
        for (i64 n = threadIdx.x; n < size; n += blockDim.x) values[room[n]] = __ldcg(push.following + room[n]);
        vertex_t* const swapped = queue;
        queue = room;
        room = swapped;
        __syncthreads();
    }
    if (threadIdx.x) return;
    found[0] = (u64)(push.number + rounds);
    found[1] = (u64)size;
    found[2] = (u64)(rounds % 2);
}
