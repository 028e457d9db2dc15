// The values that vertices begin with, before the rounds of a measure of the user's own: twin of begin in
// engine/analytics/cpu/kernels/rounds.py.
#include "rounds.cuh"

// Give each vertex the value that it starts with, in both arrays, and mark those that pass something along.
extern "C" __global__ void begin(i64 vertices, Params params, const i64* degrees, value_t* values, value_t* following,
    unsigned char* active, i64* fault)
{
    for (i64 v = thread_number(); v < vertices; v += threads_of_grid()) {
#if HAS_START_HOOK
        const value_t found = as_value(start(params, 0, vertices, 0.0, v, v, degrees[v], degrees[v], 0, 0, 1.0));
#else
        const value_t found = (value_t)v;
#endif
        values[v] = following[v] = found;
        active[v] = passes(found);
        if (is_nan(found)) note(fault, v);
    }
}
