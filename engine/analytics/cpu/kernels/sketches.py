"""Sketches of the vertices that each vertex reaches: HyperLogLog counters of 16 registers, joined along edges.

Flajolet et al., AofA 2007; Boldi, Rosa and Vigna, WWW 2011 (HyperANF). ``registers`` uint64 [V, 2]: a byte for each,
below 128. A sum of 2^-register is taken in units of 2^-LARGEST, and an estimate in sixteenths of a vertex, both in
integers: sums do not depend on their order.
"""

from numba import int64, uint64

from csaw.engine.analytics.sketches import ALPHA, FEW, LARGEST, REGISTERS, SKETCH_SLOT, UNIT
from csaw.engine.draws.random import draw64
from csaw.partition.base.compile import inner, njit

HIGH = uint64(0x8080808080808080)


@njit(nogil=True)
def begin(low, high, seed, run, registers):
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
