"""Graphs made here: ``karate`` and ``rmat:scale=20,edge_factor=16,seed=1``, as a store or as SNAP text."""

import gzip
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from csaw.partition.errors import OptionError
from csaw.partition.pipeline import IngestOptions, ingest_rows
from csaw.partition.sniff import Shape
from csaw.partition.store import GraphStore

BLOCK = 1 << 20
KARATE = (  # Zachary, Journal of Anthropological Research 33 (1977), numbered from 1: each vertex with its higher neighbors
    (1, (2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 18, 20, 22, 32)), (2, (3, 4, 8, 14, 18, 20, 22, 31)),
    (3, (4, 8, 9, 10, 14, 28, 29, 33)), (4, (8, 13, 14)), (5, (7, 11)), (6, (7, 11, 17)), (7, (17,)), (9, (31, 33, 34)), (10, (34,)),
    (14, (34,)), (15, (33, 34)), (16, (33, 34)), (19, (33, 34)), (20, (34,)), (21, (33, 34)), (23, (33, 34)),
    (24, (26, 28, 30, 33, 34)), (25, (26, 28, 32)), (26, (32,)), (27, (30, 34)), (28, (34,)), (29, (32, 34)), (30, (33, 34)),
    (31, (33, 34)), (32, (33, 34)), (33, (34,)),
)  # fmt: skip


@dataclass(frozen=True)
class Rmat:
    """An R-MAT graph: 2^scale vertices, edge_factor * 2^scale draws; repeats are merged and self loops dropped."""

    scale: int = 16
    edge_factor: int = 16
    seed: int = 1
    a: float = 0.57
    b: float = 0.19
    c: float = 0.19
    d: float = 0.05
    undirected: int = 1
    weights: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.scale <= 31:
            raise OptionError(f"rmat: scale: expected 1 to 31, found {self.scale}")
        if self.edge_factor < 1:
            raise OptionError(f"rmat: edge_factor: expected at least 1, found {self.edge_factor}")
        if abs(self.a + self.b + self.c + self.d - 1) > 1e-9 or min(self.a, self.b, self.c, self.d) < 0:
            raise OptionError(f"rmat: expected a + b + c + d = 1, found {self.a + self.b + self.c + self.d}")


def parse_spec(spec: str) -> Rmat:
    """``rmat:scale=20,seed=1`` as its parameters."""
    known = {f.name: f.type for f in fields(Rmat)}
    values: dict[str, Any] = {}
    for item in filter(None, spec.removeprefix("rmat:").split(",")):
        name, _, text = item.partition("=")
        if name not in known:
            raise OptionError(f"{spec}: no parameter {name!r}; there are {', '.join(known)}")
        try:
            values[name] = float(text) if name in "abcd" else int(text)
        except ValueError as error:
            raise OptionError(f"{spec}: {name}: expected a number, found {text!r}") from error
    return Rmat(**values)


class RmatRows:
    """An R-MAT graph as rows for the ingest; isolated vertices are left out, as in an edge list."""

    def __init__(self, rmat: Rmat) -> None:
        self.rmat, self.total = rmat, rmat.edge_factor << rmat.scale
        self.shape, self.weighted = Shape(undirected=bool(rmat.undirected)), bool(rmat.weights)
        self.counts = {"lines": 0, "comments": 0, "blank": 0, "edges": self.total, "skipped": 0}

    def __iter__(self) -> Iterator[tuple]:
        with ThreadPoolExecutor(2) as threads:
            yield from threads.map(self._block, range(0, self.total, BLOCK))

    def _block(self, first: int) -> tuple:
        from csaw.datasets.rmat import edges, symmetric_weights

        r = self.rmat
        count = min(BLOCK, self.total - first)
        src, dst = np.empty(count, np.uint32), np.empty(count, np.uint32)
        limits = [np.uint64(x * 2**32) for x in (r.a, r.a + r.b, r.a + r.b + r.c)]
        edges(r.scale, np.uint64(r.seed), first, count, *limits, src, dst)
        weights = np.empty(count, np.float32) if self.weighted else None
        if weights is not None:
            symmetric_weights(src, dst, np.uint64(r.seed), weights)
        return src.astype(np.int64), dst.astype(np.int64), weights


class KarateRows:
    """Zachary's karate club, 34 vertices and 78 edges."""

    shape, weighted = Shape(undirected=True), False
    counts: ClassVar = {"lines": 78, "comments": 0, "blank": 0, "edges": 78, "skipped": 0}

    def __iter__(self) -> Iterator[tuple]:
        pairs = np.array([(u, v) for u, row in KARATE for v in row], np.int64)
        yield pairs[:, 0], pairs[:, 1], None


def rows_of(spec: str) -> Any:
    return KarateRows() if spec == "karate" else RmatRows(parse_spec(spec))


def generate(spec: str, out: str | Path, *, partitions: int | None = None, overwrite: bool = False) -> GraphStore:
    """The graph of ``spec`` as the store ``out``."""
    options = IngestOptions(self_loops="drop", partitions=partitions, overwrite=overwrite)
    return ingest_rows(spec, rows_of(spec), out, options)


def write_text(spec: str, out: str | Path) -> int:
    """The graph of ``spec`` as a SNAP edge list, one row a draw, gzip when so named; returns the rows."""
    rows = rows_of(spec)
    kind = "Undirected" if rows.shape.undirected else "Directed"
    written = 0
    draft = Path(f"{out}.partial")
    with gzip.GzipFile(draft, "wb", mtime=0) if str(out).endswith(".gz") else open(draft, "wb") as file:
        file.write(f"# {kind} graph: {spec}\n# FromNodeId\tToNodeId{'	Weight' if rows.weighted else ''}\n".encode())
        for src, dst, weights in rows:
            columns = [src, dst] + ([weights] if weights is not None else [])
            lines = zip(*(c.tolist() for c in columns), strict=True)
            file.write("".join("\t".join(map(str, line)) + "\n" for line in lines).encode())
            written += src.size
    draft.replace(out)
    return written
