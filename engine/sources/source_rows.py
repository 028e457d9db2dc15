"""Rows of a file of sources, which is read as a file of edges is: packed or not, with comments, cut at tabs, commas,
semicolons or blanks, below a header or none.
"""

from codecs import BOM_UTF8
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import FormatError
from csaw.partition.ingestion.columns import TIMES, named_ends, plain
from csaw.partition.ingestion.text.blocks import read_blocks
from csaw.partition.ingestion.text.cells import Line, is_blank, laid_out_as_words, refuse_broken

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


def plain_integers(data: bytes, *, a_line: int) -> np.ndarray | None:
    """The numbers of a text that has integers of 64 bits and blanks alone, int64 [n]; None for any other text.

    A list of sources mostly is one. As rows, each would take 9 us and 400 bytes, here .2 us.

    a_line: how many each line must have; 0 for any number.
    """
    if data.translate(None, PLAIN):
        return None
    words = data.split()
    if not words or (a_line and not _have_all(data, a_line)):
        return None
    try:
        return np.array(words).astype(np.int64)
    except (ValueError, OverflowError):  # such as 1-2, of which the rows say where it is
        return None


def _have_all(data: bytes, a_line: int) -> bool:
    """Whether each line that is not blank has so many words."""
    return all(len(words) in (0, a_line) for words in map(bytes.split, data.splitlines()))


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


# The names above the columns of a file of sources, which say what each column has, as those of a file of edges do.

ID, LABEL, TIME = "ids", "labels", "times"
"""The kinds of columns of a file of sources."""
IDS = (
    *("id", "vertex", "vertexid", "node", "nodeid", "vid", "nid", "source", "sourceid", "src", "seed", "seedid"),
    *("ids", "vertices", "vertexids", "nodes", "nodeids", "sources", "sourceids", "seeds", "seedids"),
)
LABELS = ("y", "label", "labels", "class", "classes")
SAYS = dict.fromkeys(IDS, ID) | dict.fromkeys(LABELS, LABEL) | dict.fromkeys((*TIMES, "seedtime", "inputtime"), TIME)


def says(name: str) -> str | None:
    """The kind of column that a name stands for; None for a name that does not say it."""
    return SAYS.get(plain(name))


def named_by(text: str, columns: int) -> list[str] | None:
    """The names in a comment above the first row, where each of them says another thing, ids among them, and they are
    as many as the columns; otherwise None.
    """
    words = text.lstrip("#% \t").replace(",", " ").replace(";", " ").split()
    said = [says(word) for word in words]
    are_names = len(words) == columns > 1 and None not in said and len(set(said)) == columns and ID in said
    return words if are_names else None


def places_of(where: str, names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """The place of each of ``wanted``, what the columns have in their usual order, among columns of so many ``names``.

    Names that say nothing are those of what is left, in the usual order.

    FormatError, which begins with ``where``, for a name that says what is not wanted, two that mean the same, names of
    an edge, and several that say nothing beside others in an unusual order.
    """
    said = [says(name) for name in names]
    if why := _why_not(names, said, wanted):
        raise refusal(where, names, wanted, why)
    left = (place for place, what in enumerate(said) if what is None)
    return [said.index(what) if what in said else next(left) for what in wanted]


def _why_not(names: Sequence[str], said: Sequence[str | None], wanted: Sequence[str]) -> str | None:
    """Why columns of such ``names`` cannot be told apart as those that are ``wanted``; None where they can."""
    pairs = list(zip(names, said, strict=True))
    if named_ends(names):
        return "which are those of the ends of edges"
    if wrong := [name for name, what in pairs if what and what not in wanted]:
        return f"of which {quoted(wrong[0])} is that of {says(wrong[0])}"
    if twice := [name for name, what in pairs if what and said.count(what) > 1]:
        return f"of which {' and '.join(map(quoted, twice))} mean the same"
    unknown = [name for name, what in pairs if what is None]
    if len(unknown) > 1 and any(what not in (None, usual) for what, usual in zip(said, wanted, strict=True)):
        return f"of which {' and '.join(map(quoted, unknown))} may each be that of any of these"
    return None


def refusal(where: str, names: Sequence[str], wanted: Sequence[str], why: str) -> FormatError:
    """The error for ``names`` above columns that are to be ``wanted``."""
    several = len(wanted) > 1
    example = " ".join({ID: "id", LABEL: "label", TIME: "time"}[what] for what in wanted)
    return FormatError(
        f"{where}: expected {'columns' if several else 'one column'} of {', '.join(wanted)}, found the names "
        f"{', '.join(map(quoted, names))}, {why}; keep only {'these columns' if several else 'this column'}, below "
        f"{example!r}{', in any order' * several}"
    )
