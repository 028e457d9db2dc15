"""Rows of a file of sources, which is read as a file of edges is: packed or not, with comments, cut at tabs, commas,
semicolons or blanks, below a header or none.
"""

from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import FormatError
from csaw.partition.ingestion.text.blocks import read_blocks
from csaw.partition.ingestion.text.cells import is_blank
from csaw.partition.ingestion.text.head import Line
from csaw.partition.ingestion.text.separators import laid_out_as_words, refuse_broken

COMMENTS = (b"#", b"%")
PLAIN = b"-0123456789 \t\r\n"


class Row(NamedTuple):
    """The cells of a line, its number, and the line itself, for an error."""

    line: int
    cells: list[str]
    text: str


def text_of(path: Path) -> bytes:
    """The text of a file, packed or not, without a mark of the order of its bytes.

    FormatError, with the line, for text that is not UTF-8; StoreError and FormatError for a file that cannot be read or
    unpacked.
    """
    data = b"".join(map(bytes, read_blocks(str(path)))).removeprefix(BOM_UTF8)
    _check_utf8(path, data)
    return data


def plain_integers(data: bytes, *, one_a_line: bool) -> np.ndarray | None:
    """The numbers of a text that has integers of 64 bits and blanks alone, int64 [n]; None for any other text.

    A list of sources mostly is one. As rows, each would take 9 us and 400 bytes, here .2 us.

    one_a_line: whether each line must have one.
    """
    if data.translate(None, PLAIN):
        return None
    words = data.split()
    if not words or (one_a_line and sum(map(bool, map(bytes.strip, data.splitlines()))) != len(words)):
        return None
    try:
        return np.array(words).astype(np.int64)
    except (ValueError, OverflowError):  # such as 1-2, of which the rows say where it is
        return None


def rows_of(path: Path, data: bytes, *, is_value: Callable[[str], bool], tells: int | None) -> list[Row]:
    """The rows of the text of a file, without those of comments, blank ones, and a header.

    is_value: whether a cell is a number or a time. tells: the first column of such cells, by which a header is told;
        None where there is none.

    FormatError, with the line, for quotes that do not end.
    """
    lines = [Line(number, 0, text) for number, text in enumerate(data.splitlines(), 1) if not is_blank(text)]
    lines = [line for line in lines if line.text.lstrip()[:1] not in COMMENTS]
    if not lines:
        return []
    layout = laid_out_as_words(lines)  # at one separator, so that dates of a CSV file may have blanks
    refuse_broken(str(path), layout)
    rows = [
        Row(line.number, [cell.decode() for cell in cells], line.text.decode())
        for line, cells in zip(layout.lines, layout.rows, strict=True)
    ]
    return rows[tells is not None and _has_header(rows, is_value, tells) :]


def _has_header(rows: list[Row], is_value: Callable[[str], bool], tells: int) -> bool:
    """Whether the first row has names, with letters at their beginnings, above a number or a time."""
    if len(rows) < 2:
        return False
    names, below = (row.cells[tells:] for row in rows[:2])
    return all(name[:1].isalpha() and not is_value(name) for name in names) and any(map(is_value, below))


def _check_utf8(path: Path, data: bytes) -> None:
    """FormatError, with the line, unless ``data`` is UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = quoted(data[error.start : error.start + 8])
        raise FormatError(f"{path}:{line}: expected vertex ids in UTF-8, found the bytes {found}") from error
