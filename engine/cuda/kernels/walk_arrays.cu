// What is done with the arrays of walks before and after they are drawn.
#include "walker.cuh"
#if TIMED
#include "by_time.cuh"
#endif

// Copy the steps that `count` walkers took in a round, `width` entries each, to their walks, which begin at `begins` in `out`.
extern "C" __global__ void gather_round(i64 count, i64 width, i64 before, const i64* walkers, const int* steps, const i64* begins, const vertex_t* round, vertex_t* out)
{
    for (i64 entry = blockIdx.x * (i64)blockDim.x + threadIdx.x; entry < count * width; entry += (i64)gridDim.x * blockDim.x) {
        const i64 walker = walkers[entry / width], step = before + 1 + entry % width;
        if (step <= steps[walker]) out[begins[walker] + step] = round[entry];
    }
}

// Sums over all walks: steps, and walks that ended early.
extern "C" __global__ void count_walks(Output o, u64* edges, u64* dead)
{
    i64 taken = 0, ended = 0;
    for (i64 n = o.begin + (i64)blockIdx.x * blockDim.x + threadIdx.x; n < o.end; n += (i64)gridDim.x * blockDim.x) {
        taken += o.steps[n];
        ended += o.steps[n] < o.length;
    }
    taken = group_sum(taken);
    ended = group_sum(ended);
    if (threadIdx.x == 0) { atomicAdd(edges, (u64)taken); atomicAdd(dead, (u64)ended); }
}

#if TIMED
// The time of no edge, everywhere.
extern "C" __global__ void fill_times(i64 count, i64* times)
{
    for (i64 i = 2 * ((i64)blockIdx.x * blockDim.x + threadIdx.x); i < count; i += 2 * (i64)gridDim.x * blockDim.x) {
        if (i + 1 < count) *(longlong2*)(times + i) = make_longlong2(LEAST_TIME, LEAST_TIME);
        else times[i] = LEAST_TIME;
    }
}
#endif
