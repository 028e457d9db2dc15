"""How the rows of two versions of a graph differ, and the triangles of a simple undirected graph that this makes and
breaks.

Of the latter, ``indptr`` and ``indices`` are the rows of the vertices ``ends``, which rise, with the edges of either
version. ``tags`` says of each entry whether the newer version alone has that edge (1), or the older one (-1), or both
(0). Changed edges are pairs of places in ``ends`` with a ``sign``, which is the tag.
"""

import numpy as np

from csaw.engine.analytics.cpu.kernels.components import link
from csaw.engine.cpu.kernels.memory import atomic_add
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import place_between, zeros

SEARCHED = 8  # a row that is longer by this factor is searched instead of marked
MARK = 2  # of a neighbor, besides its tag


@inner(nogil=True)
def _behind(row, at, end, neighbor):
    """The first place from ``at`` to before ``end`` where a row has another neighbor."""
    while at < end and row[at] == neighbor:
        at += 1
    return at


@njit(nogil=True)
def differ(low, high, ptr, old, indptr, new, counts, begin, neighbors, more, turned):
    """Count the neighbors that the rows low .. high - 1 have another number of times than they had: counts[row].

    With ``neighbors``, counts are known, and what Changes has of them goes to the places begin[row] and on.
    """
    writing = neighbors.size > 0
    for v in range(low, high):
        if writing and begin[v] == begin[v + 1]:
            continue
        i, i_end, j, j_end, found = ptr[v], ptr[v + 1], indptr[v], indptr[v + 1], 0
        while True:
            while i < i_end and j < j_end and old[i] == new[j]:
                i, j = i + 1, j + 1
            if i == i_end and j == j_end:
                break
            neighbor = old[i] if j == j_end or (i < i_end and old[i] < new[j]) else new[j]
            both = i > ptr[v] and old[i - 1] == neighbor  # more often than they have been seen in both
            before, now = _behind(old, i, i_end, neighbor) - i, _behind(new, j, j_end, neighbor) - j
            if writing:
                place = begin[v] + found
                neighbors[place], more[place] = neighbor, now - before
                turned[place] = 0 if both else (before == 0) - (now == 0)
            i, j, found = i + before, j + now, found + 1
        if not writing:
            counts[v] = found


@njit(nogil=True)
def join(rows, neighbors, parent):
    """Join the trees of the ends of each edge, as the kernels of components do."""
    for k in range(rows.size):
        link(rows[k], neighbors[k], parent)


@inner(nogil=True)
def _closed(a, b, s, marking, marks, ends, indptr, indices, tags, each):
    """The triangles of one changed edge with the sign ``s``, which count at it, times s; ``b`` is its far end."""
    u, v, at, end, found = ends[a], ends[b], indptr[b], indptr[b + 1], np.int64(0)
    for i in range(indptr[a], indptr[a + 1]):
        w = np.int64(indices[i])
        if marking:
            if marks[w] == 0:
                continue
            tag = marks[w] - MARK
        else:
            at = place_between(indices, at, end, indices[i])
            if at == end:
                break
            if indices[at] != indices[i]:
                continue
            tag = tags[at]
        if not ((tags[i] == s and v > w) or (tag == s and u > w)):
            atomic_add(each, np.uint64(w), s)
            found += s
    atomic_add(each, np.uint64(u), found)
    atomic_add(each, np.uint64(v), found)
    return found


@njit(nogil=True)
def close(low, high, far, near, sign, ends, indptr, indices, tags, each):
    """Count the triangles that the changed edges low .. high - 1 make, less those that they break.

    Each changes the numbers of its vertices in ``each``, too. Edges are in the order of their ``far`` end, whose row is
    marked for all of them, or searched if that is far longer than those of the other ends. A triangle of several
    changed edges of one sign counts at that whose opposite vertex is the largest. One with edges of both signs, which
    was never there, counts once for either, and so not at all.
    """
    marks, total, k = zeros(each.size, np.int8), np.int64(0), low
    while k < high:
        begin, end, stop, wanted = indptr[far[k]], indptr[far[k] + 1], k, 0
        while stop < high and far[stop] == far[k]:
            wanted += indptr[near[stop] + 1] - indptr[near[stop]]
            stop += 1
        marking = SEARCHED * wanted > end - begin
        for j in range(begin, end if marking else begin):
            marks[indices[j]] = MARK + tags[j]
        for one in range(k, stop):
            total += _closed(near[one], far[k], np.int64(sign[one]), marking, marks, ends, indptr, indices, tags, each)
        for j in range(begin, end if marking else begin):
            marks[indices[j]] = 0
        k = stop
    return total
