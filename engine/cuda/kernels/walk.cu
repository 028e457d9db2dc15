// Walk kernels: one walker a thread, its state in registers; a lane that is done takes its next walker without waiting for the warp.
// A walk is written a line of 64 bytes at a time: its parts, written apart, would cost memory a read and a write each (node2vec: twice the time).
// The twin of engine/cpu/kernels/walk.py.
#include "walker.cuh"
#include "busy.cuh"
#if TIMED
#include "temporal.cuh"
#endif

// Walks whose bias is uniform or in the alias table: one neighbor a draw. The next gather is on its way before a step is noted, and the word
// after that is made meanwhile.
extern "C" __global__ __launch_bounds__(WALK_BLOCK, 4) void walk_by_edge(Output o, i64 first, Params params, u64 seed, const vertex_t* source, i64* bad)
{
    const Working working;
    __shared__ vertex_t staged[LINE][WALK_BLOCK];
    const Track track = {staged};
    Walker w;
    Asked asked;
    u64 word = 0;
    const auto set_out = [&] {
        if (w.count > 0) asked = ask(w.place(), draw64(seed, first + w.number, w.step, 0), table_of(w.step));
        word = draw64(seed, first + w.number, w.step + 1, 0);
    };
    const auto step = [&] {
        Place place = {0, 0};
        bool known = false;
        const i64 dst = w.count > 0 ? answer(asked, place, known) : -1;
        const i64 then = after(params, w.context(known ? dst : -1, place, path_of(o, w.number)), seed, first, w, dst, 1.0, bad);
        if (then >= 0) {
            move_to(w, then, place, known && then == dst, o.length);
            if (w.step < o.length && w.count > 0 && is_loaded_row(w.row)) asked = ask(w.place(), word, table_of(w.step));
        }
        const bool going = note(w, then < 0, o, track);
        if (going) word = draw64(seed, first + w.number, w.step + 1, 0);
        return going;
    };
#if READIES
    if (o.end - o.begin > (i64)gridDim.x * blockDim.x) {
        __shared__ Ready::Start starts[WALK_BLOCK];
        Ready ready(starts, o);
        bool going = false, began;
        while (ready.go_on(w, going, began, o, source, track)) {
            if (began) set_out();
            if (going) going = step();
        }
        return;
    }
#endif
    bool going = begin(w, o.begin + (i64)blockIdx.x * blockDim.x + threadIdx.x, o, source, track);
    if (going) set_out();
    while (going) {
        going = step();
        if (going) continue;
        going = begin(w, next_walker(o, w.number), o, source, track);
        if (going) set_out();
    }
}

// Whether the return edge has to be looked up: else it is there and weighs 1, for the walk came along it.
constexpr bool RETURN_IS_READ = !(SIMPLE && UNDIRECTED && !HAS_UPDATE && !HAS_DEAD_END && !WEIGHTED);

// The sum of weights of the edges here -> back.
__device__ __forceinline__ double return_weight(const Walker& w)
{
    if (!RETURN_IS_READ) return 1.0;
    double total = 0.0;
    const i64 end = w.row + w.count, back = w.previous();
    if (MEMBER_WEIGHTS) return (double)find_member<true>(w.here, w.place(), back).weight;
    for (i64 p = first_at_least(w.row, end, back); p < end && neighbor_at(p) == back; ++p) total += WEIGHTED ? (double)stored_weight(p) : 1.0;
    return total;
}

// The chance that the next step is the one that goes back by what its bias has above the bound of all others.
__device__ __forceinline__ double share_of_return(const Walker& w, double high, double returning)
{
    if (w.count == 0 || w.back == NONE) return 0.0;
    const double all = WEIGHTED ? __ldg(GRAPH.strength + w.here) : (double)w.count;  // asked for first: the return edge does not wait for it
    const double more = return_weight(w) * (returning - high), whole = all * high + more;
    return whole > 0.0 ? more / whole : 0.0;
}

// Whether a coin falls on the share of the return edge; if not, what is left of it is a coin again.
__device__ __forceinline__ bool returns(double& coin, double share)
{
    if (coin < share) return true;
    coin = (coin - share) / (1.0 - share);
    return false;
}

// Second-order walks: propose by weight, accept by bias / bound; what the return edge has above the bound is drawn apart. A lane makes one
// trial a turn, so none waits for another's trials.
extern "C" __global__ __launch_bounds__(WALK_BLOCK, WIDE || STREAMED || EXTREME ? 3 : 4) void walk_by_rejection(Output o, i64 first, Params params, double low, double high, double returning,
                                                                              u64 seed, const vertex_t* source, i64* bad, u64* tally)
{
    const Working working;
    __shared__ vertex_t staged[LINE][WALK_BLOCK];
    const Track track = {staged};
    const bool apart = returning > high;
    Walker w;
    u32 trial = 0, asks = 0;
    bool fresh = true, going = false;
    const auto set_out = [&](i64 number) {
        going = begin(w, number, o, source, track);
        trial = ASKS_LATER && going ? o.trials[w.number] : 0;
        asks = 0;
        fresh = true;
    };
    set_out(o.begin + (i64)blockIdx.x * blockDim.x + threadIdx.x);
    u64 trials = 0;
    double share = 0.0;
    while (going) {
        ++trials;
        const Words words = philox(seed, first + w.number, w.step, trial);
        double coin = fraction(word64(words, 1));
        i64 dst = -1;
        Place place = {0, 0};
        if (apart && fresh) share = share_of_return(w, high, returning);
        fresh = false;
        bool known = false, accepted = apart && returns(coin, share);
        if (accepted) { dst = w.back; place = {w.back_row, (i64)w.back_count}; known = true; }
        else if (w.count > 0) dst = take(w.place(), word64(words, 0), place, known);
        if (dst >= 0 && !known) { place = locate(dst); known = true; }
        Context context = w.context(dst, place, path_of(o, w.number));
        accepted = accepted || dst < 0 || ((vertex_t)dst != w.back && coin * high < low);
        const bool unknown = ASKS_LATER && !accepted && (ASKS_BACK || (vertex_t)dst != w.back) && w.back != NONE && !can_ask(w.back_row, place.row);
        if (unknown) {
            o.candidates[w.number * (i64)QUESTIONS + asks] = (vertex_t)dst;
            o.coins[w.number * (i64)QUESTIONS + asks] = coin;
            ++asks;
        } else if (!accepted) {
            const double bias = edge_bias(params, context, seed, first + w.number, w.step, w.origin, w.previous(), w.here, dst, 1.0);
            accepted = coin * high < bias;
            if (EXTREME && !accepted && !checked(bias, w.here, dst, bad)) { dst = -1; accepted = true; }
        }
        if (ASKS_LATER && (asks == QUESTIONS || (accepted && asks))) {
            leave(w, false, o);
            o.trials[w.number] = trial + 1;
            o.asked[w.number] = asks;
            o.sure[w.number] = accepted ? (vertex_t)dst : NONE;
            set_out(next_walker(o, w.number));
            continue;
        }
        if (!accepted) {
            ++trial;
            if (!EXTREME || trial != TRIALS + (i64)w.count) continue;
            const Row row = {w.place(), w.here, w.previous(), w.origin, first + w.number, w.step, {w.back_row, (i64)w.back_count}};
            dst = from_whole_row(params, seed, row, high, trial, bad);
            if (dst == TRY_ON) continue;
            if (dst >= 0) { place = locate(dst); known = true; }
            context = w.context(dst, place, path_of(o, w.number));
        }
        const i64 then = after(params, context, seed, first, w, dst, 1.0, bad);
        trial = 0;
        fresh = true;
        if (then >= 0) move_to(w, then, place, known && then == dst, o.length);
        if (!note(w, then < 0, o, track)) set_out(next_walker(o, w.number));
    }
    if (trials) atomicAdd(tally, trials);
}

// Walks on a graph in parts: the twin of engine/cpu/kernels/questions.py.
extern "C" __global__ __launch_bounds__(256) void answer_questions(Output o, i64 first, Params params, double high, u64 seed, const vertex_t* source, i64* bad)
{
    for (i64 n = o.begin + (i64)blockIdx.x * blockDim.x + threadIdx.x; n < o.end; n += (i64)gridDim.x * blockDim.x) {
        const u32 asked = o.alive[n] ? o.asked[n] : 0;
        if (asked == 0) continue;
        vertex_t* const candidates = o.candidates + n * QUESTIONS;
        double* const coins = o.coins + n * QUESTIONS;
        Walker w;
        start(w, n, source);
        take_up(w, o);
        u32 answered = 0;
        i64 goal = -1;
        Place place = {0, 0};
        for (; goal < 0 && answered < asked; ++answered) {
            const i64 dst = candidates[answered];
            place = locate(dst);
            if (!can_ask(w.back_row, place.row)) break;
            const double bias = edge_bias(params, w.context(dst, place, path_of(o, n)), seed, first + n, w.step, w.origin, w.previous(), w.here, dst, 1.0);
            if (coins[answered] * high < bias) goal = dst;
        }
        const u32 rest = goal < 0 ? asked - answered : 0;
        o.asked[n] = rest;
        for (u32 i = 0; i < rest; ++i) {
            candidates[i] = candidates[answered + i];
            coins[i] = coins[answered + i];
        }
        if (goal < 0 && rest == 0 && o.sure[n] != NONE) {
            goal = o.sure[n];
            place = locate(goal);
        }
        if (goal < 0) continue;
        const i64 then = after(params, w.context(goal, place, path_of(o, n)), seed, first, w, goal, 1.0, bad);
        if (then >= 0) move_to(w, then, place, then == goal, o.length);
        if (!note(w, then < 0, o, {nullptr})) continue;
        leave(w, false, o);
        o.trials[n] = 0;
    }
}

// Walks of any bias: a warp a walker, inverse transform over the whole row at every step (C-SAW, section IV-A).
extern "C" __global__ void walk_by_row(Output o, i64 first, Params params, u64 seed, const vertex_t* source, i64* bad)
{
    const Working working;
    for (i64 n = o.begin + blockIdx.x; n < o.end; n += gridDim.x) {
        if (RESUMES && !o.alive[n]) continue;
        if (STREAMED && o.only >= 0 && o.queue[n] != o.only) continue;
        vertex_t* walk = o.walks + (UNLIMITED ? o.places[n] : n * (o.length + 1));
        Walker w;
        start(w, n, source);
#if TIMED
        w.now = w.began = o.starts;
#endif
        if (RESUMES) take_up(w, o);
        else if (threadIdx.x == 0) walk[0] = w.here;
        if (READS_PATH) group_sync();
        bool ended = false;
        while (w.step < o.length && (!STREAMED || is_ready(w, o)) && *(volatile i64*)bad == 0) {
#if TIMED
            const Row row = {w.place(), w.here, w.previous(), w.origin, first + n, w.step, {w.back_row, (i64)w.back_count}, walk, w.now, w.began};
#else
            const Row row = {w.place(), w.here, w.previous(), w.origin, first + n, w.step, {w.back_row, (i64)w.back_count}, walk};
#endif
            const i64 position = inverse_transform(params, seed, row, draw64(seed, first + n, w.step, 0), bad);
            const i64 dst = position < 0 ? -1 : neighbor_at(w.row + position);
            const double weight = position < 0 ? 1.0 : weight_at(w.row + position);
            Context context = w.context(-1, {0, 0}, path_of(o, n));
            context.edge = w.row + position;
            const i64 then = after(params, context, seed, first, w, dst, weight, bad);
            ended = then < 0;
            if (ended) break;
            if (threadIdx.x == 0) walk[w.step + 1] = (vertex_t)then;
#if TIMED
            if (dst >= 0) w.now = time_at(context.edge);
            if (w.step == 0) w.began = w.now;
            if (threadIdx.x == 0) note_time(o, n, w.step, w.now);
#endif
            if (READS_PATH) group_sync();  // all lanes read the walk
            ++w.step;
            w.back = w.here;
            w.here = (vertex_t)then;
            find_rows(w);
        }
        if (ended && !PREFILLED && !UNLIMITED)
            for (i64 t = w.step + 1 + threadIdx.x; t <= o.length; t += blockDim.x) walk[t] = NONE;
        group_sync();
        if (threadIdx.x) continue;
        o.steps[n] = w.step;
        if (RESUMES) {
            o.at[n] = w.here;
            o.previous[n] = w.back;
            o.alive[n] = !ended && w.step < o.length;
#if TIMED
            o.clock[2 * n] = w.now;
            o.clock[2 * n + 1] = w.began;
#endif
        }
    }
}

// What waiting walkers need: counts[p] of them would be served by partition p, an asking walker perhaps by either of two; then come the number of those
// that wait, and of the steps that they have left.
extern "C" __global__ __launch_bounds__(256) void count_waiting(Output o, i64 partitions, u64* counts)
{
    constexpr int NEAR_COUNTS = 1024;
    __shared__ u32 near[NEAR_COUNTS];
    for (int i = threadIdx.x; i < NEAR_COUNTS; i += blockDim.x) near[i] = 0;
    __syncthreads();
    const auto count = [&](i64 v) {
        const i64 part = GRAPH.indptr[v] >> OFFSET_BITS;
        if (part < NEAR_COUNTS) atomicAdd(near + part, 1u);
        else if (part < partitions) atomicAdd(counts + part, 1ull);
    };
    i64 waiting = 0, left = 0;
    for (i64 n = o.begin + (i64)blockIdx.x * blockDim.x + threadIdx.x; n < o.end; n += (i64)gridDim.x * blockDim.x) {
        if (!o.alive[n]) continue;
        ++waiting;
        left += o.length - o.steps[n];
        if (ASKS_LATER && o.asked[n]) {
            count(o.previous[n]);
            if (UNDIRECTED) count(o.candidates[n * QUESTIONS]);
        } else {
            count(o.at[n]);
        }
    }
    waiting = group_sum(waiting);
    left = group_sum(left);
    if (threadIdx.x == 0) { atomicAdd(counts + partitions, (u64)waiting); atomicAdd(counts + partitions + 1, (u64)left); }
    __syncthreads();
    for (int i = threadIdx.x; i < NEAR_COUNTS && i < partitions; i += blockDim.x)
        if (near[i]) atomicAdd(counts + i, (u64)near[i]);
}
