// Sums of floating-point numbers over the neighbors of each vertex: twin of
// engine/analytics/cpu/kernels/sums.py, in the order of ordered.cuh, in which fewer threads serve a short row, each
// for several lanes.
#include "lanes.cuh"
#include "ordered.cuh"

// out[rows[k]] = the sum of `values` of the neighbors in that row, for k < count, by LANES threads or by the warp of
// LANES 32. Row r of the block is at indptr[r].
template <int LANES>
__device__ __forceinline__ void sum_rows(i64 count, const vertex_t* rows, const i64* indptr, const vertex_t* indices,
    const double* values, double* out)
{
    const int lane = threadIdx.x % LANES;
    each_row<LANES>(count, rows, [&](i64 row) {
        const i64 begin = row < 0 ? 0 : indptr[row], end = row < 0 ? 0 : indptr[row + 1];
        const auto value = [&](i64 i) { return values[indices[i]]; };
        double sum;
        if constexpr (LANES == 32) sum = ordered_warp_sum(begin, end, value);
        else sum = piece_sum<LANES>(begin, end, lane, value);
        if (row >= 0 && lane == 0) out[row] = sum;
    });
}

// Rows of fewer than 8 entries.
extern "C" __global__ void ordered_sums_2(i64 count, const vertex_t* rows, const i64* indptr, const vertex_t* indices,
    const double* values, double* out)
{
    sum_rows<2>(count, rows, indptr, indices, values, out);
}

// Rows of 8 to 63 entries.
extern "C" __global__ void ordered_sums_8(i64 count, const vertex_t* rows, const i64* indptr, const vertex_t* indices,
    const double* values, double* out)
{
    sum_rows<8>(count, rows, indptr, indices, values, out);
}

// Rows of 64 to 2047 entries.
extern "C" __global__ void ordered_sums_32(i64 count, const vertex_t* rows, const i64* indptr,
    const vertex_t* indices, const double* values, double* out)
{
    sum_rows<32>(count, rows, indptr, indices, values, out);
}

// Longer rows, by a block.
extern "C" __global__ void ordered_sums_hub(i64 count, const vertex_t* rows, const i64* indptr,
    const vertex_t* indices, const double* values, double* out)
{
    for (i64 at = blockIdx.x; at < count; at += gridDim.x) {
        const i64 row = rows[at];
        const double sum = ordered_block_sum(indptr[row], indptr[row + 1], [&](i64 i) { return values[indices[i]]; });
        if (threadIdx.x == 0) out[row] = sum;
    }
}
