"""Sums of floating-point numbers over neighbors, in the order of lanes.py. Twin: cuda/kernels/ordered_sums.cu."""

import numpy as np

from csaw.engine.analytics.cpu.kernels.lanes import LANES, row_sum
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import zeros


@njit(nogil=True)
def sum_rows(low, high, first, indptr, indices, values, out):
    """Write the sum of ``values`` of the neighbors of each vertex of low .. high - 1 to ``out``, float64.

    Row v is at indptr[v - first]. Returns 0.
    """
    lanes, pieces = zeros(LANES, np.float64), zeros(LANES, np.float64)
    for v in range(low, high):
        out[v] = row_sum(indptr[v - first], indptr[v - first + 1], indices, values, lanes, pieces)
    return 0
