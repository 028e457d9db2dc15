"""Matches of small patterns on a GPU, in memory: twin of engine/analytics/cpu/patterns.py.

Tables of matches of a pattern's first vertices are joined with the next vertex, so many candidates at a time that the
longer matches have room (analytics/cuda/kernels/patterns.cu); each of these tables is joined to the end before the next
is made.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics import pattern
from csaw.engine.analytics.cuda import oriented
from csaw.engine.analytics.cuda.footprints import LEAST_MATCHES, MATCH_BYTES, PATTERNS, require_room
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.pattern import Asked, count_each

MOST = 1 << 22  # matches of a table; so many keep a GPU busy
PIECE = 2048  # candidates that a block joins at a time, as in engine/analytics/cuda/kernels/patterns.cu
BLOCK, BLOCKS = 256, 16  # threads of a block, and blocks of a multiprocessor


class Rows(NamedTuple):
    """Rows of the vertices that have neighbors, which are numbered so that degrees rise.

    ``indices`` uint32 [entries]; ``order`` int64 [numbers], the vertex of each; ``room``: matches that a table may
    have.
    """

    indptr: Array
    indices: Array
    order: Array
    room: int


def patterns(network: DeviceNetwork, *, asked: Sequence[Asked], labels: np.ndarray | None = None) -> list[int]:
    """Count the matches of each pattern of analytics/pattern.py, in their order.

    ``labels``: int32 [V] in host memory, as of analytics/cpu/patterns.py. BudgetError where the GPU's memory does not
    hold the rows and what they are sorted by; DeviceError where 2^32 vertices or more have neighbors.
    """
    rows = cache(lambda: renumbered(network))

    def matched(one: Asked) -> int:
        own = None if labels is None or not one.labels else cupy.asarray(labels)
        return matches(network, one, rows(), own, cupy.zeros(0, np.uint64))

    return count_each(network, asked, labels, matched)


def renumbered(network: DeviceNetwork) -> Rows:
    """Number the vertices of a network in memory so that degrees rise, and sort its rows by these numbers.

    Then few neighbors of a vertex have a higher number. A vertex without neighbors is in no pattern, and has no number.
    """
    left = require_room(network, "matches of patterns", PATTERNS.bytes(network.vertices, network.edges))
    (_, _, begins, entries, _), vertices = next(network.blocks()), network.vertices
    rank, order = oriented.rank_by_degree(network, least=1)
    numbers, order, keys = order.size, order[::-1], cupy.empty(network.edges, np.uint64)
    warps = 32 * min(vertices, oriented.MOST_WARPS)
    network.kernels("adjacency").over("key_entries", warps, vertices, numbers, begins, entries, rank, keys)
    keys.sort()
    indptr = cupy.zeros(numbers + 1, np.int64)
    cupy.cumsum(network.degrees[order], out=indptr[1:])
    return Rows(indptr, keys.astype(np.uint32), order, min(MOST, LEAST_MATCHES + left // MATCH_BYTES))


def matches(network: DeviceNetwork, asked: Asked, rows: Rows, labels: Array | None, each: Array) -> int:
    """Count the matches of a pattern in renumbered rows.

    ``labels``: int32 [V] of the vertices of the network, where the pattern asks for them. ``each``: uint64 [numbers],
    to which those of each vertex are added by its number, or empty.
    """
    plan = pattern.plan(asked)
    join = Join(network, plan, rows, None if labels is None else labels[rows.order], each)
    first = cupy.diff(rows.indptr) >= int(plan.needs[0])
    if join.labels is not None and plan.wanted[0] >= 0:
        first &= join.labels == int(plan.wanted[0])
    roots = cupy.flatnonzero(first).astype(np.uint32)
    join.extend(1, roots.size, roots[None])
    return int(join.total[0])


class Join:
    """Joins tables of matches of a pattern, and counts those of all its vertices in ``total``, uint64 [1]."""

    def __init__(
        self, network: DeviceNetwork, plan: pattern.Plan, rows: Rows, labels: Array | None, each: Array
    ) -> None:
        self.plan, self.rows, self.labels, self.each = plan, rows, labels, each
        self.kernels = network.kernels("patterns", EACH=int(each.size > 0))
        self.most_blocks = network.gpu.processors * BLOCKS
        self.total, self.made = cupy.zeros(1, np.uint64), cupy.zeros(1, np.uint64)
        self.tables = {level: cupy.empty((level, rows.room), np.uint32) for level in range(2, plan.needs.size)}
        """For the matches of the first vertices, two or more; each is filled again and again."""

    def extend(self, level: int, count: int, table: Array) -> None:
        """Join ``count`` matches with the vertex ``level``, and what comes of them with all behind.

        table: uint32 [level, count or more], the vertices of each match.
        """
        if not count:
            return
        stride, graph = table.shape[1], (self.rows.indptr, self.rows.indices)
        joined, after = (self._bits(one, level) for one in (self.plan.joined, self.plan.after))
        begin, sizes = (cupy.empty(count, np.int64) for _ in range(2))
        drivers, matches = cupy.empty(count, np.uint32), (count, stride, np.uint32(level))
        self.kernels.over("begin_candidates", count, *matches, joined, after, table, *graph, begin, sizes, drivers)
        need, want = int(self.plan.needs[level]), int(self.plan.wanted[level])
        last = level == self.plan.needs.size - 1
        if last and need == 1 and want < 0 and not self.each.size:
            self.kernels.over("count_last", count, *matches, after, table, sizes, drivers, *graph, self.total)
            return
        ends = cupy.cumsum(sizes)
        given = (*matches, joined, need, want, self.labels, table, begin, ends, drivers, *graph)
        candidates = int(ends[-1])
        if last:
            self._launch("join_last", 0, candidates, *given, self.total, self.each)
            return
        for low in range(0, candidates, self.rows.room):
            self.made.fill(0)
            longer = self.tables[level + 1]
            self._launch("join", low, min(low + self.rows.room, candidates), *given, self.rows.room, longer, self.made)
            self.extend(level + 1, int(self.made[0]), longer)

    def _launch(self, kernel: str, low: int, high: int, *given: object) -> None:
        """Launch a kernel over the candidates low .. high - 1 of all matches."""
        blocks = min(-(-(high - low) // PIECE), self.most_blocks)
        self.kernels.launch(kernel, blocks, BLOCK, low, high, *given)

    def _bits(self, pairs: np.ndarray, level: int) -> np.uint32:
        """Bit i says whether ``pairs``, bool [k, k], has vertex i with the vertex ``level``."""
        return np.uint32(sum(1 << i for i in range(level) if pairs[i, level]))


# Triangles by subgraph matching.


def matched_triangles(network: DeviceNetwork, *, each: bool = True) -> tuple[int, Array | None]:
    """Count triangles as masked products do.

    Errors as of ``patterns``.
    """
    rows = renumbered(network)
    counts = cupy.zeros(rows.order.size if each else 0, np.uint64)
    total = matches(network, Asked("triangle"), rows, None, counts)
    if not each:
        return total, None
    vertices = cupy.zeros(network.vertices, np.int64)
    vertices[rows.order] = counts.view(np.int64)
    return total, vertices
