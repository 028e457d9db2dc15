// Rows of one round of shortest paths by weight, for the kernels of one GPU and of several that share the vertices. Row
// v of a block is at indptr[v - first].
#pragma once
#include "warp_rows.cuh"

const int CHUNK = 4096;

// A round: rows that are gone through, and the state of vertices. round_of[v] is the round of vertex v; `following` has
// a byte for each chunk with a vertex of the next round.
struct Round {
    const vertex_t* indices;
    const float* weights;
    double* distance;
    int* round_of;
    i64 number;
    unsigned char* following;
    double limit;

    // The sum of weights along entry i, from a vertex that is `far`.
    __device__ __forceinline__ double sum(i64 i, double far) const { return far + (double)weights[i]; }

    // Let a vertex be of the next round.
    __device__ __forceinline__ void take_up(vertex_t u) const
    {
        round_of[u] = (int)(number + 1);
        following[u / CHUNK] = 1;
    }
};

// `reach(i, far)` for each entry i of the rows of the vertices first .. last - 1 that are of the round, and not long.
// `far`: the distance of the row's vertex.
template <typename F>
__device__ __forceinline__ void relax_rows(i64 first, i64 last, const i64* indptr, const Round& round,
    const unsigned char* active, F reach)
{
    const int lane = threadIdx.x % 32;
    for (i64 base = first + warp_number() * 32; base < last; base += threads_of_grid()) {
        const i64 v = base + lane;
        const bool wanted = v < last && active[v / CHUNK] && round.round_of[v] == round.number;
        const double far = wanted ? round.distance[v] : 0.0;
        const i64 begin = wanted ? indptr[v - first] : 0, end = wanted ? indptr[v - first + 1] : 0;
        each_entry(
            begin, end - begin < LONG ? end : begin,
            [&](i64 i) {
                reach(i, far);
                return true;
            },
            [&](i64 i, int owner) {
                const double others = __shfl_sync(WHOLE_WARP, far, owner);
                if (i >= 0) reach(i, others);
                return true;
            });
    }
}

// `reach(i, far)` for each entry i of the long rows of the round, those of the vertices `rows`.
template <typename F>
__device__ __forceinline__ void relax_long_rows(i64 count, const vertex_t* rows, i64 first, const i64* indptr,
    const Round& round, const unsigned char* active, F reach)
{
    const auto wanted = [&](i64 v) { return active[v / CHUNK] && round.round_of[v] == round.number; };
    each_long_row(count, rows, wanted, [&](i64 v) {
        const double far = round.distance[v];
        each_entry_of_long(indptr[v - first], indptr[v - first + 1], [&](i64 i) { reach(i, far); });
    });
}

// Lower a distance to `sum`. Whether it was larger.
__device__ __forceinline__ bool lowered(double* distance, double sum)
{
    if (sum >= *distance) return false;
    const unsigned long long bits = (unsigned long long)__double_as_longlong(sum);
    return bits < atomicMin((unsigned long long*)distance, bits);
}
