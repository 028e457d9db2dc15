// Triangles of which two vertices are of the dense part: the DENSE vertices of highest degree, where products of bit
// matrices find them faster than lookups.
//
// A row of bits for each of these says which others are its neighbors (`matrix`; only lower ones unless EACH). Of a
// vertex x with many lower neighbors there, X is such a row, too; the product of X and the matrix, counted where X has
// a bit, is the number of edges among these neighbors (with EACH from both ends): its triangles. Tensor cores multiply
// 16 rows of 256 bits by 8 in an instruction, on GPUs of compute capability 8.0 or more; on others there is no dense
// part.
//
// A block has ROWS rows in shared memory, and each warp of it takes the next 32 columns. Threads read 16 bytes of a row
// at a time: which bits stand at which place of an instruction does not matter, as long as both sides agree.

#include "graph.cuh"
#include "ranked.cuh"

typedef unsigned long long count_t;
constexpr int ROWS = 64;               // rows of a block
constexpr int WORDS = DENSE / 32;       // of a row
constexpr int STRIDE = WORDS + 16;     // words from a row to the next in shared memory, so that two rows side by side use all banks
constexpr int COLUMNS = 32;            // that a warp multiplies at a time
constexpr int TALL = ROWS / 16, WIDE_TILES = COLUMNS / 8;

// sums += rows * columns, of 16 x 256 and 256 x 8 bits: PTX ISA, mma.m16n8k256.
__device__ __forceinline__ void multiply(u32 (&sums)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#endif
}

// Say of which rows the dense part has at least `least` lower neighbors.
extern "C" __global__ void choose_dense(i64 count, Ranked* ranked, const near_t* near, u32 least)
{
    for (i64 k = thread_number(); k < count; k += threads_of_grid())
        if (ranked[k].close >= least && near[4 * ranked[k].near + least - 1] < DENSE) ranked[k].dense = DENSE;
}

// Mark the neighbors of the vertices 0 .. last - 1 within the dense part. A warp a row.
extern "C" __global__ void mark_dense(i64 last, const Ranked* ranked, const near_t* near, u32* matrix)
{
    for (i64 y = warp_number(); y < last; y += warps_of_grid()) {
        const Ranked row = row_of(ranked, y);
        for (u32 i = threadIdx.x % 32; i < row.close; i += 32) {
            const u32 w = near[4 * row.near + i];
            atomicOr(&matrix[y * WORDS + w / 32], 1u << (w % 32));
            if (EACH) atomicOr(&matrix[(i64)w * WORDS + y / 32], 1u << (y % 32));
        }
    }
}

// Triangles of the vertices first + chosen[0 .. count - 1] with two of the dense part; `total` counts each twice with
// EACH.
extern "C" __global__ void __launch_bounds__(384) count_dense(i64 count, const i64* chosen, i64 first,
    const Ranked* ranked, const near_t* near, const uint4* matrix,
                                                              count_t* total, count_t* counts)
{
    extern __shared__ uint4 units[];
    u32* const marks = (u32*)units;
    __shared__ u32 found[EACH ? ROWS : 1];
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32, group = lane / 4,
        place = lane % 4;
    const i64 row = (i64)blockIdx.x * ROWS;
    for (int i = threadIdx.x; i < ROWS * STRIDE; i += blockDim.x) marks[i] = 0;
    if (EACH) if (threadIdx.x < ROWS) found[threadIdx.x] = 0;
    __syncthreads();
    for (int r = warp; r < ROWS && row + r < count; r += warps) {
        const Ranked x = row_of(ranked, chosen[row + r]);
        const near_t* const list = near + 4 * x.near;
        for (u32 i = lane; i < x.close && list[i] < DENSE; i += 32) atomicOr(&marks[r * STRIDE + list[i] / 32],
            1u << (list[i] % 32));
    }
    __syncthreads();
    count_t all = 0;
    u32 of_row[TALL][2] = {};
    for (int tile = warps - 1 - warp; tile < WORDS; tile += warps) {
        u32 sums[TALL][WIDE_TILES][4] = {};
        const int end = EACH ? WORDS : (tile * COLUMNS + COLUMNS + 511) / 512 * 16;  // of the words in which rows of these columns have bits
        const uint4* const columns = matrix + ((i64)tile * COLUMNS + group) * (WORDS / 4) + place;
        uint4 b[WIDE_TILES];
#pragma unroll
        for (int n = 0; n < WIDE_TILES; ++n) b[n] = __ldg(columns + n * 8 * (WORDS / 4));
        for (int k = 0; k < end; k += 16) {
            uint4 next[WIDE_TILES];
#pragma unroll
            for (int n = 0; n < WIDE_TILES; ++n) next[n] = k + 16 < end ? __ldg(columns + n * 8 * (WORDS / 4) + (k + 16) / 4) : make_uint4(0, 0, 0, 0);
#pragma unroll
            for (int m = 0; m < TALL; ++m) {
                const uint4 low = *(const uint4*)&marks[(m * 16 + group) * STRIDE + k + 4 * place],
                    high = *(const uint4*)&marks[(m * 16 + 8 + group) * STRIDE + k + 4 * place];
#pragma unroll
                for (int n = 0; n < WIDE_TILES; ++n) {
                    multiply(sums[m][n], low.x, high.x, low.y, high.y, b[n].x, b[n].y);
                    multiply(sums[m][n], low.z, high.z, low.w, high.w, b[n].z, b[n].w);
                }
            }
#pragma unroll
            for (int n = 0; n < WIDE_TILES; ++n) b[n] = next[n];
        }
        u32 of_column[WIDE_TILES][2] = {}, here = 0;
#pragma unroll
        for (int m = 0; m < TALL; ++m)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const u32 bits = marks[(m * 16 + 8 * half + group) * STRIDE + tile];
                u32 sum = 0;
#pragma unroll
                for (int n = 0; n < WIDE_TILES; ++n)
#pragma unroll
                    for (int side = 0; side < 2; ++side) {
                        const u32 value = bits >> (n * 8 + 2 * place + side) & 1 ? sums[m][n][2 * half + side] : 0;
                        sum += value;
                        if (EACH) of_column[n][side] += value;
                    }
                here += sum;
                if (EACH) of_row[m][half] += sum;
            }
        all += here;
        if (EACH)
#pragma unroll
            for (int n = 0; n < WIDE_TILES; ++n)
#pragma unroll
                for (int side = 0; side < 2; ++side) {
                    u32 value = of_column[n][side];
                    for (int gap = 4; gap < 32; gap *= 2) value += __shfl_xor_sync(~0u, value, gap);
                    if (group == 0 && value) atomicAdd(&counts[tile * COLUMNS + n * 8 + 2 * place + side],
                        (count_t)value);
                }
    }
    for (int gap = 16; gap; gap >>= 1) all += __shfl_down_sync(~0u, all, gap);
    if (lane == 0 && all) atomicAdd(total, all);
    if (!EACH) return;
#pragma unroll
    for (int m = 0; m < TALL; ++m)
#pragma unroll
        for (int half = 0; half < 2; ++half) if (of_row[m][half]) atomicAdd(&found[m * 16 + 8 * half + group],
            of_row[m][half]);
    __syncthreads();
    if (threadIdx.x < ROWS && found[threadIdx.x]) atomicAdd(&counts[first + chosen[row + threadIdx.x]],
        (count_t)(found[threadIdx.x] / 2));
}
