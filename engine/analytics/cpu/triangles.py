"""Triangles of a simple undirected network, of the whole graph and of each vertex, on the CPU.

Rows are oriented by degree (oriented.py). Where memory does not hold them, parts of them stay while all pieces that
have edges to them pass by: a triangle needs the rows of two of its vertices alone, so for P parts every row is read (P
+ 1) / 2 times.
"""

from collections.abc import Callable
from contextlib import closing

import numpy as np

from csaw.engine.analytics.cpu import spooled_rows
from csaw.engine.analytics.cpu.footprints import scratch
from csaw.engine.analytics.cpu.kernels import oriented
from csaw.engine.analytics.cpu.kernels import triangles as kernels
from csaw.engine.analytics.cpu.network import HostNetwork, equal_ranges
from csaw.engine.analytics.cpu.oriented import Oriented, Rows

TASKS_OF_THREAD, EDGES_OF_TASK = 32, 1 << 12  # the work of vertices differs


WHOLE = (0, 1)  # the share that is all
Count = Callable[[HostNetwork, Oriented, Rows, Rows, np.ndarray], int]


def compute(
    network: HostNetwork, *, each: bool = True, share: tuple[int, int] = WHOLE
) -> tuple[int, np.ndarray | None]:
    """Count triangles by intersecting sets of neighbors: of the graph, and of ``each`` vertex if that is asked for.

    ``share``: (k, n) counts part k of n alone; the sums of all parts are those of the whole (default: all). BudgetError
    where the network's memory does not hold the longest row.

    Returns:
        The number of triangles, and those that each vertex is in, int64 [V], or None.
    """
    return counted(network, _intersect, each, share)


def counted(
    network: HostNetwork, count: Count, each: bool, share: tuple[int, int] = WHOLE
) -> tuple[int, np.ndarray | None]:
    """Count triangles with ``count``, a function for those between the rows that stay and a piece that passes by.

    Other arguments and the result are those of ``compute``.
    """
    work = network.unfinished.work("triangles", each, share)
    counts = work.done.pop("counts", np.zeros(network.vertices if each else 0, np.int64))
    total = int(work.done.get("total", 0))
    with closing(spooled_rows.orient(network, scratch=scratch(network))) as rows:
        low, high = _ranks(network, rows, share)
        low = int(work.done.get("low", low))
        for fixed in rows.fixed(low, high) if low < high else ():
            own = rows.within(fixed, low, high)
            for piece in rows.pieces(own.first):
                total += count(network, rows, own, piece, counts)
            work.note(counts=counts, total=total, low=own.last)
            work.tell(own.last, high, "vertices of triangles, by degree")
        return total, counts[rows.rank] if each else None


def _ranks(network: HostNetwork, rows: Oriented, share: tuple[int, int]) -> tuple[int, int]:
    """The ranks, low .. high - 1, of a share's middle vertices; shares have about as many edges that lead to these."""
    if share == WHOLE:
        return 0, network.vertices
    upto = np.concatenate([[0], np.cumsum(network.degrees[rows.order] - np.diff(rows.begin))])
    part, parts = share
    cuts = np.searchsorted(upto, [upto[-1] * part // parts, upto[-1] * (part + 1) // parts])
    return int(cuts[0]) if part else 0, int(cuts[1]) if part + 1 < parts else network.vertices


def _intersect(network: HostNetwork, rows: Oriented, fixed: Rows, piece: Rows, counts: np.ndarray) -> int:
    """Count the triangles with the middle vertex in ``fixed`` and the vertex of highest rank in ``piece``.

    Each adds 1 to its vertices in ``counts``, by rank, unless that is empty.
    """
    near = np.empty(piece.entries.size, np.uint16)
    network.each(oriented.shorten, network.spans(near.size), piece.entries, near)
    listed = rows.sources(piece, fixed.first, fixed.last)
    middles = (rows.begin, fixed.entries, int(rows.begin[fixed.first]))
    given = (*middles, near, piece.entries, int(rows.begin[piece.first]), *listed)
    tasks = tasks_of(network, listed.begin_in[:-1], fixed.first)
    if counts.size:
        return sum(map(int, network.each(kernels.count_each, tasks, *given, counts)))
    return sum(map(int, network.each(kernels.count, tasks, *given)))


def tasks_of(network: HostNetwork, upto: np.ndarray, first: int) -> list[tuple[int, int]]:
    """The vertices ``first`` and on in ranges of about equal work, where ``upto`` [vertices + 1] counts edges."""
    edges = int(upto[-1] - upto[0])
    return equal_ranges(upto, min(network.threads * TASKS_OF_THREAD, edges // EDGES_OF_TASK), first)
