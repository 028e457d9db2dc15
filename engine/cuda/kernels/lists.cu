// Whole rows: the twin of list_rows in engine/cpu/kernels/layers.py.
#include "graph.cuh"

// The neighbors of the entries, from start[e] on. A block an entry.
extern "C" __global__ void list_rows(i64 entries, const i64* numbers, const i64* vertex, const i64* start, vertex_t* out)
{
    for (i64 n = blockIdx.x; n < entries; n += gridDim.x) {
        const i64 e = numbers[n];
        const Place place = locate(vertex[e]);
        for (i64 i = threadIdx.x; i < place.count; i += blockDim.x) out[start[e] + i] = (vertex_t)neighbor_at(place.row + i);
    }
}
