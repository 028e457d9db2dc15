// Core numbers by estimates that fall: twin of lower in engine/analytics/cpu/kernels/components.py. A row's threads count
// neighbors once for each step of a binary search.
#include "lanes.cuh"

// How many neighbors of a row have estimates of at least `least`.
template <int LANES>
__device__ __forceinline__ i64 as_high(i64 begin, i64 end, int lane, int lanes, const vertex_t* indices, const i64* cores,
    i64 least)
{
    i64 found = 0;
    for (i64 i = begin + lane; i < end; i += lanes) found += cores[indices[i]] >= least;
    return row_sum<LANES>(found);
}

// Lower the estimate of one active vertex to the most neighbors whose estimates are as high, and mark those that this
// may lower next. Other rows' threads may lower estimates meanwhile, and what they lowered may not be seen here; they
// mark this vertex then. A row that is not active comes along with nothing to do.
template <int LANES>
__device__ __forceinline__ void lower_row(i64 first, i64 row, int lane, int lanes, const i64* indptr,
    const vertex_t* indices, i64* cores, const unsigned char* active, unsigned char* following)
{
    const bool at_work = row >= 0 && active[first + row];
    const i64 begin = at_work ? indptr[row] : 0, end = at_work ? indptr[row + 1] : 0,
        estimate = at_work ? cores[first + row] : 0;
    i64 found = 0, above = estimate + 1;  // the answer is at least found and below above
    for (i64 tried = estimate;; tried = (found + above) / 2) {
        const bool open = above - found > 1;
        const bool any = LANES == 0 ? open : __any_sync(~0u, open);
        if (!any) break;
        const i64 count = as_high<LANES>(begin, open ? end : begin, lane, lanes, indices, cores, tried);
        if (open && count >= tried) found = tried;
        else if (open) above = tried;
    }
    if (found == estimate) return;
    if (lane == 0) cores[first + row] = found;
    for (i64 i = begin + lane; i < end; i += lanes)
        if (cores[indices[i]] > found) following[indices[i]] = 1;
}

template <int LANES>
__device__ __forceinline__ void lower(i64 count, const vertex_t* rows, i64 first, const i64* indptr, const vertex_t* indices,
    i64* cores, const unsigned char* active, unsigned char* following)
{
    each_row<LANES>(count, rows, [&](i64 row) { lower_row<LANES>(first, row, threadIdx.x % LANES, LANES, indptr,
        indices, cores, active, following); });
}

// Active vertices of rows[0 .. count - 1] of the block whose first vertex is `first`; cores, active and following are
// of all vertices.
extern "C" __global__ void lower_2(i64 count, const vertex_t* rows, i64 first, const i64* indptr, const vertex_t* indices,
    i64* cores, const unsigned char* active, unsigned char* following)
{
    lower<2>(count, rows, first, indptr, indices, cores, active, following);
}

extern "C" __global__ void lower_8(i64 count, const vertex_t* rows, i64 first, const i64* indptr, const vertex_t* indices,
    i64* cores, const unsigned char* active, unsigned char* following)
{
    lower<8>(count, rows, first, indptr, indices, cores, active, following);
}

extern "C" __global__ void lower_32(i64 count, const vertex_t* rows, i64 first, const i64* indptr, const vertex_t* indices,
    i64* cores, const unsigned char* active, unsigned char* following)
{
    lower<32>(count, rows, first, indptr, indices, cores, active, following);
}

extern "C" __global__ void lower_hub(i64 count, const vertex_t* rows, i64 first, const i64* indptr, const vertex_t* indices,
    i64* cores, const unsigned char* active, unsigned char* following)
{
    for (i64 at = blockIdx.x; at < count; at += gridDim.x) lower_row<0>(first, rows[at], threadIdx.x, blockDim.x,
        indptr, indices, cores, active, following);
}
