"""Directed edges in buckets of rows: several threads deal the edges to buckets piece by piece, then build CSR rows bucket by bucket.

A bucket is a contiguous range of vertices. The ranges are cut by a sample of the edges, so that all buckets have about the same size.
"""

from collections.abc import Iterator
from math import inf
from threading import Lock
from typing import Any, NamedTuple, Self

import numpy as np

from csaw.partition.arrays.spool import Spool, grouped, shorter
from csaw.partition.base.parallel import Crew
from csaw.partition.errors import FormatError
from csaw.partition.graph.csr import SUM, build_buckets, count_buckets, count_degrees, deal
from csaw.partition.graph.partition_writer import Facts

BUCKET_ENTRIES = 1 << 16
MOST_BUCKETS = 1 << 10
TOGETHER_BYTES, SHARES = (
    16 << 20,
    8,
)  # neighboring buckets are a piece of work, of so many bytes at most, so many for a thread at least
STRIPES, STRIDE = 64, 37  # degrees are counted in parts that threads take one by one
NO_WEIGHTS, NO_NUMBERS = np.empty(0, np.float32), np.empty(0, np.int64)


class Rows(NamedTuple):
    """CSR rows of the vertices first .. last - 1: ``indptr`` int64 from 0, ``indices`` dense ids, ``weights`` float32, empty in an unweighted graph; ``numbers`` int64, of the edges in the input, empty unless they are kept."""

    first: int
    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    numbers: np.ndarray

    @property
    def last(self) -> int:
        return self.first + self.indptr.size - 1

    def split(self, vertex: int) -> tuple[Self, Self]:
        """The rows before ``vertex``, and the others."""
        at = vertex - self.first
        edge = self.indptr[at]
        low, high = ([column[part] for column in self[2:]] for part in (slice(edge), slice(edge, None)))
        return type(self)(self.first, self.indptr[: at + 1], *low), type(self)(vertex, self.indptr[at:] - edge, *high)


class Buckets:
    """All directed edges by bucket.

    After ``fill``: ``degrees`` [V] with repeats, ``reached`` [V] (whether a vertex is a target), ``loops`` (number of self loops).
    """

    def __init__(
        self, numbering: Any, entries: int, cuts: np.ndarray, crew: Crew, *, undirected: bool, drop_loops: bool, weighted: bool,
        numbered: bool = False,
    ) -> None:  # fmt: skip
        self.numbering, self.undirected, self.drop_loops, self.weighted = numbering, undirected, drop_loops, weighted
        self.crew, self.entries, self.numbered, self.cuts = crew, entries, numbered, cuts
        self.bucket_of = np.repeat(np.arange(self.cuts.size - 1, dtype=np.uint16), np.diff(self.cuts))
        self.degrees = np.zeros(numbering.vertices, np.int64)
        self.reached = np.zeros(numbering.vertices, np.bool_)
        self.stripes = np.linspace(0, self.cuts.size - 1, min(STRIPES, self.cuts.size - 1) + 1).astype(np.int64)
        self.locks = [Lock() for _ in self.stripes[1:]]
        self.loops = 0

    @property
    def entry_bytes(self) -> int:
        """Of an entry: its ends, its weight, and its number in the input."""
        return 2 * self.numbering.dtype.itemsize + 4 * self.weighted + 8 * self.numbered

    dealt: Any  # a spool, or what has its ``places``
    ends: np.ndarray

    def fill(self, raw: Spool, dealt: Spool, piece_rows: int) -> None:
        """Deal all edges, about ``piece_rows`` at a time, to ``dealt``, which takes over the memory of ``raw``."""
        self.dealt, ends = dealt, []
        held = piece_rows * (3 + self.undirected) * self.entry_bytes
        pieces = _numbered(grouped(raw.drain(), piece_rows))
        for columns, piece_ends, loops, used in self.crew.in_order(self._deal, pieces, held):
            raw.let_go(used)
            self.loops += loops
            self.dealt.append(*columns)
            ends.append(piece_ends)
        raw.close()
        self.dealt.settle()
        self.ends = np.stack(ends)

    def _deal(self, number: int, row: int, *pieces: tuple[Any, ...]) -> tuple[list[np.ndarray], np.ndarray, int, int]:
        """What ``deal`` gives of some pieces, and the bytes of memory that held them; their degrees are counted."""
        used = sum(column.nbytes for piece in pieces for column in piece if isinstance(column, np.ndarray))
        columns, ends, loops = self.deal(row, *pieces)
        self._count_degrees(columns[0], ends, number)
        return columns, ends, loops, used

    def deal(self, row: int, *pieces: tuple[Any, ...]) -> tuple[list[np.ndarray], np.ndarray, int]:
        """Entries of some pieces, of which the first edge is number ``row`` of the input, by bucket, where each bucket begins, and the loops."""
        how = self.undirected, self.drop_loops, self.bucket_of
        dense = [
            (self.numbering.dense(src[:]), self.numbering.dense(dst[:]), *weights) for src, dst, *weights in pieces
        ]
        counts = np.zeros(self.cuts.size - 1, np.int64)
        loops = sum(count_buckets(src, dst, *how, self.reached, counts) for src, dst, *_ in dense)
        ends = np.concatenate([[0], np.cumsum(counts)])
        a, b = np.empty((2, ends[-1]), self.numbering.dtype)
        w = np.empty(ends[-1], np.float32) if self.weighted else NO_WEIGHTS
        n = np.empty(ends[-1], np.int64) if self.numbered else NO_NUMBERS
        at = ends[:-1].copy()
        for src, dst, *weights in dense:
            deal(src, dst, weights[0][:] if self.weighted else NO_WEIGHTS, row, *how, at, a, b, w, n)
            row += src.size
        return [a, b, *[w] * self.weighted, *[n] * self.numbered], ends, loops

    def _count_degrees(self, src: np.ndarray, ends: np.ndarray, number: int) -> None:
        """Add dealt entries to the degrees: stripes of buckets, one thread in each at a time, beginning with another one each."""
        stripes = len(self.locks)
        for turn in range(stripes):
            stripe = (number * STRIDE + turn) % stripes
            low, high = ends[self.stripes[stripe]], ends[self.stripes[stripe + 1]]
            with self.locks[stripe]:
                count_degrees(src[low:high], self.degrees)

    def rows(self, policy: int, name: str, begin: int = 0, end: int | None = None) -> Iterator[tuple[Rows, Facts, int]]:
        """Rows in order of the vertices, what a store says of them, and the number of repeats merged, of the buckets begin .. end - 1 (default: all)."""
        count = self.cuts.size - 1
        held = 3 * self.entry_bytes * self.entries // count
        room = min(TOGETHER_BYTES, self.crew.work_bytes // (2 * self.crew.threads))
        together = max(1, min(room // held, count // (SHARES * self.crew.threads)))
        end = count if end is None else end
        work = ((first, min(first + together, end), policy, name) for first in range(begin, end, together))
        yield from self.crew.in_order(self._build, work, held * together)
        self.dealt.close()

    def _build(self, begin: int, end: int, policy: int, name: str) -> tuple[Rows, Facts, int]:
        """The rows of the buckets begin .. end - 1."""
        cuts, ends = self.cuts[begin : end + 1], np.ascontiguousarray(self.ends[:, begin : end + 1].T)
        sizes = (ends[1:] - ends[:-1]).sum(axis=1)
        (entries, most), dtype = (int(sizes.sum()), int(sizes.max())), self.numbering.dtype
        indptr, indices = np.empty(int(cuts[-1] - cuts[0]) + 1, np.int64), np.empty(entries, dtype)
        kept_weights, numbers = np.empty(entries * self.weighted, np.float32), np.empty(entries * self.numbered, np.int64)  # fmt: skip
        work = np.empty(most, dtype), np.empty(most, dtype), np.empty(most * self.weighted, np.float32), np.empty(most * self.numbered, np.int64)  # fmt: skip
        out = indptr, indices, kept_weights, numbers
        kept, merged, repeats, largest = build_buckets(
            *self.dealt.places, ends, sizes, cuts, self.degrees.size, policy, *out, *work
        )
        if kept < 0:
            raise shorter()
        if policy == SUM and not np.isfinite(kept_weights[:kept]).all():
            raise FormatError(
                f"{name}: weights of a repeated edge add up beyond float32; scale them down, or pass --duplicates first"
            )
        rows = Rows(int(cuts[0]), indptr, indices[:kept], kept_weights[:kept], numbers[:kept])
        weights = rows.weights
        return rows, Facts(largest, repeats, float(weights.min(initial=inf)), float(weights.max(initial=-inf))), merged


def cuts_of(vertices: int, entries: int, sample: np.ndarray) -> np.ndarray:
    """First vertices of buckets of about equal sizes, and V at the end; ``sample``: dense ids of some owners of entries."""
    count = max(1, min(MOST_BUCKETS, entries // BUCKET_ENTRIES))
    inner = np.sort(sample)[np.arange(1, count) * sample.size // count]
    return np.unique(np.concatenate([[0, vertices], inner.astype(np.int64)]))


def _numbered(groups: Iterator[tuple[tuple[Any, ...], ...]]) -> Iterator[tuple[Any, ...]]:
    """Each group of pieces after its own number and that of its first edge."""
    row = 0
    for number, group in enumerate(groups):
        yield number, row, *group
        row += sum(columns[0].size for columns in group)


def cut_rows(built: Iterator[tuple[Rows, Facts]], cuts: np.ndarray) -> Iterator[tuple[Rows, Facts, bool]]:
    """The same rows, with a cut where a partition ends: the last of the three says that it ends there."""
    ends = iter(cuts[1:].tolist())
    end = next(ends)
    for rows, facts in built:
        while end is not None and rows.last >= end:
            before, rows = rows.split(end)
            yield before, facts, True
            end = next(ends, None)
        if rows.last > rows.first:
            yield rows, facts, False
