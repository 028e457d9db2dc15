"""The static factors of a bias, which replace the weights of edges: see runs/job.py.

A file of its own, whose hook knows the degrees of a graph alone.
"""

import numpy as np

from csaw.engine.cpu.kernels.constants import edge_bias
from csaw.partition.base.compile import inner, njit


@inner
def degree(degrees, v):
    return degrees[v]


@inner
def vertex_count(degrees):
    return degrees.size


@njit(nogil=True)
def fill_factors(params, degrees, vertex, offsets, first, dst, weights, scale, out):
    """Write the static factors of edges, times ``scale``; the number of the first that is no bias, or -1.

    ``vertex``: the one whose row begins at ``offsets[0]``, int64 from 0. ``first``: the first edge, counted as offsets
    are. ``weights``: float32, empty where edges have none.
    """
    row = np.searchsorted(offsets, first, side="right") - 1
    for k in range(dst.size):
        while first + k >= offsets[row + 1]:
            row += 1
        weight = np.float64(weights[k]) if weights.size > 0 else 1.0
        src = np.int64(vertex + row)
        found = float(edge_bias(params, degrees, 0, 0, 0, -1, -1, src, np.int64(dst[k]), weight))
        if not 0.0 <= found < np.inf:
            return k
        out[k] = np.float32(found * scale)
    return -1
