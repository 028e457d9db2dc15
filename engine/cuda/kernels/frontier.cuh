// The entries of a frontier, for which neighbors are selected: the twin of FrontierArrays in engine/cpu/kernels/state.py.
#pragma once
#include "graph.cuh"

struct Frontier {
    const i64 *instance, *slot, *vertex, *previous, *source;
    const i64 *seen_from, *seen_to, *seen;  // the instance's vertices so far, sorted: seen[seen_from .. seen_to)
    const i64 *start, *capacity;
    i64* found;
    vertex_t* out;
    i64* edge;    // PLACED: the number of each neighbor's edge, counted through all rows
    double* key;  // COLLECTIVE: the time of each candidate; of those that may be among the first `wanted` of all pools
};
