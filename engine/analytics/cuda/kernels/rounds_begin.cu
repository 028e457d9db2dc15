// The values that vertices begin with, before the rounds of a measure of the user's own: twin of begin in
// engine/analytics/cpu/kernels/rounds.py; and what GPUs that share the rounds learn from each other.
#include "rounds.cuh"

// Give each vertex the value that it starts with, and mark those that pass something along.
extern "C" __global__ void begin(i64 vertices, Params params, const i64* degrees, value_t* values,
    unsigned char* active, i64* fault)
{
    for (i64 v = thread_number(); v < vertices; v += threads_of_grid()) {
#if HAS_START
        const value_t found = as_value(start(params, 0, vertices, 0.0, v, v, degrees[v], degrees[v], 0, 0, 1.0));
#else
        const value_t found = (value_t)v;
#endif
        values[v] = found;
        active[v] = passes(found);
        if (is_nan(found)) note(fault, v);
    }
}

// Learn what has become of the vertices first .. last - 1, whose values before the round are `values`, from the GPU that
// owns them: of those that changed there, or of `all`.
extern "C" __global__ void learn(i64 first, i64 last, i64 all, const unsigned char* changed_there,
    const value_t* following_there, const value_t* values, value_t* following, unsigned char* changed)
{
    for (i64 v = first + thread_number(); v < last; v += threads_of_grid()) {
        const bool differs = changed_there[v];
        following[v] = all || differs ? following_there[v] : values[v];
        changed[v] = differs;
    }
}
