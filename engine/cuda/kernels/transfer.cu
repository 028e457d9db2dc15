// What is done on the device with arrays on their way from the store and to a sample, so that the host needs no compiled code for it: blocks are compared
// with their checksums, values with their limit, offsets with those before, and dense ids become original ones. Twins: first_damaged and all_within in
// partition/arrays/checksum_kernels.py, rise in partition/arrays/loader.py, relabel in engine/samples/kernels.py.
#include "group.cuh"
#include "xxh64.cuh"

// The least number of a block of `data` whose checksum is not that in `sums`, into `wrong`. A warp takes eight blocks at a time.
extern "C" __global__ void compare_blocks(i64 blocks, const u32* data, const u32* sums, u64* wrong)
{
    const i64 stride = (i64)gridDim.x * blockDim.x / 4;
    for (i64 first = ((i64)blockIdx.x * blockDim.x + threadIdx.x - lane_of()) / 4; first < blocks; first += stride) {
        const i64 mine = first + lane_of() / 4, block = min(mine, blocks - 1);
        const u64 hash = hash_of_lane(data + block * HASHED_WORDS, threadIdx.x & 3);
        const u64 a = __shfl_sync(~0u, hash, 0, 4), b = __shfl_sync(~0u, hash, 1, 4), c = __shfl_sync(~0u, hash, 2, 4), d = __shfl_sync(~0u, hash, 3, 4);
        if ((threadIdx.x & 3) == 0 && mine < blocks && (u32)hash_of_lanes(a, b, c, d) != sums[block]) atomicMin(wrong, (u64)block);
    }
}

template <typename T>
__device__ __forceinline__ void find_beyond(i64 count, const T* values, T limit, u64* wrong)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += stride)
        if (!(values[k] >= 0 && values[k] <= limit)) atomicMin(wrong, (u64)k);  // NaN is neither
}

// The least number of a value that is not in 0 .. `limit`, into `wrong`. Values are u64 or u32 of ``item`` bytes, or `real`: float; `limit` has their bits.
extern "C" __global__ void find_unlimited(i64 count, const void* values, i64 item, i64 real, u64 limit, u64* wrong)
{
    if (real) find_beyond(count, (const float*)values, __uint_as_float((u32)limit), wrong);
    else if (item == 8) find_beyond(count, (const u64*)values, limit, wrong);
    else find_beyond(count, (const u32*)values, (u32)limit, wrong);
}

// The offsets of the rows of a partition, `local`, into `out`, which has those among all edges; the partition begins with edge `first`. The least number
// of one that is not where it must be, into `wrong`: they rise from 0 to `last`, by `most` at a time.
extern "C" __global__ void place_offsets(i64 count, const i64* local, i64 first, i64 last, i64 most, i64* out, u64* wrong)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += stride) {
        const i64 here = local[k], before = k == 0 ? 0 : local[k - 1];
        out[k] = (i64)((u64)here + (u64)first);
        const bool rises = here >= before && (u64)here - (u64)before <= (u64)(k == 0 ? 0 : most);
        if (!rises || (k == count - 1 && here != last)) atomicMin(wrong, (u64)k);
    }
}

template <typename D, typename T>
__device__ __forceinline__ void relabel_all(i64 count, const D* dense, const T* table, T fill, T* out)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += stride) {
        const D vertex = dense[k];
        out[k] = vertex == (D)-1 ? fill : table[vertex];
    }
}

// The ids of ``item`` bytes that `table` has for dense ones of ``dense_item``, and `fill` where there is no vertex.
extern "C" __global__ void relabel(i64 count, i64 dense_item, const void* dense, i64 item, const void* table, u64 fill, void* out)
{
    if (dense_item == 4 && item == 4) relabel_all(count, (const u32*)dense, (const u32*)table, (u32)fill, (u32*)out);
    else if (dense_item == 4) relabel_all(count, (const u32*)dense, (const u64*)table, fill, (u64*)out);
    else if (item == 4) relabel_all(count, (const u64*)dense, (const u32*)table, (u32)fill, (u32*)out);
    else relabel_all(count, (const u64*)dense, (const u64*)table, fill, (u64*)out);
}
