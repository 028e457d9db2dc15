// Triangles of rows whose vertices are ranked by degree: twin of engine/cpu/kernels/triangles.py.
//
// Ranks go by degree, the highest first. Of each triangle w < y < x by rank, the middle vertex y finds it: a block marks the lower neighbors of y in a bitmap in shared
// memory, and reads the lower neighbors of every higher neighbor x, up to y. There are as many lookups as the oriented graph has wedges. Ranks below
// `hubs` (at most 65,535) have an exact bitmap of 8 KB, and lists of 16 bits, four to a load; others have a small hashed bitmap, and are searched for where it says yes.
//
// Rows are split ones (oriented.cu). Those of vertices y and of vertices x may be of two parts of the graph, so that parts can pass by each other:
//
//     first, indptr, rows, lower, close   a part: its first vertex; offsets, split rows; how many lower neighbors each has, and how many of them are hubs
//     last, near_begin, near              of the part of x besides: its end, and the hubs in 16 bits, in units of four
//     by_rank, by_vertex                  triangles of each vertex: those that it is the lowest of, by rank, and all others (only with EACH)

typedef unsigned long long count_t;
constexpr int LANES = 8;       // threads that read a list together
constexpr int MARKS = 2048;    // words of the bitmap of hubs
constexpr int HASHED = 256;    // words of the hashed bitmap
constexpr u32 COUNTED = 2048;  // lower neighbors whose triangles are counted in shared memory; of a longer list, those beyond go to global memory
constexpr i64 CHUNK = 2048;    // higher neighbors of a task
constexpr int FEW = 64;        // COUNTED of a warp
constexpr int TILE = 512;      // higher neighbors whose lists a block looks up at a time

__device__ inline u32 bit(const u32* marks, u32 w) { return marks[w >> 5] >> (w & 31) & 1; }

// Sum over the threads of a warp, in its first.
__device__ inline u32 warp_sum(u32 value)
{
    for (int gap = 16; gap; gap >>= 1) value += __shfl_down_sync(~0u, value, gap);
    return value;
}

// Sum over the LANES threads that read a list, in the first of them.
__device__ inline u32 list_sum(u32 value, u32 together)
{
    for (int gap = LANES / 2; gap; gap >>= 1) value += __shfl_down_sync(together, value, gap, LANES);
    return value;
}

__device__ inline u32 lanes_together() { return ((1u << LANES) - 1) << (threadIdx.x % 32 / LANES * LANES); }

// Place of w in a sorted list, or its length.
__device__ inline u32 place_of(const u32* list, u32 length, u32 w)
{
    u32 low = 0, high = length;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (list[middle] < w) low = middle + 1;
        else high = middle;
    }
    return low < length && list[low] == w ? low : length;
}

struct List { i64 near; u32 x, size; };  // the hubs among the lower neighbors of vertex first + x, in units of four

// Lists that a block has at hand, long ones first: lanes that read side by side have about as much to read, and no lookup waits for the one before.
struct Lists {
    static constexpr int THREADS = 256, EACH_LOOKS = TILE / THREADS;
    List at[TILE];
    u32 next[33];

    // Looks up the lists of xs[0 .. count - 1], of which TILE at most; returns how many have an entry. All threads.
    __device__ __forceinline__ u32 take(const u32* xs, i64 count, i64 first, i64 last, const i64* near_begin)
    {
        __syncthreads();
        if (threadIdx.x < 33) next[threadIdx.x] = 0;
        __syncthreads();
        List own[EACH_LOOKS];
#pragma unroll
        for (int n = 0; n < EACH_LOOKS; ++n) {
            const i64 k = n * THREADS + threadIdx.x, x = k < count ? (i64)xs[k] - first : -1;
            own[n] = {0, (u32)x, 0};
            if (x < 0 || x >= last - first) continue;
            own[n].near = near_begin[x];
            own[n].size = (u32)(near_begin[x + 1] - own[n].near);
        }
#pragma unroll
        for (int n = 0; n < EACH_LOOKS; ++n) if (own[n].size) atomicAdd(&next[__clz(own[n].size)], 1u);
        __syncthreads();
        if (threadIdx.x < 32) {
            const u32 mine = next[threadIdx.x];
            u32 upto = mine;
            for (int gap = 1; gap < 32; gap *= 2) {
                const u32 before = __shfl_up_sync(~0u, upto, gap);
                if (threadIdx.x >= gap) upto += before;
            }
            next[threadIdx.x] = upto - mine;
            if (threadIdx.x == 31) next[32] = upto;
        }
        __syncthreads();
#pragma unroll
        for (int n = 0; n < EACH_LOOKS; ++n) if (own[n].size) at[atomicAdd(&next[__clz(own[n].size)], 1u)] = own[n];
        __syncthreads();
        return next[32];
    }
};

// Triangles whose middle vertex y is a hub. A block for CHUNK of the higher neighbors of chosen[k]; `tasks` [middles + 1]: where the blocks of each y begin.
extern "C" __global__ void __launch_bounds__(256) count_hubs(i64 middles, const i64* chosen, const i64* tasks, const u32* rank,
                                                             i64 first_y, const i64* indptr_y, const u32* rows_y, const u32* lower_y,
                                                             i64 first_x, i64 last_x, const i64* near_begin, const uint2* near,
                                                             count_t* total, count_t* by_rank, count_t* by_vertex)
{
    __shared__ Lists lists;
    __shared__ u32 marks[MARKS], found[EACH ? COUNTED : 1], sum;
    __shared__ unsigned short before[EACH ? MARKS : 1];  // lower neighbors of y before those of a word of marks
    i64 low = 0, high = middles;
    while (low < high) {
        const i64 middle = (low + high) / 2;
        if (tasks[middle + 1] <= (i64)blockIdx.x) low = middle + 1;
        else high = middle;
    }
    const i64 y = chosen[low], begin = indptr_y[y], end = indptr_y[y + 1];
    const u32 mine = rank[first_y + y], owned = lower_y[y];
    const u32* const own = rows_y + begin;
    for (int i = threadIdx.x; i < MARKS; i += blockDim.x) marks[i] = 0;
    if (EACH) for (u32 i = threadIdx.x; i < COUNTED; i += blockDim.x) found[i] = 0;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (u32 i = threadIdx.x; i < owned; i += blockDim.x) {
        const u32 w = own[i];
        atomicOr(&marks[w >> 5], 1u << (w & 31));
        if (EACH) if (i == 0 || own[i - 1] >> 5 != w >> 5) before[w >> 5] = (unsigned short)i;
    }
    __syncthreads();
    const i64 from = begin + owned + ((i64)blockIdx.x - tasks[low]) * CHUNK, to = min(from + CHUNK, end);
    const int lane = threadIdx.x % LANES;
    const u32 together = lanes_together();
    u32 hits = 0;
    for (i64 tile = from; tile < to; tile += TILE) {
        const u32 count = lists.take(rows_y + tile, min(to - tile, (i64)TILE), first_x, last_x, near_begin);
        for (u32 k = threadIdx.x / LANES; k < count; k += blockDim.x / LANES) {
            const List& list = lists.at[k];
            const uint2* const end = near + list.near + list.size;
            const uint2* at = near + list.near + lane;
            u32 here = 0;
            uint2 four = at < end ? __ldg(at) : make_uint2(~0u, ~0u);
            while ((four.x & 0xFFFF) < mine) {  // no hub has the number that fills a unit
                const u32 w0 = four.x & 0xFFFF, w1 = four.x >> 16, w2 = four.y & 0xFFFF, w3 = four.y >> 16;
                const uint2 these = four;
                at += LANES;
                four = at < end ? __ldg(at) : make_uint2(~0u, ~0u);  // under way while these are looked up
                const u32 bits = bit(marks, w0) | bit(marks, w1) << 1 | bit(marks, w2) << 2 | bit(marks, w3) << 3;
                here += __popc(bits);
                if (EACH)
                    for (u32 left = bits; left; left &= left - 1) {
                        const u32 which = __ffs(left) - 1, pair = which & 2 ? these.y : these.x, w = which & 1 ? pair >> 16 : pair & 0xFFFF;
                        const u32 place = before[w >> 5] + __popc(marks[w >> 5] & ((1u << (w & 31)) - 1));
                        if (place < COUNTED) atomicAdd(&found[place], 1u);
                        else atomicAdd(&by_rank[w], 1ull);
                    }
            }
            hits += here;
            if (EACH) {
                __syncwarp(together);
                const u32 all = list_sum(here, together);
                if (lane == 0 && all) atomicAdd(&by_vertex[first_x + list.x], (count_t)all);
            }
        }
    }
    __syncwarp();
    hits = warp_sum(hits);
    if (threadIdx.x % 32 == 0 && hits) atomicAdd(&sum, hits);
    __syncthreads();
    if (threadIdx.x == 0 && sum) {
        atomicAdd(total, (count_t)sum);
        if (EACH) atomicAdd(&by_vertex[first_y + y], (count_t)sum);
    }
    if (EACH)
        for (u32 i = threadIdx.x; i < min(owned, COUNTED); i += blockDim.x)
            if (found[i]) atomicAdd(&by_rank[own[i]], (count_t)found[i]);
}

// Triangles whose middle vertex y is none of the hubs, for vertices with many higher neighbors. Blocks take the next of chosen[0 .. middles - 1] from `ticket`.
extern "C" __global__ void __launch_bounds__(128) count_middle(i64 middles, const i64* chosen, count_t* ticket, const u32* rank,
                                                               i64 first_y, const i64* indptr_y, const u32* rows_y, const u32* lower_y, const u32* close_y,
                                                               i64 first_x, i64 last_x, const i64* indptr_x, const u32* rows_x, const u32* lower_x, const u32* close_x, const i64* near_begin, const uint2* near,
                                                               count_t* total, count_t* by_rank, count_t* by_vertex)
{
    __shared__ u32 marks[MARKS], hashed[HASHED], found[EACH ? COUNTED : 1], sum;
    __shared__ i64 next;
    for (int i = threadIdx.x; i < MARKS; i += blockDim.x) marks[i] = 0;
    for (int i = threadIdx.x; i < HASHED; i += blockDim.x) hashed[i] = 0;
    if (EACH) for (u32 i = threadIdx.x; i < COUNTED; i += blockDim.x) found[i] = 0;
    const int lane = threadIdx.x % LANES;
    const u32 together = lanes_together();
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) {
            next = (i64)atomicAdd(ticket, 1ull);
            sum = 0;
        }
        __syncthreads();
        if (next >= middles) break;
        const i64 y = chosen[next], begin = indptr_y[y], end = indptr_y[y + 1];
        const u32 mine = rank[first_y + y], owned = lower_y[y], hub = close_y[y];
        const u32* const own = rows_y + begin;
        for (u32 i = threadIdx.x; i < owned; i += blockDim.x) {
            const u32 w = own[i];
            if (i < hub) atomicOr(&marks[w >> 5], 1u << (w & 31));
            else atomicOr(&hashed[(w >> 5) % HASHED], 1u << (w & 31));
        }
        __syncthreads();
        u32 hits = 0;
        const auto hit = [&](u32 w, u32 place) {
            hits += 1;
            if (EACH) {
                if (place < COUNTED) atomicAdd(&found[place], 1u);
                else atomicAdd(&by_rank[w], 1ull);
            }
        };
        for (i64 k = begin + owned + threadIdx.x / LANES; k < end; k += blockDim.x / LANES) {
            const i64 x = (i64)rows_y[k] - first_x;
            if (x < 0 || x >= last_x - first_x) continue;
            const u32 earlier = hits;
            for (i64 j = near_begin[x] + lane; j < near_begin[x + 1]; j += LANES) {
                const uint2 four = __ldg(near + j);
                const u32 ws[4] = {four.x & 0xFFFF, four.x >> 16, four.y & 0xFFFF, four.y >> 16};
                for (int n = 0; n < 4; ++n)
                    if (bit(marks, ws[n])) hit(ws[n], EACH ? place_of(own, hub, ws[n]) : 0);
            }
            const u32* const list = rows_x + indptr_x[x];
            for (u32 j = close_x[x] + lane; j < lower_x[x]; j += LANES) {
                const u32 w = list[j];
                if (w >= mine) break;
                if (hashed[(w >> 5) % HASHED] >> (w & 31) & 1) {
                    const u32 place = place_of(own + hub, owned - hub, w);
                    if (place < owned - hub) hit(w, hub + place);
                }
            }
            if (EACH) {
                __syncwarp(together);
                const u32 all = list_sum(hits - earlier, together);
                if (lane == 0 && all) atomicAdd(&by_vertex[first_x + x], (count_t)all);
            }
        }
        __syncwarp();
        hits = warp_sum(hits);
        if (threadIdx.x % 32 == 0 && hits) atomicAdd(&sum, hits);
        __syncthreads();
        if (threadIdx.x == 0 && sum) {
            atomicAdd(total, (count_t)sum);
            if (EACH) atomicAdd(&by_vertex[first_y + y], (count_t)sum);
        }
        for (u32 i = threadIdx.x; i < owned; i += blockDim.x) {
            const u32 w = own[i];
            if (i < hub) marks[w >> 5] = 0;
            else hashed[(w >> 5) % HASHED] = 0;
            if (EACH) if (i < COUNTED && found[i]) {
                atomicAdd(&by_rank[w], (count_t)found[i]);
                found[i] = 0;
            }
        }
    }
}

// As count_middle, for vertices with few neighbors. A warp a vertex.
extern "C" __global__ void __launch_bounds__(256) count_few(i64 middles, const i64* chosen, const u32* rank,
                                                            i64 first_y, const i64* indptr_y, const u32* rows_y, const u32* lower_y,
                                                            i64 first_x, i64 last_x, const i64* indptr_x, const u32* rows_x, const u32* lower_x,
                                                            count_t* total, count_t* by_rank, count_t* by_vertex)
{
    __shared__ u32 all_hashed[8][HASHED], all_found[8][EACH ? FEW : 1];
    u32 *const hashed = all_hashed[threadIdx.x / 32], *const found = all_found[threadIdx.x / 32];
    const int in_warp = threadIdx.x % 32, lane = threadIdx.x % LANES;
    const u32 together = lanes_together();
    for (int i = in_warp; i < HASHED; i += 32) hashed[i] = 0;
    if (EACH) for (int i = in_warp; i < FEW; i += 32) found[i] = 0;
    __syncwarp();
    count_t counted = 0;
    const i64 warps = (i64)gridDim.x * blockDim.x / 32;
    for (i64 n = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32; n < middles; n += warps) {
        const i64 y = chosen[n], begin = indptr_y[y], end = indptr_y[y + 1];
        const u32 mine = rank[first_y + y], owned = lower_y[y];
        const u32* const own = rows_y + begin;
        if (owned == 0 || begin + owned == end) continue;
        for (u32 i = in_warp; i < owned; i += 32) atomicOr(&hashed[(own[i] >> 5) % HASHED], 1u << (own[i] & 31));
        __syncwarp();
        u32 hits = 0;
        for (i64 k = begin + owned + in_warp / LANES; k < end; k += 32 / LANES) {
            const i64 x = (i64)rows_y[k] - first_x;
            if (x < 0 || x >= last_x - first_x) continue;
            const u32* const list = rows_x + indptr_x[x];
            u32 here = 0;
            for (u32 j = lane; j < lower_x[x]; j += LANES) {
                const u32 w = list[j];
                if (w >= mine) break;
                if (!(hashed[(w >> 5) % HASHED] >> (w & 31) & 1)) continue;
                const u32 place = place_of(own, owned, w);
                if (place == owned) continue;
                here += 1;
                if (EACH) {
                    if (place < FEW) atomicAdd(&found[place], 1u);
                    else atomicAdd(&by_rank[w], 1ull);
                }
            }
            hits += here;
            if (EACH) {
                __syncwarp(together);
                const u32 all = list_sum(here, together);
                if (lane == 0 && all) atomicAdd(&by_vertex[first_x + x], (count_t)all);
            }
        }
        __syncwarp();
        hits = warp_sum(hits);
        counted += hits;
        if (EACH) if (in_warp == 0 && hits) atomicAdd(&by_vertex[first_y + y], (count_t)hits);
        for (u32 i = in_warp; i < owned; i += 32) {
            hashed[(own[i] >> 5) % HASHED] = 0;
            if (EACH) if (i < FEW && found[i]) {
                atomicAdd(&by_rank[own[i]], (count_t)found[i]);
                found[i] = 0;
            }
        }
        __syncwarp();
    }
    if (in_warp == 0 && counted) atomicAdd(total, counted);
}
