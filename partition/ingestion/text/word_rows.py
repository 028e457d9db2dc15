"""Rows of a text file whose ids are words."""

import re

import numpy as np

from csaw.partition.errors import FormatError
from csaw.partition.graph.given_arrays import LEAST_DOUBLE, are_weights
from csaw.partition.ingestion.text.cells import (
    cells,
    empty_cell,
    fitted,
    is_blank,
    refuse_comma,
    refuse_mark,
    row_shown,
)
from csaw.partition.ingestion.text.fast_rows import BLANK, LINES, ROWS
from csaw.partition.ingestion.text.pieces import Parser, Piece, ReadRecord
from csaw.partition.ingestion.text.shape import Shape
from csaw.partition.ingestion.text.values import not_of_column, value_of, values_of
from csaw.partition.ingestion.text.word_cells import CutRows, cut_rows

POSITIVE = re.compile(rb"[^eE]*[1-9]")  # a number with such digits is 0 only because no double is as small


class WordRows(Parser[CutRows | bytes]):
    """Parses blocks of lines in order, and adds to ``said``, the record of TextRows."""

    def __init__(self, path: str, shape: Shape, skip_errors: bool, said: ReadRecord, rows_before: bool = False) -> None:
        self.path, self.shape, self.skip_errors, self.said = path, shape, skip_errors, said
        self.has_rows = rows_before or shape.header_line is not None
        self.last = shape.read.last

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of lines by what they are."""
        return self.said.counts

    def cut(self, given: bytes | memoryview) -> CutRows | bytes:
        """The rows of a block, cut by any thread; the block itself where not all of them are plain."""
        shape, block = self.shape, bytes(given)
        if shape.separator is None:
            return block
        places = (shape.read.source, shape.read.target, shape.read.weight, *shape.read.further)
        return cut_rows(block, shape.newline, ord(shape.separator), shape.columns, places) or block

    def counted(self, given: CutRows | bytes) -> Piece:
        """The rows of the next block."""
        if isinstance(given, bytes):
            return self.parse(given)
        further = [
            values_of(cells.text, cells.starts, cells.starts + cells.sizes, column)
            for cells, column in zip(given.further, self.shape.further, strict=True)
        ]
        if not all(good.all() for _, good in further):
            return self.parse(given.sources.text.tobytes())
        self.counts["lines"] += int(given.counts[LINES])
        self.counts["blank"] += int(given.counts[BLANK])
        self.counts["edges"] += int(given.counts[ROWS])
        self.has_rows = self.has_rows or given.counts[ROWS] > 0
        weights = (given.weights,) * (self.shape.read.weight >= 0)
        return Piece(given.sources, given.targets, (*weights, *(values for values, _ in further)))

    def parse(self, block: bytes) -> Piece:
        """The same, line by line."""
        source, target, column = self.shape.read.source, self.shape.read.target, self.shape.read.weight
        sources, targets, weights, further = [], [], [], list[list[int | float]]()
        lines = block.split(bytes([self.shape.newline]))
        if b"\0" in block:
            number = self.counts["lines"] + 1 + next(k for k, line in enumerate(lines) if b"\0" in line)
            raise FormatError(f"{self.path}:{number}: expected text, found a byte of value 0")
        if not lines[-1]:
            lines.pop()
        for line in lines:
            self.counts["lines"] += 1
            row = self._row(line)
            if row is None:
                continue
            weight = 1.0 if column < 0 else self._weight(row[column], line)
            if weight is None or (others := self._further(row, line)) is None:
                continue
            further.append(others)
            sources.append(row[source])
            targets.append(row[target])
            weights.append(weight)
        self.counts["edges"] += len(sources)
        columns = [
            np.array([values[place] for values in further], each.dtype) for place, each in enumerate(self.shape.further)
        ]
        return Piece(sources, targets, (*(np.array(weights, np.float32),) * (column >= 0), *columns))

    def _further(self, row: list[bytes], line: bytes) -> list[int | float] | None:
        """The numbers of edge columns in a row; None where a malformed row is skipped."""
        found = []
        for place, column in zip(self.shape.read.further, self.shape.further, strict=True):
            value = value_of(row[place], column)
            if value is None:
                self._bad(FormatError(f"{self.path}:{self.counts['lines']}: {not_of_column(column, line)}"))
                return None
            found.append(value)
        return found

    def _row(self, line: bytes) -> list[bytes] | None:
        """The cells of a row; None for a line that is no row, or a malformed row that is skipped."""
        if is_blank(line):
            self.counts["blank"] += 1
            return None
        if line.lstrip()[:1] in (b"#", b"%"):
            self._comment(line)
            return None
        columns, where = self.shape.columns, f"{self.path}:{self.counts['lines']}"
        try:
            refuse_mark(where, line)
            row = fitted(cells(line, self.shape.separator), columns or self.last + 1, self.shape.separator)
        except ValueError as error:
            self._bad(error if isinstance(error, FormatError) else FormatError(f"{where}: {error}: {row_shown(line)}"))
            return None
        if len(row) != columns if columns else len(row) <= self.last:
            want = columns or f"at least {self.last + 1}"
            self._bad(FormatError(f"{where}: expected {want} columns, found {len(row)}: {row_shown(line)}"))
            return None
        if not (row[self.shape.read.source] and row[self.shape.read.target]):
            self._bad(empty_cell(where, line))
            return None
        self.has_rows = True
        return row

    def _comment(self, line: bytes) -> None:
        self.counts["comments"] += 1
        separator, columns = self.shape.separator, self.shape.columns
        if not columns or not self.has_rows:
            return
        if separator in (b"\t", b",", b";"):
            is_like = line.count(separator) == columns - 1
        else:  # a word that begins with #, not words behind it
            is_like = line.lstrip()[1:2].strip() != b"" and len(line.split()) == columns
        if is_like:
            self.said.like_rows = self.said.like_rows.at(self.counts["lines"])

    def _weight(self, word: bytes, line: bytes) -> float | None:
        try:
            weight = float(word.replace(b"_", b"?"))
        except ValueError:
            where = f"{self.path}:{self.counts['lines']}"
            if not self.skip_errors:
                refuse_comma(where, line)
            self._bad(
                FormatError(f"{where}: expected a number as the weight, found {row_shown(word)} in {row_shown(line)}")
            )
            return None
        if weight == 0.0 and POSITIVE.match(word):
            weight = LEAST_DOUBLE
        if are_weights(weight):
            return weight + 0.0  # of -0 the sign goes
        self.said.bad_weights = self.said.bad_weights.at(self.counts["lines"])
        self.counts["skipped"] += self.skip_errors
        return None

    def _bad(self, error: FormatError) -> None:
        """Count a malformed row if such rows are skipped; otherwise raise ``error``."""
        if not self.skip_errors:
            raise error
        self.counts["skipped"] += 1
