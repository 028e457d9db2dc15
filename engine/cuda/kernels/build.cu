// What a layout wants, made of indptr, indices and weights on the device: one group a row, hubs in a launch of larger groups.
#include "weigh.cuh"

// Rows [first, last) that are for groups of this size, in turn.
#define FOR_ROWS(v, first, last)                                             \
    for (i64 v = (first) + blockIdx.x; v < (last); v += gridDim.x)           \
        if ((locate(v).count >= LONG_ROW) == (blockDim.x > 32))

// {neighbor, its degree, its row} of edges [first, last), an edge a thread.
extern "C" __global__ void build_entries(i64 first, i64 last, Entry* entries)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 e = first + (i64)blockIdx.x * blockDim.x + threadIdx.x; e < last; e += stride) {
        const u32 neighbor = (u32)GRAPH.indices[e];
        const Place place = locate(neighbor);
        entries[e] = {neighbor, (u32)place.count, (u32)place.row, (u32)((u64)place.row >> 32)};
    }
}

// Copy rows of page-locked host memory, an element of ``item`` bytes a thread: row r, from address from[r] on, becomes
// elements start[r] .. start[r + 1] - 1 of ``out``, of ``count`` in all. Any row is shared by many threads, because one
// block waits too long for the bus.
template <typename T>
__device__ __forceinline__ void copy_elements(i64 count, i64 rows, const i64* start, const u64* from, T* out)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < count; e += stride) {
        i64 row = 0, after = rows;  // the last row that begins at e or before is in row .. after - 1
        while (after - row > 1) {
            const i64 middle = row + after >> 1;
            if (start[middle] <= e) row = middle;
            else after = middle;
        }
        out[e] = ((const T*)from[row])[e - start[row]];
    }
}

extern "C" __global__ void copy_rows(i64 count, i64 rows, const i64* start, const u64* from, i64 item, void* out)
{
    if (item == 8) copy_elements(count, rows, start, from, (u64*)out);
    else if (item == 4) copy_elements(count, rows, start, from, (u32*)out);
    else if (item == 2) copy_elements(count, rows, start, from, (unsigned short*)out);
    else copy_elements(count, rows, start, from, (unsigned char*)out);
}

// Filters of rows: see bloom_word. Neighboring rows share a word.
extern "C" __global__ __launch_bounds__(HUB_BLOCK) void build_bloom(i64 first, i64 last, u64* bloom)
{
    FOR_ROWS(v, first, last) {
        const Place place = locate(v);
        for (i64 i = threadIdx.x; i < place.count; i += blockDim.x) {
            const BloomWord w = bloom_word(place, neighbor_at(place.row + i));
            atomicOr(bloom + w.word, w.bits);
        }
    }
}

// Rows as hash tables: see find_member. A slot is taken by whoever is first; the answers do not depend on it.
extern "C" __global__ __launch_bounds__(HUB_BLOCK) void build_members(i64 first, i64 last, u32* members)
{
    FOR_ROWS(v, first, last) {
        const Place place = locate(v);
        const Buckets buckets = buckets_of(v, place);
        for (i64 i = threadIdx.x; i < place.count; i += blockDim.x) {
            const u32 neighbor = (u32)neighbor_at(place.row + i);
            u32 bucket = first_bucket(buckets, neighbor), slot = 0;
            while (true) {
                u32* at = members + BUCKET * (buckets.first + bucket) + slot;
                const u32 held = atomicCAS(at, ~0u, neighbor);
                if (held == ~0u && MEMBER_WEIGHTS) at[8] = __float_as_uint(stored_weight(place.row + i));
                if (held == ~0u || held == neighbor) break;
                if (++slot == 8) { slot = 0; bucket = bucket + 1 == buckets.count ? 0 : bucket + 1; }
            }
        }
    }
}

// An alias entry of table `number`: `own` is the neighbor's index in the row, `other` that of its alias (-1: none, nothing can be taken).
__device__ __forceinline__ void write_alias(void* entries, i64 number, const Place& place, i64 own, i64 other, u64 threshold)
{
    const vertex_t neighbor = *index_at(place.row + own), alias = other < 0 ? NONE : *index_at(place.row + other);
#if LAYOUT == ALIAS
    const Place a = locate(neighbor), b = other < 0 ? Place{0, 0} : locate(alias);
    ((AliasEntry*)entries)[TABLES * (place.row + own) + number] = {(u32)neighbor, (u32)alias, (u32)threshold, (u32)a.count, (u32)b.count,
        {(u32)a.row, (u32)((u64)a.row >> 32) | (u32)(b.row & 0xFFFF) << 16, (u32)((u64)b.row >> 16)}};
#else
    ((TableEntry*)entries)[TABLES * (offset_of(place.row) + own) + number] = {neighbor, alias, (vertex_t)threshold};
#endif
}

// The first index with sums[i] - base >= value, or count.
__device__ __forceinline__ i64 reaching(const u64* sums, i64 count, u64 value)
{
    i64 low = 0, high = count;
    while (low < high) {
        const i64 middle = (low + high) >> 1;
        if (sums[middle] >= value) high = middle;
        else low = middle + 1;
    }
    return low;
}

constexpr int ITEMS = 4;  // of a row, which a thread adds up before it meets the others

// The rows among [first, last) that are long: their number, and then each, in any order. See build_alias for ``rows``.
extern "C" __global__ void list_long(i64 first, i64 last, const i64* rows, i64* longs)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 k = first + (i64)blockIdx.x * blockDim.x + threadIdx.x; k < last; k += stride)
        if (locate(rows ? rows[k] : k).count >= LONG_ROW) longs[1 + atomicAdd((u64*)longs, 1ull)] = k;
}

// Entries i, i + stride, .. of a row's alias table. `needs` and `spares`: its running sums, see build_alias.
__device__ __forceinline__ void fill_alias(void* table, i64 number, const Place& place, const u64* needs, const u64* spares, i64 i, i64 stride)
{
    const i64 count = place.count;
    const u64 bucket = 1ull << 32;
    for (; i < count; i += stride) {
        const u64 lack = needs[i] - (i ? needs[i - 1] : 0), extra = spares[i] - (i ? spares[i - 1] : 0);
        if (lack > 0) {  // light: filled up from the first heavy bucket that still has something
            const u64 taken = needs[i] - lack;
            write_alias(table, number, place, i, reaching(spares, count, taken > 1 ? taken : 1), bucket - lack);
            continue;
        }
        // heavy: the light bucket that takes more than it has makes it light, and the next heavy one fills it up
        const i64 drained = extra ? reaching(needs, count, spares[i] + 1) : count;
        const i64 next = drained < count ? reaching(spares, count, spares[i] + 1) : count;
        if (next < count) write_alias(table, number, place, i, next, bucket + spares[i] - needs[drained]);
        else write_alias(table, number, place, i, i, 0);
    }
}

// Alias tables of the rows [first, last), bit for bit those of the CPU's sweep (engine/cpu/kernels/weigh.py), all buckets at once. The sweep is a merge of
// two running sums: what light buckets need, and what heavy ones have to spare; an index in one is found by its value in the other.
// `need` and `spare` hold both sums of every edge from `origin` on; `entries` are those of the whole graph, as if they were.
// With `rows`, those are the rows rows[first] .. rows[last - 1], each a piece with entries of its own, whose sums begin at starts[..].
// With several tables, this is the one with this number, of the biases at `depth`.
// Groups of more than a warp sum up the rows of `longs`, whose entries fill_long makes, and take those off the list that have none to take.
extern "C" __global__ __launch_bounds__(HUB_BLOCK) void build_alias(i64 first, i64 last, i64 number, i64 depth, const i64* rows, const i64* starts, Params params, i64 origin, u64* need, u64* spare,
                                                                    void* entries, double* strength, i64* longs, i64* bad)
{
    const bool by_warp = blockDim.x == 32;
    const i64 end = by_warp ? last : longs[0];
    for (i64 n = (by_warp ? first : 0) + blockIdx.x; n < end; n += gridDim.x) {
        const i64 k = by_warp ? n : longs[1 + n], v = rows ? rows[k] : k;
        const Place place = locate(v);
        const i64 count = place.count;
        if (by_warp && count >= LONG_ROW) continue;
        void* const table = rows ? (void*)piece_of(place.row).entries : entries;
        const Row row = {place, v, -1, -1, 0, depth, {0, 0}};
        const double largest = largest_bias(params, 0, row, bad);
        if (largest < 0.0) return;
        Units sums = {0, 0};
        const int shift = largest > 0.0 ? shift_for(largest, count) : 0;
        if (largest > 0.0)
            for (i64 i = threadIdx.x; i < count; i += blockDim.x) {
                const Units own = units_of(bias_at(params, 0, row, i), shift);
                sums = {sums.whole + own.whole, sums.rest + own.rest};
            }
        const i64 total = in_units({group_sum(sums.whole), group_sum(sums.rest)});
        if (strength && threadIdx.x == 0) strength[v] = total > 0 ? ldexp((double)total, -shift) : 0.0;
        if (total == 0) {
            for (i64 i = threadIdx.x; i < count; i += blockDim.x) write_alias(table, number, place, i, -1, 0);
            if (!by_warp && threadIdx.x == 0) longs[1 + n] = -1;
            continue;
        }
        const i64 whole = count << 32, bucket = 1ll << 32;
        const double ratio = (double)whole / (double)total;
        const auto share = [=](i64 upto) { return upto == total ? whole : min(whole, (i64)((double)upto * ratio)); };
        const i64 from = rows ? starts[k] : offset_of(place.row) - origin;
        u64 *needs = need + from, *spares = spare + from;
        Units before = {0, 0};
        i64 needed = 0, spared = 0;
        for (i64 base = 0; base < count; base += ITEMS * blockDim.x) {
            const i64 mine = base + ITEMS * threadIdx.x;
            Units ctps[ITEMS], sum = {0, 0};  // sums up to each item, of this thread's
            i64 lacks[ITEMS], gives[ITEMS], all_need, all_spare, lack = 0, give = 0;
#pragma unroll
            for (int j = 0; j < ITEMS; ++j) {
                const Units own = mine + j < count ? units_of(bias_at(params, 0, row, mine + j), shift) : Units{0, 0};
                ctps[j] = sum = {sum.whole + own.whole, sum.rest + own.rest};
            }
            const Units last = add_up(sum, before), low = {last.whole - sum.whole, last.rest - sum.rest};
            i64 reached = share(in_units(low));
#pragma unroll
            for (int j = 0; j < ITEMS; ++j) {
                const i64 upto = share(in_units({low.whole + ctps[j].whole, low.rest + ctps[j].rest})), units = mine + j < count ? upto - reached : bucket;
                lacks[j] = lack += max(bucket - units, 0ll);
                gives[j] = give += max(units - bucket, 0ll);
                reached = upto;
            }
            const i64 lacked = needed + group_scan(lack, all_need) - lack, given = spared + group_scan(give, all_spare) - give;
#pragma unroll
            for (int j = 0; j < ITEMS; ++j)
                if (mine + j < count) { needs[mine + j] = (u64)(lacked + lacks[j]); spares[mine + j] = (u64)(given + gives[j]); }
            needed += all_need;
            spared += all_spare;
        }
        group_sync();
        if (by_warp) fill_alias(table, number, place, needs, spares, threadIdx.x, 32);
        group_sync();
    }
}

// The entries of long rows, for which build_alias has summed up: blocks of one column share a row.
extern "C" __global__ __launch_bounds__(HUB_BLOCK) void fill_long(i64 number, const i64* rows, const i64* starts, i64 origin, const u64* need, const u64* spare, void* entries,
                                                                  const i64* longs, const i64* bad)
{
    if (bad[0]) return;  // sums are missing
    for (i64 n = blockIdx.x; n < longs[0]; n += gridDim.x) {
        const i64 k = longs[1 + n];
        if (k < 0) continue;
        const Place place = locate(rows ? rows[k] : k);
        const i64 from = rows ? starts[k] : offset_of(place.row) - origin;
        void* const table = rows ? (void*)piece_of(place.row).entries : entries;
        fill_alias(table, number, place, need + from, spare + from, (i64)blockIdx.y * blockDim.x + threadIdx.x, (i64)gridDim.y * blockDim.x);
    }
}

// Running sums of the scaled biases of the rows [first, last), as selection makes them of a single row. `ctps` are those of the whole graph; those of
// pieces are where GRAPH says. With `rows`, the rows are rows[first] .. rows[last - 1].
extern "C" __global__ __launch_bounds__(HUB_BLOCK) void build_ctps(i64 first, i64 last, const i64* rows, Params params, i64* ctps, u32* possible, i64* bad)
{
    for (i64 k = first + blockIdx.x; k < last; k += gridDim.x) {
        const i64 v = rows ? rows[k] : k;
        const Place place = locate(v);
        if ((place.count >= LONG_ROW) != (blockDim.x > 32)) continue;
        i64* const sums = PIECES ? (i64*)entries_of(place.row) + offset_of(place.row) : ctps + place.row;
        const Row row = {place, v, -1, -1, 0, 0, {0, 0}};
        const double largest = largest_bias(params, 0, row, bad);
        if (largest < 0.0) return;
        const int shift = largest > 0.0 ? shift_for(largest, place.count) : 0;
        Units total = {0, 0};
        i64 taken = 0;
        for (i64 base = 0; base < place.count; base += blockDim.x) {
            const i64 i = base + threadIdx.x;
            const double bias = i < place.count && largest > 0.0 ? bias_at(params, 0, row, i) : 0.0;
            const i64 upto = in_units(add_up<SUCCESSIVE>(units_of<SUCCESSIVE>(bias, shift), total));
            if (i < place.count) sums[i] = upto;
            taken += bias > 0.0;
        }
        taken = group_sum(taken);
        if (threadIdx.x == 0) possible[v] = (u32)taken;
    }
}
