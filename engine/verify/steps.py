"""Whether steps of walks go along edges: a look-up of each in the rows of the graph."""

from typing import NamedTuple

import numpy as np

from csaw.engine.verify.course import in_order
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import (
    LINE,
    bits_set,
    empty,
    line_equal,
    line_upto,
    place_between,
    prefetch_second,
)

# The first entries of all lines of the rows, LINE entries each, lie close together. They tell in which line of its row
# a vertex is, if it is there, so that a step waits for memory about three times: for the bounds of the rows, those
# entries and the line. Each of these is asked for some hundred steps before it is needed.
#
# R-MAT 20, node2vec, one of two cores: 36 ns a step; a binary search of the row itself took 76.

BLOCK = 256  # steps or a few more that are looked up side by side
COPIED = 1 << 20  # first entries of lines that a thread copies at a time
LINE_BITS = np.uint64(4)  # of the number of an entry in its line
ONE, FEW = np.uint64(1), np.uint64(LINE)


class Lines(NamedTuple):
    """The rows of a graph by lines. Line n has the entries n * LINE - pad .. (n + 1) * LINE - pad - 1."""

    indices: np.ndarray  # [edges], or LINE where these are fewer
    begins: np.ndarray  # the first entry of each line from line 1 on, and LINE more, with any number
    pad: np.uint64
    """Entries that line 0 lacks, so that lines begin where lines of the cache do."""

    @classmethod
    def of(cls, indices: np.ndarray) -> "Lines":
        held = indices if indices.size >= LINE else np.concatenate([indices, np.zeros(LINE, indices.dtype)])
        pad = held.ctypes.data // held.itemsize % LINE
        later = held[LINE - pad :: LINE]
        begins = np.zeros(1 + later.size + LINE, held.dtype)
        out = begins[1 : 1 + later.size]

        def copy(start: int) -> None:
            out[start : start + COPIED] = later[start : start + COPIED]

        for _ in in_order(copy, ((start,) for start in range(0, later.size, COPIED))):
            pass
        return cls(held, begins, np.uint64(pad))


@njit(nogil=True)
def check_walks(indptr, indices, begins, pad, both, walks, lengths, fits, off):
    """Set ``fits`` of each walk whose vertices are as many as its length says, and ``off`` of each of its steps that
    goes along no edge; return their number.

    Both are False before. ``indices``, ``begins`` and ``pad`` are those of :class:`Lines`. ``both``: the graph has each
    edge in both directions, so that the shorter one of two rows tells.
    """
    room, wrong, first = BLOCK + walks.shape[1], 0, 0
    begin, end, line = empty(room, np.uint64), empty(room, np.uint64), empty(room, np.uint64)
    left, waiting, wanted = empty(room, np.uint64), empty(room, np.uint64), empty(room, indices.dtype)
    while first < walks.shape[0]:
        last = fitting(indptr, walks, lengths, first, fits)
        at = np.uint64(0)
        for i in range(first, last):
            if fits[i]:
                at = find_rows(indptr, begins, pad, both, walks[i], lengths[i], at, begin, end, line, left, wanted)
        find_lines(indices, begins, pad, at, line, left, wanted, waiting)
        at = np.uint64(0)
        for i in range(first, last):
            for k in range(lengths[i] if fits[i] else 0):
                if not holds(indices, pad, line[at], begin[at], end[at], wanted[at]):
                    off[i, k] = not (both and has_edge(indptr, indices, walks[i, k], walks[i, k + 1]))
                    wrong += off[i, k]
                at += ONE
        first = last
    return wrong


@inner
def fitting(indptr, walks, lengths, first, fits):
    """Set ``fits`` of walks from the ``first`` on, until those that fit have BLOCK steps; return the end of them.

    The bounds of rows, which are needed next, are asked for.
    """
    width, steps, i = walks.shape[1], 0, first
    while i < walks.shape[0] and steps < BLOCK:
        fit = 0 <= lengths[i] < width
        for k in range(width):
            fit &= walks[i, k] >= 0 if k <= lengths[i] else walks[i, k] == -1
            prefetch_second(indptr, np.uint64(max(walks[i, k], 0)))
        fits[i] = fit
        steps += lengths[i] if fit else 0
        i += 1
    return i


@inner
def find_rows(indptr, begins, pad, both, walk, steps, at, begin, end, line, left, wanted):
    """Fill in, from place ``at`` on, the row in which each step of a walk is searched, ``begin`` to ``end``, its first
    ``line``, how many lines are ``left`` after it, and the vertex ``wanted`` there; return the place behind the last.

    Numbers without a sign, here and below: Numba need not look for negative places then.
    """
    low, high = np.uint64(indptr[walk[0]]), np.uint64(indptr[walk[0] + 1])
    for k in range(steps):
        to = walk[k + 1]
        low_there, high_there = np.uint64(indptr[to]), np.uint64(indptr[to + 1])
        there = both and high_there - low_there < high - low
        begin[at], end[at] = low_there if there else low, high_there if there else high
        line[at] = (begin[at] + pad) >> LINE_BITS
        left[at] = ((end[at] + pad - ONE) >> LINE_BITS) - line[at] if end[at] > begin[at] else np.uint64(0)
        wanted[at] = walk[k] if there else to
        prefetch_second(begins, line[at] + ONE + (left[at] >> ONE if left[at] > FEW else np.uint64(0)))
        low, high = low_there, high_there
        at += ONE
    return at


@inner
def find_lines(indices, begins, pad, steps, line, left, wanted, waiting):
    """Find the ``line`` in which each vertex is if it is in its row: the last one that begins with no larger vertex.

    Rows of many lines are halved first. These binary searches go on side by side, without branches: what one of them
    waits for from memory is on its way while the others go on.
    """
    going = np.uint64(0)
    for k in range(np.int64(steps)):
        waiting[going] = k
        going += np.uint64(left[np.uint64(k)] > FEW)
    while going > 0:
        still = np.uint64(0)
        for j in range(np.int64(going)):
            k = waiting[np.uint64(j)]
            half = (left[k] + ONE) >> ONE
            there = line[k] + half
            line[k] = there if begins[there] <= wanted[k] else line[k]
            left[k] -= half
            waiting[still] = k
            still += np.uint64(left[k] > FEW)
        going = still
    for place in range(np.int64(steps)):
        k = np.uint64(place)
        upto = line_upto(begins, line[k] + ONE, wanted[k]) & ((ONE << left[k]) - ONE)
        line[k] += bits_set(upto)
        prefetch_second(indices, line[k] * FEW - pad if line[k] > 0 else np.uint64(0))


@inner
def holds(indices, pad, line, begin, end, wanted):
    """Whether ``wanted`` is in a line of the row from ``begin`` to ``end``."""
    first = min(line * FEW - pad if line > 0 else np.uint64(0), np.uint64(indices.size) - FEW)
    low = begin - first if begin > first else np.uint64(0)
    high = end - first if end < first + FEW else FEW
    return line_equal(indices, first, wanted) & ((ONE << high) - (ONE << low)) != 0


@inner
def has_edge(indptr, indices, v, to):
    """Whether the row of ``v`` has an edge to ``to``."""
    at = place_between(indices, indptr[v], indptr[v + 1], to)
    return at < indptr[v + 1] and np.int64(indices[at]) == to
