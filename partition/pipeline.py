"""Text or tables to a graph store, in three passes over spooled arrays: parse, number and deal by row range, build rows.

Memory: ``memory`` bounds spools and rows in work; on top of it come arrays of the number of vertices (17 bytes each) or of the id range, the
parser's blocks (about 100 MiB) and the interpreter.
"""

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from csaw.partition.csr import FIRST, KEEP, SUM, build_rows, count_degrees, deal
from csaw.partition.errors import BudgetError, FormatError, OptionError
from csaw.partition.ids import StringNumbering, number
from csaw.partition.reciprocity import reciprocity
from csaw.partition.rows import TextRows
from csaw.partition.spool import Budget, Spool
from csaw.partition.store import GraphStore
from csaw.partition.write import StoreWriter, cut_points, partition_count

POLICIES = {"keep": KEEP, "first": FIRST, "error": KEEP, "sum": SUM}
CHOICES = {
    "ids": ("auto", "int", "string"),
    "duplicates": tuple(POLICIES),
    "self_loops": ("keep", "drop"),
    "on_error": ("stop", "skip"),
    "balance": ("edges", "vertices"),
    "compression": (None, "lz4"),
}
RANGES = 32  # row ranges that are built at a time by several threads


@dataclass(frozen=True)
class IngestOptions:
    """How to read; the defaults do what a SNAP user expects."""

    directed: bool | None = None  # None: by the header, else directed
    ids: str = "auto"  # auto | int | string
    weight_column: str = "auto"  # auto (the third of three) | none | N, counted from 1
    duplicates: str = "first"  # keep | first | sum | error
    self_loops: str = "keep"  # keep | drop
    on_error: str = "stop"  # stop | skip
    partitions: int | None = None
    partition_bytes: int | None = None
    balance: str = "edges"  # edges | vertices
    compression: str | None = None  # None | lz4
    memory: int | None = None  # bytes; None: a quarter of the machine
    overwrite: bool = False
    source_column: str | None = None  # tables: column names
    target_column: str | None = None
    skip_lines: int = 0  # of text, before anything is read: a first line "vertices edges"

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise OptionError(
                    f"--{name.replace('_', '-')}: expected {', '.join(map(str, choices))}, found {getattr(self, name)!r}"
                )
        if self.weight_column.lstrip("-").isdigit() and int(self.weight_column) < 3:
            raise OptionError(
                f"--weight-column: expected a number from 3 (columns 1 and 2 are the ends of the edge), found {self.weight_column}"
            )
        if self.skip_lines < 0:
            raise OptionError(f"--skip-lines: expected at least 0, found {self.skip_lines}")
        if self.partition_bytes is not None and self.partition_bytes < 1:
            raise OptionError(f"--partition-size: expected at least 1 byte, found {self.partition_bytes}")
        if self.partitions is not None and self.partitions < 1:
            raise OptionError(f"--partitions: expected at least 1, found {self.partitions}")
        if self.memory is not None and self.memory < 16 << 20:
            raise BudgetError(f"--memory: expected at least 16MiB, found {self.memory:,} bytes")


def ingest(
    path: str, out: str | Path, options: IngestOptions, progress: Callable[[int, int], None] | None = None
) -> GraphStore:
    """Make the store ``out`` from the edge list or table at ``path``."""
    _check_out(out, options)
    return ingest_rows(path, _reader(path, options, progress), out, options)


def ingest_rows(name: str, rows: Any, out: str | Path, options: IngestOptions) -> GraphStore:
    """Make the store ``out`` from rows: (src, dst, weights or None) in pieces, with ``shape``, ``weighted`` and ``counts`` as TextRows has."""
    _check_out(out, options)
    memory = options.memory or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    return _Ingest(name, rows, options, memory, Path(out).parent).run(out)


def _check_out(out: str | Path, options: IngestOptions) -> None:
    folder = Path(out).parent
    if not folder.is_dir():
        raise OptionError(f"{folder} is not a directory; make it first")
    if Path(out).exists() and not options.overwrite:
        raise OptionError(f"{out} exists; choose another name or pass --overwrite")


def _reader(path: str, options: IngestOptions, progress: Callable | None) -> Any:
    from csaw.partition.tables import TableRows, is_table

    if is_table(path, options):
        return TableRows(path, options)
    return TextRows(path, options.ids, options.weight_column, options.on_error == "skip", progress, options.skip_lines)


class _Ingest:
    def __init__(self, path: str, rows: Any, options: IngestOptions, memory: int, folder: Path) -> None:
        self.path, self.rows, self.options, self.memory = path, rows, options, memory
        self.raw = Spool(Budget(memory // 4, folder))
        self.budget = Budget(memory // 4, folder)
        self.undirected = rows.shape.undirected if options.directed is None else not options.directed
        self.drop = options.self_loops == "drop"
        self.weighted = rows.weighted
        self.repeats = 0

    def run(self, out: str | Path) -> GraphStore:
        numbering = self._read()
        degrees, reached = np.zeros(numbering.vertices, np.int64), np.zeros(numbering.vertices, np.bool_)
        mapped = Spool(self.budget)
        loops = 0
        for src, dst, *weights in self.raw:
            a, b = numbering.dense(src), numbering.dense(dst)
            loops += count_degrees(a, b, self.undirected, self.drop, degrees, reached)
            mapped.append(a, b, *weights)
        self.raw.close()
        with StoreWriter(out, vertices=numbering.vertices, weighted=self.weighted, compression=self.options.compression,
                         overwrite=self.options.overwrite) as writer:  # fmt: skip
            self._write(writer, mapped, degrees, numbering)
            report = self._report(loops, degrees, reached, writer)
            return writer.finish(
                directed=not self.undirected,
                vertex_ids=numbering.vertex_ids,
                report=lambda draft: report | {"reciprocity": reciprocity(draft)},
            )

    def _read(self) -> Any:
        """All rows into the spool, and the numbering of their ids."""
        strings = StringNumbering() if self.rows.shape.strings else None
        low, high, big = 2**64, -(2**63), False
        for src, dst, weights in self.rows:
            if strings is not None:
                src, dst = strings.provisional(src), strings.provisional(dst)
            if src.size == 0:
                continue
            big = big or src.dtype == np.uint64
            low = min(low, int(src.min()), int(dst.min()))
            high = max(high, int(src.max()), int(dst.max()))
            self.raw.append(src, dst, *([weights] if self.weighted else []))
        if self.raw.rows == 0:
            raise FormatError(f"{self.path}: no edges found; expected rows 'source target [weight]'")
        if strings is not None:
            strings.finish()
            return strings
        return number(self.raw, [low, high], big, self.path)

    def _write(self, writer: StoreWriter, mapped: Spool, degrees: np.ndarray, numbering: Any) -> None:
        """Partitions in order, each from row ranges that threads build side by side."""
        indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
        item = numbering.dtype.itemsize + (4 if self.weighted else 0)
        limit = self.options.partition_bytes or min(256 << 20, max(self.memory // 8, 1 << 20))
        count = partition_count(int(indptr[-1]), degrees.size, item, self.options.partitions, limit)
        cuts = cut_points(indptr, count, self.options.balance)
        ranges = [
            cut_points(indptr[a : b + 1] - indptr[a], -(-RANGES // count))[:-1] + a for a, b in itertools.pairwise(cuts)
        ]
        firsts = np.unique(np.concatenate(ranges))
        spools = self._deal(mapped, firsts, degrees.size, numbering.dtype)
        ends = np.append(firsts[1:], degrees.size)
        with ThreadPoolExecutor(2) as threads:
            for a, b in itertools.pairwise(cuts):
                inside = [k for k in range(firsts.size) if a <= firsts[k] < b]
                work = [(spools[k], int(firsts[k]), int(ends[k]), numbering.dtype) for k in inside]
                self._add_partition(writer, list(threads.map(self._build, work)))

    def _deal(self, mapped: Spool, firsts: np.ndarray, vertices: int, dtype: np.dtype) -> list[Spool]:
        bucket_of = np.repeat(np.arange(firsts.size), np.diff(np.append(firsts, vertices))).astype(np.uint32)
        spools = [Spool(self.budget) for _ in range(firsts.size)]
        ends = np.zeros(firsts.size + 1, np.int64)
        empty = np.empty(0, np.float32)
        for src, dst, *weights in mapped:
            room = src.size * (2 if self.undirected else 1)
            a, b = np.empty(room, dtype), np.empty(room, dtype)
            w = np.empty(room if self.weighted else 0, np.float32)
            deal(
                src,
                dst,
                weights[0] if weights else empty,
                self.undirected,
                self.drop,
                bucket_of,
                firsts.size,
                a,
                b,
                w,
                ends,
            )
            for k, spool in enumerate(spools):
                cut = slice(ends[k], ends[k + 1])
                if ends[k + 1] > ends[k]:
                    spool.append(a[cut].copy(), b[cut].copy(), *([w[cut].copy()] if self.weighted else []))
        mapped.close()
        return spools

    def _build(self, work: tuple[Spool, int, int, np.dtype]) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """One row range as CSR; frees its spool."""
        spool, first, last, dtype = work
        empty = np.empty(0, np.float32)
        src, dst, *weights = spool.columns() if spool.rows else (np.empty(0, dtype), np.empty(0, dtype), empty)
        spool.close()
        indptr, indices = np.empty(last - first + 1, np.int64), np.empty(src.size, dtype)
        kept_weights = np.empty(src.size if self.weighted else 0, np.float32)
        given = weights[0] if self.weighted else empty
        policy = POLICIES[self.options.duplicates]

        kept, repeats = build_rows(src, dst, given, first, last - first, policy, indptr, indices, kept_weights)
        if policy == SUM and not np.isfinite(kept_weights[:kept]).all():
            raise FormatError(
                f"{self.path}: weights of a repeated edge add up beyond float32; scale them down, or pass --duplicates first"
            )
        return indptr, indices[:kept], kept_weights[:kept], repeats

    def _add_partition(self, writer: StoreWriter, built: list) -> None:
        offsets = np.cumsum([0] + [int(b[0][-1]) for b in built])
        indptr = np.concatenate([[0]] + [b[0][1:] + o for b, o in zip(built, offsets, strict=False)])
        indices = np.concatenate([b[1] for b in built])
        weights = np.concatenate([b[2] for b in built]) if self.weighted else None
        self.repeats += sum(b[3] for b in built)
        writer.add(indptr, indices, weights)
        if self.options.duplicates == "error" and writer.multigraph:
            raise FormatError(
                f"{self.path}: some edges are there twice; --duplicates keep, first or sum says what to do with them"
            )

    def _report(self, loops: int, degrees: np.ndarray, reached: np.ndarray, writer: StoreWriter) -> dict[str, Any]:
        vertices = degrees.size
        report: dict[str, Any] = dict(self.rows.counts)
        report |= {
            "header_line": self.rows.shape.header_line, "vertices": vertices, "stored_edges": writer.edges,
            "duplicates": self.repeats // (2 if self.undirected else 1), "duplicates_policy": self.options.duplicates,
            "self_loops": loops, "self_loops_dropped": self.drop, "dead_ends": int((degrees == 0).sum()),
            "isolated": int(((degrees == 0) & ~reached).sum()), "warnings": list(getattr(self.rows, "warnings", [])),
            "weights": "column" if self.weighted else "none", "spilled_bytes": self.budget.spilled + self.raw.budget.spilled,
        }  # fmt: skip
        declared = self.rows.shape.declared
        found = {"vertices": vertices, "edges": self.rows.counts["edges"]}
        report["header_disagrees"] = {
            k: {"declared": v, "found": found[k]} for k, v in declared.items() if v != found[k]
        }
        return report
