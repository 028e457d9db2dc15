// Numbers of shortest paths and what depends on them: twin of engine/analytics/cpu/kernels/bfs.py. ROW_LANES
// threads serve a row, and a warp a piece of a long one; sums have the order that is said there.
#include "lanes.cuh"
#include "ordered.cuh"

// Vertices at a level, in order, with their rows: that of v is at indptr[v - first]. The pieces of long rows are
// numbered: at[n] come before vertex n, `before` of them before the first one here.
struct LevelRows {
    const vertex_t* order;
    const i64* at;
    const i64* indptr;
    const vertex_t* indices;
    i64 first, before;
};

// `found(n, sum)` for each of `count` vertices: the sum of the values of neighbors over the row of vertex n, in the first
// of its threads. `sums`: of the pieces of long rows. Threads past the last vertex come along, as sums ask whole warps.
template <typename F>
__device__ __forceinline__ void sum_each(i64 count, const LevelRows& rows, const double* values, const double* sums,
    F found)
{
    each_by_lanes<ROW_LANES>(count, [&](i64 n) {
        const bool at_work = n >= 0, is_long = at_work && rows.at[n] < rows.at[n + 1];
        const i64 row = at_work ? rows.order[n] - rows.first : 0;
        const i64 begin = is_long ? rows.at[n] - rows.before : at_work ? rows.indptr[row] : 0;
        const i64 end = is_long ? rows.at[n + 1] - rows.before : at_work ? rows.indptr[row + 1] : 0;
        const int lane = threadIdx.x % ROW_LANES;
        const double sum = piece_sum<ROW_LANES>(begin, end, lane, [&](i64 i) {
            return is_long ? sums[i] : __ldg(values + rows.indices[i]);
        });
        if (at_work && lane == 0) found(n, sum);
    });
}

// The sums of the pieces of the long rows among `count` vertices.
extern "C" __global__ void sum_pieces(i64 pieces, i64 count, LevelRows rows, const double* values, double* sums)
{
    for (i64 piece = warp_number(); piece < pieces; piece += warps_of_grid()) {
        i64 low = 0, high = count - 1;  // the first vertex with more pieces up to its end
        while (low < high) {
            const i64 middle = low + high >> 1;
            if (rows.at[middle + 1] - rows.before > piece) high = middle;
            else low = middle + 1;
        }
        const i64 v = rows.order[low],
            begin = rows.indptr[v - rows.first] + SUM_PIECE * (piece - (rows.at[low] - rows.before));
        const double sum = piece_sum<32>(begin, min(begin + SUM_PIECE, rows.indptr[v - rows.first + 1]), threadIdx.x % 32,
            [&](i64 i) { return __ldg(values + rows.indices[i]); });
        if (threadIdx.x % 32 == 0) sums[piece] = sum;
    }
}

// ways[v] of `count` vertices of a level: the sum of `nearer` of all neighbors, which has the ways of the level before,
// and 0 of vertices at this level and the next. Rows are those backward. `others` more GPUs are told: the same place of
// their_ways[k], in the memory of each.
extern "C" __global__ void count_ways(i64 count, LevelRows rows, const double* sums, const double* nearer, double* ways,
    i64 others, double* const* their_ways)
{
    sum_each(count, rows, nearer, sums, [&](i64 n, double sum) {
        const i64 v = rows.order[n];
        ways[v] = sum;
        for (i64 k = 0; k < others; k++) their_ways[k][v] = sum;
    });
}

// Add to `total` what depends on `count` vertices of a level; passed[v] = (1 + dependency of v) / ways[v], which other
// GPUs are told as above. `farther` has those of the level after it, and 0 of vertices at this level and the one before.
extern "C" __global__ void depend(i64 count, LevelRows rows, const double* sums, const double* farther, double* passed,
    const double* ways, double* total, i64 others, double* const* their_passed)
{
    sum_each(count, rows, farther, sums, [&](i64 n, double sum) {
        const i64 v = rows.order[n];
        const double dependency = ways[v] * sum, share = (1.0 + dependency) / ways[v];
        passed[v] = share;
        for (i64 k = 0; k < others; k++) their_passed[k][v] = share;
        total[v] += dependency;
    });
}
