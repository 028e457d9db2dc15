// Lists of edges in time: those that each frontier entry may select, all or some by numbers that entries share. The twin of engine/cpu/kernels/by_time.py.
#include "frontier.cuh"
#include "by_time.cuh"

// A block an entry, of which all threads search the same range. An entry with d edges before `now` keeps those to neighbors whose number of [0, 1) is below
// size / d; -1 keeps all. Edge k of the d has the cell k of its entry, and `found` gets d. Cells of others stay as they are.
extern "C" __global__ void list_in_time(i64 entries, const i64* numbers, Frontier f, const i64* now, i64* time, i64 window, u64 seed, i64 depth, i64 size)
{
    for (i64 n = blockIdx.x; n < entries; n += gridDim.x) {
        const i64 e = numbers[n];
        const Place place = locate(f.vertex[e]);
        const TimeSpan range = candidates_of(place, now[e], true, window, LARGEST_TIME);
        const i64 count = range.high - range.low;
        for (i64 k = threadIdx.x; k < count; k += blockDim.x) {
            const i64 position = place_at(place, range.low + k);
            const u64 dst = (u64)neighbor_at(position);
            const u64 word = draw64(seed, (u64)f.instance[e], (u64)depth + (dst >> 32 << 16), dst & 0xFFFFFFFFull);
            if (size < 0 || below(word, (u64)count) < (u64)size) {
                f.out[f.start[e] + k] = (vertex_t)dst;
                time[f.start[e] + k] = time_at(position);
            }
        }
        if (threadIdx.x == 0) f.found[e] = count;
    }
}
