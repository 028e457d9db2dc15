"""Cutting lines into cells: at one separator where all rows agree on it, otherwise at any blanks and commas."""

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from csaw.partition.errors import FormatError
from csaw.partition.ingestion.columns import Wishes, is_number, named_ends
from csaw.partition.ingestion.text.blocks import Blocks

if TYPE_CHECKING:
    from csaw.partition.ingestion.ingest_options import IngestOptions

BLANK = b" "
BLANKS = re.compile(rb" *")
QUOTED = re.compile(rb'"([^"]*(?:""[^"]*)*)"')
WORD = re.compile(rb'"(?:[^"]|"")*"(?![^\s,;])|[^\s,;]+')
BLANK_WORD = re.compile(rb'"(?:[^"]|"")*"(?!\S)|\S+')
DECIMAL_COMMA = re.compile(rb"(?<=[;\t])[-+]?[0-9]+,[0-9]+(?=\s*([;\t]|$))")
DECIMAL_BETWEEN = re.compile(rb"(?<=\s)[-+]?[0-9]+,[0-9]+(?=\s|$)")
DECIMAL_LAST = re.compile(rb"(?<=[;\s])[-+]?[0-9]+,[0-9]+(?=\s*$)")
INTEGER = re.compile(rb"[-+]?[0-9]+(\.0*)?")
NUMBER = re.compile(rb"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


def cells(line: bytes, separator: bytes | None) -> list[bytes]:
    """The texts between separators, without the blanks and quotes around them; what is in quotes stays as it is.

    ValueError where quotes do not end.

    A ``separator`` of None stands for any run of blanks, commas and semicolons, and a blank for any run of blanks. In
    both cases, a ``#`` at the beginning of a word after the second one begins a comment.
    """
    if separator is None or separator == BLANK:
        words = line.split() if separator and b'"' not in line else (BLANK_WORD if separator else WORD).findall(line)
        end = next((k for k, word in enumerate(words) if k > 1 and word[:1] == b"#"), None)
        return words[:end] if separator and b'"' not in line else [_unquoted(word, separator) for word in words[:end]]
    line = line.strip(b" \r\n")
    if b'"' not in line:
        return [cell.strip() for cell in line.split(separator)]
    found, place = [], 0
    while place <= len(line):
        cell, place = _cell(line, place, separator)
        found.append(cell)
    return found


def _cell(line: bytes, place: int, separator: bytes) -> tuple[bytes, int]:
    """The cell that begins at ``place``, in quotes or not, and the place behind the separator after it."""
    begin = BLANKS.match(line, place).end()  # type: ignore[union-attr]  # which may be none
    if line[begin : begin + 1] != b'"':
        end = line.find(separator, place)
        end = len(line) if end < 0 else end
        return line[place:end].strip(), end + 1
    quoted = QUOTED.match(line, begin)
    if quoted is None or line[quoted.end() : quoted.end() + 1] not in (b"", separator):
        raise ValueError("quotes that do not end before a separator, as CSV requires")
    return quoted[1].replace(b'""', b'"'), quoted.end() + 1


def fitted(row: list[bytes], columns: int, separator: bytes | None) -> list[bytes]:
    """The row, without empty cells that tabs after its last column make."""
    while separator == b"\t" and len(row) > columns and not row[-1]:
        row = row[:-1]
    return row


def width(rows: list[list[bytes]]) -> int:
    """The number of cells that most non-empty rows have; 0 where no number has a majority."""
    sizes = Counter(len(row) for row in rows if row)
    size, count = sizes.most_common(1)[0] if sizes else (0, 0)
    return size if 2 * count > sizes.total() else 0


def is_blank(line: bytes) -> bool:
    return not line.strip(b" \t\r\n,;")


def refuse_comma(where: str, row: bytes, decimal: re.Pattern[bytes] = DECIMAL_COMMA) -> None:
    """Raise FormatError for a number with a decimal comma, by default among the cells that semicolons or tabs end."""
    if found := decimal.search(row):
        number = found[0].decode()
        raise FormatError(
            f"{where}: expected a decimal point, found the comma of {number} in {row_shown(row)}; write "
            f"{number.replace(',', '.')}"
        )


def refuse_mark(where: str, line: bytes) -> None:
    """Raise FormatError for a byte order mark, which would be a part of the first word."""
    if line.startswith(BOM_UTF8):
        raise FormatError(
            f"{where}: found a byte order mark, as where files are joined, before {row_shown(line[3:])}; give the "
            "files one by one, or remove it"
        )


def row_shown(line: bytes) -> str:
    """The beginning of a row, for an error."""
    return repr(line[:60].decode("utf-8", "replace").strip())


def quote_error(line: bytes, separator: bytes | None) -> str:
    """Say what is wrong with the quotes of a line that cannot be cut into cells because of them."""
    try:
        return f"expected a row, found {cells(line, separator)}"
    except ValueError as error:
        return f"{error}: {row_shown(line)}"


def empty_cell(where: str, line: bytes) -> FormatError:
    """The error for a row that lacks a value where one is read."""
    row, gaps = line.strip(b" \r\n"), (b",", b";", b"\t")
    place = "before the first separator" if row.startswith(gaps) else "between two separators"
    if row.endswith(gaps) and not row.startswith(gaps) and not re.search(rb"([,;])\s*[,;]|\t\t", row):
        place = "after the last separator"
    return FormatError(f"{where}: expected a value {place}, found {row_shown(line)}")


def _unquoted(word: bytes, separator: bytes | None) -> bytes:
    """A word without its quotes; for ids, ValueError where they do not end with it."""
    if word[:1] != b'"':
        return word
    inside = word[1:-1]
    if separator and (len(word) < 2 or word[-1:] != b'"' or b'"' in inside.replace(b'""', b"")):
        raise ValueError("quotes that do not end before a space")
    return inside.replace(b'""', b'"') if word[-1:] == b'"' else word


# The beginning of a text, whose first rows decide its format.

SAMPLE_ROWS = 32
LONGEST_HEAD = 64 << 20  # comments and blank lines before the first row


class Line(NamedTuple):
    """A line that is neither blank nor a comment; ``end`` is the offset of the byte after it."""

    number: int
    end: int
    text: bytes


class Head:
    """The first blocks of a text, up to the rows that decide its format.

    ``newline``: the byte that ends lines, a carriage return where there is no line feed; ``comments`` of its first
    64 KiB; ``ended``: whether it is the whole text.
    """

    def __init__(self, name: str, blocks: Iterable[memoryview], ended: Callable[[], bool]) -> None:
        pieces: list[bytes] = []
        rows = size = 0
        for block in blocks:
            pieces.append(bytes(block) if pieces else bytes(block).removeprefix(BOM_UTF8))
            rows, size = rows + len(_first_rows(pieces[-1], _newline_of(pieces[-1]))[0]), size + len(pieces[-1])
            if not pieces[-1] or rows >= SAMPLE_ROWS or size >= LONGEST_HEAD:
                break
        self.name, self.text = name, b"".join(pieces)
        if pieces and pieces[-1] and rows == 0 and size >= LONGEST_HEAD:
            raise FormatError(f"{name}: no row in its first {size:,} bytes; expected rows 'source target [weight]'")
        self.newline, self.ended = _newline_of(self.text), ended()

    @property
    def comments(self) -> bytes:
        return b"\n".join(line for line in self.text[:65536].splitlines() if line[:1] in b"#%")

    def begin(self, size: int, start: int = 0) -> bytes:
        """Return this many bytes from ``start`` on, with line feeds at the end of all lines."""
        return self.text[start : start + size].replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def behind(self, lines: int) -> int:
        """Where the text begins behind so many lines; FormatError where it has fewer."""
        position = 0
        for _ in range(lines):
            found = self.text.find(self.newline, position)
            if found < 0:
                raise FormatError(
                    f"{self.name}: --skip-lines {lines}: there are fewer lines in its first {len(self.text):,} bytes"
                )
            position = found + 1
        return position

    def rows(self, skip_lines: int) -> tuple[list[Line], bytes]:
        """The first rows behind ``skip_lines`` lines, at most 32, and the last comment before them."""
        return _first_rows(self.text, self.newline, self.behind(skip_lines), skip_lines)


def only_line(path: str) -> bytes | None:
    """The only line of a file that is neither blank nor a comment; None where it has another number of them."""
    with closing(Blocks(path)) as blocks:
        head = Head(path, blocks.read(), lambda: blocks.done)
    lines, _ = head.rows(0)
    return lines[0].text.strip() if head.ended and len(lines) == 1 else None


def _newline_of(head: bytes) -> int:
    return 10 if b"\n" in head or b"\r" not in head else 13


def _first_rows(head: bytes, newline: int, start: int = 0, number: int = 0) -> tuple[list[Line], bytes]:
    lines: list[Line] = []
    comment = b""
    while start < len(head) and len(lines) < SAMPLE_ROWS:
        end = head.find(newline, start) + 1 or len(head)
        line, start, number = head[start:end], end, number + 1
        if line.lstrip()[:1] in (b"#", b"%"):
            comment = comment if lines else line
        elif not is_blank(line):
            lines.append(Line(number, end, line))
    return lines, comment


# Finding the separator of a text: its first rows, cut into cells.


class Layout(NamedTuple):
    """The first rows, cut into cells at one separator."""

    separator: bytes | None
    lines: list[Line]
    rows: list[list[bytes]]
    strings: bool


def laid_out(name: str, lines: list[Line], options: "IngestOptions") -> Layout:
    """The rows cut at their separator.

    A row with wrong quotes is an error, or is left out where malformed rows are skipped.
    """
    layout = _numbers(lines, options.wishes) if options.id_type != "string" else None
    if layout is None:
        layout = cut(lines, None, strings=False) if options.id_type == "int" else laid_out_as_words(lines)
    if options.on_error == "stop":
        refuse_broken(name, layout)
    kept = [pair for pair in zip(layout.lines, layout.rows, strict=True) if pair[1]]
    return layout._replace(lines=[line for line, _ in kept], rows=[row for _, row in kept])


def _numbers(lines: list[Line], wishes: Wishes) -> Layout | None:
    """The rows cut at the first separator that gives numbers as ends in at least half of them."""
    for separator in (b"\t", b";", b",", None):
        layout = cut(lines, separator, strings=False)
        if separator is None or width(layout.rows) > 2:
            source, target = _likely_ends(cells_of_header(lines[0], layout.rows), wishes)
            whole = [
                max(source, target) < len(row) and INTEGER.fullmatch(row[source]) and INTEGER.fullmatch(row[target])
                for row in layout.rows
            ]
            if 2 * sum(map(bool, whole)) >= len(whole):
                return layout
    return None


def refuse_broken(name: str, layout: Layout) -> None:
    """Raise FormatError for the first row with wrong quotes."""
    broken = next((line for line, row in zip(layout.lines, layout.rows, strict=True) if not row), None)
    if broken:
        raise FormatError(f"{name}:{broken.number}: {quote_error(broken.text, layout.separator)}")


def laid_out_as_words(lines: list[Line]) -> Layout:
    """The rows cut at the first separator that gives them equal numbers of cells, otherwise at blanks."""
    used = [separator for separator in (b"\t", b",", b";") if separator in lines[0].text]
    cuts = (cut(lines, separator, strings=True) for separator in used)
    if found := next((layout for layout in cuts if width(layout.rows) > 1), None):
        return found
    layout = cut(lines, BLANK, strings=True)
    loose = any(cell[:1] in (b",", b";") or cell[-1:] in (b",", b";") for row in layout.rows for cell in row)
    return cut(lines, used[0], strings=True) if used and loose else layout


def cut(lines: list[Line], separator: bytes | None, strings: bool) -> Layout:
    """The rows cut at this separator; a row whose quotes are wrong has no cells."""
    rows = []
    for line in lines:
        try:
            rows.append(cells(line.text, separator))
        except ValueError:
            rows.append([])
    most = max(len(fitted(row, 0, separator)) for row in rows)
    return Layout(separator, lines, [fitted(row, most, separator) for row in rows], strings)


def cells_of_header(line: Line, rows: list[list[bytes]]) -> list[bytes]:
    """The cells of the header. Empty cells count where one separator gives as many cells as the rows have."""
    if len(rows) > 1 and len(rows[0]) != len(rows[1]):
        cuts = (cut([line], separator, strings=False).rows[0] for separator in (b"\t", b";", b","))
        return next((cut for cut in cuts if len(cut) == len(rows[1])), rows[0])
    return rows[0]


def _likely_ends(first: list[bytes], wishes: Wishes) -> tuple[int, int]:
    names = text_of(first)
    known = named_ends(names) or (0, 1)
    return _likely(names, wishes.source, known[0]), _likely(names, wishes.target, known[1])


def _likely(names: list[str], wish: str | None, usual: int) -> int:
    if wish is None:
        return usual
    return int(wish) - 1 if is_number(wish) else names.index(wish) if wish in names else usual


def text_of(row: list[bytes]) -> list[str]:
    """The cells of a row as names."""
    return [cell.decode("utf-8", "replace").strip("\ufeff\"' ") for cell in row]
