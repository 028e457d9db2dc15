// Sketches of the vertices that each vertex reaches, 16 registers of a byte each: twin of
// engine/analytics/cpu/kernels/reach.py, with the same registers and the same estimates. Estimates are integers, so
// their sum has no order: its low 32 bits and what is above them are added apart, and neither overflows.
#include "frontier.cuh"
#include "lanes.cuh"

const int LARGEST = 56, REGISTERS = 16, UNIT = 16;
const double ALPHA = 0.673;

typedef ulonglong2 Sketch;

// The larger of each of the eight bytes of two words; bytes are below 128.
__device__ __forceinline__ u64 larger(u64 one, u64 other)
{
    const u64 high = 0x8080808080808080ull, is_first = ((one | high) - other) & high,
        mask = is_first | (is_first - (is_first >> 7));
    return (one & mask) | (other & ~mask);
}

__device__ __forceinline__ Sketch joined(Sketch one, Sketch other)
{
    return {larger(one.x, other.x), larger(one.y, other.y)};
}

__device__ __forceinline__ Sketch from_lane(Sketch own, int gap)
{
    return {__shfl_xor_sync(WHOLE_WARP, own.x, gap), __shfl_xor_sync(WHOLE_WARP, own.y, gap)};
}

// How many vertices a sketch has met, in units. few: by empty registers.
__device__ __forceinline__ i64 estimate(Sketch sketch, const double* few)
{
    i64 inverse = 0;
    int empty = 0;
    for (int half = 0; half < 2; half++) {
        const u64 word = half ? sketch.y : sketch.x;
        for (int byte = 0; byte < 8; byte++) {
            const int value = (int)(word >> 8 * byte & 0xFF);
            inverse += 1ll << (LARGEST - value);
            empty += value == 0;
        }
    }
    double found = ALPHA * REGISTERS * REGISTERS * (double)(1ll << LARGEST) / (double)inverse;
    if (found <= 2.5 * REGISTERS && empty) found = few[empty];
    return (i64)(found * UNIT);
}

// Make the sketch of each vertex alone.
extern "C" __global__ void begin(i64 vertices, u64 seed, u64 slot, u64 run, Sketch* registers)
{
    for (i64 v = thread_number(); v < vertices; v += threads_of_grid()) {
        const u64 word = draw64(seed, (u64)v, slot, run);
        u64 value = 1;
        while (value < LARGEST && !(word >> (60 - value) & 1)) value++;
        const u64 place = word >> 60, set = value << 8 * (place & 7);
        registers[v] = place >> 3 ? Sketch{0, set} : Sketch{set, 0};
    }
}

// The sketch of vertex `row` joined with this thread's share of its neighbors.
__device__ __forceinline__ Sketch part_of_row(i64 first, i64 row, int lane, int lanes, const i64* indptr,
    const vertex_t* indices, const Sketch* registers)
{
    Sketch own = registers[first + row];
    for (i64 i = indptr[row] + lane, end = indptr[row + 1]; i < end; i += lanes) own = joined(own, registers[indices[i]]);
    return own;
}

// Note the joined sketch of vertex v, and add what it has met, and whether it has changed, to the thread's numbers.
__device__ __forceinline__ void settle(i64 v, Sketch sketch, const Sketch* registers, Sketch* following,
    const double* few, i64* low, i64* high, i64* changed)
{
    const Sketch before = registers[v];
    following[v] = sketch;
    const i64 units = estimate(sketch, few);
    *low += units & 0xFFFFFFFFll;
    *high += units >> 32;
    *changed += sketch.x != before.x || sketch.y != before.y;
}

__device__ __forceinline__ void add(i64 low, i64 high, i64 changed, unsigned long long* found)
{
    __syncwarp();
    add_over_warp(low, found);
    add_over_warp(high, found + 1);
    add_over_warp(changed, found + 2);
}

template <int LANES>
__device__ __forceinline__ void join(i64 count, const vertex_t* rows, i64 first, const i64* indptr,
    const vertex_t* indices, const Sketch* registers, Sketch* following, const double* few, unsigned long long* found)
{
    const int lane = threadIdx.x % LANES;
    i64 low = 0, high = 0, changed = 0;
    each_row<LANES>(count, rows, [&](i64 row) {
        Sketch sketch = row < 0 ? Sketch{0, 0} : part_of_row(first, row, lane, LANES, indptr, indices, registers);
        for (int gap = LANES / 2; gap; gap /= 2) sketch = joined(sketch, from_lane(sketch, gap));
        if (row >= 0 && lane == 0) settle(first + row, sketch, registers, following, few, &low, &high, &changed);
    });
    add(low, high, changed, found);
}

// Join the sketches of the vertices of rows[0 .. count - 1] of the block whose first vertex is `first` with those of
// their neighbors. found[0] and found[1]: sums of the low 32 bits of estimates, and of what is above them; found[2]:
// sketches that have changed.
extern "C" __global__ void join_2(i64 count, const vertex_t* rows, i64 first, const i64* indptr,
    const vertex_t* indices, const Sketch* registers, Sketch* following, const double* few, unsigned long long* found)
{
    join<2>(count, rows, first, indptr, indices, registers, following, few, found);
}

extern "C" __global__ void join_8(i64 count, const vertex_t* rows, i64 first, const i64* indptr,
    const vertex_t* indices, const Sketch* registers, Sketch* following, const double* few, unsigned long long* found)
{
    join<8>(count, rows, first, indptr, indices, registers, following, few, found);
}

extern "C" __global__ void join_32(i64 count, const vertex_t* rows, i64 first, const i64* indptr,
    const vertex_t* indices, const Sketch* registers, Sketch* following, const double* few, unsigned long long* found)
{
    join<32>(count, rows, first, indptr, indices, registers, following, few, found);
}

extern "C" __global__ void join_hub(i64 count, const vertex_t* rows, i64 first, const i64* indptr,
    const vertex_t* indices, const Sketch* registers, Sketch* following, const double* few, unsigned long long* found)
{
    __shared__ Sketch of_warps[32];
    i64 low = 0, high = 0, changed = 0;
    const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    for (i64 at = blockIdx.x; at < count; at += gridDim.x) {
        Sketch sketch = part_of_row(first, (i64)rows[at], threadIdx.x, blockDim.x, indptr, indices, registers);
        for (int gap = 16; gap; gap /= 2) sketch = joined(sketch, from_lane(sketch, gap));
        __syncthreads();  // all have read those of the row before
        if (lane == 0) of_warps[threadIdx.x / 32] = sketch;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int warp = 1; warp < warps; warp++) sketch = joined(sketch, of_warps[warp]);
            settle(first + (i64)rows[at], sketch, registers, following, few, &low, &high, &changed);
        }
    }
    add(low, high, changed, found);
}
