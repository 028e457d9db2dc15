"""Rows of a file of sources, which is read as a file of edges is: packed or not, with comments, cut at tabs, commas,
semicolons or blanks, below a header or none.
"""

from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from csaw.engine.sources.source_names import ID, named_by, says
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import FormatError
from csaw.partition.ingestion.text.blocks import read_blocks
from csaw.partition.ingestion.text.cells import is_blank
from csaw.partition.ingestion.text.head import Line
from csaw.partition.ingestion.text.separators import laid_out_as_words, refuse_broken

COMMENTS = (b"#", b"%")
PLAIN = b"-0123456789 \t\r\n"


class Table(NamedTuple):
    """The rows of a file of sources, and the names above its columns, with the number of their line, or none."""

    rows: "list[Row]"
    names: list[str]
    line: int = 0


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


def rows_of(path: Path, data: bytes, *, is_value: Callable[[str], bool], tells: int | None) -> Table:
    """The rows of the text of a file, without those of comments, blank ones, and a header, whose names stand beside
    them; without a header, the names in the last comment above the rows, where it has some.

    is_value: whether a cell is a number or a time. tells: the first column of such cells, by which a header is told;
        None where there is none.

    FormatError, with the line, for quotes that do not end.
    """
    lines = [Line(number, 0, text) for number, text in enumerate(data.splitlines(), 1) if not is_blank(text)]
    above = next((k for k, line in enumerate(lines) if not _is_comment(line)), len(lines))
    comment = lines[above - 1] if above else None
    lines = [line for line in lines if not _is_comment(line)]
    if not lines:
        return Table([], [])
    layout = laid_out_as_words(lines)  # at one separator, so that dates of a CSV file may have blanks
    refuse_broken(str(path), layout)
    rows = [
        Row(line.number, [cell.decode() for cell in cells], line.text.decode())
        for line, cells in zip(layout.lines, layout.rows, strict=True)
    ]
    if tells is not None and _has_header(rows, is_value, tells):
        one = all(len(row.cells) == 1 for row in rows[1:])  # whose name may have blanks
        return Table(rows[1:], [" ".join(rows[0].cells)] if one else rows[0].cells, rows[0].line)
    names = named_by(comment.text.decode(), len(rows[0].cells)) if comment else None
    return Table(rows, names, comment.number) if comment and names else Table(rows, [])


def _is_comment(line: Line) -> bool:
    return line.text.lstrip()[:1] in COMMENTS


def _has_header(rows: list[Row], is_value: Callable[[str], bool], tells: int) -> bool:
    """Whether the first row has names, with letters at their beginnings, above a number or a time.

    Where words are vertices (``tells`` is 1), those in the column of ids say nothing; it is the first, or has its name.
    """
    if len(rows) < 2:
        return False
    ids = [place for place, name in enumerate(rows[0].cells) if says(name) == ID]
    words = (ids[0] if len(ids) == 1 else 0) if tells else None
    names, below = ([cell for k, cell in enumerate(row.cells) if k != words] for row in rows[:2])
    return all(name[:1].isalpha() and not is_value(name) for name in names) and any(map(is_value, below))


def _check_utf8(path: Path, data: bytes) -> None:
    """FormatError, with the line, unless ``data`` is UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = quoted(data[error.start : error.start + 8])
        raise FormatError(f"{path}:{line}: expected vertex ids in UTF-8, found the bytes {found}") from error
