// Negatives of links: vertices that a source has no edge to. The twin of engine/cpu/kernels/links.py, which explains the law: tries that propose a vertex
// and search for it in the sorted row, and after them, or at once where a row has most vertices, a choice by rank. A thread draws one negative.
#include "graph.cuh"
#include "numbers.cuh"

constexpr u64 LINK_TRIES = 32;

struct Span { i64 low, high; };

// A source with its row, the vertices that may be its negatives, and the one among these that is none: the source itself, or -1.
struct Source { i64 begin, end; Span among; i64 without; };

__device__ __forceinline__ Span span_of_type(const i64* bounds, i64 v)
{
    int number = 0;
    while (v >= bounds[number + 1]) ++number;
    return {bounds[number], bounds[number + 1]};
}

// The biases of all vertices below v.
__device__ __forceinline__ i64 units_below(i64 v, const i64* upto) { return upto ? __ldg(upto + v) : v; }

// The vertex that a unit of the biases of all vertices belongs to.
__device__ __forceinline__ i64 vertex_of(i64 unit, const i64* upto)
{
    if (!upto) return unit;
    i64 low = 0, high = GRAPH.vertices + 1;  // the first place with more
    while (low < high) {
        const i64 middle = (low + high) >> 1;
        if (__ldg(upto + middle) <= unit) low = middle + 1;
        else high = middle;
    }
    return low - 1;
}

__device__ __forceinline__ bool has_neighbor(const Source& s, i64 v)
{
    const i64 place = first_at_least(s.begin, s.end, v);
    return place < s.end && neighbor_at(place) == v;
}

// The number of vertices that a row without repeated edges leaves free.
__device__ i64 free_count(const Source& s, bool apart)
{
    const i64 taken = first_at_least(s.begin, s.end, s.among.high) - first_at_least(s.begin, s.end, s.among.low);
    return s.among.high - s.among.low - taken - apart;
}

// The free vertex whose rank a word chooses, of a row without repeated edges; -1: none is free.
__device__ i64 by_rank(const Source& s, u64 word)
{
    const bool apart = s.without >= 0 && !has_neighbor(s, s.without);
    const i64 free = free_count(s, apart);
    if (free <= 0) return -1;
    const i64 rank = (i64)below(word, (u64)free), row = first_at_least(s.begin, s.end, s.among.low);
    i64 left = row, right = first_at_least(s.begin, s.end, s.among.high);
    while (left < right) {
        const i64 middle = (left + right) >> 1, v = neighbor_at(middle);
        if (v - s.among.low - (middle - row) - (apart && s.without < v) <= rank) left = middle + 1;
        else right = middle;
    }
    const i64 v = s.among.low + rank + left - row;
    return v + (apart && v >= s.without);
}

// The free vertex that a word chooses by its bias, found along the row; -1: none is free.
__device__ i64 along_row(const Source& s, const i64* upto, u64 word)
{
    const i64 begin = first_at_least(s.begin, s.end, s.among.low), end = first_at_least(begin, s.end, s.among.high), high = s.among.high;
    i64 free = units_below(high, upto) - units_below(s.among.low, upto), last = -1;
    bool alone = s.without >= 0;
    for (i64 position = begin; position < end; ++position) {
        const i64 v = neighbor_at(position);
        if (v != last) free -= units_below(v + 1, upto) - units_below(v, upto);
        alone = alone && v != s.without;
        last = v;
    }
    if (alone) free -= units_below(s.without + 1, upto) - units_below(s.without, upto);
    if (free <= 0) return -1;
    i64 rank = (i64)below(word, (u64)free), start = s.among.low, position = begin;
    while (true) {  // over what is taken, in order: neighbors, and the vertex that is none
        i64 v = position < end ? neighbor_at(position) : high;
        if (alone && s.without < v) {
            v = s.without;
            alone = false;
        } else {
            ++position;
        }
        if (v < start) continue;
        const i64 width = units_below(v, upto) - units_below(start, upto);
        if (rank < width || v >= high) return vertex_of(units_below(start, upto) + rank, upto);
        rank -= width;
        start = v + 1;
    }
}

__device__ __forceinline__ i64 non_neighbor(const Source& s, u64 seed, u64 instance, u64 slot, const i64* upto)
{
    const i64 first = units_below(s.among.low, upto), units = units_below(s.among.high, upto) - first;
    if (SIMPLE && s.end - s.begin >= (s.among.high - s.among.low) >> 1) {
        if (!upto) return by_rank(s, pick_word(seed, instance, slot, LINK_TRIES));
        if (free_count(s, s.without >= 0 && !has_neighbor(s, s.without)) == 0) return -1;
    }
    for (u64 number = 0; number < (units > 0 ? LINK_TRIES : 0); ++number) {
        const i64 v = vertex_of(first + (i64)below(pick_word(seed, instance, slot, number), (u64)units), upto);
        if (v != s.without && !has_neighbor(s, v)) return v;
    }
    const u64 word = pick_word(seed, instance, slot, LINK_TRIES);
    return SIMPLE && !upto ? by_rank(s, word) : along_row(s, upto, word);
}

// Negatives of the links numbered `entries`; `each` of them for a link. A link whose edge is at `place` in the row of its source gets its destination.
extern "C" __global__ void draw_negatives(i64 count, const i64* entries, u64 seed, i64 instance, const i64* source, const i64* place, const i64* bounds,
                                          const i64* upto, i64 self_too, i64 each, vertex_t* links, vertex_t* negatives)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 t = (i64)blockIdx.x * blockDim.x + threadIdx.x; t < count * each; t += stride) {
        const i64 n = t / each, i = entries[n], j = t - n * each, u = source[i], at = place[i];
        const Place row = locate(u);
        const i64 v = at >= 0 ? neighbor_at(row.row + at) : (i64)links[2 * i + 1];
        if (at >= 0 && j == 0) links[2 * i + 1] = (vertex_t)v;
        const Span among = span_of_type(bounds, v);
        const bool possible = !self_too && u >= among.low && u < among.high;
        const Source s = {row.row, row.row + row.count, among, possible ? u : -1};
        negatives[i * each + j] = (vertex_t)non_neighbor(s, seed, (u64)(instance + i), (u64)j, upto);
    }
}
