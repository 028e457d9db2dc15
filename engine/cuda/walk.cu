// Walk kernels: one walker a thread, its state in registers; a lane that is done takes its next walker without waiting for the warp.
// Row t of `out` holds the vertices after t steps, so that a warp writes side by side; transpose turns it into walks.
// The twin of engine/cpu/walk.py.
#include "weigh.cuh"

struct Walker {
    i64 number, origin, here, back, step;
    Place place, back_place;
};

__device__ __forceinline__ void start(Walker& w, i64 number, const vertex_t* source, vertex_t* out)
{
    w.number = number;
    w.origin = w.here = (i64)source[number];
    w.back = -1;
    w.step = 0;
    w.place = locate(w.here);
    w.back_place = {0, 0};
    out[number] = (vertex_t)w.here;
}

__device__ __forceinline__ Context context_of(const Walker& w, i64 dst, const Place& dst_place)
{
    return {w.back, w.here, dst, w.back_place, w.place, dst_place};
}

// The vertex that follows: the selected one, unless `update` says otherwise; a dead end where dst is -1.
__device__ __forceinline__ i64 after(const Params& params, const Context& context, u64 seed, i64 first, const Walker& w, i64 dst, double weight)
{
    if (dst < 0)
        return HAS_DEAD_END ? dead_end(params, context, seed, first + w.number, w.step, w.origin, w.back, w.here, dst, weight) : -1;
    return HAS_UPDATE ? update(params, context, seed, first + w.number, w.step, w.origin, w.back, w.here, dst, weight) : dst;
}

// Step to `then` (with its place, if known); false when the walk is over, and then the rest of its row is filled.
__device__ __forceinline__ bool step_to(Walker& w, i64 then, const Place& place, bool known, i64 length, i64 walkers, vertex_t* out, int* steps)
{
    if (then >= 0) {
        out[++w.step * walkers + w.number] = (vertex_t)then;
        w.back = w.here;
        w.back_place = w.place;
        w.here = then;
        if (w.step < length) {
            w.place = known ? place : locate(then);
            return true;
        }
    }
    for (i64 t = w.step + 1; t <= length; ++t) out[t * walkers + w.number] = NONE;
    steps[w.number] = (int)w.step;
    return false;
}

// Walks whose bias is uniform or in the alias table: one neighbor a draw. The next word is made while the gather is under way.
extern "C" __global__ void walk_by_edge(i64 walkers, i64 first, Params params, u64 seed, i64 length, const vertex_t* source, vertex_t* out, int* steps)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < walkers; n += stride) {
        Walker w;
        start(w, n, source, out);
        u64 word = draw64(seed, first + n, 0, 0);
        bool going = length > 0;
        if (!going) steps[n] = 0;
        while (going) {
            i64 dst = -1;
            Place place = {0, 0};
            bool known = false;
            if (w.place.count > 0) dst = take(w.place, word, place, known);
            word = draw64(seed, first + n, w.step + 1, 0);
            const Context context = context_of(w, known ? dst : -1, place);
            const i64 then = after(params, context, seed, first, w, dst, 1.0);
            going = step_to(w, then, place, known && then == dst, length, walkers, out, steps);
        }
    }
}

// The sum of weights of the edges here -> back.
__device__ __forceinline__ double return_weight(const Walker& w)
{
    if (SIMPLE && UNDIRECTED && !HAS_UPDATE && !HAS_DEAD_END && !WEIGHTED) return 1.0;  // the walk came along that edge
    double total = 0.0;
    const i64 end = w.place.row + w.place.count;
    for (i64 p = first_at_least(w.place.row, end, w.back); p < end && neighbor_at(p) == w.back; ++p)
        total += WEIGHTED ? (double)GRAPH.weights[p] : 1.0;
    return total;
}

// Second-order walks: propose by weight, accept by bias / bound; what the return edge has above the bound is drawn apart. A lane makes one
// trial a turn, so none waits for another's trials.
extern "C" __global__ void walk_by_rejection(i64 walkers, i64 first, Params params, double low, double high, double returning, u64 seed, i64 length,
                                             const vertex_t* source, vertex_t* out, int* steps, u64* tally)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    const bool apart = returning > high;
    Walker w;
    w.number = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (w.number >= walkers) return;
    start(w, w.number, source, out);
    u64 trial = 0, trials = 0;
    bool going = length > 0;
    if (!going) steps[w.number] = 0;
    while (true) {
        if (!going) {
            const i64 next = w.number + stride;
            if (next >= walkers) break;
            start(w, next, source, out);
            going = length > 0;
            if (!going) { steps[next] = 0; continue; }
            trial = 0;
        }
        ++trials;
        const Words words = philox(seed, first + w.number, w.step, trial);
        double coin = fraction(word64(words, 1));
        i64 dst = -1;
        Place place = {0, 0};
        bool known = false, accepted = false;
        if (w.place.count > 0) {
            if (apart && w.back >= 0) {
                const double more = return_weight(w) * (returning - high);
                const double whole = (WEIGHTED ? GRAPH.strength[w.here] : (double)w.place.count) * high + more;
                const double share = whole > 0.0 ? more / whole : 0.0;
                accepted = coin < share;
                coin = (coin - share) / (1.0 - share);
            }
            if (accepted) { dst = w.back; place = w.back_place; known = true; }
            else dst = take(w.place, word64(words, 0), place, known);
        }
        if (dst >= 0 && !known) { place = locate(dst); known = true; }
        const Context context = context_of(w, dst, place);
        accepted = accepted || dst < 0 || (dst != w.back && coin * high < low);
        if (!accepted)
            accepted = coin * high < edge_bias(params, context, seed, first + w.number, w.step, w.origin, w.back, w.here, dst, 1.0);
        if (!accepted) { ++trial; continue; }
        const i64 then = after(params, context, seed, first, w, dst, 1.0);
        going = step_to(w, then, place, known && then == dst, length, walkers, out, steps);
        trial = 0;
    }
    atomicAdd(tally, trials);
}

// Walks of any bias: a group a walker, inverse transform over the whole row at every step (C-SAW, section IV-A).
extern "C" __global__ void walk_by_row(i64 walkers, i64 first, Params params, u64 seed, i64 length, const vertex_t* source, vertex_t* out, int* steps,
                                       i64* bad)
{
    for (i64 n = blockIdx.x; n < walkers; n += gridDim.x) {
        Walker w;
        start(w, n, source, out);
        bool going = length > 0;
        if (!going) steps[n] = 0;
        while (going) {
            const Row row = {w.place, w.here, w.back, w.origin, first + n, w.step, w.back_place};
            i64 dst = -1;
            double weight = 1.0;
            const u64 word = draw64(seed, first + n, w.step, 0);
            const i64 position = inverse_transform(params, seed, row, word, bad);
            if (position >= 0) {
                dst = neighbor_at(w.place.row + position);
                weight = weight_at(w.place.row + position);
            }
            const Context context = context_of(w, -1, {0, 0});
            const i64 then = after(params, context, seed, first, w, dst, weight);
            going = step_to(w, then, {0, 0}, false, length, walkers, out, steps) && group_all(*(volatile i64*)bad == 0);
        }
    }
}

// [rows, columns] to [columns, rows], by tiles of 32 x 32 so that both sides are read and written side by side.
extern "C" __global__ void transpose(i64 rows, i64 columns, const vertex_t* in, vertex_t* out)
{
    __shared__ vertex_t tile[32][33];
    const i64 c0 = (i64)blockIdx.x * 32;
    for (i64 r0 = (i64)blockIdx.y * 32; r0 < rows; r0 += (i64)gridDim.y * 32) {
        for (int r = threadIdx.y; r < 32 && r0 + r < rows; r += blockDim.y)
            if (c0 + threadIdx.x < columns) tile[r][threadIdx.x] = in[(r0 + r) * columns + c0 + threadIdx.x];
        __syncthreads();
        for (int c = threadIdx.y; c < 32 && c0 + c < columns; c += blockDim.y)
            if (r0 + threadIdx.x < rows) out[(c0 + c) * rows + r0 + threadIdx.x] = tile[threadIdx.x][c];
        __syncthreads();
    }
}
