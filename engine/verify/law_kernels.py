"""Closed forms of laws of single choices, by rows of the graph, for verify."""

import numpy as np

from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_arrays import empty, zeros

LONGER = 16  # times as long a row is searched for each entry of another
WORD_BITS = np.uint64(6)  # of the number of a bit in its word


@njit(nogil=True)
def mark_common(indices, row, end, other, other_end, bits, common):
    """Set ``common`` of each entry of the row indices[row:end] that indices[other:other_end] has, too, both ascending.

    ``bits`` has a zero for each vertex, and has them again afterwards. Marks there cost less than a merge, of which a
    processor cannot foretell how it goes on; a much longer row is searched.
    """
    one, low = np.uint64(1), np.uint64(63)
    if other_end - other > LONGER * (end - row):
        for entry in range(row, end):
            first, left = other, other_end - other
            while left > 1:
                half = left >> 1
                first = first + half if indices[first + half] <= indices[entry] else first
                left -= half
            common[entry - row] = indices[first] == indices[entry]
        return
    for entry in range(other, other_end):
        to = np.uint64(indices[entry])
        bits[to >> WORD_BITS] |= one << (to & low)
    for entry in range(row, end):
        to = np.uint64(indices[entry])
        common[entry - row] = (bits[to >> WORD_BITS] >> (to & low)) & one
    for entry in range(other, other_end):
        bits[np.uint64(indices[entry]) >> WORD_BITS] = 0


@njit(nogil=True)
def one_law(indptr, indices, bias, p, q, v, prev, bits, common, outcome, chance, kind):
    """Fill in the possible neighbors of ``v``, ascending, with their chances, and their kinds: 2 a return, 1 a common
    neighbor, 0 another; return their number.

    ``bits`` is that of ``mark_common``; ``common`` has room for the row.
    """
    filled, total, each = 0, 0.0, np.int64(bias.size > 1)
    row, end = indptr[v], indptr[v + 1]
    if prev >= 0:
        mark_common(indices, row, end, indptr[prev], indptr[prev + 1], bits, common)
    for edge in range(row, end):
        dst = np.int64(indices[edge])
        beside = prev >= 0 and common[edge - row] != 0
        away = prev >= 0 and not beside
        share = np.float64(bias[edge * each]) / (p if dst == prev else q if away else 1.0)
        if share <= 0.0:
            continue
        total += share
        if filled > 0 and outcome[filled - 1] == dst:
            chance[filled - 1] += share
            continue
        outcome[filled], chance[filled], kind[filled] = dst, share, np.int8(2) if dst == prev else np.int8(beside)
        filled += 1
    for cell in range(filled):
        chance[cell] /= total
    return filled


@njit(nogil=True)
def row_laws(indptr, indices, bias, p, q, vertex, before, room, outcome, chance, common, size):
    """The law of one step from each ``vertex``, whose row is compared with that of the vertex ``before`` it (-1: none).

    Situation s fills ``size[s]`` cells from room[s] on: the possible outcomes, ascending, repeated edges together, or
    -1 alone at a dead end. ``bias`` has a number for each edge, or one for all.
    """
    longest = 0
    for s in range(vertex.size):
        longest = max(longest, room[s + 1] - room[s])
    bits = zeros((indptr.size >> 6) + 1, np.uint64)
    kind, beside = empty(longest, np.int8), empty(longest, np.int8)
    for s in range(vertex.size):
        at, cells = room[s], (outcome[room[s] :], chance[room[s] :])
        filled = one_law(indptr, indices, bias, p, q, vertex[s], before[s], bits, beside, *cells, kind)
        for cell in range(filled):
            common[at + cell] = kind[cell] == 1
        if filled == 0:
            outcome[at], chance[at], common[at] = -1, 1.0, False
            filled = 1
        size[s] = filled


@njit(nogil=True)
def elsewhere(degree, vertex, target, share, stays, room, outcome, chance, common, size):
    """Laws of ``row_laws`` with a walk that goes to ``target`` instead with chance ``share``, or ``stays`` by the
    degrees, and from a dead end.

    A walk that may stay moves from v to u only with chance min(1, degree of v / degree of u). A walk at a dead end that
    is its target ends.
    """
    for s in range(vertex.size):
        first, v = room[s], vertex[s]
        end = first + size[s]
        if outcome[first] < 0 or share >= 1.0:
            outcome[first] = -1 if outcome[first] < 0 and target[s] == v else target[s]
            chance[first], common[first], size[s] = 1.0, False, 1
            continue
        rest = share
        for cell in range(first, end):
            kept = 1.0 - share
            if stays and degree[outcome[cell]] > degree[v]:
                kept = degree[v] / degree[outcome[cell]]
                rest += chance[cell] * (1.0 - kept)
            chance[cell] *= kept
        if rest <= 0.0:
            continue
        at = end
        while at > first and outcome[at - 1] >= target[s]:
            at -= 1
        if at < end and outcome[at] == target[s]:
            chance[at] += rest
            continue
        for cell in range(end, at, -1):
            outcome[cell], chance[cell], common[cell] = outcome[cell - 1], chance[cell - 1], common[cell - 1]
        outcome[at], chance[at], common[at] = target[s], rest, False
        size[s] += 1
