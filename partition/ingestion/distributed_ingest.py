"""An ingest whose passes other processes do, which share the disk with this one: the same store as one process makes,
byte for byte.

This process cuts the input into units, numbers the ids that the units have, and takes the partitions in order; see
passes.py for what the others do.
"""

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np

from csaw.partition.arrays.replace import Draft, discard
from csaw.partition.arrays.spool import Budget
from csaw.partition.base.parallel import Crew, Result
from csaw.partition.errors import CsawError, OptionError
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.write import StoreWriter
from csaw.partition.ingestion.ids import Numbering, Unchanged, number
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.job import (
    AnyNumbering,
    BucketPlan,
    IngestJob,
    Numbered,
    Tally,
    budget_of,
    crew_of,
    memory_of,
)
from csaw.partition.ingestion.passes import (
    IDS,
    MOST_RUNS,
    UNIT_BYTES,
    Run,
    Unit,
    build_partition,
    bytes_of,
    count_degrees,
    deal_run,
    ends_of,
    leaves_alone,
    read_run,
    tasks_of,
    units_of,
)
from csaw.partition.ingestion.pipeline import Ingest, check_out, name_of
from csaw.partition.ingestion.run_files import full_disk_named, read_column, run_folder
from csaw.partition.ingestion.text.pieces import FileRows, ReadRecord
from csaw.partition.ingestion.text.readers import Progress, Several, files_of, reader, reader_of
from csaw.partition.ingestion.text.word_cells import Cells
from csaw.partition.ingestion.word_numbers import StringNumbering

DEALT_ROWS = 1 << 23  # at a time: the more, the longer are the pieces of buckets that are read
COUNTED_ENTRIES = 1 << 22  # of a task that counts degrees, at least
WORK_BYTES = 64  # of memory in which a row is dealt


class Work(Protocol):
    """Does a function with each of the arguments, wherever, and gives the results in the order of the arguments."""

    def __call__(
        self, function: Callable[..., Result], arguments: Sequence[tuple[object, ...]], /
    ) -> Iterator[Result]: ...


def ingest_spread(
    path: str | Path | Sequence[str | Path],
    out: str | Path,
    options: IngestOptions,
    work: Work,
    progress: Progress | None = None,
    task_options: IngestOptions | None = None,
) -> GraphStore:
    """Make the store that ``ingest`` makes, by processes that see the input and ``out`` under the same paths.

    Args:
        path: as of ``ingest``.
        out: as of ``ingest``.
        options: as of ``ingest``.
        work: does the tasks.
        progress: called with the bytes that are read and their total.
        task_options: the same options with the threads and the memory of a task; None, ``options``.

    Raises:
        OptionError: other processes cannot read the input; else as ``ingest``.
    """
    files = files_of(path)
    for file in files:
        if file == "-" or (os.path.exists(file) and not os.path.isfile(file)):
            what = "standard input" if file == "-" else "a pipe or a device"
            raise OptionError(
                f"{file} is {what}, which the workers of a cluster cannot read; write it to a file first, "
                "or leave out --cluster"
            )
    check_out(out, options)
    out = Path(out).absolute()
    crew, budget = crew_of(options), budget_of(options, out.parent)
    with closing(reader(files, options, crew, budget, None)) as rows, crew:

        def begin(job: IngestJob, draft: Draft) -> ByTasks:
            return ByTasks(
                rows, files, crew, budget, replace(job, options=task_options or options), draft, work, progress
            )

        return Ingest(name_of(files), rows, options, crew, budget, begin, files).make(out)


class ByTasks:
    """The passes of ``job`` by ``work``, whose processes keep columns in files."""

    def __init__(
        self,
        rows: FileRows | Several,
        files: list[str],
        crew: Crew,
        budget: Budget,
        job: IngestJob,
        out: Draft,
        work: Work,
        progress: Progress | None,
    ) -> None:
        self.rows, self.crew, self.budget, self.out = rows, crew, budget, out
        self.files = rows.files if isinstance(rows, Several) else files
        self.work, self.progress = work, progress
        scratch = out.folder / f".runs-{secrets.token_hex(8)}"
        with full_disk_named(scratch):
            scratch.mkdir()
        self.job = replace(job, folder=str(scratch))
        self.runs: list[Run] = []

    def _place(self, run: Run) -> Path:
        return run_folder(self.job.folder, "read", run.number)

    # Reading

    def read(self) -> Numbered:
        """Have all units read, put together what there is to say of each file, and number the ids of all runs."""
        tasks = tasks_of(units_of([os.path.abspath(file) for file in self.files], self.job.options))
        total, done = sum(map(bytes_of, self.files)), 0
        arguments = [(self.job, number, units) for number, units in enumerate(tasks)]
        for run, units in zip(self.work(read_run, arguments), tasks, strict=True):
            for unit, record in zip(units, run.records, strict=False):
                self._add(unit, record)
            if run.error is not None:
                unit = units[len(run.records)]
                error = self._located(run.error, run.number, unit)
                raise type(error)(str(error).replace(unit.path, self.files[unit.file], 1)) from error
            self.runs += [run] * (run.rows > 0)
            row_bytes = 2 * IDS.itemsize + sum(column.dtype.itemsize for column in self.job.columns)
            self.budget.spilled += run.spilled + run.rows * row_bytes
            done += sum(unit.bytes for unit in units)
            if self.progress:
                self.progress(done, total)
        return self._numbered()

    def _add(self, unit: Unit, record: ReadRecord) -> None:
        """The record of the next unit; at the end of its file, all that can be said of that."""
        if unit.span.begin == 0:
            self.of_file = self.rows.opened(self.files[unit.file]) if isinstance(self.rows, Several) else self.rows
        self.of_file.add(record)
        if not unit.last:
            return
        self.of_file.end()
        self.of_file.close()
        if isinstance(self.rows, Several):
            self.rows.note(self.of_file)

    def _located(self, error: CsawError, number: int, unit: Unit) -> CsawError:
        """The error of a unit, with the number of its line in the file: it is read again."""
        if unit.span.begin == 0:
            return error
        known = unit._replace(span=reader_of(unit.path).again(unit.span, self.of_file.counts["lines"]))
        again: Run = next(iter(self.work(read_run, [(self.job, number, [known])])))
        return again.error or error

    # Numbering

    def _numbered(self) -> Numbered:
        rows = sum(run.rows for run in self.runs)
        if not rows:
            return Numbered(0, Unchanged(0), np.empty(0, IDS))
        numbering = self._number_words() if self.job.strings else self._number_integers()
        dense = [read_column(self._place(run) / "dense", numbering.dtype) for run in self.runs]
        samples = [read_column(self._place(run) / "sample", IDS) for run in self.runs]
        return Numbered(rows, numbering, np.concatenate([ids[some] for ids, some in zip(dense, samples, strict=True)]))

    def _number_integers(self) -> Numbering:
        """The numbering of the ids of all runs."""
        bounds = min(run.low for run in self.runs), max(run.high for run in self.runs)
        ids = IdsOfRuns(self.job.folder, self.runs)
        numbering = number(ids, bounds, any(run.big for run in self.runs), self.job.name, self.crew)
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
        """Write the dense ids of the ids of a run, for the task that deals it."""
        with full_disk_named(self._place(run)):
            dense.tofile(self._place(run) / "dense")

    # Dealing and building

    def deal(self, plan: BucketPlan, numbering: AnyNumbering) -> Tally:
        """Have the runs dealt, and degrees counted."""
        self.plan, self.numbers = plan, [run.number for run in self.runs]
        begins = np.cumsum([0, *(run.rows for run in self.runs[:-1])]).tolist()
        piece_rows = max(1, min(DEALT_ROWS, memory_of(self.job.options) // WORK_BYTES))
        given = [(self.job, plan, run.number, begin, piece_rows) for run, begin in zip(self.runs, begins, strict=True)]
        reached, sizes = np.zeros(-(-plan.vertices // 8), np.uint8), np.zeros(plan.cuts.size - 1, np.int64)
        alone, loops = leaves_alone(self.job), 0
        for run, found in zip(self.runs, self.work(deal_run, given), strict=True):
            loops += found
            shutil.rmtree(self._place(run), ignore_errors=True)
            sizes += np.diff(ends_of(self.job, run.number)).sum(axis=0)
            if alone:
                reached |= read_column(run_folder(self.job.folder, "dealt", run.number) / "reached", np.uint8)
        self.budget.spilled += int(sizes.sum()) * sum(dtype.itemsize for dtype in self.job.entry(plan.ids))
        degrees = self._degrees(np.concatenate([[0], np.cumsum(sizes)]))
        if alone:
            return Tally(degrees, np.unpackbits(reached, count=plan.vertices).view(np.bool_), loops)
        # of a directed graph, what has no edge out has one in; of an undirected one, nobody asks
        return Tally(degrees, np.full(plan.vertices, not self.job.undirected), loops)

    def _degrees(self, upto: np.ndarray) -> np.ndarray:
        """Have the degrees of all rows counted; ``upto`` [buckets + 1]: entries before each bucket."""
        tasks = min(max(1, int(upto[-1]) // COUNTED_ENTRIES), MOST_RUNS)
        inner = np.searchsorted(upto, np.linspace(0, upto[-1], tasks + 1)[1:-1])
        spans = pairwise(np.unique(np.concatenate([[0], inner, [upto.size - 1]])).tolist())
        given = [(self.job, self.plan, self.numbers, k, low, high) for k, (low, high) in enumerate(spans)]
        places = [
            run_folder(self.job.folder, "degrees", k) / "degrees" for k, _ in enumerate(self.work(count_degrees, given))
        ]
        return np.concatenate([read_column(place, np.int64) for place in places])

    def build(self, cuts: np.ndarray, writer: StoreWriter) -> None:
        """Have the partitions written to their places, and take them over."""
        given = [
            (self.job, self.plan, self.numbers, str(writer.draft / "partitions" / f"{k:05d}"), first, last)
            for k, (first, last) in enumerate(pairwise(cuts.tolist()))
        ]
        for arrays, facts in self.work(build_partition, given):
            writer.take(arrays, facts)
        self.close()

    def close(self) -> None:
        """Remove temporary files.

        Their folder gets another name first: tasks that still run, after Ctrl-C or an error, then find no place to
        write to.
        """
        if Path(self.job.folder).exists():
            discard(Path(self.job.folder), self.out.path)


class IdsOfRuns:
    """The ids of all runs as columns of sources without targets, which is how a numbering reads edges."""

    def __init__(self, folder: str, runs: Sequence[Run]) -> None:
        self.folder, self.runs, self.rows = folder, runs, sum(run.rows for run in runs)

    def of(self, run: Run) -> np.ndarray:
        """int64 or uint64: the ids of one run."""
        return read_column(run_folder(self.folder, "read", run.number) / "ids", np.uint64 if run.big else np.int64)

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return ((ids, ids[:0]) for ids in map(self.of, self.runs))
