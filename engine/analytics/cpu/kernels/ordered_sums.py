"""Sums of floating-point numbers over neighbors, in the order of lanes.py. Twin: cuda/kernels/ordered_sums.cu."""

import numpy as np

from csaw.engine.analytics.cpu.kernels.lanes import LANES, PIECE, added
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_arrays import empty


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
