// A level of breadth-first search on several GPUs (Pan, Wang, Wu, Yang and Owens, IPDPS 2017): each pushes along the
// rows of the frontier's vertices that it owns, and takes those of its vertices that the others have reached from lists
// in their memory. As in bfs.cu, vertex v is bit v % 32 of word v / 32 in a bitmap. `lists` has a range for each GPU,
// bounds[n] .. bounds[n + 1] - 1, for the vertices of that GPU: a vertex is in it once at most. counters[2 + n]: how many
// were pushed to there; counters[0]: how many own vertices were taken, after those that were pushed; counters[1]:
// entries of the rows of own vertices that were reached.
#include "frontier.cuh"
#include "shares.cuh"

// Reach neighbors of the `size` vertices of the queue, which GPU `own` owns and whose rows have `entries` entries
// together, and write each to the list of its owner. Vertices of other GPUs are marked in `visited` too: they are sent
// once.
extern "C" __global__ void push_share(i64 entries, i64 size, const vertex_t* queue, const i64* ends, const i64* indptr,
    const vertex_t* indices, i64 level, i64 own, i64 gpus, const i64* bounds, u32* visited, int* distance, vertex_t* lists,
    unsigned long long* counters)
{
    push_along(entries, size, queue, ends, indptr, indices, visited, counters + 1, [&](vertex_t u) -> i64 {
        const int owner = owner_of(u, gpus, bounds);
        lists[bounds[owner] + place_in(2 + owner, counters)] = u;
        if (owner != own) return 0;
        distance[u] = (int)level;
        return indptr[u + 1] - indptr[u];
    });
}

// Take the vertices that another GPU has reached of the GPUs from .. to - 1: `lists` and `counts` are its lists and
// counters. Those that GPU `own`, this one, owns and that are new here go to `queue`, its lists; others are marked alone.
extern "C" __global__ void take_lists(i64 from, i64 to, const i64* bounds, const vertex_t* lists,
    const unsigned long long* counts, i64 own, const i64* degrees, i64 level, u32* visited, int* distance,
    vertex_t* queue, unsigned long long* counters)
{
    const i64 first = bounds[own], last = bounds[own + 1], pushed = counters[2 + own];
    i64 met = 0;
    for (i64 owner = from; owner < to; owner++) {
        const i64 count = counts[2 + owner];
        for (i64 i = thread_number(); i < count; i += threads_of_grid()) {
            const vertex_t u = lists[bounds[owner] + i];
            const u32 bit = 1u << u % 32;
            if (atomicOr(visited + u / 32, bit) & bit || u < first || u >= last) continue;
            queue[first + pushed + place_in(0, counters)] = u;
            distance[u] = (int)level;
            met += degrees[u];
        }
    }
    __syncwarp();
    add_over_warp(met, counters + 1);
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
