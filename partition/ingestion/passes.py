"""The passes of an ingest as tasks on plain data, for processes that share a disk: each reads files and leaves a folder, and may be done again anywhere.

read_run         some files, or a span of one, to a run of rows whose ids count from 0, and the ids that these stand for
deal_run         a run to the same edges by buckets of rows, with the numbering of the whole graph
count_degrees    of the rows of some buckets
build_partition  the rows of a partition, out of all dealt runs, to its arrays
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from csaw.partition.arrays.arrays import Written
from csaw.partition.arrays.spool import Budget
from csaw.partition.base.parallel import Crew
from csaw.partition.errors import CsawError
from csaw.partition.graph.csr import count_degrees as count
from csaw.partition.graph.csr import rank_by_table
from csaw.partition.graph.partition_writer import NO_ROWS, Facts, PartitionWriter, full_disk_named
from csaw.partition.graph.write import sync_tree
from csaw.partition.ingestion.buckets import Buckets, Rows
from csaw.partition.ingestion.ingest_options import POLICIES, IngestOptions
from csaw.partition.ingestion.pipeline import KEPT_SHARE, crew_of, memory_of
from csaw.partition.ingestion.reading import Reading
from csaw.partition.ingestion.run_files import DealtRuns, read_column, run_folder, whole_folder
from csaw.partition.ingestion.text.records import Span
from csaw.partition.ingestion.text.rows import TextRows
from csaw.partition.ingestion.text.tables import TableRows, is_table
from csaw.partition.ingestion.word_numbers import StringNumbering

IDS = np.dtype(np.uint32)  # of the ids of a run
COLUMNS = ("src", "dst", "weights")


class Unit(NamedTuple):
    """What is read together: a span of file number ``file`` of the input; ``last``: whether the file ends with it."""

    file: int
    path: str
    span: Span
    last: bool

    @property
    def bytes(self) -> int:
        """Bytes of the file that it covers."""
        return (self.span.end or 0) - self.span.begin


@dataclass(frozen=True)
class How:
    """What all tasks of an ingest have in common. ``folder``: for runs; ``name``: of the input, for errors."""

    options: IngestOptions
    folder: str
    name: str
    strings: bool
    undirected: bool
    weighted: bool

    @property
    def loops_leave_alone(self) -> bool:
        """Whether a vertex may be left without any edge: where self loops of a directed graph are dropped, a task says which vertices it has seen as targets."""
        return self.options.self_loops == "drop" and not self.undirected


@dataclass(frozen=True)
class Run:
    """What was read as run ``number``. ``rows``: how many; ``low``, ``high`` and ``big``: as of Reading; ``records``: of the units that were read to their ends; ``error``: of the one behind them."""

    number: int
    rows: int = 0
    low: int = 0
    high: int = 0
    big: bool = False
    spilled: int = 0
    records: list[dict[str, Any]] = field(default_factory=list)
    error: CsawError | None = None


@dataclass(frozen=True)
class Layout:
    """The graph as its buckets: ``cuts`` int64 [buckets + 1], first vertices; ``dtype`` of dense ids; number of input ``rows``; numbers of the ``runs``; ``piece_rows`` are dealt together."""

    cuts: np.ndarray
    dtype: np.dtype
    rows: int
    runs: tuple[int, ...]
    piece_rows: int

    @property
    def vertices(self) -> int:
        """Number of all vertices."""
        return int(self.cuts[-1])


def read_run(how: How, number: int, units: Sequence[Unit]) -> Run:
    """Read some units to the run ``number``. What is wrong with a unit is told, not raised: it may have lines before that others count."""
    budget = Budget(int(memory_of(how.options) * KEPT_SHARE), Path(how.folder))
    records: list[dict[str, Any]] = []
    with crew_of(how.options) as crew:
        reading = Reading(
            crew, budget, strings=how.strings, undirected=how.undirected, weighted=how.weighted, reverse=how.options.reverse
        )  # fmt: skip
        with closing(reading.raw):
            try:
                reading.read(_rows_of(how.options, units, crew, records))
            except CsawError as error:
                return Run(number, records=records, error=error)
            if reading.raw.rows:
                with whole_folder(run_folder(how.folder, "read", number), how.folder) as folder:
                    _keep(how, reading, folder)
        return Run(number, reading.raw.rows, reading.low, reading.high, reading.big, budget.spilled, records)


def _rows_of(options: IngestOptions, units: Sequence[Unit], crew: Crew, records: list[dict[str, Any]]) -> Iterator[Any]:
    for unit in units:
        rows: Any = TableRows(unit.path, options, unit.span) if is_table(unit.path) else TextRows(unit.path, options, crew, span=unit.span)  # fmt: skip
        with closing(rows):
            yield from rows.read_pieces()
            records.append(rows.record())


def _keep(how: How, reading: Reading, folder: Path) -> None:
    """Write a run."""
    numbering = reading.numbering(how.name)
    reading.sample(numbering).astype(IDS).tofile(folder / "sample")

    def dense(src: Any, dst: Any, *weights: Any) -> tuple[np.ndarray, ...]:
        return numbering.dense(src[:]), numbering.dense(dst[:]), *(column[:] for column in weights)

    with ExitStack() as stack:
        files = [stack.enter_context((folder / name).open("wb")) for name in COLUMNS[: 2 + how.weighted]]
        for columns in reading.crew.in_order(dense, reading.raw.drain()):
            for file, column in zip(files, columns, strict=True):
                file.write(column.data)
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


def buckets_of(how: How, layout: Layout, crew: Crew, table: np.ndarray) -> Buckets:
    """The buckets of the graph for a task; ``table``: dense ids of a run's ids, empty where none are read."""
    return Buckets(
        Renumbered(table, layout.vertices), layout.rows * (2 if how.undirected else 1), layout.cuts, crew, undirected=how.undirected,
        drop_loops=how.options.self_loops == "drop", weighted=how.weighted, numbered=how.options.edge_ids,
    )  # fmt: skip


def deal_run(how: How, layout: Layout, number: int, rows: int, before: int) -> int:
    """Deal the ``rows`` edges of a run, before which there are ``before``, to the buckets; returns the number of self loops.

    Where vertices may be left alone, ``reached`` has a bit for each that is a target.
    """
    source = run_folder(how.folder, "read", number)
    all_loops, all_ends = 0, []
    with (
        crew_of(how.options) as crew,
        whole_folder(run_folder(how.folder, "dealt", number), how.folder) as folder,
        (folder / "entries").open("wb") as file,
    ):
        buckets = buckets_of(how, layout, crew, read_column(source / "dense", layout.dtype))
        pieces = _pieces(how, source, rows, before, layout.piece_rows)
        held = layout.piece_rows * (3 + how.undirected) * buckets.entry_bytes
        for columns, ends, loops in crew.in_order(buckets.deal, pieces, held):
            for column in columns:
                file.write(column.data)
            all_ends.append(ends)
            all_loops += loops
        np.save(folder / "ends.npy", np.stack(all_ends))
        if how.loops_leave_alone:
            np.packbits(buckets.reached).tofile(folder / "reached")
    return all_loops


def _pieces(how: How, source: Path, rows: int, before: int, piece_rows: int) -> Iterator[tuple[Any, ...]]:
    """The number of the first edge, and the columns, of pieces of a run."""
    columns = [("src", IDS), ("dst", IDS), *[("weights", np.float32)] * how.weighted]
    for first in range(0, rows, piece_rows):
        some = min(piece_rows, rows - first)
        yield before + first, tuple(read_column(source / name, dtype, first, some) for name, dtype in columns)


def count_degrees(how: How, layout: Layout, number: int, begin: int, end: int) -> None:
    """Count the entries of the rows of the buckets begin .. end - 1, into an array of theirs."""
    first, last = int(layout.cuts[begin]), int(layout.cuts[end])
    degrees = np.zeros(last - first, np.int64)
    with DealtRuns(how.folder, layout.runs, _item_bytes(how, layout)) as dealt:
        for src in dealt.sources(begin, end, layout.dtype):
            count(src - layout.dtype.type(first), degrees)
    with whole_folder(run_folder(how.folder, "degrees", number), how.folder) as folder:
        degrees.tofile(folder / "degrees")


def build_partition(how: How, layout: Layout, place: str, first: int, last: int) -> tuple[dict[str, Written], Facts]:
    """Write the partition of the vertices first .. last - 1 to ``place``, a folder of the store; returns what its arrays are, and what there is to say of it."""
    options, facts = how.options, NO_ROWS
    begin = int(np.searchsorted(layout.cuts, first, side="right")) - 1
    end = max(int(np.searchsorted(layout.cuts, last)), begin)
    with (
        crew_of(options) as crew,
        DealtRuns(how.folder, layout.runs, _item_bytes(how, layout)) as dealt,
        whole_folder(Path(place), how.folder) as folder,
    ):
        buckets = buckets_of(how, layout, crew, np.empty(0, layout.dtype))
        buckets.dealt, buckets.ends = dealt, dealt.ends
        jobs = crew.backlog()
        writer = PartitionWriter(
            folder, Path(place), id_dtype=layout.dtype, weighted=how.weighted, numbered=options.edge_ids,
            compression=options.compression, jobs=jobs,
        )  # fmt: skip
        for rows, found, _ in buckets.rows(POLICIES[options.duplicates], how.name, begin, end):
            own = _within(rows, first, last)
            writer.extend(own.indptr, own.indices, own.weights, own.numbers)
            facts = facts.and_of(found)
        writer.end()
        with full_disk_named(Path(place), jobs.bytes):
            written = {name: array.written() for name, array in writer.arrays.items()}
            sync_tree(folder)
    arrays = {name: array._replace(path=Path(place) / name) for name, array in written.items()}
    return arrays, facts


def _within(rows: Rows, first: int, last: int) -> Rows:
    """Those of the vertices first .. last - 1."""
    if rows.first < first:
        rows = rows.split(first)[1]
    return rows.split(last)[0] if rows.last > last else rows


def _item_bytes(how: How, layout: Layout) -> tuple[int, ...]:
    """Bytes of an entry in each column of dealt runs."""
    return (layout.dtype.itemsize, layout.dtype.itemsize, *[4] * how.weighted, *[8] * how.options.edge_ids)
