"""Other rows of a graph: of the simple undirected graph, of the graph with its edges reversed, and of a subgraph, the
neighbors of some vertices that are among these vertices.

Rows are sorted. Each kernel does a range of vertices, so that threads share the work without meeting.
"""

import numpy as np

from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import copied, empty, zeros


@njit(nogil=True)
def is_simple(low, high, first, indptr, indices):
    """Whether no row of the vertices low .. high - 1 has its own vertex or a neighbor twice.

    Row v is at indptr[v - first].
    """
    for v in range(low, high):
        for i in range(indptr[v - first], indptr[v - first + 1]):
            if indices[i] == v or (i > indptr[v - first] and indices[i] == indices[i - 1]):
                return False
    return True


@njit(nogil=True)
def count_targets(low, high, indices, counts):
    """Count the edges to each vertex of low .. high - 1."""
    for neighbor in indices:
        if low <= neighbor < high:
            counts[neighbor] += 1


@njit(nogil=True)
def fill_sources(low, high, indptr, indices, at, out):
    """Write the source of each edge to a vertex u of low .. high - 1 to ``out[at[u]]`` and on.

    They ascend, since sources are read in order. ``at`` moves on.
    """
    for v in range(indptr.size - 1):
        for i in range(indptr[v], indptr[v + 1]):
            u = indices[i]
            if low <= u < high:
                out[at[u]] = v
                at[u] += 1


@njit(nogil=True)
def fill_weights(low, high, indptr, indices, weights, at, out):
    """Write the weight of each edge to a vertex u of low .. high - 1 to ``out[at[u]]`` and on, as fill_sources does."""
    for v in range(indptr.size - 1):
        for i in range(indptr[v], indptr[v + 1]):
            u = indices[i]
            if low <= u < high:
                out[at[u]] = weights[i]
                at[u] += 1


@inner(nogil=True)
def _union(v, one, other, out):
    """Merge two sorted rows, without v and without repeats, into ``out`` unless it is empty.

    Returns the number of entries.
    """
    i, j, n = 0, 0, 0
    last = np.int64(-1)
    while i < one.size or j < other.size:
        if j == other.size or (i < one.size and one[i] <= other[j]):
            found = np.int64(one[i])
            i += 1
        else:
            found = np.int64(other[j])
            j += 1
        if found not in (last, v):
            last = found
            if out.size:
                out[n] = found
            n += 1
    return n


@njit(nogil=True)
def count_union(low, high, indptr, indices, back_ptr, back, counts):
    """Number of different neighbors of each vertex of low .. high - 1 in both directions, itself left out.

    ``back_ptr`` and ``back``: rows of the other direction.
    """
    for v in range(low, high):
        one, other = indices[indptr[v] : indptr[v + 1]], back[back_ptr[v] : back_ptr[v + 1]]
        counts[v] = _union(v, one, other, indices[:0])


@njit(nogil=True)
def fill_union(low, high, indptr, indices, back_ptr, back, out_ptr, out):
    """Write the neighbors that ``count_union`` counts to ``out[out_ptr[v]]`` and on, ascending."""
    for v in range(low, high):
        one, other = indices[indptr[v] : indptr[v + 1]], back[back_ptr[v] : back_ptr[v + 1]]
        if out_ptr[v] < out_ptr[v + 1]:
            _union(v, one, other, out[out_ptr[v] : out_ptr[v + 1]])


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
