"""Rows of a text file whose ids are words."""

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from csaw.partition.errors import FormatError
from csaw.partition.graph.weight_range import LEAST_DOUBLE, are_weights
from csaw.partition.ingestion.text.cells import cells, empty_cell, fitted, is_blank, row_shown
from csaw.partition.ingestion.text.plain import BLANK, LINES, ROWS
from csaw.partition.ingestion.text.word_cells import CutRows, cut_rows

if TYPE_CHECKING:
    from csaw.partition.ingestion.text.sniff import Shape

POSITIVE = re.compile(rb"[^eE]*[1-9]")  # a number with such digits is 0 only because no double is as small


class WordRows:
    """Parses blocks of lines in order, and adds to ``counts``, which are those of TextRows."""

    def __init__(self, path: str, shape: "Shape", skip_errors: bool, counts: dict[str, int], rows_before: bool = False) -> None:  # fmt: skip
        self.path, self.shape, self.skip_errors, self.counts = path, shape, skip_errors, counts
        self.bad_weights, self.bad_weight_line = 0, 0
        self.rows, self.comments_like_rows, self.like_row_line = int(rows_before), 0, 0
        self.last = max(shape.read.source, shape.read.target, shape.read.weight)

    @property
    def warnings(self) -> list[str]:
        if not self.comments_like_rows:
            return []
        lines = f"{self.comments_like_rows} lines that begin with # or % look like rows, the first is line {self.like_row_line}"
        return [f"{lines}; they were read as comments, put quotes around such an id"]

    def cut(self, block: bytes) -> CutRows | bytes:
        """The rows of a block, cut by any thread; the block itself where not all of them are plain."""
        shape = self.shape
        if shape.separator is None:
            return block
        places = (shape.read.source, shape.read.target, shape.read.weight)
        return cut_rows(block, shape.newline, ord(shape.separator), shape.columns, places) or block

    def counted(self, given: CutRows | bytes) -> tuple[Any, Any, np.ndarray | None]:
        """Sources, targets, and weights where there are any, of the next block."""
        if isinstance(given, bytes):
            return self.parse(given)
        self.counts["lines"] += int(given.counts[LINES])
        self.counts["blank"] += int(given.counts[BLANK])
        self.counts["edges"] += int(given.counts[ROWS])
        self.rows += int(given.counts[ROWS])
        return given.sources, given.targets, given.weights if self.shape.read.weight >= 0 else None

    def parse(self, block: bytes) -> tuple[list[bytes], list[bytes], np.ndarray | None]:
        """The same, line by line."""
        source, target, column = self.shape.read.source, self.shape.read.target, self.shape.read.weight
        sources, targets, weights = [], [], []
        lines = block.split(bytes([self.shape.newline]))
        if b"\0" in block:
            number = self.counts["lines"] + 1 + next(k for k, line in enumerate(lines) if b"\0" in line)
            raise FormatError(f"{self.path}:{number}: a byte of value 0; expected text")
        if not lines[-1]:
            lines.pop()
        for line in lines:
            self.counts["lines"] += 1
            row = self._row(line)
            if row is None:
                continue
            weight = 1.0 if column < 0 else self._weight(row[column], line)
            if weight is None:
                continue
            sources.append(row[source])
            targets.append(row[target])
            weights.append(weight)
        self.counts["edges"] += len(sources)
        return sources, targets, np.array(weights, np.float32) if column >= 0 else None

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
            row = fitted(cells(line, self.shape.separator), columns or self.last + 1, self.shape.separator)
        except ValueError as error:
            self._bad(FormatError(f"{where}: {error}: {row_shown(line)}"))
            return None
        if len(row) != columns if columns else len(row) <= self.last:
            want = columns or f"at least {self.last + 1}"
            self._bad(FormatError(f"{where}: expected {want} columns, found {len(row)}: {row_shown(line)}"))
            return None
        if not (row[self.shape.read.source] and row[self.shape.read.target]):
            self._bad(empty_cell(where, line))
            return None
        self.rows += 1
        return row

    def _comment(self, line: bytes) -> None:
        self.counts["comments"] += 1
        separator, columns = self.shape.separator, self.shape.columns
        if separator in (b"\t", b",", b";") and columns and self.rows and line.count(separator) == columns - 1:
            self.comments_like_rows += 1
            self.like_row_line = self.like_row_line or self.counts["lines"]

    def _weight(self, word: bytes, line: bytes) -> float | None:
        try:
            weight = float(word.replace(b"_", b"?"))
        except ValueError:
            where = f"{self.path}:{self.counts['lines']}"
            self._bad(
                FormatError(f"{where}: expected a number as weight, found {row_shown(word)} in {row_shown(line)}")
            )
            return None
        if weight == 0.0 and POSITIVE.match(word):
            weight = LEAST_DOUBLE
        if are_weights(weight):
            return weight + 0.0  # of -0 the sign goes
        self.bad_weights += 1
        self.bad_weight_line = self.bad_weight_line or self.counts["lines"]
        self.counts["skipped"] += self.skip_errors
        return None

    def _bad(self, error: FormatError) -> None:
        """Count a malformed row if such rows are skipped; otherwise raise ``error``."""
        if not self.skip_errors:
            raise error
        self.counts["skipped"] += 1
