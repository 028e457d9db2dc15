"""Random wedges, pairs of neighbors of a vertex, drawn by words of Philox whose address is the number of the wedge.

The address, as engine/draws/addresses.py has it:

    seed          of the user
    instance      number of the wedge
    slot          CENTERS draws a wedge of all alike; VERTICES a vertex of degree 2 or more, and then one of its wedges
    draw          0, and of VERTICES 1 for the wedge
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
