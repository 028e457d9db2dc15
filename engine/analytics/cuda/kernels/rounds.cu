// Rounds of a measure of the user's own in which vertices combine all that comes to them: twin of
// engine/analytics/cpu/kernels/rounds.py. Row v of a block is at indptr[v - first].
#include "rounds.cuh"

// Write what each vertex passes along its edges.
extern "C" __global__ void send(i64 vertices, i64 number, Params params, total_t total, const i64* degrees,
    const value_t* values, combined_t* sent, i64* fault)
{
    for (i64 v = thread_number(); v < vertices; v += threads_of_grid()) {
        const value_t value = values[v];
        const i64 degree = degrees[v];
        sent[v] = degree && passes(value)
            ? along(params, number, vertices, total, v, v, degree, degree, value, value, 1.0, fault)
            : nothing<combined_t>();
    }
}

// The sum of value(i) over begin .. end - 1, in the first thread of a block.
template <typename F>
__device__ __forceinline__ double block_sum(i64 begin, i64 end, F value, double)
{
    return ordered_block_sum(begin, end, value);
}

template <typename F>
__device__ __forceinline__ i64 block_sum(i64 begin, i64 end, F value, i64)
{
    i64 sum = 0;
    for (i64 i = begin + threadIdx.x; i < end; i += blockDim.x) sum = plus(sum, value(i));
    for (int half = 16; half; half /= 2) sum = plus(sum, __shfl_xor_sync(~0u, sum, half));
    return across_warps(sum, [](i64 one, i64 other) { return plus(one, other); });
}

// sums[k] = the sum of value(v) over the vertices of each chunk, by a block; floats in the order of ordered.cuh.
template <typename T, typename F>
__device__ __forceinline__ void sum_chunks(i64 vertices, i64 chunk, T* sums, F value)
{
    const i64 chunks = (vertices + chunk - 1) / chunk;
    for (i64 k = blockIdx.x; k < chunks; k += gridDim.x) {
        const T sum = block_sum(k * chunk, min(vertices, k * chunk + chunk), value, T(0));
        if (threadIdx.x == 0) sums[k] = sum;
    }
}

// What the vertices of each chunk add to the total.
extern "C" __global__ void add_totals(i64 vertices, i64 chunk, i64 number, Params params, const i64* degrees,
    const value_t* values, total_t* sums)
{
    sum_chunks(vertices, chunk, sums, [&](i64 v) -> total_t {
#if HAS_TOTAL_HOOK
        return total(params, number, vertices, 0.0, v, v, degrees[v], degrees[v], values[v], 0, 1.0);
#else
        return 0;
#endif
    });
}

// How far two values are apart, as a float: of integers, exact until it is rounded.
__device__ __forceinline__ double distance(double one, double other) { return fabs(one - other); }
__device__ __forceinline__ double distance(i64 one, i64 other)
{
    return (double)((u64)max(one, other) - (u64)min(one, other));
}

// The sum of the changes of the vertices of each chunk.
extern "C" __global__ void add_changes(i64 vertices, i64 chunk, const value_t* values, const value_t* following,
    double* sums)
{
    sum_chunks(vertices, chunk, sums,
        [&](i64 v) { return values[v] != following[v] ? distance(values[v], following[v]) : 0.0; });
}

// What came to a vertex along the entries begin .. end - 1, by LANES threads, of which the first has it; LANES of 0 is
// a block. Floats are added in one order; all else is the same in any.
template <int LANES, typename F>
__device__ __forceinline__ combined_t combined_of(i64 begin, i64 end, F came)
{
    if constexpr (ORDERED && LANES == 0) return ordered_block_sum(begin, end, came);
    else if constexpr (ORDERED && LANES == 32) return ordered_warp_sum(begin, end, came);
    else if constexpr (ORDERED) return piece_sum<LANES>(begin, end, threadIdx.x % LANES, came);
    else {
        const int lanes = LANES ? LANES : blockDim.x;
        combined_t found = nothing<combined_t>();
        for (i64 i = begin + threadIdx.x % lanes; i < end; i += lanes) found = joined(found, came(i));
#pragma unroll
        for (int half = (LANES ? LANES : 32) / 2; half; half /= 2)
            found = joined(found, __shfl_xor_sync(~0u, found, half));
        if constexpr (LANES == 0)
            found = across_warps(found, [](combined_t one, combined_t other) { return joined(one, other); });
        return found;
    }
}

struct Counts { i64 changed, entries; };

// Do a round for the vertex of a row, by LANES threads; without one, come along. `counts`: of the first thread.
template <int LANES>
__device__ __forceinline__ void pull_row(i64 row, const Params& params, total_t total, const Round& round,
    Counts& counts)
{
    const i64 v = row < 0 ? 0 : round.first + row;
    const bool at_work = row >= 0 && !(round.active && !round.active[v]);
    const value_t here = round.values[v];
    const i64 degree = round.degrees[v];
    const combined_t combined = combined_of<LANES>(at_work ? round.indptr[row] : 0, at_work ? round.indptr[row + 1] : 0,
        [&](i64 i) {
            const vertex_t u = round.indices[i];
            if (SENT) return round.sent[u];
            const value_t value = round.values[u];
            if (!passes(value)) return nothing<combined_t>();
            return along(params, round.number, round.vertices, total, u, v, round.degrees[u], degree, value, here,
                weight_at(round.weights, i), round.faults);
        });
    if (row < 0 || threadIdx.x % (LANES ? LANES : blockDim.x)) return;
    const value_t found = at_work ? renewed(params, round.number, round.vertices, total, v, degree, here, combined)
                                  : here;
    round.following[v] = found;
    round.changed[v] = found != here;
    if (is_nan(found)) note(round.faults + 1, v);
    if (found == here) return;
    counts.changed += 1;
    counts.entries += degree;
}

// Add what the threads of a block have counted, by one of them: others would wait for each other.
__device__ __forceinline__ void add_counts(const Counts& counts, u64* counters)
{
    const i64 changed = group_sum(counts.changed), entries = group_sum(counts.entries);
    if (threadIdx.x || !changed) return;
    atomicAdd(counters, (u64)changed);
    atomicAdd(counters + 1, (u64)entries);
}

template <int LANES>
__device__ __forceinline__ void pull(i64 count, const vertex_t* rows, const Params& params, total_t total,
    const Round& round)
{
    Counts counts = {0, 0};
    each_row<LANES>(count, rows, [&](i64 row) { pull_row<LANES>(row, params, total, round, counts); });
    add_counts(counts, round.counters);
}

// Do a round for the vertices of rows[0 .. count - 1] of the block.
extern "C" __global__ void pull_2(i64 count, const vertex_t* rows, Params params, total_t total, Round round)
{
    pull<2>(count, rows, params, total, round);
}

extern "C" __global__ void pull_8(i64 count, const vertex_t* rows, Params params, total_t total, Round round)
{
    pull<8>(count, rows, params, total, round);
}

extern "C" __global__ void pull_32(i64 count, const vertex_t* rows, Params params, total_t total, Round round)
{
    pull<32>(count, rows, params, total, round);
}

extern "C" __global__ void pull_hub(i64 count, const vertex_t* rows, Params params, total_t total, Round round)
{
    Counts counts = {0, 0};
    for (i64 at = blockIdx.x; at < count; at += gridDim.x) pull_row<0>(rows[at], params, total, round, counts);
    add_counts(counts, round.counters);
}

// Mark the vertices first .. last - 1 that changed, and the ends of their edges, unless their rows are long, as those
// that could change next.
extern "C" __global__ void mark(i64 first, i64 last, const i64* indptr, const vertex_t* indices,
    const unsigned char* changed, unsigned char* active)
{
    const int lane = threadIdx.x % 32;
    for (i64 base = first + warp_number() * 32; base < last; base += threads_of_grid()) {
        const i64 v = base + lane;
        const bool wanted = v < last && changed[v];
        const i64 begin = wanted ? indptr[v - first] : 0, end = wanted ? indptr[v - first + 1] : 0;
        if (wanted) active[v] = 1;
        each_entry(
            begin, end - begin < LONG ? end : begin,
            [&](i64 i) {
                active[indices[i]] = 1;
                return true;
            },
            [&](i64 i, int) {
                if (i >= 0) active[indices[i]] = 1;
                return true;
            });
    }
}

// The same for the ends of the long rows, those of the vertices `rows`.
extern "C" __global__ void mark_long(i64 count, const vertex_t* rows, i64 first, const i64* indptr, const vertex_t* indices,
    const unsigned char* changed, unsigned char* active)
{
    each_long_row(count, rows, [&](i64 v) { return changed[v]; }, [&](i64 v) {
        each_entry_of_long(indptr[v - first], indptr[v - first + 1], [&](i64 i) { active[indices[i]] = 1; });
    });
}

// Learn what has become of the vertices first .. last - 1, whose values before the round are `values`, from the GPU that
// owns them: of those that changed there, or of `all`.
extern "C" __global__ void learn(i64 first, i64 last, i64 all, const unsigned char* changed_there,
    const value_t* following_there, const value_t* values, value_t* following, unsigned char* changed)
{
    for (i64 v = first + thread_number(); v < last; v += threads_of_grid()) {
        const bool differs = changed_there[v];
        following[v] = all || differs ? following_there[v] : values[v];
        changed[v] = differs;
    }
}

// Mark those of the own vertices first .. last - 1 that another GPU has marked.
extern "C" __global__ void gather_marks(i64 first, i64 last, const unsigned char* active_there, unsigned char* active)
{
    for (i64 v = first + thread_number(); v < last; v += threads_of_grid()) if (active_there[v]) active[v] = 1;
}
