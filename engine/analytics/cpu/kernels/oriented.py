"""Oriented rows: each edge once, from the end of lower degree to that of higher degree, and the reverse lists.

Vertices have ranks by degree, the highest first, ties in order of ids; here a vertex is named by its rank. The row of x
holds its neighbors of lower rank, ascending, so no row is longer than the square root of twice the number of edges
(Chiba and Nishizeki, SIAM J. Comput. 14(1), 1985, section 2). Each kernel does a range of vertices, so that threads
share the work without meeting.
"""

import numpy as np

from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, place_behind, zeros

FEW = 24  # entries that are sorted by insertion faster than by quicksort


@njit(nogil=True)
def rank_by_degree(indptr, rank, order):
    """Fill ``rank`` [V] and ``order`` [V], the vertex of each rank: a counting sort."""
    vertices = rank.size
    largest = 0
    for v in range(vertices):
        largest = max(largest, indptr[v + 1] - indptr[v])
    at = zeros(largest + 2, np.int64)
    for v in range(vertices):
        at[largest - (indptr[v + 1] - indptr[v]) + 1] += 1
    for degree in range(largest + 1):
        at[degree + 1] += at[degree]
    for v in range(vertices):
        place = largest - (indptr[v + 1] - indptr[v])
        rank[v] = at[place]
        order[at[place]] = v
        at[place] += 1


@njit(nogil=True)
def count_lower(low, high, first, indptr, indices, rank, counts):
    """Count the neighbors of lower rank of each vertex v of low .. high - 1, to counts[rank[v]].

    The row of v is at indptr[v - first].
    """
    for v in range(low, high):
        mine, count = rank[v], 0
        for i in range(indptr[v - first], indptr[v - first + 1]):
            count += rank[indices[i]] < mine
        counts[mine] = count


@njit(nogil=True)
def fill_lower(low, high, first, indptr, indices, rank, at, out):
    """Write the ranks of the neighbors that ``count_lower`` counts, ascending, to out[at[v - first]] and on."""
    for v in range(low, high):
        mine, end = rank[v], at[v - first]
        for i in range(indptr[v - first], indptr[v - first + 1]):
            other = rank[indices[i]]
            if other < mine:
                out[end] = other
                end += 1
        sort_row(out[at[v - first] : end])


@inner(nogil=True)
def sort_row(row):
    """Sort a row in place: most are short."""
    if row.size > FEW:
        sort_long(row)
    else:
        sort_short(row, 0, row.size)


@inner(nogil=True)
def sort_short(row, low, high):
    """Sort entries low .. high - 1 by insertion."""
    for i in range(low + 1, high):
        value, j = row[i], i
        while j > low and row[j - 1] > value:
            row[j] = row[j - 1]
            j -= 1
        row[j] = value


@inner(nogil=True)
def sort_long(row):
    """Cut a row into short pieces, about the middle of three entries, and sort these: Numba's own sort takes 1.6 s to
    compile. The larger of two pieces waits, so at most 64 do.
    """
    waiting, pieces, low, high = empty(128, np.int64), 0, 0, row.size
    while True:
        while high - low > FEW:
            cut, at = parted(row, low, high), 2 * pieces
            if cut - low < high - cut:
                waiting[at], waiting[at + 1], high = cut, high, cut
            else:
                waiting[at], waiting[at + 1], low = low, cut, cut
            pieces += 1
        sort_short(row, low, high)
        if pieces == 0:
            return
        pieces -= 1
        low, high = waiting[2 * pieces], waiting[2 * pieces + 1]


@inner(nogil=True)
def parted(row, low, high):
    """Exchange entries until those from the place that is returned on are at least as large as those before it; neither
    piece is empty (Hoare 1962).
    """
    a, b, c = row[low], row[(low + high) >> 1], row[high - 1]
    pivot, i, j = max(min(a, b), min(max(a, b), c)), low, high - 1
    while True:
        while row[i] < pivot:
            i += 1
        while pivot < row[j]:
            j -= 1
        if i >= j:
            return max(i, low + 1)
        row[i], row[j] = row[j], row[i]
        i, j = i + 1, j - 1


@njit(nogil=True)
def shorten(low, high, rows, near):
    """Copy entries low .. high - 1 of ``rows`` to ``near``, in 16 bits; those that need more become 65,535."""
    for i in range(low, high):
        near[i] = min(rows[i], np.uint64(0xFFFF))


@njit(nogil=True)
def count_sources(low, high, first, rows, begin_in):
    """Count the edges to each vertex y of low .. high - 1 to begin_in[y - first + 2]."""
    for y in rows:
        if low <= y < high:
            begin_in[y - first + 2] += 1


@njit(nogil=True)
def fill_sources(low, high, first, x_first, x_last, begin, rows, begin_in, sources, lengths):
    """List the edges to each vertex y of low .. high - 1: the vertex x that each leaves, and the entries before y.

    The entries are those of the row of x. The rows of x_first .. x_last - 1 are at begin[x] - begin[x_first]. The list
    of y begins at begin_in[y - first + 1], which moves on to its end, where that of y + 1 begins.
    """
    for x in range(x_first, x_last):
        row = rows[begin[x] - begin[x_first] : begin[x + 1] - begin[x_first]]
        for i in range(row.size):
            y = row[i]
            if low <= y < high:
                q = begin_in[y - first + 1]
                sources[q], lengths[q] = x, i
                begin_in[y - first + 1] = q + 1


@njit(nogil=True)
def merge_runs(first, last, order, begin, runs, at, parts, out):
    """Put the rows of the ranks first .. last - 1 together.

    Those of the vertices runs[t] .. runs[t + 1] - 1 are at parts[at[t]] and on, in order of rank; ``at`` moves on.
    """
    for x in range(first, last):
        length = begin[x + 1] - begin[x]
        if length > 0:
            run = place_behind(runs, np.int64(order[x])) - 1
            place = begin[x] - begin[first]
            for i in range(length):
                out[place + i] = parts[at[run] + i]
            at[run] += length
