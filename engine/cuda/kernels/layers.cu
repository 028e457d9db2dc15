// The edges from the frontiers of a depth of layers: sums of their biases by instance and vertex, and those that lead to drawn vertices. After rows.cu.
// Those of instance i are the cells ends[i] .. ends[i + 1] - 1; blocks of a row of the grid, blockIdx.y, take the same instance.
// A bitmap has `width` words an instance: vertex v of instance i is bit v % 32 of word i * width + v / 32.

constexpr i64 LIGHTEST = 1 << 16;  // units, from which on the rounding to them cannot be seen

__device__ __forceinline__ i64 first_cell(const i64* ends, i64 instance) { return ends[instance] + (i64)blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ void set_bit(u32* bits, i64 v)
{
    const u32 bit = 1u << v % 32;
    if (!(bits[v / 32] & bit)) atomicOr(bits + v / 32, bit);
}

// Set the bits of the vertices that edges of a bias above 0 lead to; count these edges, and find the largest bias, of each instance. Floats above 0 are in the order of their bits.
extern "C" __global__ void mark_edges(i64 instances, const i64* ends, const vertex_t* out, const double* biases, i64 width, u32* bits, u64* count, u64* largest)
{
    for (i64 i = blockIdx.y; i < instances; i += gridDim.y) {
        u64 met = 0, most = 0;
        for (i64 cell = first_cell(ends, i); cell < ends[i + 1]; cell += (i64)gridDim.x * blockDim.x) {
            const double bias = biases[cell];
            if (!(bias > 0.0)) continue;
            set_bit(bits + i * width, out[cell]);
            met += 1;
            most = max(most, (u64)__double_as_longlong(bias));
        }
        for (int step = 16; step; step /= 2) {
            met += __shfl_down_sync(0xFFFFFFFF, met, step);
            most = max(most, __shfl_down_sync(0xFFFFFFFF, most, step));
        }
        if (threadIdx.x % 32 == 0 && met) {
            atomicAdd(count + i, met);
            atomicMax(largest + i, most);
        }
    }
}

// How many bits are set before that of vertex v of the words from `first` on. before[w]: those in the words before word w.
__device__ __forceinline__ i64 place_of(const u32* bits, const i64* before, i64 first, i64 v)
{
    const i64 word = first + v / 32;
    return before[word] + __popc(bits[word] & (1u << v % 32) - 1);
}

// Add the biases of edges to the sums of the vertices that they lead to, the candidates: one for each set bit; and the lightness of these integers, see engine/batches/integer_sums.py.
extern "C" __global__ void add_biases(i64 instances, const i64* ends, const vertex_t* out, const double* biases, i64 width, const u32* bits, const i64* before, const i64* shift, u64* sums, u64* light)
{
    for (i64 i = blockIdx.y; i < instances; i += gridDim.y) {
        const int scale = (int)shift[i];
        u64 lightness = 0;
        for (i64 cell = first_cell(ends, i); cell < ends[i + 1]; cell += (i64)gridDim.x * blockDim.x) {
            const i64 units = scaled(biases[cell], scale);
            if (!units) continue;
            atomicAdd(sums + place_of(bits, before, i * width, out[cell]), (u64)units);
            if (units <= LIGHTEST) lightness += (u32)LIGHTEST / (u32)units;
        }
        for (int step = 16; step; step /= 2) lightness += __shfl_down_sync(0xFFFFFFFF, lightness, step);
        if (threadIdx.x % 32 == 0 && lightness) atomicAdd(light + i, lightness);
    }
}

// Add the biases of edges to the sums of the vertices `out` that they lead to, all of the graph.
extern "C" __global__ void add_scaled(i64 count, const vertex_t* out, const double* biases, i64 shift, u64* sums)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += stride) {
        const i64 units = scaled(biases[n], (int)shift);
        if (units) atomicAdd(sums + out[n], (u64)units);
    }
}

// How often each candidate was drawn, and the first of its draws.
extern "C" __global__ void count_draws(i64 count, const i64* candidates, u32* times, u32* draw)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += stride) {
        atomicAdd(times + candidates[n], 1u);
        atomicMin(draw + candidates[n], (u32)n);
    }
}

// Whether edges have a bias above 0 and lead to a vertex whose bit is set, and, with `times`, to a candidate that was drawn.
extern "C" __global__ void find_edges(i64 instances, const i64* ends, const vertex_t* out, const double* biases, i64 width, const u32* bits, const i64* before, const u32* times, bool* found)
{
    for (i64 i = blockIdx.y; i < instances; i += gridDim.y)
        for (i64 cell = first_cell(ends, i); cell < ends[i + 1]; cell += (i64)gridDim.x * blockDim.x) {
            const i64 v = out[cell];
            const bool is_set = biases[cell] > 0.0 && bits[i * width + v / 32] >> v % 32 & 1;
            found[cell] = is_set && (!times || times[place_of(bits, before, i * width, v)]);
        }
}

// The edges of these cells, in six rows: instance, source, vertex, bits of the bias, first draw of the vertex, and how often it was drawn.
extern "C" __global__ void take_edges(i64 count, const i64* cells, i64 rows, const i64* row_ends, const i64* local, const i64* vertex, const vertex_t* out, const double* biases, i64 width, const u32* bits, const i64* before, const u32* draw, const u32* times, i64* kept)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += stride) {
        const i64 cell = cells[n], v = out[cell];
        i64 low = 0, high = rows - 1;  // the row that the cell is in: row_ends[row] <= cell < row_ends[row + 1]
        while (low < high) {
            const i64 middle = low + high >> 1;
            if (row_ends[middle + 1] > cell) high = middle;
            else low = middle + 1;
        }
        const i64 candidate = place_of(bits, before, local[low] * width, v);
        const i64 values[6] = {local[low], vertex[low], v, __double_as_longlong(biases[cell]), draw[candidate], times[candidate]};
#pragma unroll
        for (int k = 0; k < 6; k++) kept[k * count + n] = values[k];
    }
}

// The chance in a draw of the candidates `index` of the instances `owner`.
extern "C" __global__ void find_chances(i64 count, const i64* index, const i64* owner, const i64* sums, const i64* total, double* chance)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += stride)
        chance[n] = (double)sums[index[n]] / (double)total[owner[n]];
}

// The weights in the sample of edges that are kept: sqrt(bias) times the draws of the vertex, by the number of draws of the instance times the chance of the vertex.
// `beyond`: the number of the first weight above `largest`, or as it was. Twin of Layers._weights.
extern "C" __global__ void weigh_kept(i64 count, const i64* local, const i64* draw, const i64* times, const double* bias, const i64* drawn, const double* chance, double largest, float* weight, u64* beyond)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += stride) {
        const double share = (double)drawn[local[n]] * chance[draw[n]];
        const double found = sqrt(bias[n]) * (double)times[n] / share;
        weight[n] = (float)found;
        if (found > largest) atomicMin(beyond, (u64)n);
    }
}

// Set the bits of vertices.
extern "C" __global__ void mark_vertices(i64 count, const i64* local, const i64* vertex, i64 width, u32* bits)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += stride) set_bit(bits + local[n] * width, vertex[n]);
}

extern "C" __global__ void count_bits(i64 words, const u32* bits, i64* counts)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 word = (i64)blockIdx.x * blockDim.x + threadIdx.x; word < words; word += stride) counts[word] = __popc(bits[word]);
}

// The instance and the vertex of each set bit, in order.
extern "C" __global__ void list_bits(i64 words, i64 width, const u32* bits, const i64* before, i64* local, i64* vertex)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 word = (i64)blockIdx.x * blockDim.x + threadIdx.x; word < words; word += stride) {
        i64 place = before[word];
        for (u32 rest = bits[word]; rest; rest &= rest - 1, place++) {
            local[place] = word / width;
            vertex[place] = word % width * 32 + __ffs(rest) - 1;
        }
    }
}

// The candidate of each instance whose share of the sums has each of `tries` targets: the first whose running sum is beyond it. upto[c]: the sum of the candidates up to c, which may overflow.
extern "C" __global__ void find_candidates(i64 count, i64 tries, const i64* instance, const i64* begin, const u64* upto, const u64* sums, const i64* target, i64* found)
{
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += stride) {
        i64 low = begin[instance[n / tries]], high = begin[instance[n / tries] + 1] - 1;
        const u64 before = upto[low] - sums[low];
        while (low < high) {
            const i64 middle = low + high >> 1;
            if (upto[middle] - before > (u64)target[n]) high = middle;
            else low = middle + 1;
        }
        found[n] = low;
    }
}
