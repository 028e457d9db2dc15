// Breadth-first search that pushes and pulls: twin of engine/cpu/kernels/bfs.py. Vertex v is bit v % 32 of word v / 32 in a bitmap.
// counters[0]: vertices in the next frontier; counters[1]: entries of their rows.
#include "warp_rows.cuh"

const int PIECE = 1024;  // entries that a block of push goes through at a time

__device__ __forceinline__ void add_over_warp(i64 amount, unsigned long long* total)
{
    for (int step = 16; step; step /= 2) amount += __shfl_down_sync(WHOLE_WARP, amount, step);
    if (threadIdx.x % 32 == 0 && amount) atomicAdd(total, (unsigned long long)amount);
}

// The first of low .. high whose row ends after entry e: `ends` has the running sums of the rows' lengths.
__device__ __forceinline__ i64 row_of(i64 e, i64 low, i64 high, const i64* ends)
{
    while (low < high) {
        const i64 middle = (low + high) / 2;
        if (ends[middle] <= e) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Reach neighbors of the `size` vertices of the queue, whose rows have `entries` entries together, and write them to `following`.
extern "C" __global__ void push(i64 entries, i64 size, const u32* queue, const i64* ends, const i64* indptr, const u32* indices, i64 level, u32* visited, int* distance, u32* following, unsigned long long* counters)
{
    __shared__ i64 range[2];
    for (i64 begin = (i64)blockIdx.x * PIECE; begin < entries; begin += (i64)gridDim.x * PIECE) {
        const i64 stop = min(begin + PIECE, entries);
        __syncthreads();
        if (threadIdx.x < 2) range[threadIdx.x] = row_of(threadIdx.x ? stop - 1 : begin, 0, size - 1, ends);
        __syncthreads();
        i64 met = 0;
        for (i64 e = begin + threadIdx.x; e < stop; e += blockDim.x) {
            const i64 row = row_of(e, range[0], range[1], ends), v = queue[row];
            const u32 u = indices[indptr[v + 1] - (ends[row] - e)], bit = 1u << u % 32;
            if (visited[u / 32] & bit || atomicOr(visited + u / 32, bit) & bit) continue;
            distance[u] = (int)level;
            following[atomicAdd(counters, 1ull)] = u;
            met += indptr[u + 1] - indptr[u];
        }
        __syncwarp();
        add_over_warp(met, counters + 1);
    }
}

// Set the bits of the vertices of a queue.
extern "C" __global__ void mark(i64 size, const u32* queue, u32* bits)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < size; i += stride) atomicOr(bits + queue[i] / 32, 1u << queue[i] % 32);
}

// Reach the vertices with a neighbor in the bitmap `front`, along rows backward. A warp does the 32 vertices of a word, and writes that of `following`.
extern "C" __global__ void pull(i64 vertices, const i64* degrees, const i64* indptr, const u32* indices, const u32* front, i64 level, u32* visited, int* distance, u32* following, unsigned long long* counters)
{
    const i64 words = (vertices + 31) / 32, warps = (i64)gridDim.x * blockDim.x / 32;
    const int lane = threadIdx.x % 32;
    i64 count = 0, met = 0;
    for (i64 word = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32; word < words; word += warps) {
        const i64 v = word * 32 + lane;
        const u32 before = visited[word];
        const bool open = v < vertices && !(before >> lane & 1);
        bool found = false;
        each_entry(
            open ? indptr[v] : 0, open ? indptr[v + 1] : 0,
            [&](i64 i) {
                const u32 u = indices[i];
                found = front[u / 32] >> u % 32 & 1;
                return !found;
            },
            [&](i64 i, int owner) {
                const u32 u = i < 0 ? 0 : indices[i];
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

// Write the vertices of a bitmap of `words` words to a queue, in any order.
extern "C" __global__ void collect(i64 words, const u32* bits, u32* queue, unsigned long long* counters)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 word = (i64)blockIdx.x * blockDim.x + threadIdx.x; word < words; word += stride) {
        u32 rest = bits[word];
        if (!rest) continue;
        for (unsigned long long place = atomicAdd(counters, (unsigned long long)__popc(rest)); rest; rest &= rest - 1) queue[place++] = (u32)(word * 32 + __ffs(rest) - 1);
    }
}

// Reach neighbors of the vertices of first .. last - 1 that were reached at the level before, and set reached[u / 4096] of each. A warp goes along each row.
extern "C" __global__ void push_rows(i64 first, i64 last, const i64* indptr, const u32* indices, int* distance, i64 level, unsigned char* reached)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    const int lane = threadIdx.x % 32;
    const auto reach = [&](i64 i) {
        const u32 u = indices[i];
        if (distance[u] < 0) {
            distance[u] = (int)level;
            reached[u / 4096] = 1;
        }
        return true;
    };
    for (i64 base = first + ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32; base < last; base += stride) {
        const i64 v = base + lane;
        const bool wanted = v < last && distance[v] == level - 1;
        each_entry(wanted ? indptr[v - first] : 0, wanted ? indptr[v - first + 1] : 0, reach, [&](i64 i, int) { return i < 0 || reach(i); });
    }
}
