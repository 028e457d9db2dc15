// Breadth-first search that pushes and pulls: twin of engine/analytics/cpu/kernels/bfs.py. Vertex v is bit v % 32 of
// word v / 32 in a bitmap. counters[0]: vertices in the next frontier; counters[1]: entries of their rows.
#include "frontier.cuh"
#include "shares.cuh"

// Reach the source.
extern "C" __global__ void begin(i64 source, vertex_t* queue, u32* visited, int* distance)
{
    queue[0] = (vertex_t)source;
    visited[source / 32] = 1u << source % 32;
    distance[source] = 0;
}

// Reach neighbors of the `size` vertices of the queue, whose rows have `entries` entries together, and write them to
// `following`.
extern "C" __global__ void push(i64 entries, i64 size, const vertex_t* queue, const i64* ends, const i64* indptr,
    const vertex_t* indices, i64 level, u32* visited, int* distance, vertex_t* following, unsigned long long* counters)
{
    push_along(entries, size, queue, ends, indptr, indices, visited, counters + 1, [&](vertex_t u) {
        distance[u] = (int)level;
        following[atomicAdd(counters, 1ull)] = u;
        return indptr[u + 1] - indptr[u];
    });
}

// Push this level and those after it, at most `levels` of them, by one block, which needs no launch for each: as long
// as a frontier has at most `most` vertices, and their rows as many entries. The rows are those of several GPUs: of the
// vertices from bounds[n] on, entry e of all is indices[n][e]. found[0]: how many levels; found[2 k + 1] and
// found[2 k + 2]: vertices that level k has reached, and entries of their rows.
extern "C" __global__ __launch_bounds__(1024) void push_few(i64 size, i64 gpus, const i64* bounds,
    const vertex_t* const* indices, const i64* indptr, i64 level, i64 levels, i64 most, vertex_t* queue, vertex_t* following, u32* visited, int* distance, unsigned long long* found)
{
    __shared__ unsigned long long count, entries;
    for (i64 k = 0; k < levels && size && size <= most; k++) {
        if (threadIdx.x == 0) count = entries = 0;
        __syncthreads();
        const bool alone = size < blockDim.x / 32;  // few rows, which the block goes along together; else a warp each
        const int from = alone ? threadIdx.x : threadIdx.x % 32, step = alone ? blockDim.x : 32;
        for (i64 n = alone ? 0 : threadIdx.x / 32; n < size; n += alone ? 1 : blockDim.x / 32) {
            const vertex_t v = queue[n];
            const vertex_t* const entries_of_all = indices[owner_of(v, gpus, bounds)];
            for (i64 e = indptr[v] + from; e < indptr[v + 1]; e += step) {
                const vertex_t u = entries_of_all[e];
                const u32 bit = 1u << u % 32;
                if (visited[u / 32] & bit || atomicOr(visited + u / 32, bit) & bit) continue;
                distance[u] = (int)(level + k);
                following[atomicAdd(&count, 1ull)] = u;
                atomicAdd(&entries, (unsigned long long)(indptr[u + 1] - indptr[u]));
            }
        }
        __syncthreads();
        size = entries <= most ? (i64)count : most + 1;  // or no more
        if (threadIdx.x == 0) {
            found[0] = k + 1;
            found[2 * k + 1] = count;
            found[2 * k + 2] = entries;
        }
        vertex_t* const swapped = queue;
        queue = following;
        following = swapped;
        __syncthreads();
    }
}

// Set the bits of the vertices of a queue.
extern "C" __global__ void mark(i64 size, const vertex_t* queue, u32* bits)
{
    for (i64 i = thread_number(); i < size; i += threads_of_grid()) atomicOr(bits + queue[i] / 32, 1u << queue[i] % 32);
}

// Reach those of the vertices first .. last - 1 that have a neighbor in the bitmap `front`, along rows backward. A warp
// does the 32 vertices of a word, and writes that of `following`. `first` is a multiple of 32.
extern "C" __global__ void pull(i64 first, i64 last, const i64* degrees, const i64* indptr, const vertex_t* indices,
    const u32* front, i64 level, u32* visited, int* distance, u32* following, unsigned long long* counters)
{
    const i64 words = (last + 31) / 32;
    const int lane = threadIdx.x % 32;
    i64 count = 0, met = 0;
    for (i64 word = first / 32 + warp_number(); word < words; word += warps_of_grid()) {
        const i64 v = word * 32 + lane;
        const u32 before = visited[word];
        const bool open = v < last && !(before >> lane & 1);
        bool found = false;
        each_entry(
            open ? indptr[v] : 0, open ? indptr[v + 1] : 0,
            [&](i64 i) {
                const vertex_t u = indices[i];
                found = front[u / 32] >> u % 32 & 1;
                return !found;
            },
            [&](i64 i, int owner) {
                const vertex_t u = i < 0 ? 0 : indices[i];
                const bool hit = __any_sync(WHOLE_WARP, i >= 0 && (front[u / 32] >> u % 32 & 1));
                if (lane == owner) found = hit;
                return !hit;
            });
        const u32 fresh = __ballot_sync(WHOLE_WARP, found);
        if (found) {
            distance[v] = (int)level;
            met += degrees[v];
        }
        if (lane == 0) {
            following[word] = fresh;
            if (fresh) visited[word] = before | fresh;
            count += __popc(fresh);
        }
    }
    add_over_warp(count, counters);
    add_over_warp(met, counters + 1);
}

// Write the vertices of the words begin .. end - 1 of a bitmap to a queue, in any order.
extern "C" __global__ void collect(i64 begin, i64 end, const i64* degrees, const u32* bits, vertex_t* queue,
    unsigned long long* counters)
{
    i64 met = 0;
    for (i64 word = begin + thread_number(); word < end; word += threads_of_grid()) {
        u32 rest = bits[word];
        if (!rest) continue;
        for (unsigned long long place = atomicAdd(counters, (unsigned long long)__popc(rest)); rest; rest &= rest - 1) {
            const vertex_t v = (vertex_t)(word * 32 + __ffs(rest) - 1);
            queue[place++] = v;
            met += degrees[v];
        }
    }
    __syncwarp();
    add_over_warp(met, counters + 1);
}

// Reach neighbors of the vertices of first .. last - 1 that were reached at the level before, and set reached[u / 4096]
// of each. A warp goes along each row.
extern "C" __global__ void push_rows(i64 first, i64 last, const i64* indptr, const vertex_t* indices, int* distance,
    i64 level, unsigned char* reached)
{
    const int lane = threadIdx.x % 32;
    const auto reach = [&](i64 i) {
        const vertex_t u = indices[i];
        if (distance[u] < 0) {
            distance[u] = (int)level;
            reached[u / 4096] = 1;
        }
        return true;
    };
    for (i64 base = first + warp_number() * 32; base < last; base += threads_of_grid()) {
        const i64 v = base + lane;
        const bool wanted = v < last && distance[v] == level - 1;
        each_entry(wanted ? indptr[v - first] : 0, wanted ? indptr[v - first + 1] : 0, reach, [&](i64 i,
            int) { return i < 0 || reach(i); });
    }
}
