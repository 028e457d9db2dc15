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

from csaw.partition.buckets import Buckets, Rows, cut_rows
from csaw.partition.clusters import make_clusters
from csaw.partition.errors import FormatError, OptionError
from csaw.partition.first_run import compiling_aside
from csaw.partition.ids import Unchanged, number
from csaw.partition.ingest_options import POLICIES, IngestOptions
from csaw.partition.parallel import Crew, processors
from csaw.partition.reciprocity import reciprocity
from csaw.partition.replace import GRAPH, Draft, check
from csaw.partition.rows import WORD_PIECE_BYTES, TextRows
from csaw.partition.several import Several, files_of
from csaw.partition.spool import Budget, Spool
from csaw.partition.stages import WRITING, stage
from csaw.partition.store import GraphStore
from csaw.partition.word_numbers import StringNumbering
from csaw.partition.write import Facts, StoreWriter, cut_points, partition_count

PIECE_ROWS = 1 << 20  # dealt at a time: enough of them for each bucket
MOST_PIECES = 1 << 12  # where the buckets begin in each takes 8 KiB
KEPT_SHARE = 0.7  # of the memory, for spools; threads have the rest in work
SAMPLE = 257  # a source among so many says how large the rows will be


def ingest(
    path: str | Path | Sequence[str | Path],
    out: str | Path,
    options: IngestOptions,
    progress: Callable[[int, int], None] | None = None,
) -> GraphStore:
    """Make the store ``out`` from the edge list or table at ``path``; of a list, and of a folder's files in order of their names, one graph."""
    files = files_of(path)
    _check_out(out, options)
    crew, budget = _crew(options), _budget(out, options)
    with (
        compiling_aside(crew.threads),
        closing(_reader(files, options, crew, budget, progress)) as rows,
        crew,
    ):
        return _ingested(_name(files), rows, out, options, crew, budget, files)


def ingest_rows(name: str, rows: Any, out: str | Path, options: IngestOptions) -> GraphStore:
    """Make the store ``out`` from rows: (src, dst, weights or None) in pieces, with ``shape``, ``weighted`` and ``counts`` as TextRows has.

    Rows that have ``vertices``, a number, are of vertices 0 .. vertices - 1 and keep these ids, with edges or without.
    """
    with _crew(options) as crew, compiling_aside(crew.threads):
        return _ingested(name, rows, out, options, crew, _budget(out, options))


def _crew(options: IngestOptions) -> Crew:
    return Crew(options.threads or processors(), _memory(options))


def _memory(options: IngestOptions) -> int:
    return options.memory or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def _budget(out: str | Path, options: IngestOptions) -> Budget:
    return Budget(int(_memory(options) * KEPT_SHARE), Path(out).parent)


def _ingested(
    name: str, rows: Any, out: str | Path, options: IngestOptions, crew: Crew, budget: Budget, files: Sequence[str] = ()
) -> GraphStore:
    _check_out(out, options)
    with Draft(
        out, GRAPH, overwrite=options.overwrite
    ) as draft:  # from now on, so that of two writers one ends at once
        if options.partitioner != "range":
            return _partitioned(name, rows, draft, options, crew, budget, files)
        made = _Ingest(name, rows, options, crew, budget, files)
        try:
            return made.run(draft)
        finally:
            made.raw.close()
            made.dealt.close()


def _partitioned(name: str, rows: Any, draft: Draft, options: IngestOptions, *more: Any) -> GraphStore:
    """The store of a partitioner, by way of one in order of the ids, which stands beside it meanwhile."""
    from csaw.partition.partitioners import partitioned

    place = draft.path.with_name(f".{draft.path.name}.csaw-by-range")
    try:
        plain = _ingested(
            name, rows, place, replace(options, partitioner="range", clusters=None, overwrite=True), *more
        )
        clusters = None if options.clusters is None else partial(_clusters, options)
        return partitioned(plain, draft, options, _partition_bytes(options), clusters)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _partition_bytes(options: IngestOptions) -> int:
    return options.partition_bytes or min(256 << 20, max(_memory(options) // 8, 1 << 20))


def _clusters(options: IngestOptions, draft: GraphStore) -> tuple[np.ndarray, dict[str, Any]]:
    """The cluster of each vertex, and how they were made."""
    assert options.clusters is not None
    made = {"count": options.clusters, "method": options.method, "seed": options.cluster_seed}
    return make_clusters(draft, options.clusters, options.method, options.cluster_seed), made


def _check_out(out: str | Path, options: IngestOptions) -> None:
    folder = Path(out).parent
    if not folder.is_dir():
        raise OptionError(f"{folder} is not a directory; make it first")
    check(Path(out), GRAPH, options.overwrite)


def _reader(files: list[str], options: IngestOptions, crew: Crew, budget: Budget, progress: Callable | None) -> Any:
    from csaw.partition.tables import TableRows, is_table

    def opened(file: str, progress: Callable | None) -> Any:
        return TableRows(file, options) if is_table(file) else TextRows(file, options, crew, progress)

    return (
        opened(files[0], progress)
        if len(files) == 1
        else Several(files, opened, options.directed, crew, budget, progress)
    )


def _name(files: list[str]) -> str:
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


class Weights:
    """Looks whether all weights of a graph are equal: as long as they are, each is compared with the first."""

    def __init__(self) -> None:
        self.first: np.ndarray | None = None
        self.differ = False

    def see(self, weights: np.ndarray) -> None:
        """Compare the weights of the next rows, float32."""
        if weights.size and not self.differ:
            self.first = weights[:1].copy() if self.first is None else self.first
            self.differ = bool((weights != self.first).any())

    def warnings(self) -> list[str]:
        """What to tell the user: one line, or none."""
        if self.first is None or self.differ:
            return []
        said = "sample with --unweighted, or leave the weights out with --weight-column none: the law is the same, and less is read"
        return [f"all weights are {self.first[0]:g}; {said}"]


class _Ingest:
    def __init__(
        self, path: str, rows: Any, options: IngestOptions, crew: Crew, budget: Budget, files: Sequence[str]
    ) -> None:
        self.files = files
        self.path, self.rows, self.options, self.crew, self.memory = path, rows, options, crew, _memory(options)
        self.budget = budget
        self.raw, self.dealt = (Spool(budget, crew.backlog()) for _ in range(2))
        self.undirected = rows.shape.undirected if options.directed is None else not options.directed
        self.weighted = rows.weighted
        self.samples: list[np.ndarray] = []
        self.repeats = 0
        self.weights = Weights()

    def run(self, out: Draft) -> GraphStore:
        numbering = self._read()
        self.raw_rows = self.raw.rows
        entries = self.raw_rows * (2 if self.undirected else 1)
        sample = np.concatenate([numbering.dense(ids) for ids in self.samples])
        buckets = Buckets(
            numbering, entries, sample, self.crew, undirected=self.undirected, drop_loops=self.options.self_loops == "drop",
            weighted=self.weighted, numbered=self.options.edge_ids,
        )  # fmt: skip
        with stage("sorting edges"):
            buckets.fill(self.raw, self.dealt, max(min(PIECE_ROWS, self.memory // 1024), self.raw.rows // MOST_PIECES))
        with stage(WRITING), StoreWriter(
            out, vertices=numbering.vertices, weighted=self.weighted, compression=self.options.compression, crew=self.crew,
            input_rows=self.raw_rows if self.options.edge_ids else None,
        ) as writer:  # fmt: skip
            self._write(writer, buckets)
            report = self._report(buckets, writer)
            return writer.finish(
                directed=not self.undirected,
                vertex_ids=numbering.vertex_ids,
                report=lambda draft: report | {"reciprocity": reciprocity(draft)},
                clusters=None if self.options.clusters is None else partial(_clusters, self.options),
            )

    def _read(self) -> Any:
        """Read all rows into the spool and return the numbering of their ids."""
        strings = StringNumbering() if self.rows.shape.strings else None
        low, high, big = 2**64, -(2**63), False
        for src, dst, weights, bounds in self._columns(strings):
            big = big or src.dtype == np.uint64
            low, high = min(low, bounds[0]), max(high, bounds[1])
            self.samples += [ids[::SAMPLE].copy() for ids in ((src, dst) if self.undirected else (src,))]
            self.raw.append(src, dst, *([weights] if self.weighted else []))
        self.raw.settle()
        if self.raw.rows == 0:
            raise FormatError(f"{self.path}: no edges found; expected rows 'source target [weight]'")
        if strings is not None:
            strings.finish()
            return strings
        if (vertices := getattr(self.rows, "vertices", None)) is not None:
            return Unchanged(vertices)
        with stage("numbering vertices"):
            return number(self.raw, [low, high], big, self.path, self.crew)

    def _columns(self, strings: StringNumbering | None) -> Iterator[tuple[Any, ...]]:
        rows = self.rows if strings is None else self.crew.in_order(strings.numbered, self.rows, WORD_PIECE_BYTES)
        for src, dst, weights, *bounds in rows:
            if src.size and not (bounds and bounds[0]):
                bounds = [(min(int(src.min()), int(dst.min())), max(int(src.max()), int(dst.max())))]
            if src.size:
                yield (dst, src, weights, bounds[0]) if self.options.reverse else (src, dst, weights, bounds[0])

    def _write(self, writer: StoreWriter, buckets: Buckets) -> None:
        """Write the partitions in order. They were cut before repeated edges are merged, so they may end up smaller than planned."""
        indptr = np.concatenate([[0], np.cumsum(buckets.degrees)])
        item = writer.id_dtype.itemsize + (4 if self.weighted else 0)
        limit = _partition_bytes(self.options)
        count = partition_count(int(indptr[-1]), indptr.size - 1, item, self.options.partitions, limit)
        cuts = cut_points(indptr, count, self.options.balance)
        for rows, facts, ends in cut_rows(self._built(buckets), cuts):
            writer.extend(rows.indptr, rows.indices, rows.weights, facts, rows.numbers)
            if ends:
                writer.end_partition()
            if self.options.duplicates == "error" and writer.multigraph:
                raise FormatError(
                    f"{self.path}: some edges are repeated; pass --duplicates keep, first or sum to accept them"
                )

    def _built(self, buckets: Buckets) -> Iterator[tuple[Rows, Facts]]:
        for rows, facts, merged in buckets.rows(POLICIES[self.options.duplicates], self.path):
            self.repeats += merged
            self.weights.see(rows.weights)
            yield rows, facts

    def _report(self, buckets: Buckets, writer: StoreWriter) -> dict[str, Any]:
        vertices, degrees, reached = buckets.degrees.size, buckets.degrees, buckets.reached
        report: dict[str, Any] = dict(self.rows.counts)
        if len(self.files) > 1:
            report = {"files": len(self.files), "inputs": list(self.files)} | report
        report |= {
            "header_line": self.rows.shape.header_line, "vertices": vertices, "stored_edges": writer.edges,
            "duplicates": self.repeats // (2 if self.undirected else 1), "duplicates_policy": self.options.duplicates,
            "self_loops": buckets.loops, "self_loops_dropped": buckets.drop_loops, "dead_ends": int((degrees == 0).sum()),
            "isolated": int(((degrees == 0) & ~reached).sum()), "warnings": [*getattr(self.rows, "warnings", []), *self.weights.warnings()],
            "weights": "column" if self.weighted else "none", **({"reversed": True} if self.options.reverse else {}), "spilled_bytes": self.budget.spilled,
        }  # fmt: skip
        declared = self.rows.shape.declared
        found = {"vertices": vertices, "edges": self.rows.counts["edges"]}
        report["header_disagrees"] = {
            k: {"declared": v, "found": found[k]} for k, v in declared.items() if v != found[k]
        }
        return report
