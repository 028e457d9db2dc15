// Traversals with uniform picks, a block an instance, from its sources to its last depth: the twin of engine/batches/traversals.py over engine/cpu/kernels/traverse.py.
//
// The vertices of an instance are kept by slot: its sources, then the ends of its edges in order of sampling. A frontier is a list of slots. A warp
// selects the neighbors of an entry; the block puts what was found in order. COLLECTIVE: the block selects from the frontier's pool, as engine/batches/collective.py.
// An instance that outgrows its room is named in `again`.
#include "tree_pools.cuh"
#include "tree_rows.cuh"

__device__ __forceinline__ void plant(const Trees& t, const Tree& tree, i64 local)
{
    for (i64 b = threadIdx.x; ONCE && b < t.buckets; b += blockDim.x) { tree.seen[b] = NONE; tree.order[b] = ~0u; }
    __syncthreads();
    for (i64 s = threadIdx.x; s < t.width; s += blockDim.x) {
        tree.vertex[s] = t.sources[local * t.width + s];
        tree.frontier[s] = (u32)s;
        if (ONCE) visit(tree, tree.vertex[s], (u32)s);
    }
    __syncthreads();
}

extern "C" __global__ __launch_bounds__(TREE_BLOCK) void grow_trees(Trees t, u64 seed)
{
    const i64 n = blockIdx.x, local = t.numbers ? t.numbers[n] : n;
    const Tree tree = tree_at(t, n, local);
    i64 entries = EVERYWHERE ? 1 : t.width, edges = 0, met = t.width, dead = 0;
    bool fits = true;
    plant(t, tree, local);
    for (i64 depth = 0; depth < t.depths && entries > 0; ++depth) {
        const i64 size = t.sizes[depth];
        const i64 added = COLLECTIVE ? pick_from_pool(t, tree, seed, entries, size, edges, depth, dead) : pick_from_rows(t, tree, seed, entries, size, edges, depth, dead);
        fits = added >= 0;
        if (!fits) break;
        entries = depth + 1 < t.depths ? next_frontier(t, tree, edges, added) : 0;
        edges += added;
        met += entries;
        if (met >= t.total) entries = 0;
    }
    dead = group_sum(dead);
    if (threadIdx.x > 0) return;
    t.held[n] = fits ? edges : -1;
    if (!fits) {
        t.again[atomicAdd(t.totals, 1ull)] = local;
        return;
    }
    t.counts[local] = edges;
    atomicAdd(t.totals + 1, (u64)edges);
    if (dead) atomicAdd(t.totals + 2, (u64)dead);
}

// Edges to where they are in the sample; `upto` is the running sum of `counts`. A warp an instance.
extern "C" __global__ void pack_trees(Trees t, const i64* upto, vertex_t* src, vertex_t* dst, i64* depth)
{
    const i64 n = ((i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (n >= t.count || t.held[n] < 0) return;
    const i64 held = t.held[n], to = upto[t.numbers ? t.numbers[n] : n] - held;
    for (i64 i = lane_of(); i < held; i += 32) {
        src[to + i] = t.src[n * t.span + i];
        dst[to + i] = t.vertex[n * (t.width + t.span) + t.width + i];
        depth[to + i] = t.depth[n * t.span + i];
    }
}
