"""The rows of a text file as arrays of ids and weights, with counts of all other lines."""

import threading
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from csaw.partition import numbers
from csaw.partition import text as parser
from csaw.partition.blocks import read_blocks
from csaw.partition.cells import empty_cell, row_shown
from csaw.partition.errors import FormatError
from csaw.partition.parallel import in_order
from csaw.partition.sniff import SAMPLE_ROWS, Shape, first_lines, newline_of, sniff
from csaw.partition.word_rows import WordRows

if TYPE_CHECKING:
    from csaw.partition.ingest_options import IngestOptions

SHORTEST_ROW = 4  # bytes: two digits, a separator and the end of the line, which the last row may lack
ROOM_ROWS = 1 << 22
LONGEST_HEAD = 64 << 20  # comments and blank lines before the first row
WRONG = {
    numbers.NOT_A_NUMBER: "a number in each column that is read (words as ids: --ids string)",
    numbers.TOO_LARGE: "an id of at most 64 bits",
    numbers.QUOTE: "quotes that end before a separator",
}


class Room(threading.local):
    """Memory into which a thread parses: large arrays that many blocks share, because getting memory in small pages costs as much as parsing."""

    rows = used = 0
    dtype: type = np.uint32
    columns: tuple[np.ndarray, ...] = ()

    def take(self, rows: int, dtype: type, weighted: bool) -> tuple[np.ndarray, ...]:
        """Columns with room for ``rows`` rows; the caller adds the rows that it fills to ``used``."""
        if self.used + rows > self.rows or dtype != self.dtype:
            self.rows, self.used, self.dtype = max(rows, ROOM_ROWS), 0, dtype
            self.columns = (
                np.empty(self.rows, dtype),
                np.empty(self.rows, dtype),
                np.empty(self.rows * weighted, np.float32),
            )
        return tuple(column[self.used : self.used + rows] for column in self.columns)


class TextRows:
    """Rows of a text file.

    Iterating yields (src, dst, weights or None): ids as uint32, int64 or uint64 [n] or, for strings, lists of bytes. ``counts`` is complete afterwards.
    """

    def __init__(self, path: str, options: "IngestOptions", progress: Callable | None = None) -> None:
        self.path, self.skip_errors, self.room = path, options.on_error == "skip", Room()
        self.blocks = read_blocks(path, progress)
        self.head = _head(path, self.blocks)
        self.shape: Shape = sniff(path, self.head, options)
        self.counts = {"lines": self.shape.skip_lines, "comments": 0, "blank": 0, "edges": 0, "skipped": 0}
        self.bad_weights, self.bad_weight_line = 0, 0
        self.first: tuple[int, int] | None = None
        self.warnings: list[str] = list(self.shape.warnings)

    @property
    def weighted(self) -> bool:
        return self.shape.read.weight >= 0

    def __iter__(self) -> Iterator[tuple]:
        blocks = chain([self.head[self.shape.skip :]], self.blocks)
        self.head = b""
        if self.shape.strings:
            words = WordRows(self.path, self.shape, self.skip_errors, self.counts)
            yield from (words.parse(bytes(block)) for block in blocks)
            self.bad_weights, self.bad_weight_line = words.bad_weights, words.bad_weight_line
            self.warnings += words.warnings
        else:
            yield from (self._checked(*parsed) for parsed in in_order(self._parse, ((block,) for block in blocks)))
        if self.bad_weights and not self.skip_errors:
            raise FormatError(
                f"{self.path}:{self.bad_weight_line}: {self.bad_weights} weights are negative, NaN, infinite or beyond float32, the first on "
                f"this line; mend them, or pass --weight-column none or --on-error skip"
            )
        self._check_counts()

    def _check_counts(self) -> None:
        """Raise FormatError where a Matrix Market file has other counts than it declares; warn about a first row 'vertices edges'."""
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
        shape, read = self.shape, self.shape.read
        first, second = (src, dst) if read.source < read.target else (dst, src)
        rows = parser.parse_block(
            np.frombuffer(block, np.uint8), shape.newline, ord(shape.separator or b"\0"), shape.columns, min(read.source, read.target),
            max(read.source, read.target), read.weight, self.skip_errors, first, second, weights, counts,
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
            raise FormatError(f"{self.path}: the file has ids below zero and ids above 2^63; pass --ids string")
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
        where = f"{self.path}:{line}"
        if status == numbers.EMPTY:
            raise empty_cell(where, row)
        if status == numbers.COLUMNS:
            raise FormatError(
                f"{where}: expected {self.shape.columns or 'at least 2'} columns, found {counts[parser.ERROR_FOUND]}: {row_shown(row)}"
            )
        raise FormatError(f"{where}: expected {WRONG[status]}, found {row_shown(row)}")


def _head(path: str, blocks: Iterator[memoryview]) -> bytes:
    """The first blocks of the file, up to the rows that decide its format."""
    pieces = [bytes(next(blocks, b"")).removeprefix(BOM_UTF8)]
    rows, size = 0, 0
    while pieces[-1] and size < LONGEST_HEAD:
        rows, size = rows + len(first_lines(pieces[-1], newline_of(pieces[-1]))[0]), size + len(pieces[-1])
        if rows >= SAMPLE_ROWS:
            break
        pieces.append(bytes(next(blocks, b"")))
    if pieces[-1] and rows == 0:
        raise FormatError(f"{path}: no row in its first {size:,} bytes; expected rows 'source target [weight]'")
    return b"".join(pieces)
