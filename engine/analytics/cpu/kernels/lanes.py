"""Sums of floats in one order, that of the warps of a GPU. Twin: engine/analytics/cuda/kernels/ordered.cuh.

Numbers are summed in pieces of 512, and the sums of the pieces in the same way: that of some numbers is that of 32
lanes, number i in lane i % 32 in their order, which are then added in halves.
"""

from numba import uint64

from csaw.partition.base.compile import inner

LANES, PIECE = 32, 512


@inner(nogil=True)
def added(lanes, width):
    """The sum of the lanes, of which those from ``width`` on are 0."""
    half = LANES
    while half > 1 and half >= 2 * width:
        half //= 2
    while half > 1:
        half //= 2
        for lane in range(min(half, width)):
            lanes[lane] += lanes[lane + half]
    return lanes[0]


@inner(nogil=True)
def emptied(lanes, width):
    """The same; all lanes are 0 then, for the next sum."""
    found = added(lanes, min(width, LANES))
    for lane in range(min(width, LANES)):
        lanes[lane] = 0.0
    return found


@inner(nogil=True)
def ordered_sum(numbers, count, lanes, pieces):
    """The sum of the first ``count`` numbers. ``lanes``, ``pieces`` [LANES]: scratch, 0 before and after."""
    found = 0.0
    for low in range(0, count, PIECE):
        high = min(low + PIECE, count)
        for i in range(low, high):
            lanes[(i - low) % LANES] += numbers[i]
        found = emptied(lanes, high - low)
        pieces[low // PIECE % LANES] += found
    return emptied(pieces, LANES)


@inner(nogil=True)
def row_sum(begin, end, indices, values, lanes, pieces):
    """The sum of ``values`` of the neighbors indices[begin:end]. Scratch as of ``ordered_sum``."""
    found = 0.0
    for low in range(begin, end, PIECE):
        high = min(low + PIECE, end)
        for i in range(uint64(0), uint64(high - low)):
            lanes[i % uint64(LANES)] += values[uint64(indices[uint64(low) + i])]
        found = emptied(lanes, high - low)
        if end - begin > PIECE:
            pieces[(low - begin) // PIECE % LANES] += found
    return emptied(pieces, LANES) if end - begin > PIECE else found
