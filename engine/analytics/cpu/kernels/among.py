"""Rows of a subgraph: the neighbors of some vertices that are among these vertices."""

import numpy as np

from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import copied, empty, zeros


@inner(nogil=True)
def _place(vertices, wanted):
    """The place of ``wanted`` in ``vertices``, which rise; -1 where it is missing."""
    low, high = 0, vertices.size
    while low < high:
        middle = (low + high) // 2
        if vertices[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < vertices.size and vertices[low] == wanted else -1


@njit(nogil=True)
def induced_rows(vertices, low, high, first, indptr, indices):
    """Make the rows of ``vertices[low:high]`` in the graph that all ``vertices`` induce.

    Row v is ``indices[indptr[v - first] : indptr[v - first + 1]]``. Returns the numbers of entries, int64, and the
    entries as places in ``vertices``.
    """
    counts = zeros(high - low, np.int64)
    room = 0
    for k in range(low, high):
        room += indptr[vertices[k] - first + 1] - indptr[vertices[k] - first]
    out, n = empty(room, np.int64), 0
    for k in range(low, high):
        for i in range(indptr[vertices[k] - first], indptr[vertices[k] - first + 1]):
            place = _place(vertices, np.int64(indices[i]))
            if place >= 0:
                out[n] = place
                n += 1
                counts[k - low] += 1
    return counts, copied(out[:n])


@njit(nogil=True)
def are_edges(src, dst, low, high, first, indptr, indices, out):
    """Write to ``out`` whether the pairs low .. high - 1 are edges: ``dst[k]`` is in the sorted row of ``src[k]``.

    Rows as of ``induced_rows``.
    """
    for k in range(low, high):
        row = indices[indptr[src[k] - first] : indptr[src[k] - first + 1]]
        out[k] = _place(row, dst[k]) >= 0
