"""Finding the format of a text file from its first lines: separator, columns, header line, type of ids."""

import re
from collections import Counter
from collections.abc import Iterable

from csaw.partition.errors import FormatError
from csaw.partition.ingestion.columns import choose, named_ends, notes
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text.cells import row_shown
from csaw.partition.ingestion.text.formats import matrix_market, refuse_foreign
from csaw.partition.ingestion.text.head import Head, Line
from csaw.partition.ingestion.text.header import is_header, names_in_comment, refuse_digits
from csaw.partition.ingestion.text.separators import Layout, cells_of_header, laid_out, text_of
from csaw.partition.ingestion.text.shape import Shape

SNAP_COUNTS = re.compile(rb"Nodes:\s*(\d{1,18})\s+Edges:\s*(\d{1,18})")


def sniff(name: str, blocks: Iterable[memoryview], options: IngestOptions) -> tuple[Shape, bytes]:
    """Read as many ``blocks`` of a file as decide its format; returns its shape, and their text.

    FormatError for formats that are not edge lists, and for rows that contradict each other.
    """
    head = Head(name, blocks)
    refuse_foreign(name, head.text)
    shape = Shape(newline=head.newline, further=options.further)
    if matrix := matrix_market(name, head.text):
        shape.declared, shape.exact = {"vertices": matrix.vertices, "edges": matrix.entries}, True
        shape.skip, shape.skip_lines, shape.undirected = matrix.skip, matrix.lines, matrix.symmetric
        shape.says_direction = True
        shape.columns, shape.read = matrix.columns, choose(name, None, matrix.columns, options.wishes)
        return shape, head.text
    if counts := SNAP_COUNTS.search(head.text[:4096]):
        shape.declared = {"vertices": int(counts[1]), "edges": int(counts[2])}
    comments = head.comments
    shape.undirected = b"undirected graph" in comments.lower()
    shape.says_direction = b"directed graph" in comments.lower()
    shape.is_own = b" graph, written by csaw " in comments
    shape.skip, shape.skip_lines = head.behind(options.skip_lines), options.skip_lines
    lines, comment = head.rows(options.skip_lines)
    shape.empty = not lines
    if lines and (layout := laid_out(name, lines, options)).rows:
        _describe(name, layout, comment, shape, options)
    return shape, head.text


def _describe(name: str, layout: Layout, comment: bytes, shape: Shape, options: IngestOptions) -> None:
    """Add the header, the columns and their number to ``shape``."""
    first, rows, wishes = layout.lines[0], layout.rows, options.wishes
    names = None
    if is_header(layout, shape.is_own, options):
        names, rows = text_of(cells_of_header(first, rows)), rows[1:]
        shape.header_line = first.text.decode("utf-8", "replace").strip()
        shape.skip, shape.skip_lines = first.end, first.number
    columns = _columns(name, layout, len(layout.rows) - len(rows), options) if rows else len(names or ())
    shape.strings, shape.separator = layout.strings, layout.separator
    if names is None:
        names = names_in_comment(comment, layout.separator, columns)
    elif len(names) != columns and not (wishes.source and wishes.target and not wishes.names):
        raise FormatError(
            f"{name}:{first.number}: the header has {len(names)} names, the rows under it have {columns} "
            "columns; say which are the ends "
            f"with --source-column and --target-column, by number from 1"
        )
    where = f"{name}:{first.number}"
    shape.read = choose(where, names if names is None or len(names) == columns else None, columns, wishes)
    shape.columns = 0 if options.weight_column == "none" else columns
    if shape.header_line is not None and names and not wishes.names and named_ends(names) is None:
        refuse_digits(where, names, shape)
    if names is not None and len(names) == columns:
        shape.warnings = notes(names, shape.read, wishes)
    elif columns - len(shape.further) > 3 and options.weight_column == "auto":
        raise FormatError(
            f"{where}: expected 2 or 3 columns, found {columns}; say which holds weights with "
            "--weight-column N, or none"
        )


def _columns(name: str, layout: Layout, skip: int, options: IngestOptions) -> int:
    """The number of cells of each row.

    FormatError for the first row with another number, unless malformed rows are skipped.
    """
    lines, sizes = layout.lines[skip:], [len(row) for row in layout.rows[skip:]]
    columns = sizes[0] if options.on_error == "stop" else _usual(sizes)
    other = next((k for k, size in enumerate(sizes) if size != columns), None)
    if other is not None and options.on_error == "stop" and options.weight_column != "none":
        raise _unequal(name, lines, sizes, other)
    if columns < 2 and other is None:
        raise FormatError(
            f"{name}:{lines[0].number}: expected 'source target [weight]' between blanks, tabs, commas or "
            "semicolons, found one column: "
            f"{row_shown(lines[0].text)}"
        )
    return columns


def _usual(sizes: list[int]) -> int:
    """The number of cells that most rows have, of equally frequent ones the first; one cell is no edge."""
    return Counter([size for size in sizes if size > 1] or sizes).most_common(1)[0][0]


def _unequal(name: str, lines: list[Line], sizes: list[int], other: int) -> FormatError:
    first, odd = lines[0], lines[other]
    if other == 1 and len(sizes) > 2 and len(set(sizes[1:])) == 1:
        return FormatError(
            f"{name}:{first.number}: expected {sizes[1]} columns as in the rows that follow, found "
            f"{sizes[0]}: {row_shown(first.text)}; if it holds counts "
            f"or a title, pass --skip-lines {first.number}"
        )
    return FormatError(
        f"{name}:{odd.number}: expected {sizes[0]} columns as in line {first.number}, found "
        f"{sizes[other]}: {row_shown(odd.text)}; an edge list has one "
        f"edge in each row; pass --on-error skip to keep only rows of {_usual(sizes)} columns"
    )
