"""Predecessors in a tree of shortest paths, found from the distances of all vertices.

distance  int32 or float64 [V]: negative or infinite where a vertex is not reached
best      uint64 [V]: the smallest predecessor found, NONE where there is none yet
fresh     bool [V]: whose rows are gone through
known     bool [V]: who has a predecessor already
"""

import numpy as np
from numba import float64, uint64

from csaw.engine.analytics.cpu.kernels.atomics import fetch_min
from csaw.partition.base.compile import njit

NONE = np.uint64(2**64 - 1)


@njit(nogil=True)
def predecessors(low, high, first, indptr, indices, weights, distance, best, fresh, known, nearer):
    """Lower ``best`` of neighbors whose distance is that of a fresh vertex of low .. high - 1 and one more edge.

    ``nearer``: only where that vertex is nearer to the source, otherwise where it is as far. An edge has the weight 1
    if ``weights`` are empty. Returns 0.
    """
    for v in range(low, high):
        if fresh[v]:
            for i in range(indptr[v - first], indptr[v - first + 1]):
                u = indices[i]
                if not known[u] and (distance[v] < distance[u]) == nearer:
                    weight = float64(weights[i]) if weights.size else 1.0
                    if distance[v] + weight == distance[u]:
                        fetch_min(best, u, uint64(v))
    return 0
