// Triangles of rows whose vertices are ranked by degree: twin of engine/analytics/cpu/kernels/triangles.py.
//
// Ranks go by degree, the highest first; here a vertex is named by its rank. Of each triangle w < y < x, the middle
// vertex y finds it: a block marks the lower neighbors of y in shared memory (marks.cuh), and reads the lower neighbors
// of every higher neighbor x, up to y. There are as many lookups as the oriented graph has wedges. Hubs (at most
// 65,535) are marked in a bitmap of 8 KB, and read from lists of 16 bits, four to a load; others are marked in a hash
// table.
//
// Lists of vertices y and of vertices x may be of two parts of the graph, so that parts can pass by each other:
//
//     first, last, ranked, near, far      a part: its vertices; their lists (ranked.cuh); what these hold
//     higher_begin, higher, higher_words  of the part of y: where the higher neighbors of each begin, how many it has, all of them
//     total, counts                       triangles, and those of each vertex (only with EACH)
//
// A launch takes the vertices y = from, from + step, and so on.

#include "lists_at_hand.cuh"
#include "marks.cuh"

constexpr i64 CHUNK = 2048;  // higher neighbors of a task
constexpr u32 SLOTS = 2048;  // of the hash table of others
constexpr int HASHED = 256;  // words of the hashed bitmap of a vertex with few neighbors,
constexpr int FEW = 64;      // of which these are counted in shared memory

// Add the triangles that a block has counted of y to `total` and `counts`. All threads come here.
__device__ __forceinline__ void add_all(u32 hits, u32* sum, i64 y, count_t* total, count_t* counts)
{
    __syncwarp();
    hits = warp_sum(hits);
    if (threadIdx.x % 32 == 0 && hits) atomicAdd(sum, hits);
    __syncthreads();
    if (threadIdx.x == 0 && *sum) {
        add(total, 0, *sum);
        if (EACH) add(counts, y, *sum);
    }
}

// Triangles whose middle vertex y is a hub. A block for CHUNK of the higher neighbors of y = from + k step; `tasks`
// [middles + 1]: where the blocks of each k begin.
extern "C" __global__ void __launch_bounds__(256) count_hubs(i64 middles, const i64* tasks, i64 from, i64 step,
                                                             i64 first_y, const Ranked* ranked_y,
                                                                 const near_t* near_y, const u32* far_y,
                                                             const i64* higher_begin, const u32* higher,
                                                                 const u32* higher_words,
                                                             i64 first_x, i64 last_x, const Ranked* ranked_x,
                                                                 const uint2* near_x, const u32* far_x,
                                                             count_t* total, count_t* counts)
{
    __shared__ Lists lists;
    __shared__ Hubs<2048> hubs;
    __shared__ u32 sum;
    i64 low = 0, high = middles;
    while (low < high) {
        const i64 middle = (low + high) / 2;
        if (tasks[middle + 1] <= (i64)blockIdx.x) low = middle + 1;
        else high = middle;
    }
    const i64 mine = from + low * step, index = mine - first_y;
    const Ranked y = row_of(ranked_y, index);
    const near_t* const own = near_y + 4 * y.near;
    hubs.clear();
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    hubs.mark(own, y.close);
    __syncthreads();
    const u32* const xs = higher_words + higher_begin[index];
    const i64 begin = (blockIdx.x - tasks[low]) * CHUNK, end = min(begin + CHUNK, (i64)higher[index]);
    const u32 together = lanes_together();
    u32 hits = 0;
    for (i64 tile = begin; tile < end; tile += TILE) {
        const u32 count = lists.take(xs + tile, min(end - tile, (i64)TILE), first_x, last_x, ranked_x, mine);
        for (u32 k = threadIdx.x / LANES; k < count; k += blockDim.x / LANES) {
            const List& list = lists.at[k];
            const uint2* const at = near_x + list.near;
            const u32 here = hubs.look_up(at + threadIdx.x % LANES, at + list.size, mine, counts);
            hits += here;
            if (EACH) add_list(here, together, first_x + list.x, counts);
        }
    }
    add_all(hits, &sum, mine, total, counts);
    if (EACH) hubs.finish(own, y.close, counts, false);
}

// Triangles whose middle vertex y is none of the hubs, for vertices with many neighbors. Blocks take the next y from
// `ticket`, before `until`.
extern "C" __global__ void __launch_bounds__(256) count_middle(count_t* ticket, i64 from, i64 until, i64 step,
                                                               i64 first_y, const Ranked* ranked_y,
                                                                   const near_t* near_y, const u32* far_y,
                                                               const i64* higher_begin, const u32* higher,
                                                                   const u32* higher_words,
                                                               i64 first_x, i64 last_x, const Ranked* ranked_x,
                                                                   const uint2* near_x, const u32* far_x,
                                                               count_t* total, count_t* counts)
{
    __shared__ Hubs<1024> hubs;
    __shared__ Others<SLOTS> others;
    __shared__ u32 sum;
    __shared__ i64 next;
    hubs.clear();
    others.clear();
    const u32 together = lanes_together(), lane = threadIdx.x % LANES, lists = blockDim.x / LANES;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) {
            next = from + (i64)atomicAdd(ticket, 1ull) * step;
            sum = 0;
        }
        __syncthreads();
        const i64 mine = next, index = mine - first_y;
        if (mine >= until) break;
        const Ranked y = row_of(ranked_y, index);
        const u32 count = higher[index];
        if (y.close + y.wide == 0 || count == 0) continue;
        const near_t* const own = near_y + 4 * y.near;
        const u32* const xs = higher_words + higher_begin[index];
        hubs.mark(own, y.close);
        u32 hits = 0;
        for (u32 part = 0; part == 0 || part < y.wide; part += SLOTS / 2) {
            others.mark(far_y + y.far + part, min(y.wide - part, SLOTS / 2));
            __syncthreads();
            for (u32 k = threadIdx.x / LANES; k < count; k += lists) {
                const i64 at = xs[k];
                if (at < first_x || at >= last_x) continue;
                const Ranked x = row_of(ranked_x, at - first_x);
                const uint2* const near = near_x + x.near;
                u32 here = part == 0 && y.close ? hubs.look_up(near + lane, near + (x.close + 3) / 4, 0xFFFF,
                    counts) : 0;
                if (y.wide) here += others.look_up(far_x + x.far, x.wide, mine);
                hits += here;
                if (EACH) add_list(here, together, at, counts);
            }
            __syncthreads();
            if (y.wide) others.finish(counts);
            __syncthreads();
        }
        add_all(hits, &sum, mine, total, counts);
        hubs.finish(own, y.close, counts, true);
    }
}

// Triangles whose middle vertex y is none of the hubs, for vertices with few neighbors. A warp takes a vertex.
extern "C" __global__ void __launch_bounds__(256) count_few(i64 from, i64 until, i64 step,
                                                            i64 first_y, const Ranked* ranked_y, const near_t* near_y,
                                                                const u32* far_y,
                                                            const i64* higher_begin, const u32* higher,
                                                                const u32* higher_words,
                                                            i64 first_x, i64 last_x, const Ranked* ranked_x,
                                                                const uint2* near_x, const u32* far_x,
                                                            count_t* total, count_t* counts)
{
    __shared__ u32 all_hashed[8][HASHED], all_found[8][EACH ? FEW : 1];
    u32 *const hashed = all_hashed[threadIdx.x / 32], *const found = all_found[threadIdx.x / 32];
    const int in_warp = threadIdx.x % 32, lane = threadIdx.x % LANES;
    const u32 together = lanes_together();
    for (int i = in_warp; i < HASHED; i += 32) hashed[i] = 0;
    if (EACH) for (int i = in_warp; i < FEW; i += 32) found[i] = 0;
    __syncwarp();
    count_t counted = 0;
    for (i64 mine = from + warp_number() * step; mine < until; mine += warps_of_grid() * step) {
        const u32 count = higher[mine - first_y];
        if (count == 0) continue;
        const Ranked y = row_of(ranked_y, mine - first_y);
        const u32 owned = y.close + y.wide;
        if (owned == 0) continue;
        const near_t* const own = near_y + 4 * y.near;
        const u32 *const own_far = far_y + y.far, *const xs = higher_words + higher_begin[mine - first_y];
        const auto hash_of = [&](u32 w) { return hashed + (w >> 5) % HASHED; };
        const auto owned_at = [&](u32 i) -> u32 { return i < y.close ? own[i] : own_far[i - y.close]; };
        for (u32 i = in_warp; i < owned; i += 32) atomicOr(hash_of(owned_at(i)), 1u << (owned_at(i) & 31));
        __syncwarp();
        u32 hits = 0;
        const auto look_up = [&](u32 w, bool near) {
            if (!(*hash_of(w) >> (w & 31) & 1)) return;
            const u32 place = near ? place_of(own, y.close, w) : place_of(own_far, y.wide, w);
            if (place == (near ? y.close : y.wide)) return;
            hits += 1;
            if (EACH) {
                const u32 at = near ? place : y.close + place;
                if (at < FEW) atomicAdd(&found[at], 1u);
                else add(counts, w, 1);
            }
        };
        for (u32 k = in_warp / LANES; k < count; k += 32 / LANES) {
            const i64 at = xs[k];
            if (at < first_x || at >= last_x) continue;
            const Ranked x = row_of(ranked_x, at - first_x);
            const u32 earlier = hits;
            for (u32 j = lane; j < (x.close + 3) / 4; j += LANES) {
                const Four four(__ldg(near_x + x.near + j));
                for (int n = 0; n < 4; ++n) look_up(four.w[n], true);
            }
            for (u32 j = lane; j < x.wide; j += LANES) {
                const u32 w = far_x[x.far + j];
                if (w >= mine) break;
                look_up(w, false);
            }
            if (EACH) add_list(hits - earlier, together, at, counts);
        }
        __syncwarp();
        hits = warp_sum(hits);
        counted += hits;
        if (EACH) if (in_warp == 0 && hits) add(counts, mine, hits);
        for (u32 i = in_warp; i < owned; i += 32) {
            *hash_of(owned_at(i)) = 0;
            if (EACH) if (i < FEW && found[i]) {
                add(counts, owned_at(i), found[i]);
                found[i] = 0;
            }
        }
        __syncwarp();
    }
    if (in_warp == 0 && counted) atomicAdd(total, counted);
}

// Tasks of CHUNK of the higher neighbors of each middle vertex, of which there are higher[k step].
extern "C" __global__ void count_tasks(i64 middles, i64 step, const u32* higher, i64* tasks)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < middles; k += stride)
        tasks[k] = (higher[k * step] + CHUNK - 1) / CHUNK;
}

// No vertex is of a dense part.
extern "C" __global__ void forget_dense(i64 lists, Ranked* ranked)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < lists; k += stride) ranked[k].dense = 0;
}
