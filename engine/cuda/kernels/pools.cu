// Uniform picks from a pool of several vertices, numbers first and edges when their rows are there: the twin of engine/cpu/kernels/traverse.py. After select.cu.
#include "numbers.cuh"

// Ends of the edges at `offset` in the entries' rows, where they may be selected at all. A warp an entry.
extern "C" __global__ void look_up(i64 entries, const i64* numbers, Frontier f, const i64* offset)
{
    const i64 stride = (i64)gridDim.x * blockDim.x >> 5;
    for (i64 n = ((i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; n < entries; n += stride) {
        const i64 e = numbers[n], v = f.vertex[e], end = f.start[e] + f.capacity[e];
        const Place place = locate(v);
        for (i64 cell = f.start[e] + lane_of(); cell < end; cell += 32) {
            const i64 dst = neighbor_at(place.row + offset[cell]);
            const bool possible = EACH_EDGE_ONCE ? v <= dst : has(f.seen, f.seen_from[e], f.seen_to[e], dst) == bool(INDUCED);
            if (!POOLED || possible) f.out[cell] = (vertex_t)dst;
        }
    }
}
