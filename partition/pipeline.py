"""Text or tables to a graph store, in three passes over spooled arrays: parse, number and deal to buckets of rows, build rows.

Memory: ``memory`` bounds the spools. On top of it come arrays of the number of vertices (about 40 bytes each) or of the id range, what the
threads have in work (about 100 MiB), and the interpreter with Numba (170 MiB): see docs/tuning.md.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from csaw.partition.buckets import Buckets, Rows, cut_rows
from csaw.partition.errors import FormatError, OptionError
from csaw.partition.ids import StringNumbering, number
from csaw.partition.ingest_options import POLICIES, IngestOptions
from csaw.partition.reciprocity import reciprocity
from csaw.partition.replace import GRAPH, Draft, check
from csaw.partition.rows import TextRows
from csaw.partition.shown import quoted
from csaw.partition.spool import Budget, Spool
from csaw.partition.store import GraphStore
from csaw.partition.write import StoreWriter, cut_points, partition_count

PIECE_ROWS = 1 << 20  # rows dealt to buckets at a time: enough for each bucket to get many
MOST_PIECES = 1 << 12  # of rows; each takes 8 KiB for the places where the buckets begin in it
SAMPLE = 257  # every 257th source is kept, to estimate the lengths of rows


def ingest(
    path: str | Path, out: str | Path, options: IngestOptions, progress: Callable[[int, int], None] | None = None
) -> GraphStore:
    """Make a graph store from an edge list or a table.

    path: the file to read: text, Matrix Market, CSV, Parquet or Arrow, plain or compressed; "-" is standard input.
    out: path of the store to write; it appears under this name when it is complete.
    options: how to read the rows and to lay out the store; see IngestOptions.
    progress: called with the bytes read so far and the size of the file, for text (default: None).

    Returns the open GraphStore; its ``report`` counts what was read, skipped and merged.

    Errors: FormatError with file and line or column for rows that are no edges, or a header that leaves the columns open; OptionError for a
    wrong option; BudgetError where ``memory`` does not suffice; StoreError where ``out`` is there already or cannot be written.
    """
    if not isinstance(path, str | os.PathLike):
        raise OptionError(f"INPUT: expected the path of an edge list or a table, found {quoted(path)}")
    name = os.fsdecode(path)
    _check_out(out, options)
    return ingest_rows(name, _reader(name, options, progress), out, options)


def ingest_rows(name: str, rows: Any, out: str | Path, options: IngestOptions) -> GraphStore:
    """Make the graph store ``out`` from rows in memory.

    ``rows`` yields arrays (src, dst, weights or None), piece by piece, and has ``shape``, ``weighted`` and ``counts`` as TextRows has; errors call it ``name``.
    """
    _check_out(out, options)
    memory = options.memory or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    with Draft(
        out, GRAPH, overwrite=options.overwrite
    ) as draft:  # from now on, so that of two writers one ends at once
        return _Ingest(name, rows, options, memory, Path(out).parent).run(draft)


def _check_out(out: str | Path, options: IngestOptions) -> None:
    folder = Path(out).parent
    if not folder.is_dir():
        raise OptionError(f"{folder} is not a directory; make it first")
    check(Path(out), GRAPH, options.overwrite)


def _reader(path: str, options: IngestOptions, progress: Callable | None) -> Any:
    from csaw.partition.tables import TableRows, is_table

    return TableRows(path, options) if is_table(path) else TextRows(path, options, progress)


class _Ingest:
    def __init__(self, path: str, rows: Any, options: IngestOptions, memory: int, folder: Path) -> None:
        self.path, self.rows, self.options, self.memory = path, rows, options, memory
        self.raw = Spool(Budget(memory // 4, folder))
        self.budget = Budget(memory // 4, folder)
        self.undirected = rows.shape.undirected if options.directed is None else not options.directed
        self.weighted = rows.weighted
        self.samples: list[np.ndarray] = []
        self.repeats = 0

    def run(self, out: Draft) -> GraphStore:
        numbering = self._read()
        entries = self.raw.rows * (2 if self.undirected else 1)
        sample = np.concatenate([numbering.dense(ids) for ids in self.samples])
        buckets = Buckets(
            numbering, entries, sample, undirected=self.undirected, drop_loops=self.options.self_loops == "drop", weighted=self.weighted,
        )  # fmt: skip
        buckets.fill(self.raw, self.budget, max(min(PIECE_ROWS, self.memory // 256), self.raw.rows // MOST_PIECES))
        with StoreWriter(
            out, vertices=numbering.vertices, weighted=self.weighted, compression=self.options.compression
        ) as writer:
            self._write(writer, buckets)
            report = self._report(buckets, writer)
            return writer.finish(
                directed=not self.undirected,
                vertex_ids=numbering.vertex_ids,
                report=lambda draft: report | {"reciprocity": reciprocity(draft)},
            )

    def _read(self) -> Any:
        """Read all rows into the spool and return the numbering of their ids."""
        strings = StringNumbering() if self.rows.shape.strings else None
        low, high, big = 2**64, -(2**63), False
        for src, dst, *weights in self._columns(strings):
            big = big or src.dtype == np.uint64
            low = min(low, int(src.min()), int(dst.min()))
            high = max(high, int(src.max()), int(dst.max()))
            self.samples += [ids[::SAMPLE].copy() for ids in ((src, dst) if self.undirected else (src,))]
            self.raw.append(src, dst, *weights)
        if self.raw.rows == 0:
            raise FormatError(f"{self.path}: no edges found; expected rows 'source target [weight]'")
        if strings is not None:
            strings.finish()
            return strings
        return number(self.raw, [low, high], big, self.path)

    def _columns(self, strings: StringNumbering | None) -> Iterator[tuple[np.ndarray, ...]]:
        for src, dst, weights in self.rows:
            if strings is not None:
                src, dst = strings.provisional(src), strings.provisional(dst)
            if src.size:
                yield src, dst, *([weights] if self.weighted else [])

    def _write(self, writer: StoreWriter, buckets: Buckets) -> None:
        """Write the partitions in order. They were cut before repeated edges are merged, so they may end up smaller than planned."""
        indptr = np.concatenate([[0], np.cumsum(buckets.degrees)])
        item = writer.id_dtype.itemsize + (4 if self.weighted else 0)
        limit = self.options.partition_bytes or min(256 << 20, max(self.memory // 8, 1 << 20))
        count = partition_count(int(indptr[-1]), indptr.size - 1, item, self.options.partitions, limit)
        cuts = cut_points(indptr, count, self.options.balance)
        for rows, ends in cut_rows(self._built(buckets), cuts):
            writer.extend(rows.indptr, rows.indices, rows.weights)
            if ends:
                writer.end_partition()
            if self.options.duplicates == "error" and writer.multigraph:
                raise FormatError(
                    f"{self.path}: some edges are repeated; pass --duplicates keep, first or sum to accept them"
                )

    def _built(self, buckets: Buckets) -> Iterator[Rows]:
        for rows, repeats in buckets.rows(POLICIES[self.options.duplicates], self.path):
            self.repeats += repeats
            yield rows

    def _report(self, buckets: Buckets, writer: StoreWriter) -> dict[str, Any]:
        vertices, degrees, reached = buckets.degrees.size, buckets.degrees, buckets.reached
        report: dict[str, Any] = dict(self.rows.counts)
        report |= {
            "header_line": self.rows.shape.header_line, "vertices": vertices, "stored_edges": writer.edges,
            "duplicates": self.repeats // (2 if self.undirected else 1), "duplicates_policy": self.options.duplicates,
            "self_loops": buckets.loops, "self_loops_dropped": buckets.drop_loops, "dead_ends": int((degrees == 0).sum()),
            "isolated": int(((degrees == 0) & ~reached).sum()), "warnings": list(getattr(self.rows, "warnings", [])),
            "weights": "column" if self.weighted else "none", "spilled_bytes": self.budget.spilled + self.raw.budget.spilled,
        }  # fmt: skip
        declared = self.rows.shape.declared
        found = {"vertices": vertices, "edges": self.rows.counts["edges"]}
        report["header_disagrees"] = {
            k: {"declared": v, "found": found[k]} for k, v in declared.items() if v != found[k]
        }
        return report
