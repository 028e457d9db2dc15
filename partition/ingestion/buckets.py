"""Directed edges in buckets of rows: several threads deal the edges to buckets piece by piece, then build CSR rows
bucket by bucket.

A bucket is a contiguous range of vertices. The ranges are cut by a sample of the edges, so that all buckets have about
the same size.
"""

import os
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike

from csaw.partition.arrays.spool import Column, Places, Spool, Stored, gather_ranges, grouped, places_of, shorter
from csaw.partition.base.cache import draft_beside
from csaw.partition.base.parallel import Crew
from csaw.partition.base.stages import EDGES, tell
from csaw.partition.errors import FormatError, StoreError
from csaw.partition.graph.csr import SUM, build_buckets, count_buckets, count_degrees, deal
from csaw.partition.graph.edge_columns import EdgeColumn
from csaw.partition.graph.partition_writer import Facts, weights_between
from csaw.partition.ingestion.ingest_options import POLICIES
from csaw.partition.ingestion.job import AnyNumbering, Job, Layout, Tally

# Files between the passes of an ingest that several processes share: pieces of columns in folders, each of which gets
# its name when it is whole.
#
# A run is what one task has read: ids of its own, from 0 on, of both ends of edges, then their columns; beside it are
# the ids that these stand for. A dealt run is the same edges by buckets; `ends` says where those of each piece begin.


def run_folder(folder: str, kind: str, number: int) -> Path:
    """The place of a run: ``kind`` is read, dealt or degrees."""
    return Path(folder) / f"{kind}-{number:06d}"


@contextmanager
def whole_folder(place: Path, scratch: str) -> Iterator[Path]:
    """A folder under a name of its own in ``scratch``, which becomes ``place`` at the end of the block.

    Another process may have been faster: then its folder stays, which has the same bytes.
    """
    draft = draft_beside(place, folder=Path(scratch))
    try:
        with full_disk_named(draft.parent):
            draft.mkdir()
            yield draft
            _rename(draft, place)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _rename(draft: Path, place: Path) -> None:
    try:
        draft.rename(place)
    except OSError:
        if not place.is_dir():
            raise


@contextmanager
def full_disk_named(folder: Path) -> Iterator[None]:
    """Turn what keeps a temporary file from being written into an error that names its folder."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot write temporary files ({error.strerror or error}); make room there, and check that "
            "all workers see the folder under this path"
        ) from error


@contextmanager
def readable_named(file: Path) -> Iterator[None]:
    """Turn what keeps a temporary file from being read into an error that names it."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror or error}; run the command again") from error


def read_column(file: Path, dtype: DTypeLike) -> np.ndarray:
    """All numbers of a file."""
    with readable_named(file):
        return np.fromfile(file, dtype)


class RunWriter:
    """Writes pieces to ``folder``: ``append`` each, then ``settle``; used as a context, it closes its file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.sizes = folder, list[int]()
        self.file = (folder / "entries").open("wb")

    def append(self, *columns: np.ndarray) -> None:
        """The next piece: equally long columns."""
        self.sizes.append(columns[0].size)
        for column in columns:
            self.file.write(column.data)

    def settle(self) -> None:
        """No more pieces come."""
        self.file.flush()
        np.array(self.sizes, np.int64).tofile(self.folder / "sizes")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()


class RunReader:
    """Pieces of the runs in some ``folders``, one run after the other, which have columns of the ``dtypes``: an open
    spool, whose files stay as they are.
    """

    def __init__(self, folders: Sequence[Path], dtypes: Sequence[np.dtype]) -> None:
        self.pieces: list[tuple[Stored, ...]] = []
        with ExitStack() as stack:
            for folder in folders:
                with readable_named(folder):
                    handle = os.open(folder / "entries", os.O_RDONLY)
                stack.callback(os.close, handle)
                self._add(handle, read_column(folder / "sizes", np.int64).tolist(), dtypes, os.fstat(handle).st_size)
            self.files = stack.pop_all()

    def _add(self, handle: int, sizes: list[int], dtypes: Sequence[np.dtype], file_bytes: int) -> None:
        start = 0
        for size in sizes:
            piece = []
            for dtype in dtypes:
                piece.append(Stored(handle, start, dtype, size))
                start += size * dtype.itemsize
            self.pieces.append(tuple(piece))
        if start != file_bytes:
            raise shorter()

    @property
    def places(self) -> Places:
        """Where the columns of all pieces are, for kernels that gather parts of them."""
        return places_of(self.pieces)

    def drain(self) -> Iterator[tuple[Stored, ...]]:
        """All pieces; a slice of a column is an array."""
        return iter(self.pieces)

    def let_go(self, size: int) -> None:
        """Nothing: no memory was held."""

    def close(self) -> None:
        """Close all files."""
        self.files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# Directed edges in buckets of rows.

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

    def __init__(self, job: Job, layout: Layout, numbering: AnyNumbering, crew: Crew, *, counts: bool = True) -> None:
        self.job, self.layout, self.numbering, self.crew, self.counts = job, layout, numbering, crew, counts
        self.cuts, self.weighted = layout.cuts, job.weighted
        self.numbered = job.options.edge_ids or bool(job.edge_columns)  # kernels move numbers, and these say the rest
        self.entries = layout.rows * job.directions
        self.entry_bytes = sum(dtype.itemsize for dtype in job.entry(layout.ids))
        self.bucket_of = np.repeat(np.arange(self.count, dtype=np.uint16), np.diff(self.cuts))
        self.degrees = np.zeros(layout.vertices, np.int64)
        self.reached = np.zeros(layout.vertices, np.bool_)
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
        how, number_of_first = (self.job.undirected, self.job.drops_loops), row
        dense = [(self.numbering.dense(src[:]), self.numbering.dense(dst[:]), *beside) for src, dst, *beside in pieces]
        buckets = self.room.take([src.size for src, *_ in dense])
        counts, loops = np.zeros(self.count, np.int64), 0
        for (src, dst, *_), numbers in zip(dense, buckets, strict=True):
            loops += count_buckets(src, dst, *how, self.bucket_of, self.reached, counts, *numbers)
        ends = np.concatenate([[0], np.cumsum(counts)])
        a, b = np.empty((2, ends[-1]), self.layout.ids)
        w = np.empty(ends[-1], np.float32) if self.weighted else NO_WEIGHTS
        n = np.empty(ends[-1], np.int64) if self.numbered else NO_NUMBERS
        at = ends[:-1].copy()
        for (src, dst, *beside), numbers in zip(dense, buckets, strict=True):
            deal(src, dst, beside[0][:] if self.weighted else NO_WEIGHTS, row, *how, *numbers, at, a, b, w, n)
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
        policy, out = POLICIES[self.job.options.policy], self._room(int(sizes.sum()))
        work = self.layout.vertices, policy, indptr, *out, np.empty(sizes.max(), self.layout.ids)
        sorted_here = 2 + self.weighted if self.job.edge_columns else len(self.places[0])
        places = (each[:sorted_here] for each in self.places)
        kept, _, repeats, largest = build_buckets(*places, ends, sizes, cuts, *work, *self._room(int(sizes.max())))
        if kept < 0:
            raise shorter()
        indices, weights, numbers = (column[:kept] for column in out)
        further = [self._column(place, ends, numbers) for place in range(sorted_here, len(self.places[0]))]
        values = [*[weights] * self.weighted, *(further if self.job.edge_columns else [numbers] * self.numbered)]
        self._check(repeats, weights)
        rows = Rows(int(cuts[0]), indptr, indices, dict(zip(self.job.kept, values, strict=True)))
        return rows, Facts(largest, repeats, *weights_between(weights))

    def _room(self, entries: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Memory for targets, weights and numbers of so many entries."""
        return (
            np.empty(entries, self.layout.ids),
            np.empty(entries * self.weighted, np.float32),
            np.empty(entries * self.numbered, np.int64),
        )

    def _column(self, place: int, ends: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """The values of the entries with these ``numbers`` in the dealt column at ``place``."""
        values = np.empty((ends[-1] - ends[0]).sum(), self.job.entry(self.layout.ids)[place])
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


def cuts_of(vertices: int, entries: int, sample: np.ndarray) -> np.ndarray:
    """First vertices of buckets of about equal sizes, and V at the end; ``sample``: dense ids of some owners of
    entries.
    """
    count = max(1, min(MOST_BUCKETS, entries // BUCKET_ENTRIES))
    inner = np.sort(sample)[np.arange(1, count) * sample.size // count]
    return np.unique(np.concatenate([[0, vertices], inner.astype(np.int64)]))


def _numbered(groups: Iterator[tuple[Columns, ...]], row: int) -> Iterator[tuple]:
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
