// A level of breadth-first search on several GPUs (Pan, Wang, Wu, Yang and Owens, IPDPS 2017): each pushes along the
// rows of the frontier's vertices that it owns, and is told which of its vertices the others have reached, by lists or
// by bitmaps. As in bfs.cu, vertex v is bit v % 32 of word v / 32 in a bitmap. `lists` has a range for each GPU,
// bounds[n] .. bounds[n + 1] - 1, for the vertices of that GPU: a vertex is in it once at most. counters[n]: how many
// there are; counters[gpus]: entries of the rows of own vertices that were reached.
#include "frontier.cuh"
#include "shares.cuh"

// Reach neighbors of the `size` vertices of the queue, which GPU `own` owns and whose rows have `entries` entries
// together, and write each to the list of its owner. Vertices of other GPUs are marked in `visited` too: they are sent
// once.
extern "C" __global__ void push_share(i64 entries, i64 size, const vertex_t* queue, const i64* ends, const i64* indptr,
    const vertex_t* indices, i64 level, i64 own, i64 gpus, const i64* bounds, u32* visited, int* distance, vertex_t* lists,
    unsigned long long* counters)
{
    push_along(entries, size, queue, ends, indptr, indices, visited, counters + gpus, [&](vertex_t u) -> i64 {
        const int owner = owner_of(u, gpus, bounds);
        lists[bounds[owner] + place_in(owner, counters)] = u;
        if (owner != own) return 0;
        distance[u] = (int)level;
        return indptr[u + 1] - indptr[u];
    });
}

// Take `count` vertices that another GPU has reached. Own ones, first .. last - 1, that are new here go to `list`, of
// *size vertices so far; others are marked alone.
extern "C" __global__ void take_list(i64 count, const vertex_t* sent, i64 first, i64 last, const i64* degrees, i64 level,
    u32* visited, int* distance, vertex_t* list, unsigned long long* size, unsigned long long* entries)
{
    i64 met = 0;
    for (i64 i = thread_number(); i < count; i += threads_of_grid()) {
        const vertex_t u = sent[i];
        const u32 bit = 1u << u % 32;
        if (atomicOr(visited + u / 32, bit) & bit || u < first || u >= last) continue;
        list[place_in(0, size)] = u;
        distance[u] = (int)level;
        met += degrees[u];
    }
    __syncwarp();
    add_over_warp(met, entries);
}

// Take the vertices that another GPU has reached, from the words begin .. end - 1 of its bitmap. `first` is a multiple
// of 32. A warp takes a word.
extern "C" __global__ void take_bits(i64 begin, i64 end, const u32* sent, i64 first, i64 last, const i64* degrees,
    i64 level, u32* visited, int* distance, vertex_t* list, unsigned long long* size, unsigned long long* entries)
{
    const int lane = threadIdx.x % 32;
    i64 met = 0;
    for (i64 word = begin + warp_number(); word < end; word += warps_of_grid()) {
        const u32 before = visited[word], fresh = sent[word] & ~before;
        const i64 v = word * 32 + lane;
        __syncwarp();
        if (lane == 0 && fresh) visited[word] = before | fresh;
        if (!(fresh >> lane & 1) || v < first || v >= last) continue;
        list[place_in(0, size)] = (vertex_t)v;
        distance[v] = (int)level;
        met += degrees[v];
    }
    __syncwarp();
    add_over_warp(met, entries);
}

// Reach at `level` the vertices in words begin .. end - 1 of a bitmap, which no GPU had reached before. A warp takes a
// word.
extern "C" __global__ void absorb(i64 begin, i64 end, const u32* front, i64 level, u32* visited, int* distance)
{
    const int lane = threadIdx.x % 32;
    for (i64 word = begin + warp_number(); word < end; word += warps_of_grid()) {
        const u32 fresh = front[word];
        if (fresh >> lane & 1) distance[word * 32 + lane] = (int)level;
        if (lane == 0 && fresh) visited[word] |= fresh;
    }
}
