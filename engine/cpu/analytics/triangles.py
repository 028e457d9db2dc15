"""Triangles of a simple undirected network, of the whole graph and of each vertex, on the CPU.

Rows are oriented by degree (oriented.py). Where memory does not hold them, parts of them stay while all pieces that have edges to them pass by: a triangle needs
the rows of two of its vertices alone, so for P parts every row is read (P + 1) / 2 times.
"""

from contextlib import closing
from itertools import pairwise
from typing import Any

import numpy as np

from csaw.engine.cpu.analytics.oriented import Oriented, Rows
from csaw.engine.cpu.analytics.spooled_rows import orient
from csaw.engine.cpu.kernels import oriented
from csaw.engine.cpu.kernels import triangles as kernels
from csaw.engine.cpu.network import HostNetwork

TASKS_OF_THREAD, EDGES_OF_TASK = 32, 1 << 12  # edges to the middle vertices of a task; their work differs


def compute(network: HostNetwork, *, each: bool = True) -> tuple[int, np.ndarray | None]:
    """The number of triangles, and of ``each`` vertex: int64 [V], those that it is in (None unless asked for).

    BudgetError where the network's memory does not hold the longest row.
    """
    counts = np.zeros(network.vertices, np.int64) if each else None
    total = 0
    with closing(orient(network, scratch=_scratch(network))) as rows:
        for fixed in rows.fixed():
            for piece in rows.pieces(fixed.first):
                total += _intersect(network, rows, fixed, piece, counts)
        return total, None if counts is None else counts[rows.rank]


def _scratch(network: HostNetwork) -> int:
    """Bytes of the marks and counters of all threads."""
    hubs = min(network.vertices, kernels.HUBS + 1)
    return network.threads * (network.vertices // 8 + (np.uint32().nbytes + np.int64().nbytes) * hubs + 16)


def _intersect(network: HostNetwork, rows: Oriented, fixed: Rows, piece: Rows, counts: np.ndarray | None) -> int:
    """Triangles with the middle vertex in ``fixed`` and the vertex of highest rank in ``piece``; each adds 1 to its vertices in ``counts``, by rank."""
    near = np.empty(piece.entries.size, np.uint16)
    network.over(lambda low, high: oriented.shorten(low, high, piece.entries, near), network.spans(near.size))
    listed = rows.sources(piece, fixed.first, fixed.last)
    given: tuple[Any, ...] = (rows.begin, fixed.entries, int(rows.begin[fixed.first]), near, piece.entries)
    given += (int(rows.begin[piece.first]), *listed)
    pieces = max(1, min(network.threads * TASKS_OF_THREAD, listed.sources.size // EDGES_OF_TASK))
    shares = np.linspace(0, listed.sources.size, pieces + 1)[1:-1].astype(np.int64)
    cuts = np.searchsorted(listed.begin_in[:-1], shares)
    bounds = (np.unique(np.concatenate([[0], cuts, [fixed.last - fixed.first]])) + fixed.first).tolist()
    tasks = list(pairwise(bounds))
    if counts is None:
        return sum(int(found) for found in network.over(lambda low, high: kernels.count(low, high, *given), tasks))
    return sum(
        int(found) for found in network.over(lambda low, high: kernels.count_each(low, high, *given, counts), tasks)
    )
