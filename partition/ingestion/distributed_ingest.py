"""An ingest whose passes other processes do, which share the disk with this one: the same store as one process makes, byte for byte.

This process cuts the input into units, numbers the ids that the units have, and takes the partitions in order; see passes.py for what the others do.
"""

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from csaw.partition.arrays.replace import Draft, discard
from csaw.partition.errors import CsawError, OptionError
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.write import StoreWriter
from csaw.partition.ingestion.buckets import Buckets
from csaw.partition.ingestion.ids import Unchanged, number
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.passes import (
    IDS,
    How,
    Layout,
    Run,
    Unit,
    build_partition,
    count_degrees,
    deal_run,
    read_run,
)
from csaw.partition.ingestion.pipeline import (
    Ingest,
    budget_of,
    check_out,
    crew_of,
    ingested,
    memory_of,
    name_of,
    reader,
)
from csaw.partition.ingestion.run_files import full_disk_named, read_column, run_folder
from csaw.partition.ingestion.text.blocks import Blocks
from csaw.partition.ingestion.text.records import Span
from csaw.partition.ingestion.text.several import Several, files_of
from csaw.partition.ingestion.text.tables import PARQUET, is_table
from csaw.partition.ingestion.text.word_cells import Cells
from csaw.partition.ingestion.word_numbers import StringNumbering

UNIT_BYTES = 64 << 20  # of text in a task, at least
MOST_RUNS = 256  # about; a task has a file of each open
DEALT_ROWS = 1 << 23  # at a time: the more, the longer are the pieces of buckets that are read
COUNTED_ENTRIES = 1 << 22  # of a task that counts degrees, at least
WORK_BYTES = 64  # of memory in which a row is dealt

Work = Callable[[Callable[..., Any], Sequence[tuple]], Iterator[Any]]
"""Does a function with each of the arguments, wherever, and gives the results in the order of the arguments."""


def ingest_spread(
    path: str | Path | Sequence[str | Path],
    out: str | Path,
    options: IngestOptions,
    work: Work,
    progress: Callable[[int, int], None] | None = None,
    task_options: IngestOptions | None = None,
) -> GraphStore:
    """As ``ingest``, with the passes done by ``work``, whose processes see the input and ``out`` under the same paths.

    ``task_options``: the same options with the threads and the memory of a task (default: ``options``). OptionError for inputs that other processes cannot read.
    """
    files = files_of(path)
    for file in files:
        if file == "-" or (os.path.exists(file) and not os.path.isfile(file)):
            what = "standard input" if file == "-" else "a pipe or a device"
            raise OptionError(
                f"{file} is {what}, which the workers of a cluster cannot read; write it to a file first, or leave out --cluster"
            )
    check_out(out, options)
    crew, budget = crew_of(options), budget_of(out, options)
    with closing(reader(files, options, crew, budget, None)) as rows, crew:

        def begin(chosen: IngestOptions) -> Ingest:
            given = replace(task_options or chosen, partitioner="range", clusters=None)
            return SpreadIngest(name_of(files), rows, chosen, crew, budget, files, work, given, progress)

        return ingested(Path(out).absolute(), options, begin, budget)


class SpreadIngest(Ingest):
    """An ingest by ``work``, with the options ``given`` to its tasks."""

    def __init__(self, path: str, rows: Any, options: IngestOptions, crew: Any, budget: Any, files: Sequence[str],
                 work: Work, given: IngestOptions, progress: Callable[[int, int], None] | None) -> None:  # fmt: skip
        super().__init__(path, rows, options, crew, budget, files)
        self.work, self.given, self.progress = work, given, progress
        self.runs: list[Run] = []

    def number_ids(self, out: Draft) -> tuple[Any, np.ndarray]:
        self.out = out
        scratch = out.folder / f".runs-{secrets.token_hex(8)}"
        with full_disk_named(scratch):
            scratch.mkdir()
        self.how = How(self.given, str(scratch), self.path, self.rows.shape.strings, self.undirected, self.weighted)
        self._read()
        self.raw_rows = sum(run.rows for run in self.runs)
        if not self.raw_rows:
            return Unchanged(0), np.empty(0, IDS)
        numbering: Any = self._number_words() if self.how.strings else self._number_integers()
        places = [self._place(run) for run in self.runs]
        return numbering, np.concatenate(
            [read_column(place / "dense", numbering.dtype)[read_column(place / "sample", IDS)] for place in places]
        )

    def _place(self, run: Run) -> Path:
        return run_folder(self.how.folder, "read", run.number)

    # Reading

    def _read(self) -> None:
        """Have all units read, and put together what there is to say of each file."""
        tasks = tasks_of(units_of([os.path.abspath(file) for file in self.files]))
        total, done = sum(map(_bytes_of, self.files)), 0
        arguments = [(self.how, number, units) for number, units in enumerate(tasks)]
        for run, units in zip(self.work(read_run, arguments), tasks, strict=True):
            for unit, record in zip(units, run.records, strict=False):
                self._add(unit, record)
            if run.error is not None:
                unit = units[len(run.records)]
                error = self._located(run.error, run.number, unit)
                raise type(error)(str(error).replace(unit.path, self.files[unit.file], 1)) from error
            self.runs += [run] * (run.rows > 0)
            self.budget.spilled += run.spilled + run.rows * (2 * IDS.itemsize + 4 * self.weighted)
            done += sum(unit.bytes for unit in units)
            if self.progress:
                self.progress(done, total)

    def _add(self, unit: Unit, record: dict[str, Any]) -> None:
        """The record of the next unit; at the end of its file, all that can be said of that."""
        if unit.span.begin == 0:
            self.of_file = self.rows if len(self.files) == 1 else self.rows.opened(self.files[unit.file], None)
        self.of_file.add(record)
        if not unit.last:
            return
        self.of_file.end()
        self.of_file.close()
        if isinstance(self.rows, Several):
            self.rows.note(self.of_file)

    def _located(self, error: CsawError, number: int, unit: Unit) -> CsawError:
        """The error of a unit, with the number of its line in the file: it is read again, with the number of lines before it, or, of a table, with all rows."""
        if unit.span.begin == 0:
            return error
        lines = Span() if is_table(unit.path) else unit.span._replace(lines=self.of_file.counts["lines"])
        known = unit._replace(span=lines)
        again: Run = next(iter(self.work(read_run, [(self.how, number, [known])])))
        return again.error or error

    # Numbering

    def _number_integers(self) -> Any:
        """The numbering of the ids of all runs."""
        low, high = min(run.low for run in self.runs), max(run.high for run in self.runs)
        ids = IdsOfRuns(self.how.folder, self.runs)
        numbering = number(ids, [low, high], any(run.big for run in self.runs), self.path, self.crew)
        for run in self.runs:
            self._keep(run, numbering.dense(ids.of(run)))
        return numbering

    def _number_words(self) -> StringNumbering:
        """The same of words."""
        numbering = StringNumbering()
        words = ((self._words(run),) for run in self.runs)
        provisional = list(self.crew.in_order(numbering.provisional, words, UNIT_BYTES))
        numbering.finish()
        for run, codes in zip(self.runs, provisional, strict=True):
            self._keep(run, numbering.dense(codes))
        return numbering

    def _words(self, run: Run) -> Cells:
        offsets = read_column(self._place(run) / "offsets", np.int64)
        return Cells(read_column(self._place(run) / "text", np.uint8), offsets[:-1], np.diff(offsets))

    def _keep(self, run: Run, dense: np.ndarray) -> None:
        """The dense ids of the ids of a run, for the task that deals it."""
        with full_disk_named(self._place(run)):
            dense.tofile(self._place(run) / "dense")

    # Dealing and building

    def deal(self, buckets: Buckets) -> None:
        begins = np.cumsum([0, *(run.rows for run in self.runs)]).tolist()
        piece_rows = max(1, min(DEALT_ROWS, memory_of(self.given) // WORK_BYTES))
        runs = tuple(run.number for run in self.runs)
        self.layout = Layout(buckets.cuts, buckets.numbering.dtype, self.raw_rows, runs, piece_rows)
        given = [
            (self.how, self.layout, run.number, run.rows, begin) for run, begin in zip(self.runs, begins, strict=False)
        ]
        reached, sizes = np.zeros(-(-self.layout.vertices // 8), np.uint8), np.zeros(buckets.cuts.size - 1, np.int64)
        for run, loops in zip(self.runs, self.work(deal_run, given), strict=True):
            buckets.loops += loops
            shutil.rmtree(self._place(run), ignore_errors=True)
            dealt = run_folder(self.how.folder, "dealt", run.number)
            sizes += np.diff(np.load(dealt / "ends.npy")).sum(axis=0)
            if self.how.loops_leave_alone:
                reached |= read_column(dealt / "reached", np.uint8)
        self.budget.spilled += int(sizes.sum()) * buckets.entry_bytes
        self._count(buckets, np.concatenate([[0], np.cumsum(sizes)]))
        if self.how.loops_leave_alone:
            buckets.reached[:] = np.unpackbits(reached, count=self.layout.vertices)
        else:  # of a directed graph, what has no edge out has one in; of an undirected one, nobody asks
            buckets.reached[:] = not self.undirected

    def _count(self, buckets: Buckets, upto: np.ndarray) -> None:
        """The degrees of all rows; ``upto`` [buckets + 1]: entries before each bucket."""
        tasks = min(max(1, int(upto[-1]) // COUNTED_ENTRIES), MOST_RUNS)
        inner = np.searchsorted(upto, np.linspace(0, upto[-1], tasks + 1)[1:-1])
        spans = list(pairwise(np.unique(np.concatenate([[0], inner, [upto.size - 1]])).tolist()))
        given = [(self.how, self.layout, k, low, high) for k, (low, high) in enumerate(spans)]
        for k, _ in enumerate(self.work(count_degrees, given)):
            first, last = buckets.cuts[list(spans[k])]
            buckets.degrees[first:last] = read_column(run_folder(self.how.folder, "degrees", k) / "degrees", np.int64)

    def write(self, writer: StoreWriter, buckets: Buckets) -> None:
        cuts = self.cuts(writer, buckets.degrees)
        given = [
            (self.how, self.layout, str(writer.draft / "partitions" / f"{k:05d}"), first, last)
            for k, (first, last) in enumerate(pairwise(cuts.tolist()))
        ]
        for arrays, facts in self.work(build_partition, given):
            writer.take(arrays, facts)
            self.check_repeats(writer)
        self.repeats = int(buckets.degrees.sum()) - writer.edges
        self.close()

    def close(self) -> None:
        """Remove temporary files. Their folder gets another name first: tasks that still run, after Ctrl-C or an error, then find no place to write to."""
        if "how" in vars(self) and Path(self.how.folder).exists():
            discard(Path(self.how.folder), self.out.path)


class IdsOfRuns:
    """The ids of all runs as columns of sources without targets, which is how a numbering reads edges."""

    def __init__(self, folder: str, runs: Sequence[Run]) -> None:
        self.folder, self.runs, self.rows = folder, runs, sum(run.rows for run in runs)

    def of(self, run: Run) -> np.ndarray:
        """int64 or uint64: the ids of one run."""
        return read_column(run_folder(self.folder, "read", run.number) / "ids", np.uint64 if run.big else np.int64)

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return ((ids, ids[:0]) for ids in map(self.of, self.runs))


def units_of(files: Sequence[str]) -> list[Unit]:
    """The input in units, in order: large files of plain text and of Parquet in spans, others whole."""
    most = max(UNIT_BYTES, sum(map(_bytes_of, files)) // MOST_RUNS)
    units = []
    for place, file in enumerate(files):
        size = _bytes_of(file)
        pieces = -(-size // most) if size > most and _can_be_cut(file) else 1
        ends = [size * k // pieces for k in range(pieces + 1)]
        units += [Unit(place, file, Span(low, high), high == size) for low, high in pairwise(ends)]
    return units


def tasks_of(units: Sequence[Unit]) -> list[list[Unit]]:
    """Units that one task reads: one that begins within a file is alone, since lines before it may have to be counted; whole files come together."""
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


def _bytes_of(file: str) -> int:
    return os.stat(file).st_size if os.path.isfile(file) else 0


def _can_be_cut(file: str) -> bool:
    """Whether it is plain text, or has row groups."""
    if is_table(file):
        return file.endswith(PARQUET)
    with closing(Blocks(file)) as blocks:
        return blocks.is_plain
