// Selection without replacement: what a candidate costs that is taken already, how that is found out, and what of it is counted (C-SAW, section IV-B).
// The twin of by_inverse_transform in engine/cpu/kernels/select.py.
#pragma once
#include "weigh.cuh"

// Collisions of pick j after which it is drawn from what is left: see engine/cpu/kernels/select.py.
__device__ __forceinline__ i64 most_tries(i64 j) { return 8 + (j >> 5); }

struct Counts { u32 redraws, collisions, conflicts; u64 compared; };  // of one thread, beside its picks

// Adds what a group has counted to the tally: see TALLY in engine/schedule/backend.py.
__device__ __forceinline__ void add_up(const Counts& n, i64 picks, u64* tally)
{
    const i64 drawn = group_sum(picks + n.redraws), tried = group_sum(picks + n.collisions), collisions = group_sum(n.collisions);
    const i64 compared = DETECT == LINEAR ? group_sum(n.compared) : 0, conflicts = DETECT == LINEAR ? 0 : group_sum(n.conflicts);
    if (threadIdx.x || drawn == 0) return;
    atomicAdd(tally, (u64)drawn);
    if (collisions) atomicAdd(tally + 1, (u64)collisions);
    if (COLLISION != UPDATED) atomicAdd(tally + 2, (u64)(DETECT == LINEAR ? compared : tried));
    atomicAdd(tally + 3, (u64)tried);
    if (conflicts) atomicAdd(tally + 4, (u64)conflicts);
}

// What a repeated candidate costs (C-SAW, section IV-B): the next target, from the rest of the draw (BIPARTITE) or by drawing again: see
// engine/cpu/kernels/select.py.
__device__ __forceinline__ void next_target(const i64* ctps, i64 candidate, i64 total, i64 k, u64 seed, u64 instance, u64 slot, u64& number, i64& target,
                                            u32& redraws)
{
    const i64 low = candidate > 0 ? ctps[candidate - 1] : 0, width = ctps[candidate] - low, rest = total - width;
    if (COLLISION == BIPARTITE && width >= 1ll << 32) {
        target = min(rest - 1, (i64)(((double)(target - low) + 0.5) / (double)width * (double)rest));
        target += target >= low ? width : 0;
    } else {
        number += k;
        target = (i64)below(pick_word(seed, instance, slot, number), (u64)total);
        ++redraws;
    }
}

// The running sum up to candidate `last` without the first `size` picks: `lanes` threads share the work, 1 or a warp.
__device__ __forceinline__ i64 rest_upto(const i64* ctps, i64 last, const i64* picked, i64 size, int lanes)
{
    i64 taken = 0;
    for (i64 i = lanes == 1 ? 0 : lane_of(); i < size; i += lanes) {
        const i64 c = picked[i];
        if (c <= last) taken += ctps[c] - (c > 0 ? ctps[c - 1] : 0);
    }
    return ctps[last] - (lanes == 1 ? taken : warp_sum(taken));
}

// The candidate that a word draws from the space without the first `size` picks.
__device__ __forceinline__ i64 search_rest(const i64* ctps, i64 count, const i64* picked, i64 size, u64 word, int lanes)
{
    const i64 target = (i64)below(word, (u64)rest_upto(ctps, count - 1, picked, size, lanes));
    i64 low = 0, high = count - 1;
    while (low < high) {
        const i64 middle = (low + high) >> 1;
        if (rest_upto(ctps, middle, picked, size, lanes) > target) high = middle;
        else low = middle + 1;
    }
    return low;
}

// Which candidates are taken already: see engine/plan/choices.py. A bit a candidate in words of 32, or the list of picks, its beginning in shared memory.
constexpr i64 NEAR_PICKS = 256;

struct Bit { i64 word; u32 mask; };

struct Taken {
    u32* words;
    i64 count;  // of words
    i64 *near, *picks;

    __device__ __forceinline__ Bit bit_of(i64 c) const
    {
        if (DETECT == CONTIGUOUS) return {c >> 5, 1u << (c & 31)};
        if (count >= 1ll << 27) return {c % count, 1u << (c / count)};
        const u32 turn = (u32)c / (u32)count;
        return {(i64)((u32)c - turn * (u32)count), 1u << turn};
    }

    // Whether c is one of the first `size` picks. LINEAR: what a search took that finds nothing is counted when its pick is settled.
    __device__ __forceinline__ bool has(i64 c, i64 size, Counts& n) const
    {
        if (DETECT != LINEAR) {
            const Bit bit = bit_of(c);
            return words[bit.word] & bit.mask;
        }
        for (i64 i = 0; i < size; ++i)
            if ((i < NEAR_PICKS ? near[i] : picks[i]) == c) { n.compared += i + 1; return true; }
        return false;
    }

    __device__ __forceinline__ void add(i64 c, i64 number) const
    {
        picks[number] = c;
        if (DETECT == LINEAR && number < NEAR_PICKS) near[number] = c;
        if (DETECT == LINEAR) return;
        const Bit bit = bit_of(c);
        atomicOr(words + bit.word, bit.mask);
    }
};

// Settles k picks, 32 at a time, a lane each, as if one came after the other: a candidate is given up only to an earlier pick. In a turn, lanes pass by
// what is taken; then all are settled before the first that has the candidate of an earlier one, or that has tried often enough and waits for the
// earlier ones, to be drawn from what they leave. taken.picks has the first candidates.
__device__ __forceinline__ void settle(u64 seed, u64 instance, u64 slot, const i64* ctps, i64 count, const Taken& taken, i64 k, Counts& n)
{
    const u32 self = 1u << lane_of();
    const i64 nothing = -1 - (i64)lane_of();  // that no other lane has
    const i64 total = ctps[count - 1];
    i64 settled = 0;
    for (i64 base = 0; base < k; base += 32) {
        const i64 j = base + lane_of();
        bool open = j < k, fresh = open;
        i64 tries = 0;
        u64 number = j;
        i64 target = (i64)below(pick_word(seed, instance, slot, number), (u64)total), candidate = open ? taken.picks[j] : nothing;
        const auto pass = [&]() {
            ++n.collisions;
            if (++tries == most_tries(j)) {
                candidate = nothing;
                return;
            }
            next_target(ctps, candidate, total, k, seed, instance, slot, number, target, n.redraws);
            candidate = search(ctps, count, target);
        };
        while (const u32 waiting = __ballot_sync(~0u, open)) {
            while (fresh && candidate >= 0 && taken.has(candidate, settled, n)) pass();
            fresh = false;
            const int first = __ffs(waiting) - 1;
            if (__shfl_sync(~0u, candidate, first) < 0) {
                const i64 rest = search_rest(ctps, count, taken.picks, settled, pick_word(seed, instance, slot, __shfl_sync(~0u, number, first) + k), 32);
                if (lane_of() == first) {
                    candidate = rest;
                    ++n.redraws;
                }
            }
            const u32 earlier = __match_any_sync(~0u, open ? candidate : nothing) & (self - 1);
            const u32 held = __ballot_sync(~0u, open && (earlier || candidate < 0)), now = waiting & ((held & -held) - 1);
            if (DETECT != LINEAR) n.conflicts += (__match_any_sync(~0u, now & self ? taken.bit_of(candidate).word : nothing) & (self - 1)) != 0;
            if (now & self) {
                taken.add(candidate, j);
                open = false;
                if (DETECT == LINEAR) n.compared += j;
            } else if (earlier & now) {
                if (DETECT == LINEAR) n.compared += base + __ffs(earlier & now);
                pass();
                fresh = true;
            }
            settled += __popc(now);
            __syncwarp();
        }
    }
}

struct Draw { u64 seed, instance, slot; const i64* ctps; i64 count, total, k; };  // k picks from a row by its running sums

// Settles the picks of several rows, each a tile of a warp's lanes (`of_tile`), a lane a pick, the `lane`-th of its row, as if one came after the
// other; `picked` has room for those of the row. An open lane gives its candidate up to an earlier pick of its tile only, once that one is settled.
__device__ __forceinline__ void settle_side_by_side(const Draw& d, bool open, u32 lane, u32 of_tile, i64* picked, Counts& n)
{
    const u32 self = 1u << lane_of(), begin = lane_of() - lane;
    const i64 nothing = -1 - (i64)lane_of();  // that no other lane has
    const bool picks = open;
    u64 number = lane;
    i64 target = 0, candidate = nothing, tries = 0;
    if (open) {
        target = (i64)below(pick_word(d.seed, d.instance, d.slot, number), (u64)d.total);
        candidate = search_near(d.ctps, d.count, d.total, target);
    }
    while (const u32 waiting = __ballot_sync(~0u, open)) {
        if (open && candidate < 0 && (waiting & of_tile & (self - 1)) == 0) {
            candidate = search_rest(d.ctps, d.count, picked, lane, pick_word(d.seed, d.instance, d.slot, number + d.k), 1);
            ++n.redraws;
        }
        const u32 equal = __match_any_sync(~0u, picks && candidate >= 0 ? candidate << 5 | begin : nothing) & (self - 1);
        const u32 held = __ballot_sync(~0u, open && (equal || candidate < 0)) & of_tile;
        const u32 now = waiting & of_tile & ((held & -held) - 1), lost_to = equal & (now | ~waiting);
        if (now & self) {
            picked[lane] = candidate;
            open = false;
            n.compared += lane;
        } else if (open && lost_to) {
            n.compared += __ffs(lost_to) - begin;
            ++n.collisions;
            if (++tries == most_tries(lane)) {
                candidate = nothing;
            } else {
                next_target(d.ctps, candidate, d.total, d.k, d.seed, d.instance, d.slot, number, target, n.redraws);
                candidate = search_near(d.ctps, d.count, d.total, target);
            }
        }
        __syncwarp();
    }
}
