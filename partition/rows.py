"""Rows of a text file as arrays of ids and weights, with everything counted that is not a row."""

import threading
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np

from csaw.partition import text as parser
from csaw.partition.blocks import read_blocks
from csaw.partition.errors import FormatError
from csaw.partition.parallel import in_order
from csaw.partition.sniff import Shape, sniff

SHORTEST_ROW = 4  # bytes: two digits, a separator and the end of the line, which the last row may lack
ROOM_ROWS = 1 << 22
WRONG = {parser.NOT_A_NUMBER: "a number", parser.TOO_LARGE: "an id of at most 64 bits"}


class Room(threading.local):
    """Where a thread parses to: large arrays that many blocks share, because memory in small pages costs as much as the parsing."""

    rows = used = 0
    dtype: type = np.uint32
    columns: tuple[np.ndarray, ...] = ()

    def take(self, rows: int, dtype: type, weighted: bool) -> tuple[np.ndarray, ...]:
        """Columns for up to ``rows`` rows; whoever fills them counts what is ``used``."""
        if self.used + rows > self.rows or dtype != self.dtype:
            self.rows, self.used, self.dtype = max(rows, ROOM_ROWS), 0, dtype
            self.columns = (
                np.empty(self.rows, dtype),
                np.empty(self.rows, dtype),
                np.empty(self.rows * weighted, np.float32),
            )
        return tuple(column[self.used : self.used + rows] for column in self.columns)


class TextRows:
    """Iterate for (src, dst, weights or None): uint32, int64, uint64 or, for string ids, lists of bytes. ``counts`` is complete afterwards."""

    def __init__(
        self, path: str, ids: str, weight_column: str, skip_errors: bool, progress: Callable | None, skip_lines: int = 0
    ) -> None:
        self.path, self.skip_errors, self.room = path, skip_errors, Room()
        self.blocks = read_blocks(path, progress)
        head = bytes(next(self.blocks, b"")).removeprefix(BOM_UTF8)
        self.head = head
        self.shape: Shape = sniff(path, head, ids, skip_lines)
        self.weight_column = self._weight_column(weight_column)
        self.counts = {"lines": self.shape.skip_lines, "comments": 0, "blank": 0, "edges": 0, "skipped": 0}
        self.bad_weights, self.bad_weight_line = 0, 0
        self.first: tuple[int, int] | None = None
        self.warnings: list[str] = []

    @property
    def weighted(self) -> bool:
        return self.weight_column >= 0

    def _weight_column(self, choice: str) -> int:
        if choice == "none":
            self.shape.columns = 0
            return -1
        if choice != "auto":
            self.shape.columns = 0
            return int(choice) - 1
        if self.shape.named_weight > 0:
            return self.shape.named_weight
        return 2 if self.shape.columns == 3 else -1

    def __iter__(self) -> Iterator[tuple]:
        blocks = chain([self.head[self.shape.skip :]], self.blocks)
        self.head = b""
        if self.weight_column < 0 and self.shape.columns > 3:
            raise FormatError(
                f"{self.path}: expected 2 or 3 columns, found {self.shape.columns}; say which holds weights with --weight-column N, or none"
            )
        if self.shape.strings:
            yield from (self._strings(bytes(block)) for block in blocks)
        else:
            yield from (self._checked(*parsed) for parsed in in_order(self._parse, ((block,) for block in blocks)))
        if self.bad_weights and not self.skip_errors:
            raise FormatError(
                f"{self.path}:{self.bad_weight_line}: {self.bad_weights} weights are negative, NaN, infinite or beyond float32, the first on "
                f"this line; mend them, or pass --weight-column none or --on-error skip"
            )
        self._check_counts()

    def _check_counts(self) -> None:
        """A Matrix Market file must hold what it declares; a first row 'vertices edges' is worth a warning."""
        rows, declared = self.counts["edges"] + self.counts["skipped"], self.shape.declared
        if self.shape.exact and rows != declared["edges"]:
            raise FormatError(
                f"{self.path}: expected {declared['edges']} entries by its size line, found {rows}; fetch the file again"
            )
        if self.first and rows > 2 and self.first[1] == rows - 1:
            self.warnings.append(
                f"the first row, {self.first[0]} {self.first[1]}, looks like counts of vertices and edges; if so, pass --skip-lines 1"
            )

    def _check_bounds(self, *ends: np.ndarray) -> None:
        limit = self.shape.declared["vertices"]
        for ids in ends:
            if ids.size and not 1 <= int(ids.min()) <= int(ids.max()) <= limit:
                wrong = int(ids.min()) if ids.min() < 1 else int(ids.max())
                raise FormatError(f"{self.path}: expected indices from 1 to {limit} by its size line, found {wrong}")

    def _parse(self, block: bytes | memoryview) -> tuple:
        columns, counts = self._parse_to(np.uint32, block)
        if counts[parser.WIDE]:
            columns, counts = self._parse_to(np.uint64, block)
        return block, *columns, counts

    def _parse_to(self, dtype: type, block: bytes | memoryview) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        src, dst, weights = self.room.take(len(block) // SHORTEST_ROW + 1, dtype, self.weighted)
        counts = np.zeros(parser.COUNTS, np.int64)
        columns = self.shape.columns if self.shape.columns in (2, 3) else 0
        rows = parser.parse_block(
            np.frombuffer(block, np.uint8), self.shape.newline, columns, self.weight_column, self.skip_errors,
            src, dst, weights, counts,
        )  # fmt: skip
        self.room.used += rows
        kind = np.int64 if dtype == np.uint64 and not counts[parser.BIG] else dtype
        return (src[:rows].view(kind), dst[:rows].view(kind), weights[:rows]), counts

    def _checked(
        self, block: bytes | memoryview, src: np.ndarray, dst: np.ndarray, weights: np.ndarray, counts: np.ndarray
    ) -> tuple:
        line = self.counts["lines"]
        if counts[parser.ERROR]:
            self._raise(block, line + int(counts[parser.ERROR_LINE]), int(counts[parser.ERROR]), counts)
        if counts[parser.BIG] and counts[parser.NEGATIVE]:
            raise FormatError(f"{self.path}: ids below zero and above 2^63 in one file; pass --ids string")
        for name, at in (("lines", 0), ("comments", 1), ("blank", 2), ("skipped", 4)):
            self.counts[name] += int(counts[at])
        self.counts["edges"] += src.size
        if counts[parser.BAD_WEIGHTS]:
            self.bad_weight_line = self.bad_weight_line or line + int(counts[parser.WEIGHT_LINE])
            self.bad_weights += int(counts[parser.BAD_WEIGHTS])
        if self.shape.exact:
            self._check_bounds(src, dst)
        elif self.first is None and src.size:
            self.first = int(src[0]), int(dst[0])
        return src, dst, weights if self.weighted else None

    def _raise(self, block: bytes | memoryview, line: int, status: int, counts: np.ndarray) -> None:
        row = bytes(block).split(bytes([self.shape.newline]))[int(counts[parser.ERROR_LINE]) - 1]
        shown = row[:60].decode("utf-8", "replace").strip()
        if status == parser.COLUMNS:
            need = self.weight_column + 1 if self.weight_column > 1 else 0
            want = str(self.shape.columns) if self.shape.columns else f"at least {need}" if need else "2 or 3"
            if b",," in row or b";;" in row:
                raise FormatError(f"{self.path}:{line}: expected a value between two separators, found {shown!r}")
            raise FormatError(
                f"{self.path}:{line}: expected {want} columns, found {counts[parser.ERROR_FOUND]}: {shown!r}"
            )
        raise FormatError(f"{self.path}:{line}: expected {WRONG[status]}, found {shown!r}")

    def _strings(self, block: bytes) -> tuple:
        sources, targets, weights = [], [], []
        for line in block.split(bytes([self.shape.newline])):
            self.counts["lines"] += 1
            row = line.strip()
            if not row:
                self.counts["blank"] += 1
            elif row[:1] in b"#%":
                self.counts["comments"] += 1
            else:
                words = [w.strip() for w in (row.split(self.shape.separator) if self.shape.separator else row.split())]
                if len(words) < max(2, self.weight_column + 1) or (
                    self.shape.columns and len(words) != self.shape.columns
                ):
                    self._bad_row(
                        f"expected {self.shape.columns or '2 or 3'} columns, found {len(words)}: {row[:60].decode('utf-8', 'replace')!r}"
                    )
                    continue
                weight = self._string_weight(words)
                if weight is None:
                    continue
                sources.append(words[0])
                targets.append(words[1])
                weights.append(weight)
        if block.endswith(bytes([self.shape.newline])):
            self.counts["lines"] -= 1
            self.counts["blank"] -= 1
        self.counts["edges"] += len(sources)
        return sources, targets, np.array(weights, np.float32) if self.weighted else None

    def _string_weight(self, words: list[bytes]) -> float | None:
        if not self.weighted:
            return 1.0
        try:
            weight = float(words[self.weight_column])
        except ValueError:
            self._bad_row(
                f"expected a number as weight, found {words[self.weight_column].decode('utf-8', 'replace')!r}"
            )
            return None
        if not 0.0 <= weight <= float(np.finfo(np.float32).max):
            self.bad_weights += 1
            self.bad_weight_line = self.bad_weight_line or self.counts["lines"]
            return None
        return weight

    def _bad_row(self, what: str) -> None:
        if not self.skip_errors:
            raise FormatError(f"{self.path}:{self.counts['lines']}: {what}")
        self.counts["skipped"] += 1
