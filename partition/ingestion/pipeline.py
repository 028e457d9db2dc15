"""Edges to a graph store, in three passes over spooled columns: read, number and deal to buckets of rows, build rows.

Every pass is as wide as there are threads, and what they do is put together in the order of the pieces, so their number
leaves no trace. The same passes are done here, by threads that share memory, or by tasks that share a disk.

Memory: ``memory`` bounds the spools and most of what the threads have in work. On top of it come arrays of the number
of vertices (about 30 bytes each) or of the id range, what the threads have in work in any case (about 50 MiB, and 3 MiB
each), and the interpreter with Numba (170 MiB): see docs/contributing/tuning.md.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import numpy as np

from csaw.partition.arrays.files import GRAPH
from csaw.partition.arrays.locks import lock_of
from csaw.partition.arrays.replace import Draft, check, draft_of
from csaw.partition.arrays.spool import Budget, Spool
from csaw.partition.arrays.words import Words
from csaw.partition.base.parallel import Crew
from csaw.partition.base.plain_data import Record
from csaw.partition.base.stages import (
    EDGES,
    NUMBERING,
    PARTITIONING,
    READING,
    REWRITING,
    SORTING,
    WRITING,
    course,
    stage,
    tell,
)
from csaw.partition.errors import NoEdgesError, OptionError
from csaw.partition.graph.clusters import Made, given_clusters, make_clusters
from csaw.partition.graph.edge_columns import EDGE_ID, WEIGHT
from csaw.partition.graph.parts import cut_points, partition_count
from csaw.partition.graph.reciprocity import reciprocity, self_loops
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.time_order import time_facts
from csaw.partition.graph.types import RELATION, Relation, Types, bounds_of
from csaw.partition.graph.write import StoreWriter
from csaw.partition.ingestion.arrow_streams import ArrowStream, StreamRows
from csaw.partition.ingestion.buckets import Buckets, cuts_of
from csaw.partition.ingestion.first_run import compiling_aside
from csaw.partition.ingestion.ids import Unchanged
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.job import (
    AnyNumbering,
    BucketPlan,
    IngestJob,
    MakeClusters,
    Numbered,
    Tally,
    budget_of,
    crew_of,
    memory_of,
)
from csaw.partition.ingestion.passes import Reading
from csaw.partition.ingestion.text.pieces import Described, FileRows, InputRows, Piece
from csaw.partition.ingestion.text.readers import Progress, Several, files_of, reader
from csaw.partition.ingestion.typed_rows import RelationFiles, TypedRows, options_of


def ingest(
    path: "Input",
    out: str | Path,
    options: IngestOptions,
    progress: Progress | None = None,
) -> GraphStore:
    """Make the store ``out`` from the edge list or table at ``path``.

    Args:
        path: a file, a list of files, or a folder, whose files make one graph in order of their names; or the files of
            each relation of a graph with several types of vertices.
        out: path of the store to make.
        options: how to read the rows and how to lay out the store.
        progress: called with the number of bytes read and the total.

    Returns:
        The open graph store.

    Raises:
        FormatError: a row is not an edge; the message has file and line.
        StoreError: ``out`` exists or cannot be written.
        BudgetError: the memory in ``options`` is too little.
    """
    given = InputFiles.of(path, options)
    check_out(out, options)
    crew, budget = crew_of(options), budget_of(options, Path(out).parent)
    with compiling_aside(crew.threads), closing(given.rows(options, crew, budget, progress)) as rows, crew:
        passes = partial(ByThreads, rows, crew, budget)
        name, relations = name_of(given.files), given.relations
        return Ingest(name, rows, given.options, crew, budget, passes, given.files, relations=relations).make(out)


Input = str | Path | Sequence[str | Path] | RelationFiles | ArrowStream
"""The input of an ingest: files, a folder of files, the files of each relation, or a table of another library."""


class InputFiles(NamedTuple):
    """The ``files`` of an input, the ``options`` of its ingest, and the relations of a graph that has several types."""

    given: Input
    files: list[str]
    options: IngestOptions
    relations: tuple[Relation, ...] = ()

    @classmethod
    def of(cls, given: Input, options: IngestOptions) -> Self:
        """OptionError, StoreError: there is no such file, or an option that such a graph cannot have."""
        if isinstance(given, ArrowStream):
            return cls(given, [given.name], options)
        if isinstance(given, RelationFiles):
            return cls(given, given.paths, options_of(options, given), given.relations)
        return cls(given, files_of(given), options)

    def rows(
        self, options: IngestOptions, crew: Crew, budget: Budget, progress: Progress | None = None
    ) -> FileRows | Several | TypedRows:
        """The rows of all files, read as the ``options`` of the user say."""
        if isinstance(self.given, ArrowStream):
            return StreamRows(self.given, options)
        if isinstance(self.given, RelationFiles):
            return TypedRows(self.given, options, crew, budget, progress)
        return reader(self.files, options, crew, budget, progress)


Row = tuple[np.ndarray, np.ndarray, np.ndarray | None, *tuple[np.ndarray, ...]]
"""Arrays of sources, targets, weights or None, and further columns."""


class GivenRows(Protocol):
    """Rows of integers that a program gives to :func:`ingest_rows`: (sources, targets, weights or None) in pieces, with
    an array for each further column of the options behind them.

    ``counts`` is complete afterwards. Rows that have ``vertices``, a number, are of vertices 0 .. vertices - 1, which
    keep these ids, with edges or without. Rows that have ``clusters``, a function of original ids [V], give the store
    these clusters.
    """

    @property
    def shape(self) -> Described: ...

    @property
    def weighted(self) -> bool: ...

    @property
    def counts(self) -> dict[str, int]: ...

    def __iter__(self) -> Iterator[Row]: ...


class _AsPieces:
    """Rows that a program gives, as an ingest reads those of files."""

    def __init__(self, rows: GivenRows) -> None:
        self.rows, self.warnings = rows, list[str]()
        self.shape, self.weighted, self.counts = rows.shape, rows.weighted, rows.counts

    def __iter__(self) -> Iterator[Piece]:
        for src, dst, weights, *further in self.rows:
            yield Piece(src, dst, (*([] if weights is None else [weights]), *further))


def ingest_rows(
    name: str, rows: GivenRows, out: str | Path, options: IngestOptions, *, reading: str = READING
) -> GraphStore:
    """Make the store ``out`` from rows of edges, which messages call ``name``.

    ``reading``: what progress calls the part in which the rows come.
    """
    given, budget = _AsPieces(rows), budget_of(options, Path(out).parent)
    vertices, clusters = getattr(rows, "vertices", None), getattr(rows, "clusters", None)
    stages = (reading, *[NUMBERING] * (vertices is None), SORTING, WRITING)
    with crew_of(options) as crew, compiling_aside(crew.threads):
        passes = partial(ByThreads, given, crew, budget, vertices=vertices)
        return Ingest(name, given, options, crew, budget, passes, stages=stages, clusters=clusters).make(out)


def check_out(out: str | Path, options: IngestOptions) -> None:
    """Raise OptionError or StoreError where no store can be written to ``out``."""
    folder = Path(out).parent
    if not folder.is_dir():
        raise OptionError(f"{folder} is not a directory; make it first")
    check(Path(out), GRAPH, options.overwrite)


def name_of(files: list[str]) -> str:
    """Return the name of some files in messages."""
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


class Passes(Protocol):
    """Whoever does the passes of an ingest, one after the other."""

    def read(self) -> Numbered:
        """Read all rows, and number their ids."""

    def deal(self, plan: BucketPlan, numbering: AnyNumbering) -> Tally:
        """Deal all edges to the buckets of their rows."""

    def build(self, cuts: np.ndarray, writer: StoreWriter) -> None:
        """Build the rows, and write the partitions that begin at ``cuts``, the last of which is V."""

    def close(self) -> None:
        """Let go of temporary files."""


class Ingest:
    """An ingest of ``rows`` by the passes that ``begin(job, draft)`` gives: what is decided between them."""

    def __init__(
        self,
        name: str,
        rows: InputRows,
        options: IngestOptions,
        crew: Crew,
        budget: Budget,
        begin: Callable[[IngestJob, Draft], Passes],
        files: Sequence[str] = (),
        stages: tuple[str, ...] = (READING, NUMBERING, SORTING, WRITING),
        relations: tuple[Relation, ...] = (),
        clusters: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        self.stages, self.relations, self.given_clusters = stages, relations, clusters
        self.rows, self.options, self.crew, self.budget, self.files = rows, options, crew, budget, files
        self.begin = begin
        self.job = IngestJob.of(name, rows, options, budget.folder)

    def make(self, out: str | Path) -> GraphStore:
        """Make the store. Its report says, beside what is stored, how much was spilled."""
        check_out(out, self.options)
        wanted = self.options.num_clusters is not None or self.given_clusters
        clusters = self._clusters if wanted else None
        further = () if self.options.partitioner == "range" else (PARTITIONING, REWRITING)
        with (
            course(*self.stages, *further),
            Draft(out, GRAPH, overwrite=self.options.overwrite) as draft,
        ):  # of two writers one ends at once
            remove_by_range(draft)  # of a run that was killed
            if self.options.partitioner == "range":
                store = self._written(draft, clusters)
            else:
                store = self._partitioned(draft, clusters)
        store.report = store.report | {"spilled_bytes": self.budget.spilled}  # which is not stored
        return store

    def _partitioned(self, out: Draft, clusters: MakeClusters | None) -> GraphStore:
        """The store of a partitioner, by way of one in order of the ids, which stands beside it meanwhile."""
        from csaw.partition.ingestion.partitioners import partitioned

        try:
            with Draft(by_range(out), GRAPH, overwrite=True) as draft:
                plain = self._written(draft, None)
            return partitioned(plain, out, self.options, self.job.partition_bytes, clusters)
        finally:
            remove_by_range(out)

    def _clusters(self, draft: GraphStore) -> tuple[np.ndarray, Made]:
        """The cluster of each vertex, and how they were made."""
        if self.given_clusters:
            return given_clusters(self.given_clusters(draft.original_ids(np.arange(draft.vertices))), draft.vertices)
        wanted, method, seed = self.options.num_clusters, self.options.clustering, self.options.clustering_seed
        assert wanted is not None
        with stage("making clusters"):
            made = make_clusters(draft, wanted, method, seed)
        return made, {"count": wanted, "method": method, "seed": seed}

    def _written(self, out: Draft, clusters: MakeClusters | None) -> GraphStore:
        """The store in the order of the ids."""
        with closing(self.begin(self.job, out)) as passes:
            rows, numbering, sample = passes.read()
            if not rows:
                left = self.rows.counts.get("left_out", 0)
                why = f"; {left:,} rows do not fulfill --where" if left else ""
                error = NoEdgesError(f"{self.job.name}: no edges found; expected rows 'source target [weight]'{why}")
                error.left_out = left
                raise error
            cuts = cuts_of(numbering.vertices, rows * self.job.directions, sample)
            with stage(SORTING):
                tally = passes.deal(BucketPlan(cuts, numbering.dtype, rows), numbering)
            with stage(WRITING), self._writer(out, numbering.vertices, rows) as writer:
                passes.build(self._cuts(tally.degrees, numbering.dtype), writer)
                told = partial(report_of, self.rows, self.job, tally, writer, self.files)
                return writer.finish(
                    directed=not self.job.undirected,
                    vertex_ids=numbering.vertex_ids,
                    types=self._types(numbering.vertex_ids, writer),
                    report=lambda draft: told(draft) | _of_all(draft),
                    clusters=clusters,
                )

    def _types(self, ids: np.ndarray | Words | None, writer: StoreWriter) -> Types | None:
        """The types of the vertices and the relations of the edges that were written; None for a graph without."""
        if not self.relations:
            return None
        assert isinstance(ids, Words)
        edges = writer.edges_of_relations[: len(self.relations)].tolist()
        return Types(*bounds_of(ids, self.relations), self.relations, tuple(edges))

    def _writer(self, out: Draft, vertices: int, rows: int) -> StoreWriter:
        return StoreWriter(
            out,
            vertices=vertices,
            weighted=self.job.weighted,
            compression=self.options.compression,
            crew=self.crew,
            input_rows=rows if self.options.edge_ids else None,
            edge_columns=self.job.edge_columns,
        )

    def _cuts(self, degrees: np.ndarray, ids: np.dtype) -> np.ndarray:
        """Where partitions begin, and V at the end.

        They are cut before repeated edges are merged, so they may end up smaller than planned.
        """
        indptr = np.zeros(degrees.size + 1, np.int64)
        np.cumsum(degrees, out=indptr[1:])
        item = ids.itemsize + sum(column.dtype.itemsize for column in self.job.columns)
        limit = self.job.partition_bytes
        count = partition_count(int(indptr[-1]), degrees.size, item, self.options.partitions, limit)
        return cut_points(indptr, count, self.options.balance)


def _of_all(draft: GraphStore) -> Record:
    """The facts about all edges together for the report: how many have their opposite, and their times."""
    return {"reciprocity": reciprocity(draft)} | ({} if draft.time is None else {"times": time_facts(draft)})


# The passes of an ingest by the threads of this process.

PIECE_ROWS = 1 << 20  # dealt at a time: enough of them for each bucket
MOST_PIECES = 1 << 12  # where the buckets begin in each takes 8 KiB


class ByThreads:
    """The passes by the threads of this process, which keeps columns in spools."""

    def __init__(
        self,
        rows: Iterable[Piece],
        crew: Crew,
        budget: Budget,
        job: IngestJob,
        out: Draft,
        *,
        vertices: int | None = None,
    ) -> None:
        self.rows, self.crew, self.budget, self.job, self.vertices = rows, crew, budget, job, vertices
        self.reading, self.dealt = Reading(job, crew, budget), Spool(budget, crew.backlog())

    def read(self) -> Numbered:
        """Read all rows, and number their ids unless these are numbers of ``vertices`` already."""
        self.reading.read(self.rows)
        rows = self.reading.raw.rows
        if self.vertices is not None or not rows:
            given = Unchanged(self.vertices or 0)
            return Numbered(rows, given, self.reading.sample(given))
        with stage(NUMBERING):
            numbering = self.reading.numbering()
        return Numbered(rows, numbering, self.reading.sample(numbering))

    def deal(self, plan: BucketPlan, numbering: AnyNumbering) -> Tally:
        """Deal the edges from one spool to another."""
        self.buckets = Buckets(self.job, plan, numbering, self.crew)
        piece_rows = max(min(PIECE_ROWS, memory_of(self.job.options) // 1024), plan.rows // MOST_PIECES)
        self.buckets.deal(self.reading.raw, self.dealt, piece_rows)
        return self.buckets.tally

    def build(self, cuts: np.ndarray, writer: StoreWriter) -> None:
        """Hand the rows to the writer, whose jobs the same threads do."""
        done, total = 0, int(self.buckets.tally.degrees.sum())
        for rows, facts, ends in self.buckets.rows(cuts, self.dealt):
            weights, numbers = (rows.columns.get(column) for column in (WEIGHT, EDGE_ID))
            further = {column.name: rows.columns[column] for column in self.job.edge_columns}
            writer.extend(rows.indptr, rows.indices, weights, facts, numbers, further)
            if ends:
                writer.end_partition()
            done += int(rows.indptr[-1])
            tell(min(done, total), total, EDGES)

    def close(self) -> None:
        """Let go of the spools."""
        self.reading.raw.close()
        self.dealt.close()


# The report of an ingest, which its store keeps.

YEARS = (315_532_800, 4_102_444_800)  # 1980 and 2100, in seconds since 1970
TIMES = [tuple(year * unit for year in YEARS) for unit in (1, 1000)]  # in seconds, in milliseconds


def report_of(
    rows: InputRows, job: IngestJob, tally: Tally, writer: StoreWriter, files: Sequence[str], draft: GraphStore
) -> Record:
    """Return what was read, and what has become of it in the ``draft`` that ``writer`` writes, as plain data."""
    vertices, degrees = tally.degrees.size, tally.degrees
    copies = getattr(rows, "copies", 1)
    merged = int(degrees.sum()) - writer.edges
    if merged and job.undirected and not job.drops_loops and tally.loops:  # which are in one row each
        merged += tally.loops - self_loops(draft)
    merged //= job.directions * copies
    report: Record = {name: count for name, count in rows.counts.items() if name != "left_out" or job.options.where}
    if job.options.where:
        report["where"] = list(job.options.where)
    if len(files) > 1:
        report = {"files": len(files), "inputs": list(files)} | report
    if read_as := getattr(rows, "read_as", None):
        report["read_as"] = [read_as] if isinstance(read_as, str) else read_as
    report |= {
        "header_line": rows.shape.header_line,
        "vertices": vertices,
        "stored_edges": writer.edges,
        "duplicates": merged,
        "duplicates_policy": job.options.duplicates,
        "self_loops": tally.loops // copies,
        "self_loops_dropped": job.drops_loops,
        "dead_ends": int((degrees == 0).sum()),
        "isolated": int(((degrees == 0) & ~tally.reached).sum()),
        "warnings": [*rows.warnings, *_of_weights(job, writer), *_of_columns(job, merged)],
        "weights": "repeats" if job.counts_repeats else "column" if job.weighted else "none",
        **({"reversed": True} if job.options.reverse else {}),
        **(rows.facts if isinstance(rows, TypedRows) else {}),
        **({"target_offset": rows.shape.offset} if rows.shape.offset else {}),
    }
    found = {"vertices": vertices, "edges": rows.counts["edges"]}
    report["header_disagrees"] = {
        name: {"declared": count, "found": found[name]}
        for name, count in rows.shape.declared.items()
        if count != found[name]
    }
    return report


def _of_weights(job: IngestJob, writer: StoreWriter) -> list[str]:
    """Return a warning about weights that are all equal or look like times, as a list of one line or none."""
    lightest, heaviest = writer.facts.lightest, writer.facts.heaviest
    if any(first <= lightest <= heaviest < last for first, last in TIMES) and not job.counts_repeats:
        said = (
            "as times since 1970 are; if they are times, name their column with --time-column, and pass --time-format "
            "unix if they are seconds, unix-ms if milliseconds"
        )
        return [f"weights are {lightest:g} to {heaviest:g}, {said}"]
    if lightest != heaviest:
        return []
    without = "--duplicates first" if job.counts_repeats else "--weight-column none"
    said = f"sample with --unweighted, or leave the weights out with {without}: the law is the same, and less is read"
    return [f"all weights are {writer.facts.lightest:g}; {said}"]


def _of_columns(job: IngestJob, merged: int) -> list[str]:
    """Return a warning about numbers that are left out with repeated edges, as a list of one line or none."""
    if not set(job.edge_columns) - {RELATION} or not merged:
        return []
    names = ", ".join(column.name for column in job.edge_columns if column != RELATION)
    one = merged == 1
    said = f"{merged:,} repeated edge{'s are' if not one else ' is'}"
    adds = job.options.policy == "sum"  # their weights count, and the first one's numbers are those of all
    left = f"{said} added to the first of its kind, without" if adds else f"{said} left out, with"
    return [f"{left} {'its' if one else 'their'} {names}; pass --duplicates keep to keep them all"]


# The store in order of the ids that a partitioner makes another one of: it stands beside that one meanwhile.


def by_range(out: Draft) -> Path:
    """Where it is, while ``out`` is made of it."""
    return out.path.with_name(f".{out.path.name}.csaw-by-range")


def remove_by_range(out: Draft) -> None:
    """Remove it, and what is begun of it. Nobody else makes one: the lock of ``out`` is held."""
    for left in (by_range(out), draft_of(by_range(out))):
        shutil.rmtree(left, ignore_errors=True)
    lock_of(by_range(out)).unlink(missing_ok=True)
