"""Finding the format of a text file from its first lines: separator, columns, header line, type of ids."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from csaw.partition.errors import FormatError
from csaw.partition.ingestion.text.cells import (
    BLANK,
    INTEGER,
    NUMBER,
    cells,
    fitted,
    is_blank,
    quote_error,
    row_shown,
    width,
)
from csaw.partition.ingestion.text.columns import Columns, Wishes, choose, is_number, named_ends, notes, plain
from csaw.partition.ingestion.text.formats import matrix_market, refuse_foreign

if TYPE_CHECKING:
    from csaw.partition.ingestion.ingest_options import IngestOptions

SAMPLE_ROWS = 32
SNAP_COUNTS = re.compile(rb"Nodes:\s*(\d{1,18})\s+Edges:\s*(\d{1,18})")


@dataclass
class Shape:
    """How to read the rows of a file."""

    newline: int = 10
    columns: int = 0  # that each row must have; 0 is any number from those that are read
    read: Columns = field(default_factory=Columns)
    strings: bool = False
    separator: bytes | None = None  # None: blanks, commas and semicolons as they come
    header_line: str | None = None
    undirected: bool = False
    says_direction: bool = False
    declared: dict[str, int] = field(default_factory=dict)
    skip: int = 0  # bytes before the rows
    skip_lines: int = 0
    empty: bool = False  # no rows at all
    is_own: bool = False  # csaw wrote it, and names its columns in a comment
    exact: bool = False  # ``declared`` must hold: Matrix Market
    warnings: list[str] = field(default_factory=list)


class Line(NamedTuple):
    """A line that is neither blank nor a comment; ``end`` is the offset of the byte after it."""

    number: int
    end: int
    text: bytes


class Layout(NamedTuple):
    """The first rows, cut into cells at one separator."""

    separator: bytes | None
    lines: list[Line]
    rows: list[list[bytes]]
    strings: bool


def sniff(name: str, head: bytes, options: "IngestOptions") -> Shape:
    """The shape of a file whose first block is ``head``; FormatError for formats that are not edge lists, and for rows that contradict each other."""
    refuse_foreign(name, head)
    shape = Shape(newline=newline_of(head))
    wishes = options.wishes
    if matrix := matrix_market(name, head):
        shape.declared, shape.exact = {"vertices": matrix.vertices, "edges": matrix.entries}, True
        shape.skip, shape.skip_lines, shape.undirected = matrix.skip, matrix.lines, matrix.symmetric
        shape.says_direction = True
        shape.columns, shape.read = matrix.columns, choose(name, None, matrix.columns, wishes)
        return shape
    if counts := SNAP_COUNTS.search(head[:4096]):
        shape.declared = {"vertices": int(counts[1]), "edges": int(counts[2])}
    comments = b"\n".join(line for line in head[:65536].splitlines() if line[:1] in b"#%")
    shape.undirected = b"undirected graph" in comments.lower()
    shape.says_direction = b"directed graph" in comments.lower()
    shape.is_own = b" graph, written by csaw " in comments
    shape.skip, shape.skip_lines = _after_lines(name, head, shape.newline, options.skip_lines), options.skip_lines
    lines, comment = first_lines(head, shape.newline, shape.skip, shape.skip_lines)
    shape.empty = not lines
    if lines and (layout := _layout(name, lines, options, wishes)).rows:
        _describe(name, layout, comment, shape, options, wishes)
    return shape


def newline_of(head: bytes) -> int:
    """The byte that ends lines: a carriage return where there is no line feed."""
    return 10 if b"\n" in head or b"\r" not in head else 13


def first_lines(head: bytes, newline: int, start: int = 0, number: int = 0) -> tuple[list[Line], bytes]:
    """The first rows, at most 32, and the last comment before them."""
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


def _after_lines(name: str, head: bytes, newline: int, lines: int) -> int:
    position = 0
    for _ in range(lines):
        found = head.find(newline, position)
        if found < 0:
            raise FormatError(f"{name}: --skip-lines {lines}: its first {len(head):,} bytes have fewer lines")
        position = found + 1
    return position


def _layout(name: str, lines: list[Line], options: "IngestOptions", wishes: Wishes) -> Layout:
    """The rows cut at their separator. A row with wrong quotes is an error, or is left out where malformed rows are skipped."""
    layout = _numbers(lines, wishes) if options.ids != "string" else None
    if layout is None:
        layout = _cut(lines, None, strings=False) if options.ids == "int" else _words(lines)
    broken = next((line for line, row in zip(lines, layout.rows, strict=True) if not row), None)
    if broken and options.on_error == "stop":
        raise FormatError(f"{name}:{broken.number}: {quote_error(broken.text, layout.separator)}")
    kept = [pair for pair in zip(layout.lines, layout.rows, strict=True) if pair[1]]
    return layout._replace(lines=[line for line, _ in kept], rows=[row for _, row in kept])


def _numbers(lines: list[Line], wishes: Wishes) -> Layout | None:
    """The rows cut at the first separator that gives numbers as ends in at least half of them."""
    for separator in (b"\t", b";", b",", None):
        layout = _cut(lines, separator, strings=False)
        if separator is None or width(layout.rows) > 2:
            source, target = _likely_ends(layout.rows[0], wishes)
            whole = [max(source, target) < len(row) and INTEGER.fullmatch(row[source]) and INTEGER.fullmatch(row[target])
                     for row in layout.rows]  # fmt: skip
            if 2 * sum(map(bool, whole)) >= len(whole):
                return layout
    return None


def _words(lines: list[Line]) -> Layout:
    """The rows cut at the first separator that gives them equal numbers of cells, otherwise at blanks."""
    used = [separator for separator in (b"\t", b",", b";") if separator in lines[0].text]
    cuts = (_cut(lines, separator, strings=True) for separator in used)
    if found := next((layout for layout in cuts if width(layout.rows) > 1), None):
        return found
    layout = _cut(lines, BLANK, strings=True)
    loose = any(cell[:1] in (b",", b";") or cell[-1:] in (b",", b";") for row in layout.rows for cell in row)
    return _cut(lines, used[0], strings=True) if used and loose else layout


def _cut(lines: list[Line], separator: bytes | None, strings: bool) -> Layout:
    """The rows cut at this separator; a row whose quotes are wrong has no cells."""
    rows = []
    for line in lines:
        try:
            rows.append(cells(line.text, separator))
        except ValueError:
            rows.append([])
    most = max(len(fitted(row, 0, separator)) for row in rows)
    return Layout(separator, lines, [fitted(row, most, separator) for row in rows], strings)


def _likely_ends(first: list[bytes], wishes: Wishes) -> tuple[int, int]:
    names = _text(first)
    known = named_ends(names) or (0, 1)
    return _likely(names, wishes.source, known[0]), _likely(names, wishes.target, known[1])


def _likely(names: list[str], wish: str | None, usual: int) -> int:
    if wish is None:
        return usual
    return names.index(wish) if wish in names else int(wish) - 1 if is_number(wish) else usual


def _describe(
    name: str, layout: Layout, comment: bytes, shape: Shape, options: "IngestOptions", wishes: Wishes
) -> None:
    """Add the header, the columns and their number to ``shape``."""
    first, rows = layout.lines[0], layout.rows
    names = None
    if _is_header(layout, shape.is_own, options, wishes):
        names, rows = _text(_names(first, rows)), rows[1:]
        shape.header_line = first.text.decode("utf-8", "replace").strip()
        shape.skip, shape.skip_lines = first.end, first.number
    columns = _columns(name, layout, len(layout.rows) - len(rows), options) if rows else len(names or ())
    shape.strings, shape.separator = layout.strings, layout.separator
    if names is None:
        names = _names_in_comment(comment, layout.separator, columns)
    elif len(names) != columns and not (wishes.source and wishes.target and not wishes.names):
        raise FormatError(
            f"{name}:{first.number}: the header has {len(names)} names, the rows under it have {columns} columns; say which are the ends "
            f"with --source-column and --target-column, by number from 1"
        )
    where = f"{name}:{first.number}"
    shape.read = choose(where, names if names is None or len(names) == columns else None, columns, wishes)
    shape.columns = 0 if options.weight_column == "none" else columns
    if shape.header_line is not None and names and not wishes.names and named_ends(names) is None:
        _refuse_digits(where, names, shape)
    if names is not None and len(names) == columns:
        shape.warnings = notes(names, shape.read, wishes)
    elif columns > 3 and options.weight_column == "auto":
        raise FormatError(
            f"{where}: expected 2 or 3 columns, found {columns}; say which holds weights with --weight-column N, or none"
        )


def _refuse_digits(where: str, names: list[str], shape: Shape) -> None:
    """Raise FormatError for a header of unknown names in which the name of an end begins with a digit: 0x1 may be a vertex."""
    ends = names[shape.read.source : shape.read.source + 1] + names[shape.read.target : shape.read.target + 1]
    if names[0] and any(name[:1].isdigit() for name in ends):
        raise FormatError(
            f"{where}: expected an edge or a header of words, found {row_shown(str(shape.header_line).encode())}, which may be either; pass "
            f"--ids string if it is an edge, --skip-lines {shape.skip_lines} if it is a header"
        )


def _names(line: Line, rows: list[list[bytes]]) -> list[bytes]:
    """The cells of the header. Empty cells count where one separator gives as many cells as the rows have."""
    if len(rows) > 1 and len(rows[0]) != len(rows[1]):
        cuts = (_cut([line], separator, strings=False).rows[0] for separator in (b"\t", b";", b","))
        return next((cut for cut in cuts if len(cut) == len(rows[1])), rows[0])
    return rows[0]


def _is_header(layout: Layout, is_own: bool, options: "IngestOptions", wishes: Wishes) -> bool:
    """Whether the first row holds column names: known names, names that options ask for, or words above numbers. Where csaw wrote the file, words are vertices."""
    first, rest = layout.rows[0], layout.rows[1:]
    names = _text(first)
    if {plain(name) for name in names} & {plain(name) for name in wishes.names}:
        return True
    if layout.strings and is_own:
        return False
    if ends := named_ends(names):
        below = {cell for row in rest for cell in row}
        if not (layout.strings and below & {first[end] for end in ends}):
            return True
        beside = [k for k in range(len(first)) if k not in ends]
        return any(_is_above_numbers(first, rest, k) for k in beside)  # otherwise vertices are called u and v
    if not rest:
        return False
    if not first[0] and len(first) > 2:  # the name of an index, which is empty
        return all(row[0] for row in rest)
    if any(all(map(NUMBER.fullmatch, cell.split())) for cell in first):
        return False
    above = range(2 if options.ids == "string" else 0, len(first))
    return any(_is_above_numbers(first, rest, k) for k in above)


def _is_above_numbers(first: list[bytes], rest: list[list[bytes]], k: int) -> bool:
    """Whether column ``k`` has a word in the first row, and numbers in all that follow."""
    return not NUMBER.fullmatch(first[k]) and all(len(row) > k and NUMBER.fullmatch(row[k]) for row in rest)


def _columns(name: str, layout: Layout, skip: int, options: "IngestOptions") -> int:
    """The number of cells of each row; FormatError for the first row with another number, unless malformed rows are skipped."""
    lines, sizes = layout.lines[skip:], [len(row) for row in layout.rows[skip:]]
    columns = sizes[0] if options.on_error == "stop" else max(Counter(sizes).items(), key=lambda item: item[::-1])[0]
    other = next((k for k, size in enumerate(sizes) if size != columns), None)
    if other is not None and options.on_error == "stop" and options.weight_column != "none":
        raise _unequal(name, lines, sizes, other)
    if columns < 2 and other is None:
        raise FormatError(
            f"{name}:{lines[0].number}: expected 'source target [weight]' between blanks, tabs, commas or semicolons, found one column: "
            f"{row_shown(lines[0].text)}"
        )
    return columns


def _unequal(name: str, lines: list[Line], sizes: list[int], other: int) -> FormatError:
    first, odd = lines[0], lines[other]
    if other == 1 and len(sizes) > 2 and len(set(sizes[1:])) == 1:
        return FormatError(
            f"{name}:{first.number}: expected {sizes[1]} columns as in the rows that follow, found {sizes[0]}: {row_shown(first.text)}; if it holds counts "
            f"or a title, pass --skip-lines {first.number}"
        )
    return FormatError(
        f"{name}:{odd.number}: expected {sizes[0]} columns as in line {first.number}, found {sizes[other]}: {row_shown(odd.text)}; an edge list has one "
        f"edge in each row; pass --on-error skip to skip rows that differ"
    )


def _names_in_comment(comment: bytes, separator: bytes | None, columns: int) -> list[str] | None:
    """The names in the last comment before the rows, if they name both ends and are as many as the columns; otherwise None."""
    line = comment.strip().lstrip(b"#% \t")
    cuts: Iterator[list[bytes]] = (line.split(by) for by in (separator, None, b",") if line)
    named = (_text([cell.strip(b' "') for cell in cut]) for cut in cuts if len(cut) == columns)
    return next((names for names in named if named_ends(names)), None)


def _text(row: list[bytes]) -> list[str]:
    return [cell.decode("utf-8", "replace").strip("\ufeff\"' ") for cell in row]
