// Numbers of shortest ways and what depends on them: twin of engine/cpu/kernels/betweenness.py. A warp serves a row; its sum has the order that is said there.

// The sum of `values` over the neighbors of a row that are at `level`, in the first thread.
__device__ __forceinline__ double row_sum(i64 begin, i64 end, const u32* indices, const int* distance, i64 level, const double* values)
{
    double sum = 0.0;
    for (i64 i = begin + threadIdx.x % 32; i < end; i += 32) {
        const u32 u = indices[i];
        if (distance[u] == level) sum += values[u];
    }
    for (int half = 16; half; half /= 2) sum += __shfl_down_sync(0xFFFFFFFF, sum, half);
    return sum;
}

// ways[v] of the vertices of `order` at `level`: the sum of those of neighbors a level nearer. Rows are those backward; row v is at indptr[v - first].
extern "C" __global__ void count_ways(i64 count, const u32* order, i64 first, const i64* indptr, const u32* indices, const int* distance, i64 level, double* ways)
{
    const i64 warps = (i64)gridDim.x * blockDim.x / 32;
    for (i64 at = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32; at < count; at += warps) {
        const i64 v = order[at];
        const double sum = row_sum(indptr[v - first], indptr[v - first + 1], indices, distance, level - 1, ways);
        if (threadIdx.x % 32 == 0) ways[v] = sum;
    }
}

// Add to `total` what depends on the vertices of `order` at `level`, except on the source; passed[v] = (1 + dependency of v) / ways[v].
extern "C" __global__ void depend(i64 count, const u32* order, i64 first, const i64* indptr, const u32* indices, const int* distance, i64 level, const double* ways, double* passed, double* total)
{
    const i64 warps = (i64)gridDim.x * blockDim.x / 32;
    for (i64 at = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32; at < count; at += warps) {
        const i64 v = order[at];
        const double sum = row_sum(indptr[v - first], indptr[v - first + 1], indices, distance, level + 1, passed);
        if (threadIdx.x % 32) continue;
        const double dependency = ways[v] * sum;
        passed[v] = (1.0 + dependency) / ways[v];
        if (level) total[v] += dependency;
    }
}
