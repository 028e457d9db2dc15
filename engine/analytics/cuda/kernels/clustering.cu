// Triangles of vertices by degree, and clusterings, of which most are 0: twin of engine/analytics/clusterings.py.
//
// A vertex of degree d with t triangles has the clustering t / (d (d - 1) / 2). Degrees below LOW, which most vertices
// have, are counted in the shared memory of a block first, so that few threads wait for each other.

constexpr int LOW = 1024;

__device__ __forceinline__ i64 degree_of(const i64* indptr, i64 v) { return indptr[v + 1] - indptr[v]; }

// The highest degree.
extern "C" __global__ void find_most(i64 vertices, const i64* indptr, u64* most)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    u64 own = 0;
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += stride)
        own = max(own, (u64)degree_of(indptr, v));
    for (int step = 16; step; step /= 2) own = max(own, __shfl_down_sync(~0u, own, step));
    if (threadIdx.x % 32 == 0 && own) atomicMax(most, own);
}

// How many vertices have each of `degrees` degrees, from 0 on, and their triangles together.
extern "C" __global__ void add_by_degree(i64 vertices, const i64* indptr, const i64* triangles, i64 degrees,
    u64* often, u64* together)
{
    __shared__ u64 low_often[LOW], low_together[LOW];
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (int d = threadIdx.x; d < LOW; d += blockDim.x) low_often[d] = low_together[d] = 0;
    __syncthreads();
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += stride) {
        const i64 degree = degree_of(indptr, v);
        const u64 own = (u64)triangles[v];
        atomicAdd(degree < LOW ? low_often + degree : often + degree, (u64)1);
        if (own) atomicAdd(degree < LOW ? low_together + degree : together + degree, own);
    }
    __syncthreads();
    for (i64 d = threadIdx.x; d < LOW && d < degrees; d += blockDim.x) {
        if (low_often[d]) atomicAdd(often + d, low_often[d]);
        if (low_together[d]) atomicAdd(together + d, low_together[d]);
    }
}

// The clustering of each vertex. `above`: those that are not 0, in any order; sizes: how many these are, and how many
// vertices of degree 2 and more have none. Warps stay together.
extern "C" __global__ void cluster(i64 vertices, const i64* indptr, const i64* triangles, double* local,
    double* above, u64* sizes)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    const u32 lane = threadIdx.x % 32;
    u64 none = 0;
    for (i64 first = (i64)blockIdx.x * blockDim.x + threadIdx.x - lane; first < vertices; first += stride) {
        const i64 v = first + lane;
        i64 degree = 0;
        double value = 0.0;
        if (v < vertices) {
            degree = degree_of(indptr, v);
            value = (double)triangles[v] / (double)max(degree * (degree - 1) / 2, (i64)1);
            local[v] = value;
        }
        const u32 some = __ballot_sync(~0u, value > 0.0);
        none += __popc(__ballot_sync(~0u, degree >= 2 && !(value > 0.0)));
        u64 place = 0;
        if (lane == 0 && some) place = atomicAdd(sizes, (u64)__popc(some));
        place = __shfl_sync(~0u, place, 0);
        if (value > 0.0) above[place + __popc(some & ((1u << lane) - 1))] = value;
    }
    if (lane == 0 && none) atomicAdd(sizes + 1, none);
}

// 1 where one of sorted values differs from the one before it.
extern "C" __global__ void mark_new(i64 count, const double* values, i64* marks)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        marks[i] = i == 0 || values[i] != values[i - 1];
}

// The different ones of sorted values, and where each begins; upto[i]: how many there are up to values[i].
extern "C" __global__ void place_new(i64 count, const double* values, const i64* upto, double* different, i64* begin)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        if (i == 0 || upto[i] != upto[i - 1]) {
            different[upto[i] - 1] = values[i];
            begin[upto[i] - 1] = i;
        }
}
