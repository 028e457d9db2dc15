// Shortest ways by weight: twin of engine/cpu/kernels/sssp.py, with the same state and the same sums. Row v of a block is at indptr[v - first].
#include "warp_rows.cuh"

const int CHUNK = 4096;

struct Relaxing {
    const u32* indices;
    const float* weights;
    double* distance;
    int* round_of;
    i64 number;
    unsigned char* following;
    double limit;

    // Entry i, from a vertex that is `far`.
    __device__ __forceinline__ void reach(i64 i, double far) const
    {
        const u32 u = indices[i];
        const double sum = far + (double)weights[i];
        if (sum >= distance[u]) return;
        const unsigned long long bits = (unsigned long long)__double_as_longlong(sum);
        if (bits < atomicMin((unsigned long long*)distance + u, bits) && sum < limit) {
            round_of[u] = (int)(number + 1);
            following[u / CHUNK] = 1;
        }
    }
};

// Go through the rows of the vertices first .. last - 1 that are of round `number`, and not long; neighbors that come below `limit` are of the next, and their chunks
// in `following`.
extern "C" __global__ void relax(i64 first, i64 last, const i64* indptr, const u32* indices, const float* weights, double* distance, int* round_of, i64 number, const unsigned char* active, unsigned char* following, double limit)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    const int lane = threadIdx.x % 32;
    const Relaxing state = {indices, weights, distance, round_of, number, following, limit};
    for (i64 base = first + ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32; base < last; base += stride) {
        const i64 v = base + lane;
        const bool wanted = v < last && active[v / CHUNK] && round_of[v] == number;
        const double far = wanted ? distance[v] : 0.0;
        const i64 begin = wanted ? indptr[v - first] : 0, end = wanted ? indptr[v - first + 1] : 0;
        each_entry(
            begin, end - begin < LONG ? end : begin,
            [&](i64 i) {
                state.reach(i, far);
                return true;
            },
            [&](i64 i, int owner) {
                const double others = __shfl_sync(WHOLE_WARP, far, owner);
                if (i >= 0) state.reach(i, others);
                return true;
            });
    }
}

// The same for long rows, those of the vertices `rows`.
extern "C" __global__ void relax_long(i64 count, const u32* rows, i64 first, const i64* indptr, const u32* indices, const float* weights, double* distance, int* round_of, i64 number, const unsigned char* active, unsigned char* following, double limit)
{
    const Relaxing state = {indices, weights, distance, round_of, number, following, limit};
    for (i64 n = blockIdx.x; n < count; n += gridDim.x) {
        const i64 v = rows[n];
        if (!active[v / CHUNK] || round_of[v] != number) continue;
        const double far = distance[v];
        each_entry_of_long(indptr[v - first], indptr[v - first + 1], [&](i64 i) { state.reach(i, far); });
    }
}

// Let vertices with floor <= distance < limit be of round `number`. found[0]: how many are; found[1]: bits of the least distance from `limit` on.
extern "C" __global__ void choose(i64 vertices, const double* distance, int* round_of, i64 number, unsigned char* active, double floor, double limit, unsigned long long* found)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    const unsigned long long infinite = 0x7FF0000000000000ull;
    unsigned long long chosen = 0, least = infinite;
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += stride) {
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
