// Transit parallelism (NextDoor, EuroSys 2021, section 6): parents whose rows are near each other go together, so that what is random over the
// whole graph becomes random in a few megabytes. One counting pass and one scattering pass over GROUP_BUCKETS ranges of edges; the order within
// a range is that of chance, and nothing depends on it. What grouped parents draw is put in order by `ungroup`.
#include "group.cuh"
#include "hops.cuh"


// The bucket of a vertex: that of the vertices around it, or where those have too many edges for one bucket, its own.
__device__ __forceinline__ u32 bucket_of(vertex_t v, const u32* coarse, int shift)
{
    const u32 bucket = __ldg(coarse + (v >> NEAR_BITS));
    return bucket != ~0u ? bucket : (u32)(GRAPH.indptr[v] >> shift);
}

// The vertices of a block's tile, `GROUP_BLOCK` apart in a thread.
__device__ __forceinline__ void load_tile(i64 parents, const vertex_t* parent, vertex_t* vertex)
{
    const i64 base = (i64)blockIdx.x * GROUP_BLOCK * GROUP_TILE + threadIdx.x;
#pragma unroll
    for (int k = 0; k < GROUP_TILE; ++k) vertex[k] = base + k * GROUP_BLOCK < parents ? __ldg(parent + base + k * GROUP_BLOCK) : NONE;
}

extern "C" __global__ __launch_bounds__(GROUP_BLOCK) void group_count(i64 parents, const vertex_t* parent, const u32* coarse, i64 shift, u32* counts)
{
    __shared__ u32 held[GROUP_BUCKETS];
    vertex_t vertex[GROUP_TILE];
    load_tile(parents, parent, vertex);
    held[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < GROUP_TILE; ++k)
        if (vertex[k] != NONE) atomicAdd(held + bucket_of(vertex[k], coarse, (int)shift), 1u);
    __syncthreads();
    if (held[threadIdx.x]) atomicAdd(counts + threadIdx.x, held[threadIdx.x]);
}

// `next` is where the next parent of each bucket goes; `number` gets where that of each cell went, NONE where there is no parent. A tile is put in
// order in shared memory, so that what goes to a bucket is written together.
extern "C" __global__ __launch_bounds__(GROUP_BLOCK) void group_scatter(i64 parents, const vertex_t* parent, const u32* coarse, i64 shift, u32* next,
                                                                        uint2* grouped, u32* number)
{
    __shared__ u32 held[GROUP_BUCKETS], to[GROUP_BUCKETS];
    __shared__ unsigned short order[GROUP_BLOCK * GROUP_TILE];
    const i64 base = (i64)blockIdx.x * GROUP_BLOCK * GROUP_TILE;
    vertex_t vertex[GROUP_TILE];
    u32 seat[GROUP_TILE];  // bucket, and rank in it
    load_tile(parents, parent, vertex);
    held[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < GROUP_TILE; ++k) {
        if (vertex[k] == NONE) continue;
        const u32 bucket = bucket_of(vertex[k], coarse, (int)shift);
        seat[k] = bucket | atomicAdd(held + bucket, 1u) * GROUP_BUCKETS;
    }
    __syncthreads();
    static_assert(GROUP_BUCKETS == GROUP_BLOCK, "a thread a bucket");
    const u32 count = held[threadIdx.x];
    i64 there;  // parents of the tile
    const u32 begin = (u32)(group_scan(count, there) - count);
    held[threadIdx.x] = begin;
    to[threadIdx.x] = count ? atomicAdd(next + threadIdx.x, count) - begin : 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < GROUP_TILE; ++k) {
        const u32 local = k * GROUP_BLOCK + threadIdx.x;
        if (base + local >= parents) continue;
        u32 place = ~0u;
        if (vertex[k] != NONE) {
            const u32 bucket = seat[k] % GROUP_BUCKETS, at = held[bucket] + seat[k] / GROUP_BUCKETS;
            order[at] = (unsigned short)local;
            place = to[bucket] + at;
        }
        number[base + local] = place;
    }
    __syncthreads();
    for (u32 at = threadIdx.x; at < there; at += GROUP_BLOCK) {
        const u32 local = order[at];
        const vertex_t v = parent[base + local];
        grouped[to[bucket_of(v, coarse, (int)shift)] + at] = make_uint2((u32)v, (u32)(base + local));
    }
}

// Children of grouped parents, back in the order of cells.
extern "C" __global__ __launch_bounds__(256) void ungroup(i64 cells, u32 size, const u32* number, const vertex_t* drawn, vertex_t* child)
{
    put_back(cells, size, number, drawn, child, NONE);
}
