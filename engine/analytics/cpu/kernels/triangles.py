"""Triangles of oriented rows (oriented.py): of each, w < y < x by rank, the middle vertex y finds it.

The row of y is marked in a bitmap. Each vertex x that has an edge to y has all candidates for w in its row, before y:
as many lookups as the oriented graph has wedges, the least of all ways to intersect. Marks of the 65,535 vertices of
lowest rank take 8 KB, and the candidates among them 16 bits each, so that lookups hit the first cache.

    rows, base       oriented rows of the vertices y; the row of y is at begin[y] - base
    near, far, over  those of the vertices x: in 16 bits (65,535: it needs more), in whole, and where they begin
    begin_in, first, sources, lengths   the edges to each y, from oriented.py
"""

import numpy as np

from csaw.engine.analytics.clusterings import HUBS
from csaw.engine.cpu.kernels.memory import atomic_add, prefetch
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import zeros

AHEAD = 8  # lists that are prefetched
MARK = np.uint32(1 << 31)


@inner(nogil=True, inline="always")
def mark(row, marks):
    """Set the bits of the entries of a row."""
    for entry in row:
        w = np.uint64(entry)
        marks[w >> np.uint64(6)] |= np.uint64(1) << (w & np.uint64(63))


@inner(nogil=True, inline="always")
def unmark(row, marks):
    """Clear the words in which bits of the entries of a row are."""
    for entry in row:
        marks[np.uint64(entry) >> np.uint64(6)] = 0


@inner(nogil=True, inline="always")
def _hits(row, length, marks):
    """Number of entries of a row, up to ``length``, that are marked."""
    found = np.uint64(0)
    for j in range(length):
        w = np.uint64(row[j])
        found += (marks[w >> np.uint64(6)] >> (w & np.uint64(63))) & np.uint64(1)
    return found


@njit(nogil=True)
def count(low, high, begin, rows, base, near, far, over, begin_in, first, sources, lengths):
    """Count the triangles whose middle vertex is in low .. high - 1."""
    marks, total = zeros(high // 64 + 1, np.uint64), np.uint64(0)
    for y in range(low, high):
        own = rows[begin[y] - base : begin[y + 1] - base]
        q_end = begin_in[y - first + 1]
        if own.size == 0:
            continue
        mark(own, marks)
        for q in range(begin_in[y - first], q_end):
            start = begin[sources[q]] - over
            if q + AHEAD < q_end:
                prefetch(near, np.uint64(begin[sources[q + AHEAD]] - over))
            if y < HUBS:
                total += _hits(near[start:], lengths[q], marks)
            else:
                total += _hits(far[start:], lengths[q], marks)
        unmark(own, marks)
    return total


@inner(nogil=True, inline="always")
def _marked_hits(row, length, marks):
    """Count the marked entries of a row of ranks in 16 bits, up to the first that needs more; each adds 1 to its mark.

    Returns the number of marked entries, and that of all entries.
    """
    found = np.uint32(0)
    for j in range(length):
        w = np.uint64(row[j])
        if w == np.uint64(HUBS):
            return found, j
        value = marks[w]
        hit = value >> np.uint32(31)
        marks[w] = np.uint32(value + hit)
        found = np.uint32(found + hit)
    return found, length


@inner(nogil=True)
def _far_hits(row, marks, each):
    """Count the marked entries of a row; each adds 1 to its vertex in ``each``, which threads share."""
    found = np.uint32(0)
    for entry in row:
        w = np.uint64(entry)
        if (marks[w >> np.uint64(6)] >> (w & np.uint64(63))) & np.uint64(1):
            atomic_add(each, w, np.int64(1))
            found = np.uint32(found + np.uint32(1))
    return found


@njit(nogil=True)
def count_each(low, high, begin, rows, base, near, far, over, begin_in, first, sources, lengths, each):
    """Count the triangles whose middle vertex is in low .. high - 1, and add those of each vertex v to each[v].

    The mark of a hub is the highest bit of its counter, so that a lookup reads and writes one word, hit or not. A
    thread keeps what it finds of hubs to its end.
    """
    hubs, marks = zeros(HUBS + 1, np.uint32), zeros(high // 64 + 1, np.uint64)
    lowest, total = zeros(min(HUBS, high), np.int64), np.uint64(0)
    for y in range(low, high):
        own = rows[begin[y] - base : begin[y + 1] - base]
        q_end = begin_in[y - first + 1]
        if own.size == 0:
            continue
        for w in own:
            if w < HUBS:
                hubs[w] = MARK
            else:
                marks[np.uint64(w) >> np.uint64(6)] |= np.uint64(1) << (np.uint64(w) & np.uint64(63))
        middle = np.uint64(0)
        for q in range(begin_in[y - first], q_end):
            x = sources[q]
            start = begin[x] - over
            if q + AHEAD < q_end:
                prefetch(near, np.uint64(begin[sources[q + AHEAD]] - over))
            found, done = _marked_hits(near[start:], lengths[q], hubs)
            if done < lengths[q]:
                found += _far_hits(far[start + done : start + lengths[q]], marks, each)
            if found:
                atomic_add(each, np.uint64(x), np.int64(found))
                middle += np.uint64(found)
        if middle:
            atomic_add(each, np.uint64(y), np.int64(middle))
            total += middle
        for w in own:
            if w < HUBS:
                lowest[w] += np.int64(hubs[w] & ~MARK)
                hubs[w] = 0
            else:
                marks[np.uint64(w) >> np.uint64(6)] = 0
    for w in range(lowest.size):
        if lowest[w]:
            atomic_add(each, np.uint64(w), lowest[w])
    return total


@njit(nogil=True)
def multiply(low, high, begin, rows, first, last, far, over, each):
    """Count the triangles whose highest vertex is in low .. high - 1 and whose middle one is in first .. last - 1.

    That is the sum over the entries of the oriented graph's matrix of its square: each row of the product is made where
    its mask, the same row of the matrix, has entries alone (Azad, Buluc and Gilbert, IPDPSW 2015). ``rows``: those of
    first .. last - 1. Unless ``each`` is empty, each triangle adds 1 to its vertices there.
    """
    mask, total = zeros(high // 64 + 1, np.uint64), np.uint64(0)
    for x in range(low, high):
        own = far[begin[x] - over : begin[x + 1] - over]
        mark(own, mask)
        highest = np.uint64(0)
        for y in own:
            if first <= y < last:
                row = rows[begin[y] - begin[first] : begin[np.int64(y) + 1] - begin[first]]
                if each.size:
                    found = np.uint64(_far_hits(row, mask, each))
                    atomic_add(each, np.uint64(y), np.int64(found))
                else:
                    found = _hits(row, row.size, mask)
                highest += found
        if each.size:
            atomic_add(each, np.uint64(x), np.int64(highest))
        total += highest
        unmark(own, mask)
    return total
