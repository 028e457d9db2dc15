// Triangles as a masked product: twin of multiply in engine/analytics/cpu/kernels/triangles.py.
//
// Vertices are named by their ranks by degree, the highest first; the row of x has its neighbors of lower rank,
// ascending. It is a row of the matrix L, and the triangles are the sum of L times L where L has entries (Azad, Buluc and
// Gilbert, IPDPSW 2015). The product's row x is the sum of the rows of all y in row x, and row x is its mask: a short one
// is searched by the threads of a warp, a long one is in a hash table of a block, SLOTS / 2 entries at a time.
//
//     count, chosen               vertices x whose rows are multiplied
//     begin, length, rows         where the row of each vertex begins among `rows`, and how many entries it has
//     total, counts               triangles, and those of each vertex (only with EACH)

#include "marks.cuh"

constexpr u32 SLOTS = 4096;  // of the hash table of a mask
constexpr int FEW = 64;      // entries of a mask that a warp searches

// Rows of 2 to FEW entries. A warp takes a row.
extern "C" __global__ void __launch_bounds__(256) multiply_few(i64 count, const i64* chosen, const i64* begin,
                                                               const u32* length, const u32* rows,
                                                               count_t* total, count_t* counts)
{
    __shared__ u32 masks[8][FEW], all_found[8][EACH ? FEW : 1];
    u32 *const mask = masks[threadIdx.x / 32], *const found = all_found[threadIdx.x / 32];
    const int in_warp = threadIdx.x % 32, lane = threadIdx.x % LANES;
    const u32 together = lanes_together();
    count_t counted = 0;
    for (i64 k = warp_number(); k < count; k += warps_of_grid()) {
        const i64 x = chosen[k];
        const u32 size = length[x];
        for (u32 i = in_warp; i < size; i += 32) {
            mask[i] = rows[begin[x] + i];
            if (EACH) found[i] = 0;
        }
        __syncwarp();
        u32 hits = 0;
        for (u32 j = in_warp / LANES; j < size; j += 32 / LANES) {
            const i64 y = mask[j];
            const u32 *const row = rows + begin[y], entries = length[y];
            u32 here = 0;
            for (u32 i = lane; i < entries; i += LANES) {
                const u32 place = place_of(mask, size, row[i]);
                if (place == size) continue;
                here += 1;
                if (EACH) atomicAdd(&found[place], 1u);
            }
            hits += here;
            if (EACH) add_list(here, together, y, counts);
        }
        __syncwarp();
        hits = warp_sum(hits);
        counted += hits;
        if (EACH) {
            if (in_warp == 0 && hits) add(counts, x, hits);
            for (u32 i = in_warp; i < size; i += 32) if (found[i]) add(counts, mask[i], found[i]);
        }
        __syncwarp();
    }
    if (in_warp == 0 && counted) atomicAdd(total, counted);
}

// Rows of more entries. Blocks take the next from `ticket`.
extern "C" __global__ void __launch_bounds__(256) multiply_many(count_t* ticket, i64 count, const i64* chosen,
                                                                const i64* begin, const u32* length, const u32* rows,
                                                                count_t* total, count_t* counts)
{
    __shared__ Others<SLOTS> mask;
    __shared__ count_t sum;
    __shared__ i64 next;
    mask.clear();
    const u32 together = lanes_together(), lists = blockDim.x / LANES;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) {
            next = (i64)atomicAdd(ticket, 1ull);
            sum = 0;
        }
        __syncthreads();
        if (next >= count) break;
        const i64 x = chosen[next];
        const u32 *const own = rows + begin[x], size = length[x];
        count_t hits = 0;
        for (u32 part = 0; part < size; part += SLOTS / 2) {
            const u32 marked = min(size - part, SLOTS / 2), limit = own[part + marked - 1] + 1;
            mask.mark(own + part, marked);
            __syncthreads();
            for (u32 k = threadIdx.x / LANES; k < size; k += lists) {
                const i64 y = own[k];
                const u32 here = mask.look_up(rows + begin[y], length[y], limit);
                hits += here;
                if (EACH) add_list(here, together, y, counts);
            }
            __syncthreads();
            mask.finish(counts);
            __syncthreads();
        }
        if (hits) atomicAdd(&sum, hits);
        __syncthreads();
        if (threadIdx.x == 0 && sum) {
            atomicAdd(total, sum);
            if (EACH) atomicAdd(&counts[x], sum);
        }
    }
}
