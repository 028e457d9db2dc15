// The graph in device memory, and what hooks may ask of it: the twin of engine/cpu/kernels/access.py.
// LAYOUT is what a step reads:  CSR      indptr and indices: two gathers
//                               ENTRIES  {neighbor, its degree, its row} of 16 bytes: one
//                               TABLE    {neighbor, alias, threshold} and indptr: two
//                               ALIAS    both outcomes with degree and row, 32 bytes: one
//                               CTPS     running sums of a row's biases, 8 bytes: a binary search
//                               EVENTS   edges by time, and the range that may follow each, 32 bytes: one (by_time.cuh)
#pragma once
#include "random.cuh"

#if WIDE
typedef u64 vertex_t;
#else
typedef u32 vertex_t;
#endif
constexpr vertex_t NONE = (vertex_t)-1;

// PIECES: a partition has arrays of its own, wherever they are: on this device, on another one or in host memory that this one can read.
// Then a position is {piece, edge}: a row begins with the number of the piece that it is in, its partition or a copy of the row alone, above its
// offset in the whole graph.
constexpr i64 OFFSET = (1ll << OFFSET_BITS) - 1;

struct Piece {  // each as if it began with the graph's first edge
    const vertex_t* indices;
    const float* weights;
    const void* entries;
};

struct Graph {
    const i64* indptr;        // [V + 1]
    const vertex_t* indices;  // [E]
    const float* weights;     // [E], where a kernel reads them
    const void* entries;      // [E] of LAYOUT
    const double* strength;   // [V] sums of biases, where the return edge is drawn apart
    const u64* bloom;         // 8 bits an edge, row after row; null when there is none
    const u32* members;       // rows as hash tables, 8 bytes an edge, 16 with weights; null when there are none
    const u32* possible;      // [V] edges with a bias above zero, beside CTPS
    const double* columns;    // data of vertices, [V] each, column after column; null when there are none
    const unsigned char* cases;   // TABLES > 1: of each step, the number of the alias table that it is drawn from
    const Piece* pieces;          // PIECES: where each of them is; indices, weights and entries above are null then
    const unsigned char* loaded;  // STREAMED: whether a piece can be read now
    const u64* edge_columns;  // EDGE_COLUMNS addresses, of each piece if there are any, each as if it began with the graph's first edge
    i64 vertices;
};

__constant__ Graph GRAPH;

struct Place { i64 row; i64 count; };  // where a vertex keeps its neighbors

// What a kernel knows already when it calls a hook: saves the hook a gather. -1: nothing.
// path: the walk so far, where hooks read it. edge: the position of the edge, where hooks read its columns.
struct Context { i64 prev, src, dst; Place prev_place, src_place, dst_place; const vertex_t* path; i64 edge;
#if TIMED
    i64 previous_time, start_time;  // when the walk took its last edge and its first
#endif
};

__device__ __forceinline__ Place locate(i64 v)
{
    const i64 row = GRAPH.indptr[v], end = GRAPH.indptr[v + 1];
    return {row, PIECES ? (end - row) & OFFSET : end - row};
}

__device__ __forceinline__ const Piece& piece_of(i64 position) { return GRAPH.pieces[position >> OFFSET_BITS]; }

__device__ __forceinline__ i64 offset_of(i64 position) { return PIECES ? position & OFFSET : position; }

// Whether the row of v can be read now; where it begins is known already.
__device__ __forceinline__ bool is_loaded_row(i64 row) { return !STREAMED || GRAPH.loaded[row >> OFFSET_BITS]; }

__device__ __forceinline__ bool is_loaded(i64 v) { return !STREAMED || is_loaded_row(GRAPH.indptr[v]); }

__device__ __forceinline__ const vertex_t* index_at(i64 position)
{
    return PIECES ? piece_of(position).indices + offset_of(position) : GRAPH.indices + position;
}

__device__ __forceinline__ float stored_weight(i64 position)
{
    return PIECES ? piece_of(position).weights[offset_of(position)] : GRAPH.weights[position];
}

__device__ __forceinline__ const void* entries_of(i64 position) { return PIECES ? piece_of(position).entries : GRAPH.entries; }

__device__ __forceinline__ i64 vertex_or_none(vertex_t v) { return v == NONE ? -1 : (i64)v; }

struct alignas(16) Entry { u32 neighbor, count, row_low, row_high; };

struct TableEntry { vertex_t neighbor, alias, threshold; };

// Alias tables of pieces take the place of their rows; only the kernels that build them read rows.
__device__ __forceinline__ i64 neighbor_at(i64 position)
{
    if (PIECES && LAYOUT == TABLE && !BUILDS) return (i64)((const TableEntry*)entries_of(position))[TABLES * offset_of(position)].neighbor;
    return (i64)*index_at(position);
}

struct alignas(32) AliasEntry { u32 neighbor, alias, threshold, count, alias_count, rows[3]; };  // rows: 48 bits each

// An edge has an entry in each of TABLES alias tables, side by side: one for each case of the depth of a walk, in whose order they are numbered.
__device__ __forceinline__ u32 table_of(i64 step) { return TABLES > 1 ? __ldg(GRAPH.cases + step) : 0; }

// A gather that is under way: what `answer` needs to make a neighbor of it.
struct Asked {
    uint4 a, b;
    i64 position;
    u32 coin, table;
};

// Ask for the neighbor of the vertex at `from` that a word chooses, by a table; `from` has one.
__device__ __forceinline__ Asked ask(const Place& from, u64 word, u32 table = 0)
{
    Asked q;
    q.table = table;
    q.position = from.row + (i64)(WIDE ? below(word, (u64)from.count) : below_32(word, (u32)from.count));
    q.coin = (u32)(word * (u64)from.count >> 32);
#if LAYOUT == ENTRIES
    q.a = __ldg((const uint4*)GRAPH.entries + q.position);
#elif LAYOUT == ALIAS
    q.a = __ldg((const uint4*)GRAPH.entries + 2 * (TABLES * q.position + table));
    q.b = __ldg((const uint4*)GRAPH.entries + 2 * (TABLES * q.position + table) + 1);
#elif (LAYOUT == CSR || LAYOUT == CTPS) && !WIDE
    q.a.x = __ldg(index_at(q.position));
#endif
    return q;
}

// The neighbor, with its place where the layout knows it; -1 where nothing can be taken.
__device__ __forceinline__ i64 answer(const Asked& q, Place& place, bool& known)
{
    known = LAYOUT == ENTRIES || LAYOUT == ALIAS;
#if LAYOUT == ENTRIES
    place = {(i64)((u64)q.a.w << 32 | q.a.z), (i64)q.a.y};
    return q.a.x;
#elif LAYOUT == TABLE
    const TableEntry e = ((const TableEntry*)entries_of(q.position))[TABLES * offset_of(q.position) + q.table];
    return vertex_or_none(q.coin < e.threshold ? e.neighbor : e.alias);
#elif LAYOUT == ALIAS
    const bool own = q.coin < q.a.z;
    place.count = own ? q.a.w : q.b.x;
    place.row = own ? (i64)((u64)q.b.y | (u64)(q.b.z & 0xFFFFu) << 32) : (i64)((u64)(q.b.z >> 16) | (u64)q.b.w << 16);
    return vertex_or_none(own ? q.a.x : q.a.y);
#elif (LAYOUT == CSR || LAYOUT == CTPS) && !WIDE
    return q.a.x;
#else
    return neighbor_at(q.position);
#endif
}

__device__ __forceinline__ i64 take(const Place& from, u64 word, Place& place, bool& known) { return answer(ask(from, word), place, known); }

// The first position in [low, high) whose neighbor is at least `value`: rows are sorted.
__device__ __forceinline__ i64 first_at_least(i64 low, i64 high, i64 value)
{
    while (low < high) {
        const i64 middle = (low + high) >> 1;
        if (neighbor_at(middle) < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

struct BloomWord { i64 word; u64 bits; };

__device__ __forceinline__ BloomWord bloom_word(const Place& place, i64 value)
{
    u64 h = (u64)value * 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
    h *= 0xBF58476D1CE4E5B9ull;
    h ^= h >> 32;
    const i64 first = place.row >> 3, words = ((place.row + place.count - 1) >> 3) - first + 1;
    const u64 bits = 1ull << (h & 63) | 1ull << (h >> 6 & 63) | 1ull << (h >> 12 & 63) | 1ull << (h >> 18 & 63);
    return {first + (i64)((h >> 32) * (u64)words >> 32), bits};
}

// A row as a hash table of buckets of 8 slots, at most half full: one gather answers nearly every question. With MEMBER_WEIGHTS the weights of a
// bucket's neighbors follow them: 64 bytes, what memory is read in, instead of 32.
// Row v has the buckets from row / 4 + v on, so no table says where they are.
constexpr int BUCKET = MEMBER_WEIGHTS ? 16 : 8;  // words

struct Buckets { i64 first; u32 count; };

__device__ __forceinline__ Buckets buckets_of(i64 v, const Place& place)
{
    return {(place.row >> 2) + v, (u32)(((place.row + place.count) >> 2) - (place.row >> 2) + 1)};
}

__device__ __forceinline__ u32 first_bucket(const Buckets& buckets, i64 value)
{
    return (u32)((u64)((u32)value * 0x9E3779B1u) * buckets.count >> 32);
}

struct Member { bool found; float weight; };

// Whether the row of v holds `value`; WEIGHED: and with which weight, which is asked for together with the neighbors.
template <bool WEIGHED>
__device__ __forceinline__ Member find_member(i64 v, const Place& place, i64 value)
{
    const Buckets buckets = buckets_of(v, place);
    const u32 asked = (u32)value, empty = ~0u;
    u32 bucket = first_bucket(buckets, value);
    for (u32 tries = 0; tries < buckets.count; ++tries) {
        const uint4* at = (const uint4*)(GRAPH.members + BUCKET * (buckets.first + bucket));
        const uint4 a = __ldg(at), b = __ldg(at + 1);
        uint4 c = {}, d = {};
        if (WEIGHED) { c = __ldg(at + 2); d = __ldg(at + 3); }
        const u32 found = (a.x == asked) | (a.y == asked) << 1 | (a.z == asked) << 2 | (a.w == asked) << 3 | (b.x == asked) << 4 | (b.y == asked) << 5
                          | (b.z == asked) << 6 | (b.w == asked) << 7;
        if (found) {
            const u32 first = found & 1 ? c.x : found & 2 ? c.y : found & 4 ? c.z : c.w, second = found & 16 ? d.x : found & 32 ? d.y : found & 64 ? d.z : d.w;
            return {true, __uint_as_float(found & 15 ? first : second)};
        }
        if (b.w == empty) return {false, 0.0f};  // slots fill up in order: nothing went on to the next bucket
        bucket = bucket + 1 == buckets.count ? 0 : bucket + 1;
    }
    return {false, 0.0f};
}

// Whether a row in memory tells if the edge a -> b exists.
__device__ __forceinline__ bool can_ask(i64 row_of_a, i64 row_of_b) { return is_loaded_row(row_of_a) || (UNDIRECTED && is_loaded_row(row_of_b)); }

// Whether the edge a -> b exists: by the row's hash table, or by the filter of a's row and then an exact search in the shorter row that can answer.
__device__ __forceinline__ bool has_edge(const Place& a, const Place& b, i64 from, i64 to)
{
    if (a.count == 0) return false;
    if (GRAPH.members) return find_member<false>(from, a, to).found;
    if (GRAPH.bloom) {
        const BloomWord asked = bloom_word(a, to);
        if ((__ldg(GRAPH.bloom + asked.word) & asked.bits) != asked.bits) return false;
    }
    const bool swap = UNDIRECTED && is_loaded_row(b.row) && (b.count < a.count || !is_loaded_row(a.row));
    const i64 row = swap ? b.row : a.row, count = swap ? b.count : a.count, wanted = swap ? from : to;
    const i64 found = first_at_least(row, row + count, wanted);
    return found < row + count && neighbor_at(found) == wanted;
}

__device__ __forceinline__ Place place_of(const Context* context, i64 v)
{
    if (v == context->dst) return context->dst_place;
    if (v == context->prev) return context->prev_place;
    return v == context->src ? context->src_place : locate(v);
}

// What hooks call. `context` is a Context*, an integer to the hook.
extern "C" __device__ i64 csaw_degree(u64 context, i64 v) { return place_of((const Context*)context, v).count; }

extern "C" __device__ i64 csaw_vertex_count(u64) { return GRAPH.vertices; }

extern "C" __device__ double csaw_column_value(u64, i64 column, i64 v)
{
    return v < 0 || v >= GRAPH.vertices ? __longlong_as_double(0x7FF8000000000000ll) : __ldg(GRAPH.columns + column * GRAPH.vertices + v);
}

#if EDGE_COLUMNS
// The number of the edge at hand in a column. EDGE_TYPES has four bits for each column: the place of its type in DTYPES of partition/graph/edge_columns.py.
template <typename Number>
__device__ __forceinline__ Number edge_number(u64 context, i64 column)
{
    const i64 position = ((const Context*)context)->edge, at = offset_of(position);
    const u64 values = GRAPH.edge_columns[(PIECES ? position >> OFFSET_BITS : 0) * EDGE_COLUMNS + column];
    switch (EDGE_TYPES >> 4 * column & 15) {
    case 0: return (Number)((const signed char*)values)[at];
    case 1: return (Number)((const short*)values)[at];
    case 2: return (Number)((const int*)values)[at];
    case 3: return (Number)((const i64*)values)[at];
    case 4: return (Number)((const unsigned char*)values)[at];
    case 5: return (Number)((const unsigned short*)values)[at];
    case 6: return (Number)((const u32*)values)[at];
    case 7: return (Number)((const u64*)values)[at];
    case 8: return (Number)((const float*)values)[at];
    default: return (Number)((const double*)values)[at];
    }
}

extern "C" __device__ i64 csaw_edge_integer(u64 context, i64 column) { return edge_number<i64>(context, column); }

extern "C" __device__ double csaw_edge_real(u64 context, i64 column) { return edge_number<double>(context, column); }
#endif

#if TIMED
extern "C" __device__ i64 csaw_previous_time(u64 context) { return ((const Context*)context)->previous_time; }
extern "C" __device__ i64 csaw_start_time(u64 context) { return ((const Context*)context)->start_time; }
#endif

extern "C" __device__ i64 csaw_path_vertex(u64 context, i64 depth, i64 steps)
{
    const vertex_t* const path = ((const Context*)context)->path;
    return path && 0 <= steps && steps <= depth ? (i64)path[depth - steps] : -1;
}

extern "C" __device__ i64 csaw_is_neighbor(u64 context, i64 a, i64 b)
{
    if (a < 0 || b < 0) return 0;
    const Place second = UNDIRECTED ? place_of((const Context*)context, b) : Place{0, 0};
    return has_edge(place_of((const Context*)context, a), second, a, b);
}

extern "C" __device__ u64 csaw_hook_word(u64 seed, i64 instance, i64 step, i64 site)
{
    return draw64(seed, (u64)instance, (u64)step, HOOK_DRAWS + (u64)site);
}

extern "C" __device__ double csaw_fraction(u64 word) { return fraction(word); }

extern "C" __device__ u64 csaw_below_wide(u64 word, u64 bound) { return below(word, bound); }
