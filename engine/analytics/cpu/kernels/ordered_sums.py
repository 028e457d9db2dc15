"""Sums of floating-point numbers over neighbors, in an order of their own. Twin: cuda/kernels/ordered_sums.cu.

A row is summed in pieces of 512 entries, and the sums of the pieces in the same way: that of some numbers is that of 32
lanes, number i in lane i % 32 in their order, which are then added in halves. So warps of a GPU add, and sums have the
same bits there.
"""

import numpy as np

from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_arrays import empty

LANES, PIECE = 32, 512


@inner(nogil=True)
def added(lanes, width):
    """The sum of the lanes, of which those from ``width`` on are 0."""
    half = LANES
    while half > 1:
        half //= 2
        for lane in range(min(half, width)):
            lanes[lane] += lanes[lane + half]
    return lanes[0]


@njit(nogil=True)
def sum_rows(low, high, first, indptr, indices, values, out):
    """Write the sum of ``values`` of the neighbors of each vertex of low .. high - 1 to ``out``, float64.

    Row v is at indptr[v - first]. Returns 0.
    """
    lanes, pieces = empty(LANES, np.float64), empty(LANES, np.float64)
    for v in range(low, high):
        begin, end = indptr[v - first], indptr[v - first + 1]
        several, total = end - begin > PIECE, 0.0
        pieces[:] = 0.0
        for piece in range((end - begin + PIECE - 1) // PIECE):
            start = begin + piece * PIECE
            stop = min(start + PIECE, end)
            lanes[:] = 0.0
            for i in range(start, stop):
                lanes[(i - start) % LANES] += values[indices[i]]
            total = added(lanes, min(stop - start, LANES))
            if several:
                pieces[piece % LANES] += total
        out[v] = added(pieces, LANES) if several else total
    return 0
