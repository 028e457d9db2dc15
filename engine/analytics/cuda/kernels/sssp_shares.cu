// A round of shortest paths by weight on several GPUs, each of which goes through the rows of the vertices that it owns:
// the same sums as in sssp.cu. `lists` has a range for each GPU, bounds[n] .. bounds[n + 1] - 1, for the vertices of
// that GPU whose distances this one has lowered, once each, by the bits of `listed`; counts[n]: how many there are. The
// least of what all GPUs found is the distance, in whatever order they hear of it.
#include "shares.cuh"
#include "sssp.cuh"

// GPUs own the vertices of those ranges; or they take chunks of vertices in turn.
struct Owners {
    i64 gpus;
    const i64* bounds;
    bool in_turn;

    __device__ __forceinline__ int of(vertex_t v) const
    {
        return in_turn ? (int)((u32)(v / CHUNK) % (u32)gpus) : owner_of(v, gpus, bounds);
    }
};

struct Sharing {
    Round round;
    i64 own;
    Owners owners;
    u32* listed;
    vertex_t* lists;
    unsigned long long* counts;
    bool all;  // whether lowered distances of own vertices are told to others, too

    // Entry i, from a vertex that is `far`.
    __device__ __forceinline__ void operator()(i64 i, double far) const
    {
        const vertex_t u = round.indices[i];
        const double sum = round.sum(i, far);
        if (!lowered(round.distance + u, sum)) return;
        const int owner = owners.of(u);
        if (owner == own && sum < round.limit) round.take_up(u);
        const u32 bit = 1u << u % 32;
        if ((owner == own && !all) || listed[u / 32] & bit || atomicOr(listed + u / 32, bit) & bit) return;
        lists[owners.bounds[owner] + place_in(owner, counts)] = u;
    }
};

extern "C" __global__ void relax_share(i64 first, i64 last, const i64* indptr, const vertex_t* indices,
    const float* weights, double* distance, int* round_of, i64 number, const unsigned char* active,
    unsigned char* following, double limit, i64 own, i64 gpus, const i64* bounds, i64 in_turn, u32* listed,
    vertex_t* lists, unsigned long long* counts, i64 all)
{
    const Round round{indices, weights, distance, round_of, number, following, limit};
    const Owners owners{gpus, bounds, in_turn != 0};
    relax_rows(first, last, indptr, round, active, Sharing{round, own, owners, listed, lists, counts, all != 0});
}

extern "C" __global__ void relax_share_long(i64 count, const vertex_t* rows, i64 first, const i64* indptr,
    const vertex_t* indices, const float* weights, double* distance, int* round_of, i64 number,
    const unsigned char* active, unsigned char* following, double limit, i64 own, i64 gpus, const i64* bounds,
    i64 in_turn, u32* listed, vertex_t* lists, unsigned long long* counts, i64 all)
{
    const Round round{indices, weights, distance, round_of, number, following, limit};
    const Owners owners{gpus, bounds, in_turn != 0};
    relax_long_rows(count, rows, first, indptr, round, active, Sharing{round, own, owners, listed, lists, counts,
        all != 0});
}

// Lower distances to those that another GPU has found of vertices of the GPUs from .. to - 1: `lists`, `counts` and
// `there`, the distances, are in its memory. Vertices of GPU `own`, this one, that come below `limit` are of the next
// round.
extern "C" __global__ void take_lowered(i64 from, i64 to, i64 own, i64 gpus, const i64* bounds, i64 in_turn,
    const vertex_t* lists, const unsigned long long* counts, const double* there, double* distance, int* round_of,
    i64 number, unsigned char* following, double limit)
{
    const Owners owners{gpus, bounds, in_turn != 0};
    for (i64 owner = from; owner < to; owner++) {
        const i64 count = counts[owner];
        for (i64 i = thread_number(); i < count; i += threads_of_grid()) {
            const vertex_t u = lists[bounds[owner] + i];
            const double found = there[u];
            if (!lowered(distance + u, found) || found >= limit || owners.of(u) != own) continue;
            round_of[u] = (int)(number + 1);
            following[u / CHUNK] = 1;
        }
    }
}

// distance[v] = the lesser of it and of that on another GPU.
extern "C" __global__ void merge(i64 vertices, const double* there, double* distance)
{
    for (i64 v = thread_number(); v < vertices; v += threads_of_grid()) distance[v] = min(distance[v], there[v]);
}
