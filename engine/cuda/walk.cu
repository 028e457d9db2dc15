// Walk kernels: one walker a thread, its state in registers; a lane that is done takes its next walker without waiting for the warp.
// Row t of `out` holds the vertices after t steps, so that a warp writes side by side; transpose turns it into walks.
// The twin of engine/cpu/walk.py.
#include "weigh.cuh"

// Where many walks end early, the caller fills `out` with NONE beforehand: see Walks in walks.py.
#define PREFILLED (HAS_UPDATE || HAS_DEAD_END || !UNDIRECTED)

struct Walker {  // ids and counts in as few registers as they fit: more walkers in flight
    vertex_t number, origin, here, back;
    int step;
    vertex_t count, back_count;
    i64 row, back_row;

    __device__ __forceinline__ Place place() const { return {row, (i64)count}; }
    __device__ __forceinline__ i64 previous() const { return vertex_or_none(back); }
    __device__ __forceinline__ void stand_at(const Place& place) { row = place.row; count = (vertex_t)place.count; }

    __device__ __forceinline__ Context context(i64 dst, const Place& dst_place) const
    {
        return {previous(), (i64)here, dst, {back_row, (i64)back_count}, place(), dst_place};
    }
};

__device__ __forceinline__ void start(Walker& w, i64 number, const vertex_t* source, vertex_t* out)
{
    w.number = (vertex_t)number;
    w.origin = w.here = source[number];
    w.back = NONE;
    w.step = 0;
    w.stand_at(locate(w.here));
    w.back_row = w.back_count = 0;
    out[number] = w.here;
}

// The vertex that follows: the selected one, unless `update` says otherwise; a dead end where dst is -1.
__device__ __forceinline__ i64 after(const Params& params, const Context& context, u64 seed, i64 first, const Walker& w, i64 dst, double weight)
{
    if (dst < 0)
        return HAS_DEAD_END ? dead_end(params, context, seed, first + w.number, w.step, w.origin, w.previous(), w.here, dst, weight) : -1;
    return HAS_UPDATE ? update(params, context, seed, first + w.number, w.step, w.origin, w.previous(), w.here, dst, weight) : dst;
}

// Step to `then` (with its place, if known); false when the walk is over.
__device__ __forceinline__ bool step_to(Walker& w, i64 then, const Place& place, bool known, i64 length, i64 walkers, vertex_t* out, int* steps)
{
    if (then >= 0) {
        out[++w.step * walkers + w.number] = (vertex_t)then;
        w.back = w.here;
        w.back_row = w.row;
        w.back_count = w.count;
        w.here = (vertex_t)then;
        if (w.step < length) {
            w.stand_at(known ? place : locate(then));
            return true;
        }
    }
    if (!PREFILLED)
        for (i64 t = w.step + 1; t <= length; ++t) out[t * walkers + w.number] = NONE;
    steps[w.number] = w.step;
    return false;
}

// Begin this thread's next walk that has steps to take, from `number` on; false when there is none.
__device__ __forceinline__ bool begin(Walker& w, i64 number, i64 walkers, i64 length, const vertex_t* source, vertex_t* out, int* steps)
{
    for (; number < walkers; number += (i64)gridDim.x * blockDim.x) {
        start(w, number, source, out);
        if (length > 0) return true;
        steps[number] = 0;
    }
    return false;
}

// Walks whose bias is uniform or in the alias table: one neighbor a draw. The next word is made while the gather is under way.
extern "C" __global__ __launch_bounds__(256, 6) void walk_by_edge(i64 walkers, i64 first, Params params, u64 seed, i64 length, const vertex_t* source,
                                                               vertex_t* out, int* steps)
{
    Walker w;
    bool going = begin(w, (i64)blockIdx.x * blockDim.x + threadIdx.x, walkers, length, source, out, steps);
    u64 word = going ? draw64(seed, first + w.number, 0, 0) : 0;
    while (going) {
        i64 dst = -1;
        Place place = {0, 0};
        bool known = false;
        if (w.count > 0) dst = take(w.place(), word, place, known);
        word = draw64(seed, first + w.number, w.step + 1, 0);
        const Context context = w.context(known ? dst : -1, place);
        const i64 then = after(params, context, seed, first, w, dst, 1.0);
        if (step_to(w, then, place, known && then == dst, length, walkers, out, steps)) continue;
        going = begin(w, (i64)w.number + (i64)gridDim.x * blockDim.x, walkers, length, source, out, steps);
        if (going) word = draw64(seed, first + w.number, 0, 0);
    }
}

// The sum of weights of the edges here -> back.
__device__ __forceinline__ double return_weight(const Walker& w)
{
    if (SIMPLE && UNDIRECTED && !HAS_UPDATE && !HAS_DEAD_END && !WEIGHTED) return 1.0;  // the walk came along that edge
    double total = 0.0;
    const i64 end = w.row + w.count, back = w.previous();
    for (i64 p = first_at_least(w.row, end, back); p < end && neighbor_at(p) == back; ++p) total += WEIGHTED ? (double)GRAPH.weights[p] : 1.0;
    return total;
}

// The chance that the next step is the one that goes back by what its bias has above the bound of all others.
__device__ __forceinline__ double share_of_return(const Walker& w, double high, double returning)
{
    if (w.count == 0 || w.back == NONE) return 0.0;
    const double more = return_weight(w) * (returning - high);
    const double whole = (WEIGHTED ? GRAPH.strength[w.here] : (double)w.count) * high + more;
    return whole > 0.0 ? more / whole : 0.0;
}

// Second-order walks: propose by weight, accept by bias / bound; what the return edge has above the bound is drawn apart. A lane makes one
// trial a turn, so none waits for another's trials.
extern "C" __global__ __launch_bounds__(256, 5) void walk_by_rejection(i64 walkers, i64 first, Params params, double low, double high, double returning,
                                                                       u64 seed, i64 length, const vertex_t* source, vertex_t* out, int* steps, u64* tally)
{
    const bool apart = returning > high;
    Walker w;
    bool going = begin(w, (i64)blockIdx.x * blockDim.x + threadIdx.x, walkers, length, source, out, steps);
    u32 trial = 0;
    u64 trials = 0;
    double share = 0.0;
    while (going) {
        ++trials;
        const Words words = philox(seed, first + w.number, w.step, trial);
        double coin = fraction(word64(words, 1));
        i64 dst = -1;
        Place place = {0, 0};
        bool known = false, accepted = false;
        if (w.count > 0) {
            if (apart) {
                if (trial == 0) share = share_of_return(w, high, returning);
                if (w.back != NONE) {
                    accepted = coin < share;
                    coin = (coin - share) / (1.0 - share);
                }
            }
            if (accepted) { dst = w.back; place = {w.back_row, (i64)w.back_count}; known = true; }
            else dst = take(w.place(), word64(words, 0), place, known);
        }
        if (dst >= 0 && !known) { place = locate(dst); known = true; }
        const Context context = w.context(dst, place);
        accepted = accepted || dst < 0 || ((vertex_t)dst != w.back && coin * high < low);
        if (!accepted)
            accepted = coin * high < edge_bias(params, context, seed, first + w.number, w.step, w.origin, w.previous(), w.here, dst, 1.0);
        if (!accepted) { ++trial; continue; }
        const i64 then = after(params, context, seed, first, w, dst, 1.0);
        trial = 0;
        if (!step_to(w, then, place, known && then == dst, length, walkers, out, steps))
            going = begin(w, (i64)w.number + (i64)gridDim.x * blockDim.x, walkers, length, source, out, steps);
    }
    if (trials) atomicAdd(tally, trials);
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
            const Row row = {w.place(), w.here, w.previous(), w.origin, first + n, w.step, {w.back_row, (i64)w.back_count}};
            i64 dst = -1;
            double weight = 1.0;
            const u64 word = draw64(seed, first + n, w.step, 0);
            const i64 position = inverse_transform(params, seed, row, word, bad);
            if (position >= 0) {
                dst = neighbor_at(w.row + position);
                weight = weight_at(w.row + position);
            }
            const Context context = w.context(-1, {0, 0});
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
