// Whole rows with the biases of their edges, and numbers of pools: the twin of engine/cpu/kernels/layers.py.
#include "numbers.cuh"
#include "weigh.cuh"

// The neighbors of the entries, from start[e] on, and the biases of the edges to them. A block an entry.
extern "C" __global__ void weigh_rows(i64 entries, const i64* numbers, const i64* vertex, const i64* start, vertex_t* out, double* biases, Params params, i64* bad)
{
    for (i64 n = blockIdx.x; n < entries; n += gridDim.x) {
        const i64 e = numbers[n], v = vertex[e];
        const Row row = {locate(v), v, -1, -1, 0, 0, {0, 0}};
        for (i64 i = threadIdx.x; i < row.place.count; i += blockDim.x) {
            const i64 dst = neighbor_at(row.place.row + i);
            const double bias = bias_at(params, 0, row, i);
            if (!checked(bias, v, dst, bad)) return;
            out[start[e] + i] = (vertex_t)dst;
            biases[start[e] + i] = bias;
        }
    }
}

// When numbers of a pool arrive, each at an exponential time of its own rate.
extern "C" __global__ void race_numbers(i64 count, u64 seed, const i64* instance, const i64* slot, const i64* number, const double* rate, double* times)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        times[i] = neg_log(pool_word(seed, instance[i], slot[i], number[i])) / rate[i];
}
