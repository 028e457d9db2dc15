"""The passes of an ingest: the first one as an ingest in one process does it (``Reading``), and all of them as tasks on
plain data, for processes that share a disk.

Each task reads files and leaves a folder, and may be done again anywhere:

read_run         some files, or a span of one, to a run of rows whose ids count from 0, and the ids that these stand for
deal_run         a run to the same edges by buckets of rows, with the numbering of the whole graph
count_degrees    of the rows of some buckets
build_partition  the rows of a partition, out of all dealt runs, to its arrays
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from csaw.partition.arrays.arrays import Written
from csaw.partition.arrays.files import sync_tree
from csaw.partition.arrays.spool import Budget, Column, Spool
from csaw.partition.base.parallel import Crew
from csaw.partition.errors import CsawError
from csaw.partition.graph.csr import count_degrees as count
from csaw.partition.graph.edge_columns import WEIGHT
from csaw.partition.graph.partition_writer import NO_ROWS, Facts, PartitionWriter, full_disk_named
from csaw.partition.ingestion.buckets import Buckets
from csaw.partition.ingestion.ids import Numbering, number, rank_by_table
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.job import AnyNumbering, BucketPlan, IngestJob, budget_of, crew_of
from csaw.partition.ingestion.run_files import RunReader, RunWriter, read_column, run_folder, whole_folder
from csaw.partition.ingestion.text.pieces import Piece, ReadRecord, Span
from csaw.partition.ingestion.text.readers import opened, reader_of
from csaw.partition.ingestion.text.rows import WORD_PIECE_BYTES
from csaw.partition.ingestion.word_numbers import StringNumbering

# The first pass of an ingest: all rows into a spool, with what the numbering of their ids needs.

SAMPLE = 257  # a source among so many says how large the rows will be


class Reading:
    """Rows of an input: ``raw`` has their ends as ids, or provisional numbers of strings, and their columns.

    After ``read``: ``low`` and ``high``, the least and the largest id; ``big``, whether some are 2^63 or more;
    ``samples`` of the ends that own entries.
    """

    def __init__(self, job: IngestJob, crew: Crew, budget: Budget) -> None:
        self.job, self.crew, self.raw = job, crew, Spool(budget, crew.backlog())
        self.words = StringNumbering() if job.strings else None
        self.low, self.high, self.big = 2**64, -(2**63), False
        self.samples: list[np.ndarray] = []

    def read(self, rows: Iterable[Piece]) -> None:
        """Read all ``rows``."""
        for piece in rows if self.words is None else self._numbered(rows, self.words):
            src, dst = (piece.dst, piece.src) if self.job.options.reverse else (piece.src, piece.dst)
            assert isinstance(src, np.ndarray)
            assert isinstance(dst, np.ndarray)
            if not src.size:
                continue
            low, high = piece.bounds or (min(int(src.min()), int(dst.min())), max(int(src.max()), int(dst.max())))
            self.low, self.high = min(self.low, low), max(self.high, high)
            self.big = self.big or src.dtype == np.uint64
            self.samples += [ids[::SAMPLE].copy() for ids in ((src, dst) if self.job.undirected else (src,))]
            ones = [np.ones(src.size, WEIGHT.dtype)] * self.job.counts_repeats
            self.raw.append(src, dst, *ones, *piece.columns)
        self.raw.settle()

    def _numbered(self, rows: Iterable[Piece], words: StringNumbering) -> Iterator[Piece]:
        """The rows with provisional numbers in place of words."""
        return self.crew.in_order(words.numbered, ((piece,) for piece in rows), WORD_PIECE_BYTES)

    def numbering(self) -> Numbering | StringNumbering:
        """The numbering of all ids, of which there are some. FormatError for ids that no 64 bits hold together."""
        if self.words is not None:
            self.words.finish()
            return self.words
        return number(self.raw, (self.low, self.high), self.big, self.job.name, self.crew)

    def sample(self, numbering: AnyNumbering) -> np.ndarray:
        """Dense ids of some of the ends that own entries."""
        return np.concatenate([np.empty(0, numbering.dtype), *(numbering.dense(ids) for ids in self.samples)])


# The input cut into units, and the passes as tasks that read these.

UNIT_BYTES = 64 << 20  # of text in a task, at least
MOST_RUNS = 256  # about; a task has a file of each open


class Unit(NamedTuple):
    """A span of file number ``file`` of the input, which is read at once; ``last``: whether the file ends with it."""

    file: int
    path: str
    span: Span
    last: bool

    @property
    def bytes(self) -> int:
        """Bytes of the file that it covers."""
        return (self.span.end or 0) - self.span.begin


def units_of(files: Sequence[str], options: IngestOptions) -> list[Unit]:
    """The input in units, in order: large files of plain text and of Parquet in spans, others whole."""
    most = max(UNIT_BYTES, sum(map(bytes_of, files)) // MOST_RUNS)
    units = []
    for place, file in enumerate(files):
        size = bytes_of(file)
        pieces = -(-size // most) if size > most and reader_of(file).can_be_cut(file, options) else 1
        ends = [size * k // pieces for k in range(pieces + 1)]
        units += [Unit(place, file, Span(low, high), high == size) for low, high in pairwise(ends)]
    return units


def tasks_of(units: Sequence[Unit]) -> list[list[Unit]]:
    """Units that one task reads: one that begins within a file is alone, since lines before it may have to be counted;
    whole files come together.
    """
    most = max(UNIT_BYTES, sum(unit.bytes for unit in units) // MOST_RUNS)
    tasks: list[list[Unit]] = []
    room = 0
    for unit in units:
        size = unit.bytes
        whole = unit.last and unit.span.begin == 0
        if not whole or size > room or not tasks:
            tasks.append([])
            room = most if whole else 0
        tasks[-1].append(unit)
        room = max(0, room - size) if whole else 0
    return tasks


def bytes_of(file: str) -> int:
    """The size of a file; 0 of anything else."""
    return os.stat(file).st_size if os.path.isfile(file) else 0


IDS = np.dtype(np.uint32)  # of the ids of a run


@dataclass(frozen=True)
class Run:
    """The outcome of reading run ``number``.

    ``rows``: how many; ``low``, ``high`` and ``big``: as of Reading; ``records``: of the units that were read to their
    ends; ``error``: of the one behind them.
    """

    number: int
    rows: int = 0
    low: int = 0
    high: int = 0
    big: bool = False
    spilled: int = 0
    records: list[ReadRecord] = field(default_factory=list)
    error: CsawError | None = None


def read_run(job: IngestJob, number: int, units: Sequence[Unit]) -> Run:
    """Read some units to the run ``number``.

    What is wrong with a unit is told, not raised: it may have lines before that others count.
    """
    budget, records = budget_of(job.options, Path(job.folder)), list[ReadRecord]()
    with crew_of(job.options) as crew:
        reading = Reading(job, crew, budget)
        with closing(reading.raw):
            try:
                reading.read(_rows_of(job, units, crew, records))
            except CsawError as error:
                return Run(number, records=records, error=error)
            if reading.raw.rows:
                with whole_folder(run_folder(job.folder, "read", number), job.folder) as folder:
                    _keep(reading, folder)
        return Run(number, reading.raw.rows, reading.low, reading.high, reading.big, budget.spilled, records)


def _rows_of(job: IngestJob, units: Sequence[Unit], crew: Crew, records: list[ReadRecord]) -> Iterator[Piece]:
    for unit in units:
        with closing(opened(unit.path, job.options, crew, span=unit.span)) as rows:
            yield from rows.read_pieces()
            records.append(rows.record())


def _keep(reading: Reading, folder: Path) -> None:
    """Write a run to ``folder``: its rows, its ids, and a sample of them."""
    numbering = reading.numbering()
    reading.sample(numbering).astype(IDS).tofile(folder / "sample")

    def dense(src: Column, dst: Column, *columns: Column) -> tuple[np.ndarray, ...]:
        return numbering.dense(src[:]), numbering.dense(dst[:]), *(column[:] for column in columns)

    with RunWriter(folder) as writer:
        for columns in reading.crew.in_order(dense, reading.raw.drain()):
            writer.append(*columns)
        writer.settle()
    if isinstance(numbering, StringNumbering):
        numbering.vertex_ids.text.tofile(folder / "text")
        numbering.vertex_ids.offsets.tofile(folder / "offsets")
    else:
        numbering.ids.tofile(folder / "ids")


class Renumbered:
    """The numbering of a run's ids: dense ids of the graph by a table."""

    def __init__(self, table: np.ndarray, vertices: int) -> None:
        self.table, self.vertices, self.dtype = table, vertices, table.dtype

    def dense(self, ids: np.ndarray) -> np.ndarray:
        """Dense ids, in the same memory where they fit."""
        out = ids if ids.dtype == self.dtype else np.empty(ids.size, self.dtype)
        rank_by_table(ids, np.uint64(0), self.table, out)
        return out


def deal_run(job: IngestJob, plan: BucketPlan, number: int, row: int, piece_rows: int) -> int:
    """Deal the edges of a run to the buckets, ``piece_rows`` together; return the number of self loops.

    The first edge is number ``row`` of the input.

    Where vertices may be left alone, ``reached`` has a bit for each that is a target.
    """
    source = run_folder(job.folder, "read", number)
    with (
        crew_of(job.options) as crew,
        whole_folder(run_folder(job.folder, "dealt", number), job.folder) as folder,
        RunReader([source], [IDS, IDS, *(column.dtype for column in job.columns)]) as read,
        RunWriter(folder) as dealt,
    ):
        numbering = Renumbered(read_column(source / "dense", plan.ids), plan.vertices)
        buckets = Buckets(job, plan, numbering, crew, counts=False)
        buckets.deal(read, dealt, piece_rows, row)
        np.save(folder / "ends.npy", buckets.ends)
        if leaves_alone(job):
            np.packbits(buckets.reached).tofile(folder / "reached")
    return buckets.loops


def leaves_alone(job: IngestJob) -> bool:
    """Whether a vertex may be left without any edge: where self loops of a directed graph are dropped, a task says
    which vertices it has seen as targets.
    """
    return job.drops_loops and not job.undirected


def ends_of(job: IngestJob, number: int) -> np.ndarray:
    """Where the buckets of each piece of a dealt run begin: int64 [pieces, buckets + 1]."""
    return np.load(run_folder(job.folder, "dealt", number) / "ends.npy")


def _dealt(job: IngestJob, plan: BucketPlan, runs: Sequence[int]) -> RunReader:
    return RunReader([run_folder(job.folder, "dealt", run) for run in runs], job.entry(plan.ids))


def count_degrees(job: IngestJob, plan: BucketPlan, runs: Sequence[int], number: int, begin: int, end: int) -> None:
    """Count the entries of the rows of the buckets begin .. end - 1, into an array of theirs."""
    first, last = int(plan.cuts[begin]), int(plan.cuts[end])
    degrees = np.zeros(last - first, np.int64)
    ends = np.concatenate([ends_of(job, run)[:, [begin, end]] for run in runs])
    with _dealt(job, plan, runs) as dealt:
        for (sources, *_), (low, high) in zip(dealt.drain(), ends.tolist(), strict=True):
            count(sources[low:high] - plan.ids.type(first), degrees)
    with whole_folder(run_folder(job.folder, "degrees", number), job.folder) as folder:
        degrees.tofile(folder / "degrees")


def build_partition(
    job: IngestJob, plan: BucketPlan, runs: Sequence[int], place: str, first: int, last: int
) -> tuple[dict[str, Written], Facts]:
    """Write the partition of the vertices first .. last - 1 to ``place``, a folder of the store; returns what its
    arrays are, and what there is to say of it.
    """
    facts = NO_ROWS
    with (
        crew_of(job.options) as crew,
        _dealt(job, plan, runs) as dealt,
        whole_folder(Path(place), job.folder) as folder,
    ):
        buckets = Buckets(job, plan, Renumbered(np.empty(0, plan.ids), plan.vertices), crew)
        buckets.ends = np.concatenate([ends_of(job, run) for run in runs])
        jobs = crew.backlog()
        writer = PartitionWriter(
            folder,
            Path(place),
            id_dtype=plan.ids,
            columns=job.kept,
            compression=job.options.compression,
            jobs=jobs,
        )
        for rows, found, _ in buckets.rows(np.array([first, last]), dealt):
            writer.extend(rows.indptr, rows.indices, {column.array: rows.columns[column] for column in job.kept})
            facts = facts.and_of(found)
        writer.end()
        with full_disk_named(Path(place), jobs.bytes):
            written = {name: array.written() for name, array in writer.arrays.items()}
            sync_tree(folder)
    return {name: array._replace(path=Path(place) / name) for name, array in written.items()}, facts
