// Shortest paths by weight: twin of engine/analytics/cpu/kernels/sssp.py, with the same state and the same sums. Row v
// of a block is at indptr[v - first].
#include "sssp.cuh"

// Lower the distance of the neighbor at entry i, from a vertex that is `far`.
__device__ __forceinline__ void relax_entry(const Round& round, i64 i, double far)
{
    const vertex_t u = round.indices[i];
    const double sum = round.sum(i, far);
    if (lowered(round.distance + u, sum) && sum < round.limit) round.take_up(u);
}

// Go through the rows of the vertices first .. last - 1 that are of round `number`, and not long; neighbors that come
// below `limit` are of the next, and their chunks in `following`.
extern "C" __global__ void relax(i64 first, i64 last, const i64* indptr, const vertex_t* indices, const float* weights,
    double* distance, int* round_of, i64 number, const unsigned char* active, unsigned char* following, double limit)
{
    const Round round{indices, weights, distance, round_of, number, following, limit};
    relax_rows(first, last, indptr, round, active, [&](i64 i, double far) { relax_entry(round, i, far); });
}

// Go through the long rows of the round, those of the vertices `rows`.
extern "C" __global__ void relax_long(i64 count, const vertex_t* rows, i64 first, const i64* indptr, const vertex_t* indices,
    const float* weights, double* distance, int* round_of, i64 number, const unsigned char* active,
    unsigned char* following, double limit)
{
    const Round round{indices, weights, distance, round_of, number, following, limit};
    relax_long_rows(count, rows, first, indptr, round, active, [&](i64 i, double far) { relax_entry(round, i, far); });
}

// Let those of the vertices first .. last - 1 with floor <= distance < limit be of round `number`. found[0]: how many
// are; found[1]: bits of the least distance from `limit` on. Of `every` chunks, number `own` is
// looked at.
extern "C" __global__ void choose(i64 first, i64 last, i64 own, i64 every, const double* distance, int* round_of, i64 number,
    unsigned char* active, double floor, double limit, unsigned long long* found)
{
    const unsigned long long infinite = 0x7FF0000000000000ull;
    unsigned long long chosen = 0, least = infinite;
    for (i64 v = first + thread_number(); v < last; v += threads_of_grid()) {
        if ((u32)(v / CHUNK) % (u32)every != (u32)own) continue;
        const double far = distance[v];
        if (far >= limit) {
            least = min(least, (unsigned long long)__double_as_longlong(far));
        } else if (far >= floor) {
            round_of[v] = (int)number;
            active[v / CHUNK] = 1;
            chosen++;
        }
    }
    for (int step = 16; step; step /= 2) {
        chosen += __shfl_down_sync(WHOLE_WARP, chosen, step);
        least = min(least, __shfl_down_sync(WHOLE_WARP, least, step));
    }
    if (threadIdx.x % 32) return;
    if (chosen) atomicAdd(found, chosen);
    if (least < infinite) atomicMin(found + 1, least);
}
