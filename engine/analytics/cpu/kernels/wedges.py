"""Random wedges, pairs of neighbors of a vertex, and random edges with a random neighbor of each.

They are drawn by words of Philox whose address is the number of the wedge or the edge, as engine/draws/addresses.py has
it:

    seed          of the user
    instance      number of the wedge or edge
    slot          CENTERS draws a wedge of all alike; VERTICES a vertex of degree 2 or more, and then one of its wedges;
                  EDGES an edge, and then a neighbor
    draw          0, and 1 for the wedge of VERTICES and for the neighbor of EDGES
"""

from math import sqrt

import numpy as np

from csaw.engine.analytics.cpu.kernels.patterns import has
from csaw.engine.draws.random import below_wide, draw64
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import place_behind

CENTERS, VERTICES = np.uint64(0), np.uint64(1)


@njit(nogil=True)
def pair_of(number):
    """The pair i < j with this number, among those of 0, 1, 2, ... in order of j."""
    j = np.int64((1.0 + sqrt(1.0 + 8.0 * number)) / 2.0)
    while j * (j - 1) // 2 > number:  # a square root of so large a number is rounded
        j -= 1
    while (j + 1) * j // 2 <= number:
        j += 1
    return number - j * (j - 1) // 2, j


@njit(nogil=True)
def draw_wedges(low, high, seed, begin, centers, firsts, seconds):
    """Draw the wedges low .. high - 1, all alike, to places 0 .. high - low - 1: vertex, and places of both ends.

    Places are in the vertex's row. ``begin`` [V + 1]: running numbers of wedges.
    """
    for n in range(low, high):
        word = below_wide(draw64(seed, np.uint64(n), CENTERS, np.uint64(0)), np.uint64(begin[-1]))
        v = place_behind(begin, np.int64(word)) - 1
        centers[n - low] = v
        firsts[n - low], seconds[n - low] = pair_of(np.int64(word) - begin[v])


@njit(nogil=True)
def draw_vertices(low, high, seed, begin, able, centers, firsts, seconds):
    """Draw wedges low .. high - 1 of vertices of degree 2 or more alike; arrays as of ``draw_wedges``.

    ``able`` [V + 1]: running numbers of those vertices.
    """
    for n in range(low, high):
        word = below_wide(draw64(seed, np.uint64(n), VERTICES, np.uint64(0)), np.uint64(able[-1]))
        v = place_behind(able, np.int64(word)) - 1
        pairs = np.uint64(begin[v + 1] - begin[v])
        centers[n - low] = v
        number = below_wide(draw64(seed, np.uint64(n), VERTICES, np.uint64(1)), pairs)
        firsts[n - low], seconds[n - low] = pair_of(np.int64(number))


@njit(nogil=True)
def find_ends(low, high, order, first, indptr, indices, centers, firsts, seconds):
    """Replace the places of both ends of the wedges order[low .. high - 1] by the ends.

    The row of vertex v is at indptr[v - first]. Returns 0.
    """
    for n in order[low:high]:
        begin = indptr[centers[n] - first]
        firsts[n], seconds[n] = indices[begin + firsts[n]], indices[begin + seconds[n]]
    return 0


@njit(nogil=True)
def count_closed(low, high, order, first, indptr, indices, firsts, seconds):
    """Number of the wedges order[low .. high - 1] whose second end is in the row of the first."""
    closed = 0
    for n in order[low:high]:
        v = firsts[n] - first
        closed += has(indices[indptr[v] : indptr[v + 1]], seconds[n])
    return closed


# Random edges.

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
