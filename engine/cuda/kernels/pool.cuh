// The pool that a frontier entry selects from: its candidates, their biases and running sums. See select.cu.
#pragma once
#include "collide.cuh"

// Room for the entries of a launch, entry n from offset[n] on: an element a neighbor (bits for `taken`).
struct Scratch { const i64* offset; double* biases; i64 *ctps, *pool, *picked; u32* taken; };

// Whether a pool is kept as the few positions that are not in it: a long row of which little has been seen, and picks by number alone.
#define SPARSE (POOLED && UNIFORM && SELECT == SELECT_UNIFORM && !INDUCED && !EACH_EDGE_ONCE)

struct Pool {  // one entry's candidates
    Row row;
    i64 count;
    double* biases;
    i64 *ctps, *chosen, *picked;
    u32* taken;
    i64 gaps;  // SPARSE: ranges of the row that are left out; gap g begins at chosen[g], and ctps[g] positions are left out up to its end

    __device__ __forceinline__ i64 position(i64 i) const
    {
        if (SPARSE && gaps >= 0) {
            i64 low = 0, high = gaps;  // the first gap that begins beyond candidate i
            while (low < high) {
                const i64 middle = (low + high) >> 1;
                if (chosen[middle] - (middle ? ctps[middle - 1] : 0) > i) high = middle;
                else low = middle + 1;
            }
            return i + (low ? ctps[low - 1] : 0);
        }
        return POOLED ? chosen[i] : i;
    }
};

__device__ __forceinline__ bool has(const i64* seen, i64 low, i64 high, i64 value)
{
    const i64 end = high;
    while (low < high) {
        const i64 middle = (low + high) >> 1;
        if (seen[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low < end && seen[low] == value;
}

// The indices i in [0, count) for which `keep(i)`, in order, to `to`; returns how many.
template <typename F>
__device__ __forceinline__ i64 compact(i64 count, i64* to, F keep)
{
    i64 size = 0;
    for (i64 base = 0; base < count; base += blockDim.x) {
        const i64 i = base + threadIdx.x;
        const bool kept = i < count && keep(i);
        i64 all;
        const i64 upto = size + group_scan(kept, all);
        if (kept) to[upto - 1] = i;
        size += all;
    }
    group_sync();
    return size;
}

// The row's ranges of vertices that have been seen, as gaps of the pool.
__device__ __forceinline__ void leave_out(Pool& pool, const i64* seen, i64 low, i64 high)
{
    const i64 row = pool.row.place.row, end = row + pool.row.place.count;
    i64 out = 0;
    pool.gaps = 0;
    for (i64 base = low; base < high; base += blockDim.x) {
        const i64 s = base + threadIdx.x;
        i64 first = end, last = end;
        if (s < high && (s == low || seen[s] != seen[s - 1])) {
            first = first_at_least(row, end, seen[s]);
            last = first;
            while (last < end && neighbor_at(last) == seen[s]) ++last;
        }
        i64 all, all_out;
        const i64 gap = pool.gaps + group_scan(last > first, all) - 1, upto = out + group_scan(last - first, all_out);
        if (last > first) { pool.chosen[gap] = first - row; pool.ctps[gap] = upto; }
        pool.gaps += all;
        out += all_out;
    }
    pool.count = pool.row.place.count - out;
    group_sync();
}

// Biases of the pool; the largest, or -1 when one is bad.
__device__ __forceinline__ double weigh(const Params& params, u64 seed, const Pool& pool, i64* bad)
{
    double largest = 0.0;
    bool fine = true;
    for (i64 i = threadIdx.x; i < pool.count; i += blockDim.x) {
        const i64 at = pool.position(i);
        const double bias = UNIFORM ? 1.0 : bias_at(params, seed, pool.row, at);
        fine = checked(bias, pool.row.v, neighbor_at(pool.row.place.row + at), bad) && fine;
        pool.biases[i] = bias;
        largest = fmax(largest, bias);
    }
    group_sync();
    return group_all(fine) ? group_max(largest) : -1.0;
}

// The running sums of the biases of the pool, and their total. KEEPS: see weigh.cuh.
template <bool KEEPS>
__device__ __forceinline__ i64 accumulate(const Pool& pool, double largest)
{
    Units total = {0, 0};
    const int shift = shift_for(largest, pool.count);
    for (i64 base = 0; base < pool.count; base += blockDim.x) {
        const i64 i = base + threadIdx.x;
        const i64 upto = in_units(add_up<KEEPS>(i < pool.count ? units_of<KEEPS>(pool.biases[i], shift) : Units{0, 0}, total));
        if (i < pool.count) pool.ctps[i] = upto;
    }
    group_sync();
    return in_units(total);
}
