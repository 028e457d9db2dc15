// A step of a rejection walk whose row hardly accepts any proposal, drawn from the whole row: the twin of from_whole_row in cpu/kernels/rejection.py.
// A lane does it alone, in the order of the row, so that sums and the decision are those of the CPU; rows are met so after as many trials.
#pragma once
#include "weigh.cuh"

// HOPELESS: the share of trials that accept, below which a row is not tried. plan/selection.py and
// cpu/kernels/rejection.py have the same.
constexpr double HOPELESS = 0x1p-20;
constexpr i64 TRIALS = 64;            // before a row is looked at, and one for each neighbor
constexpr i64 TRY_ON = -2;            // instead of a vertex

__device__ __forceinline__ double weighted_bias(const Params& params, u64 seed, const Row& row, i64 index, double& times, double& weight)
{
    const i64 position = row.place.row + index, dst = neighbor_at(position);
    const Context context = {row.prev, row.v, -1, row.prev_place, row.place, {0, 0}};
    times = edge_bias(params, context, seed, row.instance, row.depth, row.source, row.prev, row.v, dst, 1.0);
    weight = WEIGHTED ? (double)stored_weight(position) : 1.0;
    return weight * times;
}

// A neighbor by inverse transform over the row if trials are hopeless, else TRY_ON; -1 where nothing can be taken or a bias is bad.
__device__ __forceinline__ i64 from_whole_row(const Params& params, u64 seed, const Row& row, double high, u64 trial, i64* bad)
{
    const i64 count = row.place.count;
    double accepted = 0.0, proposed = 0.0, largest = 0.0, times, weight;
    i64 target = 0;
    Units upto = {0, 0};
    int shift = 0;
    for (int pass = 0; pass < 3; ++pass) {  // sums; the total in integers; the neighbor: one place where the hook is called
        upto = {0, 0};
        for (i64 i = 0; i < count; ++i) {
            const double bias = weighted_bias(params, seed, row, i, times, weight);
            if (pass == 0) {
                if (!checked(bias, row.v, neighbor_at(row.place.row + i), bad)) return -1;
                accepted += bias;
                proposed += weight * fmax(high, times);
                largest = fmax(largest, bias);
                continue;
            }
            const Units own = units_of(bias, shift);
            upto = {upto.whole + own.whole, upto.rest + own.rest};
            if (pass == 2 && in_units(upto) > target) return neighbor_at(row.place.row + i);
        }
        if (pass == 0) {
            if (!(accepted < HOPELESS * proposed)) return TRY_ON;
            if (!(largest > 0.0)) return -1;
            shift = shift_for(largest, count);
        } else {
            target = (i64)below(draw64(seed, row.instance, row.depth, trial), (u64)in_units(upto));  // the word of the trial that is not made
        }
    }
    return -1;
}
