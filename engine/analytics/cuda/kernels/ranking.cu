// Sums over the neighbors of each vertex, and an iteration of PageRank: twins of sum_rows, push_rows and settle in
// engine/analytics/cpu/kernels/sums.py.
#include "lanes.cuh"

// The sum of `values` over a row, by `lanes` threads, of which this is number `lane`.
__device__ __forceinline__ i64 part_of_row(i64 row, int lane, int lanes, const i64* indptr, const vertex_t* indices,
    const i64* values)
{
    if (row < 0) return 0;
    i64 total = 0;
    for (i64 i = indptr[row] + lane, end = indptr[row + 1]; i < end; i += lanes) total += __ldg(values + indices[i]);
    return total;
}

template <int LANES>
__device__ __forceinline__ void sum_rows(i64 count, const vertex_t* rows, const i64* indptr, const vertex_t* indices,
    const i64* values, i64* out)
{
    const int lane = threadIdx.x % LANES;
    each_row<LANES>(count, rows, [&](i64 row) {
        const i64 total = row_sum<LANES>(part_of_row(row, lane, LANES, indptr, indices, values));
        if (row >= 0 && lane == 0) out[row] = total;
    });
}

// out[rows[k]] = the sum of `values` of the neighbors in that row, for k < count. Row r of the block is at indptr[r].
extern "C" __global__ void sum_rows_2(i64 count, const vertex_t* rows, const i64* indptr, const vertex_t* indices,
    const i64* values, i64* out)
{
    sum_rows<2>(count, rows, indptr, indices, values, out);
}

extern "C" __global__ void sum_rows_8(i64 count, const vertex_t* rows, const i64* indptr, const vertex_t* indices,
    const i64* values, i64* out)
{
    sum_rows<8>(count, rows, indptr, indices, values, out);
}

extern "C" __global__ void sum_rows_32(i64 count, const vertex_t* rows, const i64* indptr, const vertex_t* indices,
    const i64* values, i64* out)
{
    sum_rows<32>(count, rows, indptr, indices, values, out);
}

extern "C" __global__ void sum_rows_hub(i64 count, const vertex_t* rows, const i64* indptr, const vertex_t* indices,
    const i64* values, i64* out)
{
    for (i64 at = blockIdx.x; at < count; at += gridDim.x) {
        const i64 row = rows[at];
        const i64 total = row_sum<0>(part_of_row(row, threadIdx.x, blockDim.x, indptr, indices, values));
        if (threadIdx.x == 0) out[row] = total;
    }
}

// Add `value` to `out` of the entries of a row, by `lanes` threads, of which this is number `lane`.
__device__ __forceinline__ void push_row(i64 row, int lane, int lanes, const i64* indptr, const vertex_t* indices,
    const i64* values, unsigned long long* out)
{
    if (row < 0) return;
    const unsigned long long value = (unsigned long long)values[row];
    for (i64 i = indptr[row] + lane, end = indptr[row + 1]; i < end; i += lanes) atomicAdd(out + indices[i], value);
}

template <int LANES>
__device__ __forceinline__ void push_rows(i64 count, const vertex_t* rows, const i64* indptr, const vertex_t* indices,
    const i64* values, unsigned long long* out)
{
    each_row<LANES>(count, rows, [&](i64 row) { push_row(row, threadIdx.x % LANES, LANES, indptr, indices, values,
        out); });
}

// out[u] += values[rows[k]] for each entry u of that row, for k < count. Row r of the block is at indptr[r], and its
// value is values[r].
extern "C" __global__ void push_rows_2(i64 count, const vertex_t* rows, const i64* indptr, const vertex_t* indices,
    const i64* values, unsigned long long* out)
{
    push_rows<2>(count, rows, indptr, indices, values, out);
}

extern "C" __global__ void push_rows_8(i64 count, const vertex_t* rows, const i64* indptr, const vertex_t* indices,
    const i64* values, unsigned long long* out)
{
    push_rows<8>(count, rows, indptr, indices, values, out);
}

extern "C" __global__ void push_rows_32(i64 count, const vertex_t* rows, const i64* indptr, const vertex_t* indices,
    const i64* values, unsigned long long* out)
{
    push_rows<32>(count, rows, indptr, indices, values, out);
}

extern "C" __global__ void push_rows_hub(i64 count, const vertex_t* rows, const i64* indptr, const vertex_t* indices,
    const i64* values, unsigned long long* out)
{
    for (i64 at = blockIdx.x; at < count; at += gridDim.x) push_row(rows[at], threadIdx.x, blockDim.x, indptr,
        indices, values, out);
}

// met[u] = true for each of `count` entries u of rows.
extern "C" __global__ void note_entries(i64 count, const vertex_t* entries, bool* met)
{
    for (i64 i = thread_number(); i < count; i += threads_of_grid()) met[entries[i]] = true;
}

// Whether v is one of the rising `sources`.
__device__ __forceinline__ bool is_source(i64 v, i64 count, const i64* sources)
{
    i64 low = 0, high = count;
    while (low < high) {
        const i64 middle = (low + high) / 2;
        if (sources[middle] < v) low = middle + 1;
        else high = middle;
    }
    return low < count && sources[low] == v;
}

// New ranks of the vertices 0 .. vertices - 1, and `pass(v, share)` of each, with what it passes along one of its edges;
// totals[0] gets the change of ranks, totals[1] all that is passed. A block has SETTLED vertices after each other for
// each of its threads: strided over all, each read met another page of memory.
template <typename F>
__device__ __forceinline__ void settle_each(i64 vertices, i64 source_count, i64 base, const i64* __restrict__ sources,
    double damping, const i64* __restrict__ degrees, const i64* __restrict__ sums, i64* __restrict__ ranks,
    unsigned long long* totals, F pass)
{
    i64 changed = 0, passed = 0, sum[SETTLED], degree[SETTLED], before[SETTLED];
    const i64 first = (i64)blockIdx.x * blockDim.x * SETTLED + threadIdx.x;
#pragma unroll
    for (int k = 0; k < SETTLED; k++) {  // all reads begin before the first write
        const i64 v = first + k * blockDim.x;
        sum[k] = v < vertices ? sums[v] : 0;
        degree[k] = v < vertices ? degrees[v] : 0;
        before[k] = v < vertices ? ranks[v] : 0;
    }
#pragma unroll
    for (int k = 0; k < SETTLED; k++) {
        const i64 v = first + k * blockDim.x;
        if (v >= vertices) break;
        const i64 rank = sum[k] + (source_count == 0 || is_source(v, source_count, sources) ? base : 0);
        const i64 share = degree[k] ? (i64)((double)rank * (damping / (double)degree[k])) : 0;
        changed += llabs(rank - before[k]);
        passed += share * degree[k];
        ranks[v] = rank;
        pass(v, share);
    }
    changed = group_sum(changed);
    passed = group_sum(passed);
    if (threadIdx.x == 0) {
        atomicAdd(totals, (unsigned long long)changed);
        atomicAdd(totals + 1, (unsigned long long)passed);
    }
}

extern "C" __global__ void settle(i64 vertices, i64 source_count, i64 base, const i64* sources, double damping,
    const i64* degrees, const i64* sums, i64* ranks, i64* shares, unsigned long long* totals)
{
    settle_each(vertices, source_count, base, sources, damping, degrees, sums, ranks, totals, [&](i64 v, i64 share) {
        shares[v] = share;
    });
}

// The same for the vertices of one of `gpus` GPUs, the first of which is vertex `own` of all. What a vertex passes is
// written to there[n][v], in the memory of each GPU that hears of it: wanted[n][v - own] says so, or is null for all.
extern "C" __global__ void settle_share(i64 vertices, i64 source_count, i64 base, const i64* sources, double damping,
    const i64* degrees, const i64* sums, i64* ranks, i64 own, i64 gpus, i64* const* there, const bool* const* wanted,
    unsigned long long* totals)
{
    settle_each(vertices, source_count, base, sources, damping, degrees, sums, ranks, totals, [&](i64 v, i64 share) {
        for (i64 n = 0; n < gpus; n++)
            if (!wanted[n] || wanted[n][v]) there[n][own + v] = share;
    });
}
