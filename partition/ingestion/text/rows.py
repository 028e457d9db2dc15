"""The rows of a text file as arrays of ids and weights, with counts of all other lines."""

import threading
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from csaw.partition.base.parallel import Crew
from csaw.partition.errors import FormatError
from csaw.partition.ingestion.text import numbers, plain
from csaw.partition.ingestion.text import text as parser
from csaw.partition.ingestion.text.blocks import BLOCK, Blocks
from csaw.partition.ingestion.text.cells import empty_cell, row_shown
from csaw.partition.ingestion.text.ranges import Ranges
from csaw.partition.ingestion.text.records import COUNTED, WHOLE, Recorded, Span
from csaw.partition.ingestion.text.sniff import SAMPLE_ROWS, Shape, first_lines, newline_of, sniff
from csaw.partition.ingestion.text.word_cells import CutRows
from csaw.partition.ingestion.text.word_rows import WordRows

if TYPE_CHECKING:
    from csaw.partition.ingestion.ingest_options import IngestOptions

SHORTEST_ROW = 4  # bytes: two digits, a separator and the end of the line, which the last row may lack
ROOM_BYTES = 32 << 20  # of a thread at most
NUMBER_BYTES, WORD_BYTES = 2, 6  # that a byte of text takes until its rows are taken, with small numbers or short words
WORD_PIECE_BYTES = WORD_BYTES * BLOCK
LONGEST_HEAD = 64 << 20  # comments and blank lines before the first row
WRONG = {
    numbers.NOT_A_NUMBER: "a number in each column that is read (words as ids: --ids string)",
    numbers.TOO_LARGE: "an id of at most 64 bits",
    numbers.QUOTE: "quotes that end before a separator",
}


class Room(threading.local):
    """Memory into which a thread parses: large arrays that many blocks share, because getting memory in small pages costs as much as parsing."""

    used = 0
    dtype: type = np.uint32
    columns: tuple[np.ndarray, ...] = (np.empty(0),)

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes

    def take(self, rows: int, dtype: type, weighted: bool) -> tuple[np.ndarray, ...]:
        """Columns for up to ``rows`` rows; whoever fills them counts what is ``used``."""
        if self.used + rows > self.columns[0].size or dtype != self.dtype:
            size = max(rows, self.nbytes // (2 * np.dtype(dtype).itemsize + 4 * weighted))
            self.used, self.dtype = 0, dtype
            self.columns = (np.empty(size, dtype), np.empty(size, dtype), np.empty(size * weighted, np.float32))
        return tuple(column[self.used : self.used + rows] for column in self.columns)


class Parsed(NamedTuple):
    """A block as columns; ``row`` is the first one that is wrong, ``bounds`` the least and the largest id where there are any."""

    src: np.ndarray
    dst: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    row: bytes
    bounds: tuple[int, int] | None


class TextRows(Recorded):
    """Iterate for (src, dst, weights or None, and of numbers their bounds): uint32, int64, uint64 or, for string ids, lists of bytes.

    ``counts`` is complete afterwards. Whoever reads several files together has threads :meth:`parse` the :meth:`pieces` of each, then calls
    :meth:`checked` with the results in order, and :meth:`end`.
    """

    def __init__(self, path: str, options: "IngestOptions", crew: Crew, progress: Callable | None = None, span: Span = WHOLE) -> None:  # fmt: skip
        self.path, self.skip_errors, self.crew, self.progress = path, options.on_error == "skip", crew, progress
        self.span = span
        self.room = Room(min(ROOM_BYTES, crew.work_bytes // (2 * crew.threads)))
        self.blocks = Blocks(path, progress)
        self.rest = self.blocks.read()
        try:
            self.head = _head(path, self.rest)
            self.shape: Shape = sniff(path, self.head, options)
        except BaseException:
            self.close()
            raise
        self.counts = {"lines": span.lines if span.begin else self.shape.skip_lines} | dict.fromkeys(COUNTED, 0)
        self.bad_weights, self.bad_weight_line = 0, 0
        self.first: tuple[int, int] | None = None
        self.warnings: list[str] = list(self.shape.warnings)
        self.words = WordRows(path, self.shape, self.skip_errors, self.counts, rows_before=span.begin > 0)
        self.ranges: Ranges | None = None

    @property
    def weighted(self) -> bool:
        return self.shape.read.weight >= 0

    @property
    def kind(self) -> dict[str, Any]:
        """What files of one graph must have in common."""
        read, ids = self.shape.read, "words" if self.shape.strings else "numbers"
        places = {
            "source column": read.source + 1,
            "target column": read.target + 1,
            "weight column": read.weight + 1 or "none",
        }
        said = {"direction": "undirected" if self.shape.undirected else "directed"} if self.shape.says_direction else {}
        return {"ids": ids, **places, "columns": self.shape.columns or "any"} | said

    def __iter__(self) -> Iterator[tuple]:
        yield from self.read_pieces()
        self.end()

    def read_pieces(self) -> Iterator[tuple]:
        """The rows, without what can only be said of the whole file."""
        for parsed in self.crew.in_order(self.parse, self.pieces(), WORD_PIECE_BYTES if self.shape.strings else 1):
            yield self.checked(parsed)

    def pieces(self) -> Iterator[tuple]:
        """Blocks, or ranges of a file, that threads read themselves."""
        if self.span.begin == 0:
            yield (self.head[self.shape.skip :],)
        self.head = b""
        if self.blocks.done or not self.blocks.is_plain:
            yield from ((block,) for block in self.rest)
            return
        newline = self.blocks.newline or bytes([self.shape.newline])
        self.ranges = Ranges(self.path, self.blocks.raw.fileno(), self.blocks.given, newline)
        for begin, end in self.ranges.between(self.span.begin, self.span.end):
            yield begin, end
            if self.progress:
                self.progress(end, self.ranges.size)

    def piece_bytes(self, *piece: Any) -> int:
        """How much memory a piece takes until its rows are taken."""
        share = WORD_BYTES if self.shape.strings else NUMBER_BYTES
        return share * (len(piece[0]) if len(piece) == 1 else piece[1] - piece[0])

    def parse(self, *piece: Any) -> "Parsed | CutRows | bytes":
        """A block as columns, or as it is where rows of words are not plain."""
        block = self.ranges.read(*piece) if self.ranges and len(piece) == 2 else piece[0]
        if self.shape.strings:
            return self.words.cut(bytes(block))
        parsed = self._parse_to(np.uint32, block)
        return self._parse_to(np.uint64, block) if parsed.counts[plain.WIDE] else parsed

    def checked(self, parsed: "Parsed | CutRows | bytes") -> tuple:
        """The next block's rows, after what is wrong with them is counted or raised as FormatError."""
        return self._checked(parsed) if isinstance(parsed, Parsed) else self.words.counted(parsed)

    def end(self) -> None:
        """What can only be said of the whole file."""
        self.close()
        if self.shape.strings:
            self.bad_weights, self.bad_weight_line = self.words.bad_weights, self.words.bad_weight_line
            self.warnings += self.words.warnings
        if self.bad_weights and not self.skip_errors:
            raise FormatError(
                f"{self.path}:{self.bad_weight_line}: {self.bad_weights} weights are negative, NaN, infinite or beyond float32, whose positive numbers reach from 1e-45 to 3.4e38, the first on "
                f"this line; mend them, or pass --weight-column none or --on-error skip"
            )
        self._check_counts()

    def close(self) -> None:
        """Let go of the file."""
        self.rest.close()
        self.blocks.close()

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

    def _check_bounds(self, bounds: tuple[int, int]) -> None:
        limit, (low, high) = self.shape.declared["vertices"], bounds
        if not 1 <= low <= high <= limit:
            wrong = low if low < 1 else high
            raise FormatError(f"{self.path}: expected indices from 1 to {limit} by its size line, found {wrong}")

    def _parse_to(self, dtype: type, block: bytes | memoryview) -> Parsed:
        src, dst, weights = self.room.take(len(block) // SHORTEST_ROW + 1, dtype, self.weighted)
        counts = np.zeros(plain.COUNTS, np.int64)
        shape, read = self.shape, self.shape.read
        first, second = (src, dst) if read.source < read.target else (dst, src)
        whole = block[-1:] == bytes([shape.newline]) or not block
        text = np.frombuffer(block if whole else bytes(block) + bytes([shape.newline]), np.uint8)
        done, rows = self._parse_plain(text, first, second, weights, counts)
        if done < text.size:
            rows = parser.parse_block(
                text, done, shape.newline, ord(shape.separator or b"\0"), shape.columns, min(read.source, read.target),
                max(read.source, read.target), read.weight, self.skip_errors, first, second, weights, counts,
            )  # fmt: skip
        self.room.used += rows
        kind = np.int64 if dtype == np.uint64 and not counts[plain.BIG] else dtype
        src, dst = src[:rows].view(kind), dst[:rows].view(kind)
        bad = int(counts[plain.ERROR_LINE]) if counts[plain.ERROR] else 0
        row = bytes(block).split(bytes([shape.newline]))[bad - 1] if bad else b""
        bounds = (int(min(src.min(), dst.min())), int(max(src.max(), dst.max()))) if rows else None
        return Parsed(src, dst, weights[:rows], counts, row, bounds)

    def _parse_plain(
        self, text: np.ndarray, first: np.ndarray, second: np.ndarray, weights: np.ndarray, counts: np.ndarray
    ) -> tuple[int, int]:
        """As many rows as a parser can take that compiles in a second; the other one takes six. Returns (bytes, rows)."""
        shape, read = self.shape, self.shape.read
        if {read.source, read.target} == {0, 1}:
            if read.weight < 0 and shape.columns in (0, 2) and not shape.separator:
                return plain.parse_plain_block(text, shape.newline, first, second, counts)
            if read.weight == 2 and shape.columns == 3:
                separator = ord(shape.separator or b"\0")
                return plain.parse_weighted_block(text, shape.newline, separator, first, second, weights, counts)
        return 0, 0

    def _checked(self, parsed: Parsed) -> tuple:
        line, counts = self.counts["lines"], parsed.counts
        if counts[plain.ERROR]:
            self._raise(parsed.row, line + int(counts[plain.ERROR_LINE]), int(counts[plain.ERROR]), counts)
        if counts[plain.BIG] and counts[plain.NEGATIVE]:
            raise FormatError(f"{self.path}: ids below zero and above 2^63 in one file; pass --ids string")
        for name, at in (("lines", 0), ("comments", 1), ("blank", 2), ("skipped", 4)):
            self.counts[name] += int(counts[at])
        self.counts["edges"] += parsed.src.size
        if counts[plain.BAD_WEIGHTS]:
            self.bad_weight_line = self.bad_weight_line or line + int(counts[plain.WEIGHT_LINE])
            self.bad_weights += int(counts[plain.BAD_WEIGHTS])
        if self.shape.exact and parsed.bounds:
            self._check_bounds(parsed.bounds)
        elif self.first is None and parsed.src.size:
            self.first = int(parsed.src[0]), int(parsed.dst[0])
        return parsed.src, parsed.dst, parsed.weights if self.weighted else None, parsed.bounds

    def _raise(self, row: bytes, line: int, status: int, counts: np.ndarray) -> None:
        where = f"{self.path}:{line}"
        if status == numbers.EMPTY:
            raise empty_cell(where, row)
        if status == numbers.COLUMNS:
            raise FormatError(
                f"{where}: expected {self.shape.columns or 'at least 2'} columns, found {counts[plain.ERROR_FOUND]}: {row_shown(row)}"
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
