"""Text or tables to a graph store, in three passes over spooled arrays: parse, number and deal to buckets of rows, build rows.

Every pass is as wide as there are threads, and what they do is put together in the order of the pieces, so their number leaves no trace.

Memory: ``memory`` bounds the spools and most of what the threads have in work. On top of it come arrays of the number of vertices (about 30
bytes each) or of the id range, what the threads have in work in any case (about 50 MiB, and 3 MiB each), and the interpreter with Numba
(170 MiB): see docs/tuning.md.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from csaw.partition.arrays.replace import GRAPH, Draft, check
from csaw.partition.arrays.spool import Budget, Spool
from csaw.partition.base.parallel import Crew, processors
from csaw.partition.base.stages import WRITING, stage
from csaw.partition.errors import FormatError, OptionError
from csaw.partition.graph.clusters import make_clusters
from csaw.partition.graph.reciprocity import reciprocity
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.write import Facts, StoreWriter, cut_points, partition_count
from csaw.partition.ingestion.buckets import Buckets, Rows, cut_rows, cuts_of
from csaw.partition.ingestion.first_run import compiling_aside
from csaw.partition.ingestion.ids import Unchanged
from csaw.partition.ingestion.ingest_options import POLICIES, IngestOptions
from csaw.partition.ingestion.reading import Reading
from csaw.partition.ingestion.text.rows import TextRows
from csaw.partition.ingestion.text.several import Several, files_of

PIECE_ROWS = 1 << 20  # dealt at a time: enough of them for each bucket
MOST_PIECES = 1 << 12  # where the buckets begin in each takes 8 KiB
KEPT_SHARE = 0.7  # of the memory, for spools; threads have the rest in work


def ingest(
    path: str | Path | Sequence[str | Path],
    out: str | Path,
    options: IngestOptions,
    progress: Callable[[int, int], None] | None = None,
) -> GraphStore:
    """Make the store ``out`` from the edge list or table at ``path``; of a list, and of a folder's files in order of their names, one graph."""
    files = files_of(path)
    check_out(out, options)
    crew, budget = crew_of(options), budget_of(out, options)
    with (
        compiling_aside(crew.threads),
        closing(reader(files, options, crew, budget, progress)) as rows,
        crew,
    ):
        return ingested(out, options, lambda chosen: Ingest(name_of(files), rows, chosen, crew, budget, files), budget)


def ingest_rows(name: str, rows: Any, out: str | Path, options: IngestOptions) -> GraphStore:
    """Make the store ``out`` from rows: (src, dst, weights or None) in pieces, with ``shape``, ``weighted`` and ``counts`` as TextRows has.

    Rows that have ``vertices``, a number, are of vertices 0 .. vertices - 1 and keep these ids, with edges or without.
    """
    budget = budget_of(out, options)
    with crew_of(options) as crew, compiling_aside(crew.threads):
        return ingested(out, options, lambda chosen: Ingest(name, rows, chosen, crew, budget), budget)


def ingested(
    out: str | Path, options: IngestOptions, begin: "Callable[[IngestOptions], Ingest]", budget: Budget
) -> GraphStore:
    """The store that an ingest makes, which ``begin`` begins. Its report says, beside what is stored, how much of ``budget`` was spilled."""
    store = _made(out, options, begin)
    store.report["spilled_bytes"] = budget.spilled
    return store


def crew_of(options: IngestOptions) -> Crew:
    return Crew(options.threads or processors(), memory_of(options))


def memory_of(options: IngestOptions) -> int:
    return options.memory or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def budget_of(out: str | Path, options: IngestOptions) -> Budget:
    return Budget(int(memory_of(options) * KEPT_SHARE), Path(out).parent)


def _made(out: str | Path, options: IngestOptions, begin: "Callable[[IngestOptions], Ingest]") -> GraphStore:
    check_out(out, options)
    with Draft(
        out, GRAPH, overwrite=options.overwrite
    ) as draft:  # from now on, so that of two writers one ends at once
        if options.partitioner != "range":
            return _partitioned(draft, options, begin)
        made = begin(options)
        try:
            return made.run(draft)
        finally:
            made.close()


def _partitioned(draft: Draft, options: IngestOptions, begin: "Callable[[IngestOptions], Ingest]") -> GraphStore:
    """The store of a partitioner, by way of one in order of the ids, which stands beside it meanwhile."""
    from csaw.partition.ingestion.partitioners import partitioned

    place = draft.path.with_name(f".{draft.path.name}.csaw-by-range")
    try:
        plain = _made(place, replace(options, partitioner="range", clusters=None, overwrite=True), begin)
        clusters = None if options.clusters is None else partial(_clusters, options)
        return partitioned(plain, draft, options, _partition_bytes(options), clusters)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _partition_bytes(options: IngestOptions) -> int:
    return options.partition_bytes or min(256 << 20, max(memory_of(options) // 8, 1 << 20))


def _clusters(options: IngestOptions, draft: GraphStore) -> tuple[np.ndarray, dict[str, Any]]:
    """The cluster of each vertex, and how they were made."""
    assert options.clusters is not None
    made = {"count": options.clusters, "method": options.method, "seed": options.cluster_seed}
    return make_clusters(draft, options.clusters, options.method, options.cluster_seed), made


def check_out(out: str | Path, options: IngestOptions) -> None:
    folder = Path(out).parent
    if not folder.is_dir():
        raise OptionError(f"{folder} is not a directory; make it first")
    check(Path(out), GRAPH, options.overwrite)


def reader(files: list[str], options: IngestOptions, crew: Crew, budget: Budget, progress: Callable | None) -> Any:
    from csaw.partition.ingestion.text.tables import TableRows, is_table

    def opened(file: str, progress: Callable | None) -> Any:
        return TableRows(file, options) if is_table(file) else TextRows(file, options, crew, progress)

    return (
        opened(files[0], progress)
        if len(files) == 1
        else Several(files, opened, options.directed, crew, budget, progress)
    )


def name_of(files: list[str]) -> str:
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


class Ingest:
    """The passes of one ingest: ``number_ids``, ``deal`` and ``write``, of which another executor has its own."""

    def __init__(
        self, path: str, rows: Any, options: IngestOptions, crew: Crew, budget: Budget, files: Sequence[str] = ()
    ) -> None:
        self.path, self.rows, self.options, self.crew, self.budget = path, rows, options, crew, budget
        self.files, self.memory = files, memory_of(options)
        self.undirected = rows.shape.undirected if options.directed is None else not options.directed
        self.weighted = rows.weighted
        self.raw_rows = self.repeats = 0

    def run(self, out: Draft) -> GraphStore:
        """Make the store."""
        numbering, sample = self.number_ids(out)
        if self.raw_rows == 0:
            raise FormatError(f"{self.path}: no edges found; expected rows 'source target [weight]'")
        entries = self.raw_rows * (2 if self.undirected else 1)
        buckets = Buckets(
            numbering, entries, cuts_of(numbering.vertices, entries, sample), self.crew, undirected=self.undirected,
            drop_loops=self.options.self_loops == "drop", weighted=self.weighted, numbered=self.options.edge_ids,
        )  # fmt: skip
        with stage("sorting edges"):
            self.deal(buckets)
        with stage(WRITING), StoreWriter(
            out, vertices=numbering.vertices, weighted=self.weighted, compression=self.options.compression, crew=self.crew,
            input_rows=self.raw_rows if self.options.edge_ids else None,
        ) as writer:  # fmt: skip
            self.write(writer, buckets)
            report = self._report(buckets, writer)
            return writer.finish(
                directed=not self.undirected,
                vertex_ids=numbering.vertex_ids,
                report=lambda draft: report | {"reciprocity": reciprocity(draft)},
                clusters=None if self.options.clusters is None else partial(_clusters, self.options),
            )

    def number_ids(self, out: Draft) -> tuple[Any, np.ndarray]:
        """Read all rows, and number their ids: the numbering, and dense ids of some of the ends that own entries."""
        self.reading = Reading(
            self.crew, self.budget, strings=self.rows.shape.strings, undirected=self.undirected,
            weighted=self.weighted, reverse=self.options.reverse,
        )  # fmt: skip
        self.reading.read(self.rows)
        self.raw_rows = self.reading.raw.rows
        if (vertices := getattr(self.rows, "vertices", None)) is not None or not self.raw_rows:
            numbering: Any = Unchanged(vertices or 0)
        else:
            with stage("numbering vertices"):
                numbering = self.reading.numbering(self.path)
        return numbering, self.reading.sample(numbering)

    def deal(self, buckets: Buckets) -> None:
        """Deal all edges to the buckets of their rows."""
        self.dealt = Spool(self.budget, self.crew.backlog())
        buckets.fill(self.reading.raw, self.dealt, max(min(PIECE_ROWS, self.memory // 1024), self.raw_rows // MOST_PIECES))  # fmt: skip

    def cuts(self, writer: StoreWriter, degrees: np.ndarray) -> np.ndarray:
        """Where partitions begin, and V at the end. They are cut before repeated edges are merged, so they may end up smaller than planned."""
        indptr = np.concatenate([[0], np.cumsum(degrees)])
        item = writer.id_dtype.itemsize + (4 if self.weighted else 0)
        limit = _partition_bytes(self.options)
        count = partition_count(int(indptr[-1]), indptr.size - 1, item, self.options.partitions, limit)
        return cut_points(indptr, count, self.options.balance)

    def write(self, writer: StoreWriter, buckets: Buckets) -> None:
        """Write the partitions in order."""
        for rows, facts, ends in cut_rows(self._built(buckets), self.cuts(writer, buckets.degrees)):
            writer.extend(rows.indptr, rows.indices, rows.weights, facts, rows.numbers)
            if ends:
                writer.end_partition()
            self.check_repeats(writer)

    def check_repeats(self, writer: StoreWriter) -> None:
        """FormatError where edges are repeated and must not be."""
        if self.options.duplicates == "error" and writer.facts.repeats:
            raise FormatError(
                f"{self.path}: some edges are repeated; pass --duplicates keep, first or sum to accept them"
            )

    def _built(self, buckets: Buckets) -> Iterator[tuple[Rows, Facts]]:
        for rows, facts, merged in buckets.rows(POLICIES[self.options.duplicates], self.path):
            self.repeats += merged
            yield rows, facts

    def close(self) -> None:
        """Let go of temporary files."""
        for name in ("reading", "dealt"):
            if (held := vars(self).get(name)) is not None:
                (held.raw if name == "reading" else held).close()

    def _report(self, buckets: Buckets, writer: StoreWriter) -> dict[str, Any]:
        vertices, degrees, reached = buckets.degrees.size, buckets.degrees, buckets.reached
        report: dict[str, Any] = dict(self.rows.counts)
        if len(self.files) > 1:
            report = {"files": len(self.files), "inputs": list(self.files)} | report
        report |= {
            "header_line": self.rows.shape.header_line, "vertices": vertices, "stored_edges": writer.edges,
            "duplicates": self.repeats // (2 if self.undirected else 1), "duplicates_policy": self.options.duplicates,
            "self_loops": buckets.loops, "self_loops_dropped": buckets.drop_loops, "dead_ends": int((degrees == 0).sum()),
            "isolated": int(((degrees == 0) & ~reached).sum()), "warnings": [*getattr(self.rows, "warnings", []), *_of_weights(writer)],
            "weights": "column" if self.weighted else "none", **({"reversed": True} if self.options.reverse else {}),
        }  # fmt: skip
        declared = self.rows.shape.declared
        found = {"vertices": vertices, "edges": self.rows.counts["edges"]}
        report["header_disagrees"] = {
            k: {"declared": v, "found": found[k]} for k, v in declared.items() if v != found[k]
        }
        return report


def _of_weights(writer: StoreWriter) -> list[str]:
    """What to tell the user of weights that are all equal: one line, or none."""
    if writer.facts.lightest != writer.facts.heaviest:
        return []
    said = "sample with --unweighted, or leave the weights out with --weight-column none: the law is the same, and less is read"
    return [f"all weights are {writer.facts.lightest:g}; {said}"]
