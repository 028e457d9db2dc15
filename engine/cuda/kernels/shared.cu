// Neighbors that entries keep by numbers that they share: the twin of select_shared in engine/cpu/kernels/layers.py.
#include "graph.cuh"

// A block an entry. Neighbors that are not kept stay as they are in `out`.
extern "C" __global__ void select_shared(i64 entries, const i64* numbers, u64 seed, const i64* instance, const i64* vertex, const i64* start, i64 depth, i64 size, vertex_t* out)
{
    for (i64 n = blockIdx.x; n < entries; n += gridDim.x) {
        const i64 e = numbers[n];
        const Place place = locate(vertex[e]);
        for (i64 i = threadIdx.x; i < place.count; i += blockDim.x) {
            const u64 dst = (u64)neighbor_at(place.row + i);
            const u64 word = draw64(seed, (u64)instance[e], (u64)depth + (dst >> 32 << 16), dst & 0xFFFFFFFFull);
            if (size < 0 || below(word, (u64)place.count) < (u64)size) out[start[e] + i] = (vertex_t)dst;
        }
    }
}
