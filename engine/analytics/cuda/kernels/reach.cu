// Breadth-first search from 64 sources at once, a bit of a word for each: twin of
// engine/analytics/cpu/kernels/reach.py, with the same state. A chunk is 512 vertices; `active` and `touched` have a
// byte for each. Row v of a block is at indptr[v - first].
#include "warp_rows.cuh"

const int CHUNK = 512;

__device__ __forceinline__ void give(vertex_t u, u64 bits, unsigned long long* following, unsigned char* touched)
{
    if (!(bits & ~following[u])) return;
    atomicOr(following + u, (unsigned long long)bits);
    touched[u / CHUNK] = 1;
}

// Push the words of `front` along the rows of the active vertices of first .. last - 1 that are not long.
extern "C" __global__ void push(i64 first, i64 last, const i64* indptr, const vertex_t* indices, const u64* front,
    unsigned long long* following, const unsigned char* active, unsigned char* touched)
{
    const int lane = threadIdx.x % 32;
    for (i64 base = first + warp_number() * 32; base < last; base += threads_of_grid()) {
        const i64 v = base + lane;
        const u64 bits = v < last && active[v / CHUNK] ? front[v] : 0;
        const i64 begin = bits ? indptr[v - first] : 0, end = bits ? indptr[v - first + 1] : 0;
        each_entry(
            begin, end - begin < LONG ? end : begin,
            [&](i64 i) {
                give(indices[i], bits, following, touched);
                return true;
            },
            [&](i64 i, int owner) {
                const u64 others = __shfl_sync(WHOLE_WARP, bits, owner);
                if (i >= 0) give(indices[i], others, following, touched);
                return true;
            });
    }
}

// Push along the long rows of active vertices, those of the vertices `rows`.
extern "C" __global__ void push_long(i64 count, const vertex_t* rows, i64 first, const i64* indptr, const vertex_t* indices,
    const u64* front, unsigned long long* following, const unsigned char* active, unsigned char* touched)
{
    each_long_row(count, rows, [&](i64 v) { return active[v / CHUNK] && front[v]; }, [&](i64 v) {
        const u64 bits = front[v];
        each_entry_of_long(indptr[v - first], indptr[v - first + 1],
            [&](i64 i) { give(indices[i], bits, following, touched); });
    });
}

__device__ __forceinline__ u64 or_over_warp(u64 word)
{
    for (int step = 16; step; step /= 2) word |= __shfl_xor_sync(WHOLE_WARP, word, step);
    return word;
}

// Pull `front` to those of the vertices first .. last - 1 that not all of the sources `full` have reached, along rows
// backward.
extern "C" __global__ void pull(i64 first, i64 last, const i64* indptr, const vertex_t* indices, const u64* front,
    u64* following, unsigned char* touched, const u64* seen, u64 full)
{
    const int lane = threadIdx.x % 32;
    for (i64 base = first + warp_number() * 32; base < last; base += threads_of_grid()) {
        const i64 v = base + lane;
        const u64 missing = v < last ? full & ~seen[v] : 0;
        u64 bits = 0;
        each_entry(
            missing ? indptr[v - first] : 0, missing ? indptr[v - first + 1] : 0,
            [&](i64 i) {
                bits |= front[indices[i]];
                return (bits & missing) != missing;
            },
            [&](i64 i, int owner) {
                const u64 some = or_over_warp(i < 0 ? 0 : front[indices[i]]);
                if (lane == owner) bits |= some;
                return __any_sync(WHOLE_WARP, lane == owner && (bits & missing) != missing) != 0;
            });
        if (bits & missing) {
            following[v] = bits;
            touched[v / CHUNK] = 1;
        }
    }
}

// End a level: what is new becomes the front, of the vertices first .. last - 1, whose chunks are `begin` up to before
// `end`. found[0 .. 63]: how many vertices each source has reached; found[64]: entries of the new front's rows;
// found[65]: entries of the rows backward of vertices that all sources have reached now. A block does a chunk at a time.
// `givers(chunk)`: a bit for each GPU that has given anything there; `take(v, from)` returns what these have given to v,
// and forgets it; `done(chunk)` is called by one thread.
template <typename F, typename G, typename H>
__device__ __forceinline__ void settle_chunks(i64 begin, i64 end, i64 first, i64 last, const i64* degrees,
    const i64* back_degrees, u64* front, unsigned char* active, u64* seen, u64 full, unsigned long long* found,
    F givers, G take, H done)
{
    __shared__ unsigned long long sums[66];
    for (int i = threadIdx.x; i < 66; i += blockDim.x) sums[i] = 0;
    const int lane = threadIdx.x % 32;
    i64 low = 0, high = 0, entries = 0, closed = 0;  // low, high: of the sources `lane` and `lane + 32`, in the vertices of this warp
    for (i64 chunk = begin + blockIdx.x; chunk < end; chunk += gridDim.x) {
        const u64 from = givers(chunk);
        if (!active[chunk] && !from) continue;
        int some = 0;
        for (i64 v = chunk * CHUNK + threadIdx.x; v < chunk * CHUNK + CHUNK; v += blockDim.x) {
            const bool own = first <= v && v < last;
            const u64 fresh = own ? take(v, from) & ~seen[v] : 0;
            if (own) front[v] = fresh;
            if (fresh) {
                some = 1;
                seen[v] |= fresh;
                entries += degrees[v];
                if (seen[v] == full) closed += back_degrees[v];
            }
            if (!__any_sync(WHOLE_WARP, fresh != 0)) continue;
            for (int bit = 0; bit < 32; bit++) {
                const int one = __popc(__ballot_sync(WHOLE_WARP, fresh >> bit & 1)),
                    other = __popc(__ballot_sync(WHOLE_WARP, fresh >> (bit + 32) & 1));
                if (lane == bit) {
                    low += one;
                    high += other;
                }
            }
        }
        some = __syncthreads_or(some);  // after all have read the flags
        if (threadIdx.x == 0) {
            active[chunk] = some != 0;
            done(chunk);
        }
    }
    __syncthreads();
    atomicAdd(sums + lane, (unsigned long long)low);
    atomicAdd(sums + lane + 32, (unsigned long long)high);
    if (entries) atomicAdd(sums + 64, (unsigned long long)entries);
    if (closed) atomicAdd(sums + 65, (unsigned long long)closed);
    __syncthreads();
    for (int i = threadIdx.x; i < 66; i += blockDim.x) {
        if (sums[i]) atomicAdd(found + i, sums[i]);
    }
}

// End a level of a search by one GPU.
extern "C" __global__ void settle(i64 chunks, i64 vertices, const i64* degrees, const i64* back_degrees, u64* front,
    u64* following, unsigned char* active, unsigned char* touched, u64* seen, u64 full, unsigned long long* found)
{
    settle_chunks(
        0, chunks, 0, vertices, degrees, back_degrees, front, active, seen, full, found,
        [&](i64 chunk) { return (u64)touched[chunk]; },
        [&](i64 v, u64) {
            const u64 bits = following[v];
            following[v] = 0;
            return bits;
        },
        [&](i64 chunk) { touched[chunk] = 0; });
}

// End a level of a search by several GPUs, for the vertices first .. last - 1, which this one owns: what all GPUs have
// given to these is read in their memory, and forgotten there. The flags `touched` of all are read by others, too, so
// each GPU clears its own before the next level.
extern "C" __global__ void settle_share(i64 first, i64 last, const i64* degrees, u64* front, i64 gpus,
    u64* const* following, const unsigned char* const* touched, unsigned char* active, u64* seen, u64 full,
    unsigned long long* found)
{
    settle_chunks(
        first / CHUNK, (last + CHUNK - 1) / CHUNK, first, last, degrees, degrees, front, active, seen, full, found,
        [&](i64 chunk) {
            u64 from = 0;
            for (i64 gpu = 0; gpu < gpus; gpu++) from |= (u64)touched[gpu][chunk] << gpu;
            return from;
        },
        [&](i64 v, u64 from) {
            u64 bits = 0;
            for (; from; from &= from - 1) {
                const int gpu = __ffsll(from) - 1;
                const u64 given = following[gpu][v];
                if (given) following[gpu][v] = 0;
                bits |= given;
            }
            return bits;
        },
        [](i64) {});
}
