"""Common neighbors of the ends of edges, by which triangles are listed, and counted of each edge.

An entry is a place among the rows of some vertices, ``indptr`` and ``indices``, of which ``first`` is the first: entry
j of the row of u is the edge from u to v = indices[j], of which those with u < v are looked at. The row of v is of a
piece, the vertices ``there`` .. ``past`` - 1, whose rows are ``others``, by ``ptr``. Where only vertices ``above`` v
count as common ones, each triangle u < v < w is found once, and all come in order.

Of two sets the entries of the longer are looked up in a bitmap, or, where it is much longer, those of the shorter are
searched for there: so all takes about as long as the sum over the edges of the smaller degree, which the arboricity
bounds (Chiba and Nishizeki, SIAM J. Comput. 14(1), 1985).
"""

import numpy as np

from csaw.engine.analytics.cpu.kernels.triangles import mark, unmark
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import place_behind, place_between, zeros

SEARCHED = 8  # a row that is longer by this factor is searched, in place of being read


@inner(nogil=True)
def _looked_up(row, marks, out, place, writing):
    """Count the marked entries of a row, and write them to out[place] and on if that is wanted."""
    found = 0
    for entry in row:
        w = np.uint64(entry)
        if (marks[w >> np.uint64(6)] >> (w & np.uint64(63))) & np.uint64(1):
            if writing:
                out[place + found] = entry
            found += 1
    return found


@inner(nogil=True)
def _searched(row, longer, out, place, writing):
    """Count the entries of a row that a longer one has, too; as ``_looked_up``."""
    found, at = 0, 0
    for entry in row:
        at = place_between(longer, at, longer.size, entry)
        if at == longer.size:
            break
        if longer[at] == entry:
            if writing:
                out[place + found] = entry
            found += 1
    return found


@njit(nogil=True)
def bound(low, high, at, first, indptr, indices, degrees, above, most):
    """Bound the common neighbors of each entry low .. high - 1, to most[entry - at]: 0 where u > v."""
    u = place_behind(indptr, low) - 1
    for j in range(low, high):
        while indptr[u + 1] <= j:
            u += 1
        v, left = np.int64(indices[j]), indptr[u + 1] - indptr[u]
        if above:
            left = indptr[u + 1] - j - 1
        most[j - at] = min(left, degrees[v]) if v > u + first else 0


@njit(nogil=True)
def find(low, high, at, first, indptr, indices, there, past, ptr, others, vertices, above, counts, begin, out):
    """Find the common neighbors of the entries low .. high - 1 whose v is in the piece.

    Their numbers go to counts[entry - at]. With ``out``, counts are known, and the common neighbors go to
    out[begin[entry - at]] and on, ascending.
    """
    marks, writing = zeros(vertices // 64 + 1, np.uint64), out.size > 0
    u, j = place_behind(indptr, low) - 1, low
    while j < high:
        while indptr[u + 1] <= j:
            u += 1
        own, end = indices[indptr[u] : indptr[u + 1]], min(high, indptr[u + 1])
        from_v = max(there, u + first + 1)
        low_j = place_between(indices, j, end, from_v)
        high_j = place_between(indices, low_j, end, past)
        if low_j < high_j:
            mark(own, marks)
            for i in range(low_j, high_j):
                if writing and counts[i - at] == 0:
                    continue
                v = np.int64(indices[i])
                mine, theirs = own, others[ptr[v - there] : ptr[v - there + 1]]
                if above:
                    mine, theirs = own[i + 1 - indptr[u] :], theirs[place_behind(theirs, v) :]
                place = begin[i - at] if writing else 0
                if theirs.size <= SEARCHED * mine.size:
                    found = _looked_up(theirs, marks, out, place, writing)
                else:
                    found = _searched(mine, theirs, out, place, writing)
                if not writing:
                    counts[i - at] = found
            unmark(own, marks)
        j = end
