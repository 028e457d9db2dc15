"""Directed edges in buckets of rows: several threads deal the edges to buckets piece by piece, then build CSR rows
bucket by bucket.

A bucket is a contiguous range of vertices. The ranges are cut by a sample of the edges, so that all buckets have about
the same size.
"""

import threading
from collections.abc import Iterable, Iterator
from threading import Lock
from typing import NamedTuple

import numpy as np

from csaw.partition.arrays.spool import Column, Places, Spool, gather_ranges, grouped, shorter
from csaw.partition.base.parallel import Crew
from csaw.partition.base.stages import EDGES, tell
from csaw.partition.errors import FormatError
from csaw.partition.graph.csr import KEEP, SUM, build_buckets, count_buckets, count_degrees, deal
from csaw.partition.graph.edge_columns import WEIGHT, EdgeColumn
from csaw.partition.graph.partition_writer import Facts, weights_between
from csaw.partition.graph.types import RELATION
from csaw.partition.ingestion.ingest_options import POLICIES
from csaw.partition.ingestion.job import AnyNumbering, BucketPlan, IngestJob, Tally
from csaw.partition.ingestion.run_files import RunReader, RunWriter

BUCKET_ENTRIES = 1 << 16
MOST_BUCKETS, BUCKETS_BYTES = 1 << 10, 4  # bytes of the buckets of both ends of an edge
TOGETHER_BYTES = 16 << 20  # of neighboring buckets that are a piece of work, at most
SHARES = 8  # such pieces for a thread, at least
STRIPES, STRIDE = 64, 37  # degrees are counted in parts that threads take one by one
NO_WEIGHTS, NO_NUMBERS = np.empty(0, np.float32), np.empty(0, np.int64)

Columns = tuple[Column, ...]
"""Both ends of some edges, then their columns."""


class Rows(NamedTuple):
    """CSR rows of the vertices first .. last - 1: ``indptr`` int64 from 0, ``indices`` dense ids, and the values of the
    edges by their ``columns``.
    """

    first: int
    indptr: np.ndarray
    indices: np.ndarray
    columns: dict[EdgeColumn, np.ndarray]

    @property
    def last(self) -> int:
        """The vertex behind the last row."""
        return self.first + self.indptr.size - 1

    def split(self, vertex: int) -> tuple["Rows", "Rows"]:
        """The rows before ``vertex``, and the others."""
        at = vertex - self.first
        edge = int(self.indptr[at])
        return self._part(self.first, self.indptr[: at + 1], slice(edge)), self._part(
            vertex, self.indptr[at:] - edge, slice(edge, None)
        )

    def _part(self, first: int, indptr: np.ndarray, edges: slice) -> "Rows":
        columns = {column: values[edges] for column, values in self.columns.items()}
        return Rows(first, indptr, self.indices[edges], columns)


class Room(threading.local):
    """Where a thread writes down the buckets of edges, again and again: new memory costs as much as filling it."""

    buckets = np.empty((2, 0), np.uint16)

    def take(self, sizes: list[int]) -> list[np.ndarray]:
        """Room for both ends of some pieces of edges: uint16 [2, size] each."""
        if self.buckets.shape[1] < sum(sizes):
            self.buckets = np.empty((2, sum(sizes)), np.uint16)
        return np.split(self.buckets[:, : sum(sizes)], np.cumsum(sizes)[:-1], axis=1)


class Buckets:
    """The entries of all rows of a graph by bucket.

    ``deal`` puts edges into them, and counts degrees where ``counts`` says so; ``rows`` reads what was dealt, of which
    each piece has its buckets between ``ends`` [pieces, buckets + 1].
    """

    places: Places
    ends: np.ndarray

    def __init__(
        self, job: IngestJob, plan: BucketPlan, numbering: AnyNumbering, crew: Crew, *, counts: bool = True
    ) -> None:
        self.job, self.plan, self.numbering, self.crew, self.counts = job, plan, numbering, crew, counts
        self.cuts, self.weighted = plan.cuts, job.weighted
        self.numbered = job.options.edge_ids or bool(job.edge_columns)  # kernels move numbers, and these say the rest
        self.entries = plan.rows * job.directions
        self.entry_bytes = sum(dtype.itemsize for dtype in job.entry(plan.ids))
        self.bucket_of = np.repeat(np.arange(self.count, dtype=np.uint16), np.diff(self.cuts))
        self.degrees = np.zeros(plan.vertices, np.int64)
        self.reached = np.zeros(plan.vertices, np.bool_)
        self.stripes = np.linspace(0, self.count, min(STRIPES, self.count) + 1).astype(np.int64)
        self.locks = [Lock() for _ in self.stripes[1:]]
        self.room, self.loops = Room(), 0

    @property
    def tally(self) -> Tally:
        """Degrees, targets and self loops of what was dealt."""
        return Tally(self.degrees, self.reached, self.loops)

    @property
    def count(self) -> int:
        """How many buckets there are."""
        return int(self.cuts.size - 1)

    def deal(self, read: Spool | RunReader, dealt: Spool | RunWriter, piece_rows: int, row: int = 0) -> None:
        """Deal all edges of ``read``, about ``piece_rows`` at a time, to ``dealt``, which takes over their memory.

        ``row``: number of the first one in the input.
        """
        ends, done = [], 0
        held = piece_rows * ((2 + self.job.directions) * self.entry_bytes + BUCKETS_BYTES)
        pieces = _numbered(grouped(read.drain(), piece_rows), row)
        for columns, piece_ends, loops, used in self.crew.in_order(self._deal, pieces, held):
            read.let_go(used)
            self.loops += loops
            dealt.append(*columns)
            ends.append(piece_ends)
            done += int(piece_ends[-1])
            tell(min(done, self.entries), self.entries, EDGES)
        read.close()
        dealt.settle()
        self.ends = np.stack(ends)

    def _deal(self, number: int, row: int, *pieces: Columns) -> tuple[list[np.ndarray], np.ndarray, int, int]:
        """Deal group ``number`` of pieces, of which the first edge is number ``row`` of the input.

        Returns the columns of its entries by bucket, where each bucket begins, the number of self loops, and the bytes
        of memory that held the pieces.
        """
        used = sum(column.nbytes for piece in pieces for column in piece if isinstance(column, np.ndarray))
        both_ways, drops_loops, number_of_first = self.job.undirected, self.job.drops_loops, row
        dense = [(self.numbering.dense(src[:]), self.numbering.dense(dst[:]), *beside) for src, dst, *beside in pieces]
        buckets = self.room.take([src.size for src, *_ in dense])
        counts, loops = np.zeros(self.count, np.int64), 0
        for (src, dst, *_), (src_buckets, dst_buckets) in zip(dense, buckets, strict=True):
            loops += count_buckets(
                src, dst, both_ways, drops_loops, self.bucket_of, self.reached, counts, src_buckets, dst_buckets
            )
        ends = np.concatenate([[0], np.cumsum(counts)])
        a, b = np.empty((2, ends[-1]), self.plan.ids)
        w = np.empty(ends[-1], np.float32) if self.weighted else NO_WEIGHTS
        n = np.empty(ends[-1], np.int64) if self.numbered else NO_NUMBERS
        at = ends[:-1].copy()
        for (src, dst, *beside), (src_buckets, dst_buckets) in zip(dense, buckets, strict=True):
            weights = beside[0][:] if self.weighted else NO_WEIGHTS
            deal(src, dst, weights, row, both_ways, drops_loops, src_buckets, dst_buckets, at, a, b, w, n)
            row += src.size
        if self.counts:
            self._count_degrees(a, ends, number)
        further = [
            np.concatenate([piece[k][:] for piece in pieces])[n - number_of_first]
            for k in range(2 + self.weighted, 2 + len(self.job.columns))
        ]
        return [a, b, *[w] * self.weighted, *[n] * self.job.options.edge_ids, *further], ends, loops, used

    def _count_degrees(self, src: np.ndarray, ends: np.ndarray, number: int) -> None:
        """Add dealt entries to the degrees: stripes of buckets, one thread in each at a time, beginning with another
        one each.
        """
        stripes = len(self.locks)
        for turn in range(stripes):
            stripe = (number * STRIDE + turn) % stripes
            low, high = ends[self.stripes[stripe]], ends[self.stripes[stripe + 1]]
            with self.locks[stripe]:
                count_degrees(src[low:high], self.degrees)

    def rows(self, cuts: np.ndarray, dealt: Spool | RunReader) -> Iterator[tuple[Rows, Facts, bool]]:
        """Build the rows of the vertices cuts[0] .. cuts[-1] - 1 from all that was ``dealt``, with a cut at each of the
        ``cuts``.

        Yields rows, what a store says of them, and whether they end at a cut.
        """
        self.places = dealt.places
        begin = int(np.searchsorted(self.cuts, cuts[0], side="right")) - 1
        end = max(int(np.searchsorted(self.cuts, cuts[-1])), begin)
        held = 3 * self.entry_bytes * self.entries // self.count
        room = min(TOGETHER_BYTES, self.crew.work_bytes // (2 * self.crew.threads))
        together = max(1, min(room // held, self.count // (SHARES * self.crew.threads)))
        work = ((first, min(first + together, end)) for first in range(begin, end, together))
        yield from cut_rows(self.crew.in_order(self._build, work, held * together), cuts.tolist())
        dealt.close()

    def _build(self, begin: int, end: int) -> tuple[Rows, Facts]:
        """The rows of the buckets begin .. end - 1."""
        cuts, ends = self.cuts[begin : end + 1], np.ascontiguousarray(self.ends[:, begin : end + 1].T)
        sizes = (ends[1:] - ends[:-1]).sum(axis=1)
        indptr = np.empty(int(cuts[-1] - cuts[0]) + 1, np.int64)
        by_relation = RELATION in self.job.edge_columns  # repeats of one relation are merged below
        policy = KEEP if by_relation else POLICIES[self.job.options.policy]
        out = self._room(int(sizes.sum()))
        work = self.plan.vertices, policy, indptr, *out, np.empty(sizes.max(), self.plan.ids)
        sorted_here = 2 + self.weighted if self.job.edge_columns else len(self.places[0])
        addresses, handles = (each[:sorted_here] for each in self.places)
        room = self._room(int(sizes.max()))
        kept, _, repeats, largest = build_buckets(addresses, handles, ends, sizes, cuts, *work, *room)
        if kept < 0:
            raise shorter()
        indices, weights, numbers = (column[:kept] for column in out)
        further = [self._column(place, ends, numbers) for place in range(sorted_here, len(self.places[0]))]
        values = [*[weights] * self.weighted, *(further if self.job.edge_columns else [numbers] * self.numbered)]
        rows = Rows(int(cuts[0]), indptr, indices, dict(zip(self.job.kept, values, strict=True)))
        if not by_relation:
            self._check(repeats, weights)
            return rows, Facts(largest, repeats, *weights_between(weights))
        merged = merged_by_relation(rows, POLICIES[self.job.options.policy])
        self._check(merged.repeats, weights := merged.rows.columns.get(WEIGHT, NO_WEIGHTS))
        largest = int(np.diff(merged.rows.indptr).max(initial=0))
        return merged.rows, Facts(largest, merged.same_ends, *weights_between(weights))

    def _room(self, entries: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Memory for targets, weights and numbers of so many entries."""
        return (
            np.empty(entries, self.plan.ids),
            np.empty(entries * self.weighted, np.float32),
            np.empty(entries * self.numbered, np.int64),
        )

    def _column(self, place: int, ends: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """The values of the entries with these ``numbers`` in the dealt column at ``place``."""
        values = np.empty((ends[-1] - ends[0]).sum(), self.job.entry(self.plan.ids)[place])
        addresses, handles = (each[place] for each in self.places)
        if not gather_ranges(addresses, handles, ends, values.itemsize, values.view(np.uint8)):
            raise shorter()
        return values[numbers]

    def _check(self, repeats: bool, weights: np.ndarray) -> None:
        """FormatError for repeated edges that must not be, or whose weights have no sum."""
        name, duplicates = self.job.name, self.job.options.policy
        if duplicates == "error" and repeats:
            raise FormatError(f"{name}: some edges are repeated; pass --duplicates keep, first or sum to accept them")
        if POLICIES[duplicates] == SUM and not np.isfinite(weights).all():
            raise FormatError(
                f"{name}: the weights of a repeated edge add up to more than float32 can hold; scale them down, "
                "or pass --duplicates first"
            )


class Merged(NamedTuple):
    """Rows after repeats of one relation are merged: whether edges of a relation still repeat, and whether any edges
    have the same ends.
    """

    rows: Rows
    repeats: bool
    same_ends: bool


def merged_by_relation(rows: Rows, policy: int) -> Merged:
    """The rows with the edges to one neighbor in the order of their relations, of which one is left for each relation
    unless the ``policy`` keeps all.
    """
    owner = np.repeat(np.arange(rows.indptr.size - 1), np.diff(rows.indptr))
    order = np.lexsort((rows.columns[RELATION], rows.indices, owner))
    owner, indices, relation = owner[order], rows.indices[order], rows.columns[RELATION][order]
    same_ends = np.append(False, (owner[1:] == owner[:-1]) & (indices[1:] == indices[:-1]))[: order.size]
    repeats = same_ends & np.append(False, relation[1:] == relation[:-1])[: order.size]
    first = np.flatnonzero(~repeats) if policy != KEEP else np.arange(order.size)
    columns = {column: values[order][first] for column, values in rows.columns.items()}
    if policy == SUM and first.size:
        weights = rows.columns[WEIGHT][order].astype(np.float64)
        with np.errstate(over="ignore"):  # which the caller refuses
            columns[WEIGHT] = np.add.reduceat(weights, first).astype(WEIGHT.dtype)
    indptr = np.append(0, np.cumsum(np.bincount(owner[first], minlength=rows.indptr.size - 1)))
    merged = Rows(rows.first, indptr, np.ascontiguousarray(indices[first]), columns)
    return Merged(merged, bool(policy == KEEP and repeats.any()), bool(same_ends[first].any()))


def cuts_of(vertices: int, entries: int, sample: np.ndarray) -> np.ndarray:
    """First vertices of buckets of about equal sizes, and V at the end; ``sample``: dense ids of some owners of
    entries.
    """
    count = max(1, min(MOST_BUCKETS, entries // BUCKET_ENTRIES))
    inner = np.sort(sample)[np.arange(1, count) * sample.size // count]
    return np.unique(np.concatenate([[0, vertices], inner.astype(np.int64)]))


def _numbered(groups: Iterator[tuple[Columns, ...]], row: int) -> Iterator[tuple[object, ...]]:
    """Each group of pieces after its own number and that of its first edge."""
    for number, group in enumerate(groups):
        yield number, row, *group
        row += sum(columns[0].size for columns in group)


def cut_rows(built: Iterable[tuple[Rows, Facts]], cuts: list[int]) -> Iterator[tuple[Rows, Facts, bool]]:
    """The rows from vertex cuts[0] on, to the last cut, with a cut at each: the last of the three says whether they end
    there.
    """
    first, *ends = cuts
    for rows, facts in built:
        if rows.first < first:
            rows = rows.split(first)[1]
        while ends and rows.last >= ends[0]:
            before, rows = rows.split(ends.pop(0))
            yield before, facts, True
        if ends and rows.last > rows.first:
            yield rows, facts, False
