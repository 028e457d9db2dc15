"""Kernels of label propagation: an order of the vertices, and rounds of moving them to the
clusters of their neighbors.
"""

import numpy as np

from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import zeros


@njit(nogil=True)
def breadth_first(indptr, indices, order):
    """Write all vertices to ``order`` as a breadth-first search meets them, which starts again at the first vertex not
    met yet.
    """
    met = zeros(order.size, np.bool_)
    done = end = 0
    for root in range(order.size):
        if met[root]:
            continue
        met[root], order[end], end = True, root, end + 1
        while done < end:
            v = order[done]
            done += 1
            for k in range(indptr[v], indptr[v + 1]):
                u = indices[k]
                if not met[u]:
                    met[u], order[end], end = True, u, end + 1


@njit(nogil=True)
def propagate(indptr, indices, clusters, sizes, most, rounds):
    """Move each vertex in turn to the cluster that has most of its neighbors, of equal ones the first, where that has
    fewer than ``most`` vertices.

    No cluster loses its last vertex. Ends after ``rounds`` rounds, or when none has moved.
    """
    votes = zeros(sizes.size, np.int64)
    for _ in range(rounds):
        moved = 0
        for v in range(clusters.size):
            here = clusters[v]
            if sizes[here] > 1:
                for k in range(indptr[v], indptr[v + 1]):
                    votes[clusters[indices[k]]] += 1
                best = here
                for k in range(indptr[v], indptr[v + 1]):
                    there = clusters[indices[k]]
                    ahead = votes[there] > votes[best] or (
                        votes[there] == votes[best] and best != here and there < best
                    )
                    if there != here and ahead and sizes[there] < most:
                        best = there
                for k in range(indptr[v], indptr[v + 1]):
                    votes[clusters[indices[k]]] = 0
                if best != here:
                    clusters[v] = best
                    sizes[here] -= 1
                    sizes[best] += 1
                    moved += 1
        if moved == 0:
            break


@njit(nogil=True)
def place_biased(indptr, indices, order, chances, parts, sizes, most):
    """Place each vertex of ``order`` in turn: in a part with room, below ``most``, with a chance of one more than the
    number of its neighbors that are there.

    ``chances`` [V], from 0 to below 1, decide. ``parts`` [V] are -1 before, and ``sizes`` 0.
    """
    votes = zeros(sizes.size, np.int64)
    for v in order:
        total = 0
        for k in range(indptr[v], indptr[v + 1]):
            if parts[indices[k]] >= 0:
                votes[parts[indices[k]]] += 1
        for part in range(sizes.size):
            votes[part] = votes[part] + 1 if sizes[part] < most else 0
            total += votes[part]
        left, chosen = np.int64(chances[v] * total), 0
        while left >= votes[chosen]:
            left -= votes[chosen]
            chosen += 1
        parts[v] = chosen
        sizes[chosen] += 1
        votes[:] = 0
