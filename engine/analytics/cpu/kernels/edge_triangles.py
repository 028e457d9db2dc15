"""Random edges and a random neighbor of each, drawn by words of Philox whose address is the number of the edge.

The address, as engine/draws/addresses.py has it:

    seed          of the user
    instance      number of the edge
    slot          EDGES, beside those of wedges.py
    draw          0 for the edge, 1 for the neighbor
"""

import numpy as np

from csaw.engine.analytics.cpu.kernels.patterns import has
from csaw.engine.draws.random import below_wide, draw64
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import place_behind

EDGES = np.uint64(2)


@njit(nogil=True)
def draw_edges(low, high, seed, indptr, near, place):
    """Draw the edges low .. high - 1 to places 0 .. high - low - 1 of the arrays.

    ``near``: the vertex in whose row each is; ``place``: its place in that row; ``indptr`` [V + 1].
    """
    for n in range(low, high):
        entry = np.int64(below_wide(draw64(seed, np.uint64(n), EDGES, np.uint64(0)), np.uint64(indptr[-1])))
        v = place_behind(indptr, entry) - 1
        near[n - low], place[n - low] = v, entry - indptr[v]


@njit(nogil=True)
def choose_neighbors(low, high, seed, degrees, near, far, place):
    """Make ``near`` the end with fewer neighbors of each edge, ``far`` the other; draw the ``place`` of a neighbor.

    The place is in the row of ``near``.
    """
    for n in range(low, high):
        i = n - low
        if degrees[far[i]] < degrees[near[i]]:
            near[i], far[i] = far[i], near[i]
        word = draw64(seed, np.uint64(n), EDGES, np.uint64(1))
        place[i] = np.int64(below_wide(word, np.uint64(degrees[near[i]])))


@njit(nogil=True)
def shorter_first(degrees, one, other):
    """Exchange two vertices where the second has fewer neighbors: its row is searched faster."""
    for i in range(one.size):
        if degrees[other[i]] < degrees[one[i]]:
            one[i], other[i] = other[i], one[i]


@njit(nogil=True)
def read_entries(low, high, order, first, indptr, indices, vertices, place, out):
    """Read the entry at ``place`` in the row of the vertex of each of order[low .. high - 1]. Returns 0.

    The row of v begins at indptr[v - first].
    """
    for n in order[low:high]:
        out[n] = indices[indptr[vertices[n] - first] + place[n]]
    return 0


@njit(nogil=True)
def keep_closed(low, high, order, first, indptr, indices, vertices, others, most):
    """Set ``most`` to 0 where the row of the vertex does not have the other, for order[low .. high - 1]. Returns 0."""
    for n in order[low:high]:
        v = vertices[n] - first
        if not has(indices[indptr[v] : indptr[v + 1]], others[n]):
            most[n] = 0
    return 0
