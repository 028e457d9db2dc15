"""Rows of a text file whose ids are numbers."""

import re
import threading
from typing import NamedTuple

import numpy as np

from csaw.partition.errors import FormatError
from csaw.partition.ingestion.columns import named_ends
from csaw.partition.ingestion.text import fast_rows, numbers, odd_rows
from csaw.partition.ingestion.text.cells import WORD, empty_cell, refuse_comma, row_shown
from csaw.partition.ingestion.text.pieces import Bounds, Parser, Piece, ReadRecord
from csaw.partition.ingestion.text.shape import Shape
from csaw.partition.ingestion.text.values import not_of_column, values_of

SHORTEST_ROW = 4  # bytes: two digits, a separator and the end of the line, which the last row may lack
NOT_OF_COLUMN = -1  # a status beside those of numbers: a cell is no number that its edge column holds
RESPELLED = re.compile(rb"(?<![0-9.])(\+[0-9]|-?0[0-9]|-?[0-9]+\.000(?![0-9]))")
WRONG = {
    numbers.NOT_A_NUMBER: (
        "integers as ids, and a number in each other column that csaw reads (if ids are words: --id-type string; if "
        "words follow the ids: --weight-column none)"
    ),
    numbers.TOO_LARGE: "an id of at most 64 bits",
    numbers.QUOTE: "quotes that end before a separator",
}

ODD = re.compile(rb"[\[\](){}<>|=:']|--|\xe2\x86")  # which make no word of a number
WRONG_MARKS = "integers as ids, as in the rows before, and a number in each other column that csaw reads"


class Room(threading.local):
    """Memory into which a thread parses: large arrays that many blocks share, because getting memory in small pages
    costs as much as parsing.
    """

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
    """A block as columns; ``row`` is the first one that is wrong, ``bounds`` None where there are no ids.

    ``respelled``: the line, from 1, and the text of the first id that a number is not written with.
    """

    src: np.ndarray
    dst: np.ndarray
    weights: np.ndarray
    further: tuple[np.ndarray, ...]
    counts: np.ndarray
    row: bytes
    bounds: Bounds | None
    respelled: tuple[int, str] | None


def check_sources(path: str, sources: np.ndarray, shape: Shape) -> None:
    """Raise FormatError where a source has the id of a target to which an offset is added."""
    most, largest = shape.most_sources or shape.offset, int(sources.max(initial=0))
    if largest > most:
        said = "the second line says that there are {} sources" if shape.most_sources else "{} is added to each target"
        raise FormatError(
            f"{path}: {said.format(f'{most:,}')}, and one source is {largest:,}; pass --target-offset N, at least the "
            "largest source, to add N to each target"
        )


def raised(targets: np.ndarray, offset: int) -> np.ndarray:
    """The ids of targets with a number added; FormatError where one gets too large."""
    if targets.size and int(targets.max()) + offset >= 2**63:
        raise FormatError(f"--target-offset {offset}: a target gets an id of 2^63 or more")
    return targets.astype(np.int64) + offset


class NumberRows(Parser[Parsed]):
    """Parses blocks of lines, by any thread, into ``room_bytes`` for each.

    In order, it adds to ``said``, the record of TextRows.
    """

    def __init__(self, path: str, shape: Shape, skip_errors: bool, said: ReadRecord, room_bytes: int) -> None:
        self.path, self.shape, self.skip_errors, self.said = path, shape, skip_errors, said
        self.room, self.weighted, further = Room(room_bytes), shape.read.weight >= 0, shape.read.further
        self.slots = np.full(max(further, default=-1) + 1, -1)
        self.slots[list(further)] = np.arange(len(further))

    def cut(self, block: bytes | memoryview) -> Parsed:
        """The rows of a block."""
        parsed = self._parse_to(np.uint32, block)
        return self._parse_to(np.uint64, block) if parsed.counts[fast_rows.WIDE] else parsed

    def _parse_to(self, dtype: type, block: bytes | memoryview) -> Parsed:
        most = len(block) // SHORTEST_ROW + 1
        src, dst, weights = self.room.take(most, dtype, self.weighted)
        shape, read, counts = self.shape, self.shape.read, np.zeros(fast_rows.COUNTS, np.int64)
        cells = np.empty((len(read.further), 2, most), np.int64)
        first, second = (src, dst) if read.source < read.target else (dst, src)
        whole = block[-1:] == bytes([shape.newline]) or not block
        text = np.frombuffer(block if whole else bytes(block) + bytes([shape.newline]), np.uint8)
        done, rows = self._parse_plain(text, first, second, weights, counts)
        if done < text.size:
            rows = odd_rows.parse_block(
                text,
                done,
                shape.newline,
                ord(shape.separator or b"\0"),
                shape.columns,
                min(read.source, read.target),
                max(read.source, read.target),
                read.weight,
                self.slots,
                self.skip_errors,
                first,
                second,
                weights,
                cells,
                counts,
            )
        self.room.used += rows
        kind = np.int64 if dtype == np.uint64 and not counts[fast_rows.BIG] else dtype
        found = [src[:rows].view(kind), dst[:rows].view(kind), weights[:rows]]
        columns, further = self._further(text, cells[:, :, :rows], found, counts)
        src, dst, weights = columns
        bad = int(counts[fast_rows.ERROR_LINE]) if counts[fast_rows.ERROR] else 0
        row = bytes(block).split(bytes([shape.newline]))[bad - 1] if bad else b""
        bounds = (int(min(src.min(), dst.min())), int(max(src.max(), dst.max()))) if src.size else None
        return Parsed(src, dst, weights, further, counts, row, bounds, self._respelled(block, counts))

    def _respelled(self, block: bytes | memoryview, counts: np.ndarray) -> tuple[int, str] | None:
        """The line of a block that has an id in another spelling than a number's, and this id."""
        ends = (self.shape.read.source, self.shape.read.target)
        if not counts[fast_rows.RESPELLED]:
            return None
        for number, line in enumerate(bytes(block).split(bytes([self.shape.newline])), 1):
            if RESPELLED.search(line) and line.lstrip()[:1] not in (b"#", b"%"):
                row = (
                    line.replace(b'"', b" ").split(self.shape.separator) if self.shape.separator else WORD.findall(line)
                )
                row = [cell.strip(b' "') for cell in row]
                if found := [row[end] for end in ends if end < len(row) and RESPELLED.match(row[end])]:
                    return number, found[0].decode()
        return None

    def _further(
        self, text: np.ndarray, cells: np.ndarray, columns: list[np.ndarray], counts: np.ndarray
    ) -> tuple[list[np.ndarray], tuple[np.ndarray, ...]]:
        """The rows whose cells of edge columns are numbers, and these; ``counts`` say what is wrong with others."""
        if not len(cells):
            return columns, ()
        found = [
            values_of(text, each[0], each[1], column) for each, column in zip(cells, self.shape.further, strict=True)
        ]
        good = np.logical_and.reduce([each for _, each in found])
        if good.all():
            return columns, tuple(values for values, _ in found)
        row = int(np.argmin(good))
        place = next(k for k, (_, each) in enumerate(found) if not each[row])
        if self.skip_errors:
            counts[fast_rows.SKIPPED] += int((~good).sum())
        else:
            line = 1 + int(np.count_nonzero(text[: cells[place, 0, row]] == self.shape.newline))
            counts[[fast_rows.ERROR, fast_rows.ERROR_LINE, fast_rows.ERROR_FOUND]] = NOT_OF_COLUMN, line, place
        return [column[good] if column.size else column for column in columns], tuple(
            values[good] for values, _ in found
        )

    def _parse_plain(
        self, text: np.ndarray, first: np.ndarray, second: np.ndarray, weights: np.ndarray, counts: np.ndarray
    ) -> tuple[int, int]:
        """Parse rows from the begin on by a parser that compiles in a second; the other one takes six.

        Returns (bytes, rows).
        """
        shape, read = self.shape, self.shape.read
        if {read.source, read.target} == {0, 1} and not read.further:
            if read.weight < 0 and shape.columns in (0, 2) and not shape.separator:
                return fast_rows.parse_plain_block(text, shape.newline, first, second, counts)
            if read.weight == 2 and shape.columns == 3:
                separator = ord(shape.separator or b"\0")
                return fast_rows.parse_weighted_block(text, shape.newline, separator, first, second, weights, counts)
        return 0, 0

    def counted(self, parsed: Parsed) -> Piece:
        """The rows of the next block, after what is wrong with them is counted or raised as FormatError."""
        said, counts = self.said, parsed.counts
        line = said.counts["lines"]
        if counts[fast_rows.ERROR]:
            self._raise(parsed.row, line + int(counts[fast_rows.ERROR_LINE]), int(counts[fast_rows.ERROR]), counts)
        if counts[fast_rows.BIG] and counts[fast_rows.NEGATIVE]:
            raise FormatError(
                f"{self.path}: expected ids that fit in one 64-bit type, found some below 0 and "
                "some of 2^63 or more; pass --id-type string"
            )
        for name, at in (("lines", 0), ("comments", 1), ("blank", 2), ("skipped", 4)):
            said.counts[name] += int(counts[at])
        said.counts["edges"] += parsed.src.size
        if parsed.respelled:
            said.respelled = said.respelled.at(line + parsed.respelled[0])
            said.spelling = said.spelling or parsed.respelled[1]
        if counts[fast_rows.BAD_WEIGHTS]:
            said.bad_weights = said.bad_weights.at(
                line + int(counts[fast_rows.WEIGHT_LINE]), int(counts[fast_rows.BAD_WEIGHTS])
            )
        if self.shape.exact and parsed.bounds:
            self._check_bounds(parsed.bounds)
        elif parsed.bounds:
            self._note_ids(parsed.src, parsed.dst, parsed.bounds)
        src, dst, bounds = parsed.src, parsed.dst, parsed.bounds
        if self.shape.offset:
            check_sources(self.path, src, self.shape)
            src, dst, bounds = src.astype(np.int64), raised(dst, self.shape.offset), None
        return Piece(src, dst, ((parsed.weights,) * self.weighted) + parsed.further, bounds)

    def _note_ids(self, src: np.ndarray, dst: np.ndarray, bounds: Bounds) -> None:
        """Note the first edge of the file, and the largest id behind it: they tell whether it is a row of counts."""
        if self.said.first is None:
            self.said.first = int(src[0]), int(dst[0])
            largest = max((int(ids[1:].max()) for ids in (src, dst) if ids.size > 1), default=-1)
        else:
            largest = bounds[1]
        self.said.largest = max(self.said.largest, largest)

    def _raise(self, row: bytes, line: int, status: int, counts: np.ndarray) -> None:
        where = f"{self.path}:{line}"
        if status == numbers.EMPTY:
            raise empty_cell(where, row)
        if status == numbers.COLUMNS:
            raise FormatError(
                f"{where}: expected {self.shape.columns or 'at least 2'} columns, found "
                f"{counts[fast_rows.ERROR_FOUND]}: {row_shown(row)}"
            )
        if status == NOT_OF_COLUMN:
            raise FormatError(f"{where}: {not_of_column(self.shape.further[counts[fast_rows.ERROR_FOUND]], row)}")
        if row.strip() == (self.shape.header_line or "\0").encode() or named_ends(
            re.split(r"[\s,;]+", row.decode("utf-8", "replace"))
        ):
            raise FormatError(
                f"{where}: expected an edge, found a header, {row_shown(row)}, as in joined files; remove it, or "
                "pass --on-error skip"
            )
        refuse_comma(where, row)
        expected = WRONG[status] if status != numbers.NOT_A_NUMBER or not ODD.search(row) else WRONG_MARKS
        raise FormatError(f"{where}: expected {expected}, found {row_shown(row)}")

    def _check_bounds(self, bounds: Bounds) -> None:
        limit, (low, high) = self.shape.declared["vertices"], bounds
        if not 1 <= low <= high <= limit:
            wrong = low if low < 1 else high
            raise FormatError(f"{self.path}: expected indices from 1 to {limit} by its size line, found {wrong}")
