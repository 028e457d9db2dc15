"""Directed edges in buckets of rows: several threads deal the edges to buckets piece by piece, then build CSR rows bucket by bucket.

A bucket is a contiguous range of vertices. The ranges are cut by a sample of the edges, so that all buckets have about the same size.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from csaw.partition.csr import SUM, build_rows, count_buckets, count_degrees, deal
from csaw.partition.errors import FormatError
from csaw.partition.parallel import in_order
from csaw.partition.spool import Budget, Spool

BUCKET_ENTRIES = 1 << 16
MOST_BUCKETS = 1 << 10
NO_WEIGHTS = np.empty(0, np.float32)


class Rows(NamedTuple):
    """CSR rows of the vertices first .. last - 1: ``indptr`` int64 from 0, ``indices`` dense ids, ``weights`` float32, empty in an unweighted graph."""

    first: int
    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray

    @property
    def last(self) -> int:
        return self.first + self.indptr.size - 1

    def split(self, vertex: int) -> tuple[Self, Self]:
        """The rows before ``vertex``, and the others."""
        at = vertex - self.first
        edge = self.indptr[at]
        before = type(self)(self.first, self.indptr[: at + 1], self.indices[:edge], self.weights[:edge])
        return before, type(self)(vertex, self.indptr[at:] - edge, self.indices[edge:], self.weights[edge:])


class Buckets:
    """All directed edges by bucket.

    After ``fill``: ``degrees`` [V] with repeats, ``reached`` [V] (whether a vertex is a target), ``loops`` (number of self loops).
    """

    def __init__(
        self, numbering: Any, entries: int, sample: np.ndarray, *, undirected: bool, drop_loops: bool, weighted: bool
    ) -> None:
        self.numbering, self.undirected, self.drop_loops, self.weighted = numbering, undirected, drop_loops, weighted
        count = max(1, min(MOST_BUCKETS, entries // BUCKET_ENTRIES))
        inner = np.sort(sample)[np.arange(1, count) * sample.size // count]
        self.cuts = np.unique(np.concatenate([[0, numbering.vertices], inner.astype(np.int64)]))
        self.bucket_of = np.repeat(np.arange(self.cuts.size - 1, dtype=np.uint16), np.diff(self.cuts))
        self.degrees = np.zeros(numbering.vertices, np.int64)
        self.reached = np.zeros(numbering.vertices, np.bool_)
        self.loops = 0

    def fill(self, raw: Spool, budget: Budget, piece_rows: int) -> None:
        """Deal all edges of ``raw`` to the buckets, about ``piece_rows`` at a time; ``raw`` is empty afterwards."""
        self.dealt, ends = Spool(budget), []
        for columns, piece_ends, loops in in_order(self._deal, grouped(raw.drain(), piece_rows)):
            count_degrees(columns[0], self.degrees)
            self.loops += loops
            self.dealt.append(*columns)
            ends.append(piece_ends)
        self.ends = np.stack(ends)

    def _deal(self, *pieces: tuple[np.ndarray, ...]) -> tuple[list[np.ndarray], np.ndarray, int]:
        how = self.undirected, self.drop_loops, self.bucket_of
        dense = [(self.numbering.dense(src), self.numbering.dense(dst), *weights) for src, dst, *weights in pieces]
        counts = np.zeros(self.cuts.size - 1, np.int64)
        loops = sum(count_buckets(src, dst, *how, self.reached, counts) for src, dst, *_ in dense)
        ends = np.concatenate([[0], np.cumsum(counts)])
        a, b = np.empty((2, ends[-1]), self.numbering.dtype)
        w = np.empty(ends[-1], np.float32) if self.weighted else NO_WEIGHTS
        at = ends[:-1].copy()
        for src, dst, *weights in dense:
            deal(src, dst, weights[0] if self.weighted else NO_WEIGHTS, *how, at, a, b, w)
        return [a, b, w] if self.weighted else [a, b], ends, loops

    def rows(self, policy: int, name: str) -> Iterator[tuple[Rows, int]]:
        """Yield the rows of each bucket in order of the vertices, with the number of repeated edges merged in it.

        ``policy``: what to do with repeats; ``name``: of the input, for errors.
        """
        work = ((number, policy, name) for number in range(self.cuts.size - 1))
        yield from in_order(self._build, work)
        self.dealt.close()

    def _build(self, number: int, policy: int, name: str) -> tuple[Rows, int]:
        first, last = self.cuts[number : number + 2].tolist()
        src, dst, *weights = self.dealt.gather(self.ends[:, number], self.ends[:, number + 1])
        given = weights[0] if weights else NO_WEIGHTS
        indptr, indices, kept_weights = np.empty(last - first + 1, np.int64), np.empty_like(dst), np.empty_like(given)
        kept, repeats = build_rows(
            src, dst, given, first, last - first, self.degrees.size, policy, indptr, indices, kept_weights
        )
        if policy == SUM and not np.isfinite(kept_weights[:kept]).all():
            raise FormatError(
                f"{name}: weights of a repeated edge add up beyond float32; scale them down, or pass --duplicates first"
            )
        return Rows(first, indptr, indices[:kept], kept_weights[:kept]), repeats


def cut_rows(built: Iterator[Rows], cuts: np.ndarray) -> Iterator[tuple[Rows, bool]]:
    """Yield the same rows, cut where partitions end, each with a bool that says whether a partition ends with it."""
    ends = iter(cuts[1:].tolist())
    end = next(ends)
    for rows in built:
        while end is not None and rows.last >= end:
            before, rows = rows.split(end)
            yield before, True
            end = next(ends, None)
        if rows.last > rows.first:
            yield rows, False


def grouped(pieces: Iterable[tuple[np.ndarray, ...]], least: int) -> Iterator[tuple[tuple[np.ndarray, ...], ...]]:
    """Yield runs of pieces that together have at least ``least`` rows."""
    held: list[tuple[np.ndarray, ...]] = []
    for piece in pieces:
        held.append(piece)
        if sum(columns[0].size for columns in held) >= least:
            yield tuple(held)
            held = []
    if held:
        yield tuple(held)
