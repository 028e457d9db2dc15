"""Breadth-first search from 64 sources at once, a bit of a word for each (Then et al., PVLDB 8(4), 2014).

Twin: engine/analytics/cuda/kernels/reach.cu.

    seen       uint64 [V]: the sources that have reached a vertex
    front      uint64 [V]: those that reached it at the level before
    following  uint64 [V]: those that reach its row's other end at this level, seen or not; zero between levels
    active     uint8 [chunks]: whether a chunk of 512 vertices has a word in ``front`` that is not zero; ``touched``:
               the same of ``following``

A level pushes front along the rows of active vertices, or pulls it along the rows backward of those that some source
has not reached; both set the same words.

Where there are more sources, the vertices that each vertex reaches are estimated by sketches: HyperLogLog counters of
16 registers, joined along edges. Twin: engine/analytics/cuda/kernels/sketches.cu. Flajolet et al., AofA 2007; Boldi,
Rosa and Vigna, WWW 2011 (HyperANF). ``registers`` uint64 [V, 2]: a byte for each, below 128. A sum of 2^-register is
taken in units of 2^-LARGEST, and an estimate in sixteenths of a vertex, both in integers: sums do not depend on their
order."""

import numpy as np
from numba import int64, uint64

from csaw.engine.analytics.cpu.kernels.atomics import fetch_or
from csaw.engine.analytics.sketches import ALPHA, FEW, LARGEST, REGISTERS, SKETCH_SLOT, UNIT
from csaw.engine.draws.random import draw64
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import zeros

ALL = uint64(0xFFFFFFFFFFFFFFFF)
PLANES = 48  # bits of a count


@njit(nogil=True)
def push(low, high, first, indptr, indices, front, following, active, touched, shared):
    """Push along the rows of the vertices low .. high - 1.

    ``shared``: whether other threads do so at the same time. Returns 0.
    """
    v = low
    while v < high:
        end = min(high, (v // 512 + 1) * 512)
        if active[v // 512]:
            for w in range(v, end):
                if front[w]:
                    _push_row(front[w], indices[indptr[w - first] : indptr[w + 1 - first]], following, touched, shared)
        v = end
    return 0


@inner(nogil=True)
def _push_row(bits, row, following, touched, shared):
    for u in row:
        if bits & ~following[u]:
            if shared:
                fetch_or(following, u, bits)
            else:
                following[u] |= bits
            touched[u >> 9] = 1


@njit(nogil=True)
def pull(low, high, first, indptr, indices, front, following, touched, seen, full):
    """Pull to those of the vertices low .. high - 1 that not all of the sources ``full`` have reached. Returns 0.

    Rows are those backward.
    """
    for v in range(low, high):
        missing = full & ~seen[v]
        if missing:
            bits = uint64(0)
            for i in range(indptr[v - first], indptr[v - first + 1]):
                bits |= front[indices[i]]
                if bits & missing == missing:
                    break
            if bits & missing:
                following[v] = bits
                touched[v >> 9] = 1
    return 0


@njit(nogil=True)
def settle(low, high, degrees, back_degrees, front, following, active, touched, seen, full):
    """End a level for the chunks low .. high - 1: sources that reached a vertex now become its front.

    Returns int64 [66]: how many vertices each source has reached at this level, entries of the new front's rows, and
    entries of the rows backward of vertices that all sources have reached now.
    """
    planes, found = zeros(PLANES, np.uint64), zeros(66, np.int64)
    for chunk in range(low, high):
        if not (active[chunk] or touched[chunk]):
            continue
        some = False
        for v in range(chunk * 512, min(seen.size, chunk * 512 + 512)):
            new = following[v] & ~seen[v]
            front[v], following[v] = new, uint64(0)
            if new:
                some = True
                seen[v] |= new
                _count(new, planes)
                found[64] += degrees[v]
                if seen[v] == full:
                    found[65] += back_degrees[v]
        active[chunk], touched[chunk] = some, 0
    for source in range(64):
        for plane in range(PLANES):
            found[source] += int64(planes[plane] >> uint64(source) & uint64(1)) << plane
    return found


@inner(nogil=True)
def _count(word, planes):
    """Add a word's bits to 64 counters, whose bit p is in ``planes[p]``: two planes a word on the average."""
    plane = 0
    while word:
        carry = planes[plane] & word
        planes[plane] ^= word
        word = carry
        plane += 1


@njit(nogil=True)
def begin(sources, front, active, seen):
    """Clear the state and let each source reach itself; returns the word of all sources."""
    front[:], active[:], seen[:] = 0, 0, 0
    full = uint64(0)
    for i in range(sources.size):
        bit = uint64(1) << uint64(i)
        front[sources[i]] |= bit
        seen[sources[i]] |= bit
        active[sources[i] >> 9] = 1
        full |= bit
    return full


@njit(nogil=True)
def search(indptr, indices, back_ptr, back, sources, seen, front, following, active, touched):
    """Do the whole search with one thread; returns how many vertices each source reaches at each level.

    int64 [levels, 64]. An empty ``back``: there are no rows backward.
    """
    vertices, chunks = seen.size, active.size
    full = begin(sources, front, active, seen)
    degrees = indptr[1:] - indptr[:-1]
    back_degrees = back_ptr[1:] - back_ptr[:-1]
    counts = np.zeros((16, 64), np.int64)
    counts[0, : sources.size] = 1
    level, entries, rest = 0, int64(0), int64(indices.size)
    for i in range(sources.size):
        entries += degrees[sources[i]]
    while entries:
        if back.size and entries > rest:
            pull(0, vertices, 0, back_ptr, back, front, following, touched, seen, full)
        else:
            push(0, vertices, 0, indptr, indices, front, following, active, touched, False)
        found = settle(0, chunks, degrees, back_degrees, front, following, active, touched, seen, full)
        level, entries, rest = level + 1, found[64], rest - found[65]
        if level == len(counts):
            counts = np.concatenate((counts, np.zeros_like(counts)))
        counts[level] = found[:64]
    return counts[: level + 1]


HIGH = uint64(0x8080808080808080)


@njit(nogil=True)
def begin_sketches(low, high, seed, run, registers):
    """Make the sketch of each vertex of low .. high - 1 alone. Returns 0.

    Its register is the high 4 of 64 random bits, and the value the place of the first one in the rest.
    """
    for v in range(low, high):
        word = draw64(seed, uint64(v), SKETCH_SLOT, run)
        value = uint64(1)
        while value < LARGEST and not word >> (uint64(60) - value) & uint64(1):
            value += uint64(1)
        place = word >> uint64(60)
        registers[v, 0] = registers[v, 1] = uint64(0)
        registers[v, place >> uint64(3)] = value << (uint64(8) * (place & uint64(7)))
    return 0


@njit(nogil=True)
def join(low, high, first, indptr, indices, registers, following):
    """Join the sketch of each vertex of low .. high - 1 with those of its neighbors, to ``following``.

    Returns the sum of the estimates, and whether any sketch has changed.
    """
    total, changed = 0, False
    for v in range(low, high):
        one, other = registers[v, 0], registers[v, 1]
        for i in range(indptr[v - first], indptr[v - first + 1]):
            one = larger(one, registers[indices[i], 0])
            other = larger(other, registers[indices[i], 1])
        changed |= one != registers[v, 0] or other != registers[v, 1]
        following[v, 0], following[v, 1] = one, other
        total += estimate(one, other)
    return total, changed


@inner(nogil=True)
def larger(one, other):
    """The larger of each of the eight bytes of two words; bytes are below 128."""
    is_first = ((one | HIGH) - other) & HIGH  # the high bit of a byte stays where nothing above it is borrowed
    mask = is_first | (is_first - (is_first >> uint64(7)))
    return (one & mask) | (other & ~mask)


@inner(nogil=True)
def estimate(one, other):
    """How many vertices a sketch has met, in units."""
    inverse, empty = 0, 0
    for word in (one, other):
        for byte in range(8):
            value = int64(word >> uint64(8 * byte) & uint64(0xFF))
            inverse += 1 << (LARGEST - value)
            empty += value == 0
    found = ALPHA * REGISTERS * REGISTERS * 2.0**LARGEST / inverse
    if found <= 2.5 * REGISTERS and empty:
        found = FEW[empty]
    return int(found * UNIT)
