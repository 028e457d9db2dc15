// Values of vertices in rounds of a measure of the user's own: twin of the functions that the kernels of
// engine/analytics/cpu/kernels/rounds.py share. Its hooks stand before this text, as far as the class has them
// (HAS_START_HOOK, HAS_EDGE_HOOK, HAS_VERTEX_HOOK, HAS_TOTAL_HOOK).
#pragma once
#include "ordered.cuh"
#include "warp_rows.cuh"
#include "lanes.cuh"

constexpr int MIN = 0, MAX = 1, SUM = 2, OR = 3;  // COMBINE, as COMBINES of engine/analytics/rounds.py has them
constexpr bool ORDERED = COMBINE == SUM && COMBINED_REAL;
constexpr i64 LARGEST = 0x7FFFFFFFFFFFFFFF;

#if REAL
typedef double value_t;
#else
typedef i64 value_t;
#endif
#if COMBINED_REAL
typedef double combined_t;
#else
typedef i64 combined_t;
#endif
#if TOTAL_REAL
typedef double total_t;
#else
typedef i64 total_t;
#endif

// A round: rows, in which row v of a block is at indptr[v - first], and the state of all vertices. `sent`: what each
// passes along its edges; null where that depends on the edge. `active`: the vertices that pass something along, or that
// are pulled to; null: all. `changed`: those whose numbers in `following` are others than in `values`. faults[0]: a
// vertex at which `edge` gave NaN; faults[1]: `vertex`; -1 without one. counters[0]: how many vertices changed;
// counters[1]: entries of their rows; null where another kernel counts them.
struct Round {
    i64 vertices, number, first;
    const i64* indptr;
    const vertex_t* indices;
    const float* weights;
    const i64* degrees;
    const combined_t* sent;
    const unsigned char* active;
    const value_t* values;
    value_t* following;
    unsigned char* changed;
    i64* faults;
    u64* counters;
};

// Sums of integers wrap around at 64 bits.
__device__ __forceinline__ i64 plus(i64 one, i64 other) { return (i64)((u64)one + (u64)other); }
__device__ __forceinline__ double plus(double one, double other) { return one + other; }
__device__ __forceinline__ i64 both(i64 one, i64 other) { return one | other; }
__device__ __forceinline__ double both(double one, double) { return one; }  // floats are never combined by or

// Two values that came, combined; of two zeros, the first.
template <typename T>
__device__ __forceinline__ T joined(T one, T other)
{
    if constexpr (COMBINE == MIN) return other < one ? other : one;
    if constexpr (COMBINE == MAX) return other > one ? other : one;
    if constexpr (COMBINE == OR) return both(one, other);
    return plus(one, other);
}

// The largest number of a type.
template <typename T>
__device__ __forceinline__ T largest()
{
    constexpr bool is_real = T(0.5) != T(0);
    if constexpr (is_real) return __longlong_as_double(0x7FF0000000000000ll);
    else return LARGEST;
}

// What changes nothing where it is combined.
template <typename T>
__device__ __forceinline__ T nothing()
{
    if constexpr (COMBINE == SUM || COMBINE == OR) return T(0);
    return COMBINE == MIN ? largest<T>() : -largest<T>();
}

// Whether a vertex of this value passes anything along its edges.
__device__ __forceinline__ bool passes(value_t value) { return COMBINE == SUM || value != nothing<value_t>(); }

// Whether a value that came changes the one that a vertex has.
__device__ __forceinline__ bool is_better(value_t fresh, value_t old)
{
    if constexpr (COMBINE == MIN) return fresh < old;
    if constexpr (COMBINE == MAX) return fresh > old;
    return both(old, fresh) != old;
}

__device__ __forceinline__ bool is_nan(double value) { return value != value; }
__device__ __forceinline__ bool is_nan(i64) { return false; }

// Note a vertex at which a hook gave NaN: the largest of them.
__device__ __forceinline__ void note(i64* fault, i64 v) { atomicMax((long long*)fault, (long long)v); }

// A number that a hook gave; of the two zeros of floats, the positive one.
__device__ __forceinline__ double as_value(double found) { return found + 0.0; }
__device__ __forceinline__ i64 as_value(i64 found) { return found; }

// What goes along an edge; where it is NaN, its source is noted.
__device__ __forceinline__ combined_t along(const Params& params, i64 number, i64 vertices, total_t total, i64 src,
    i64 dst, i64 src_degree, i64 dst_degree, value_t value, value_t other, double weight, i64* fault)
{
#if HAS_EDGE_HOOK
    const combined_t came = edge(params, number, vertices, total, src, dst, src_degree, dst_degree, value, other,
        weight);
    if (is_nan(came)) note(fault, src);
    return as_value(came);
#else
    return as_value((combined_t)value);
#endif
}

// The value of a vertex after a round.
__device__ __forceinline__ value_t renewed(const Params& params, i64 number, i64 vertices, total_t total, i64 v,
    i64 degree, value_t value, combined_t combined)
{
#if HAS_VERTEX_HOOK
    return as_value(vertex(params, number, vertices, total, v, v, degree, degree, value, combined, 1.0));
#else
    return joined(value, (value_t)combined);
#endif
}

__device__ __forceinline__ double weight_at(const float* weights, i64 place) { return weights ? (double)weights[place] : 1.0; }
