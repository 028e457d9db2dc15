"""Triangles of oriented rows (oriented.py): of each, w < y < x by rank, the middle vertex y finds it.

The row of y is marked in a bitmap. Each vertex x that has an edge to y has all candidates for w in its row, before y:
as many lookups as the oriented graph has wedges, the least of all ways to intersect. Marks of the 65,535 vertices of
lowest rank take 8 KB, and the candidates among them 16 bits each, so that lookups hit the first cache.

    rows, base       oriented rows of the vertices y; the row of y is at begin[y] - base
    near, far, over  those of the vertices x: in 16 bits (65,535: it needs more), in whole, and where they begin
    begin_in, first, sources, lengths   the edges to each y, from oriented.py

Triangles are listed, and counted of each edge, by the common neighbors of its ends. An entry is a place among the rows
of some vertices, ``indptr`` and ``indices``, of which ``first`` is the first: entry j of the row of u is the edge from
u to v = indices[j], of which those with u < v are looked at. The row of v is of a piece, the vertices ``there`` ..
``past`` - 1, whose rows are ``others``, by ``ptr``. Where only vertices ``above`` v count as common ones, each triangle
u < v < w is found once, and all come in order.

Of two sets the entries of the longer are looked up in a bitmap, or, where it is much longer, those of the shorter are
searched for there: so all takes about as long as the sum over the edges of the smaller degree, which the arboricity
bounds (Chiba and Nishizeki, SIAM J. Comput. 14(1), 1985).

Estimates need random wedges, pairs of neighbors of a vertex, and random edges with a random neighbor of each. They are
drawn by words of Philox whose address is the number of the wedge or the edge, as engine/draws/addresses.py has
it:

    seed          of the user
    instance      number of the wedge or edge
    slot          CENTERS draws a wedge of all alike; VERTICES a vertex of degree 2 or more, and then one of its wedges;
                  EDGES an edge, and then a neighbor
    draw          0, and 1 for the wedge of VERTICES and for the neighbor of EDGES
"""

from math import sqrt

import numpy as np

from csaw.engine.analytics.clusterings import HUBS
from csaw.engine.analytics.cpu.kernels.patterns import has
from csaw.engine.cpu.kernels.memory import atomic_add, prefetch
from csaw.engine.draws.random import below_wide, draw64
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import place_behind, place_between, zeros

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
