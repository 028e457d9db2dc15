"""Describing rows of edges by the first of them: their header, columns, and type of ids."""

import re
from collections import Counter

from csaw.partition.errors import FormatError
from csaw.partition.ingestion.columns import choose, named_ends, notes
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text.cells import row_shown
from csaw.partition.ingestion.text.doubts import like_lists, look_twice
from csaw.partition.ingestion.text.head import Line
from csaw.partition.ingestion.text.header import is_header, names_in_comment, refuse_digits
from csaw.partition.ingestion.text.row_checks import HeaderAgain
from csaw.partition.ingestion.text.separators import Layout, cells_of_header, text_of
from csaw.partition.ingestion.text.shape import Shape

SIZES = re.compile(rb"\s*\d+[\s,;]+\d+[\s,;]+\d+\s*$")
MOST_UNEQUAL = 4  # rows of which one may have another number of cells
MOST_UNEQUAL_LISTS = 16  # the same, where rows of three numbers may be sets of vertices, too


def describe(name: str, layout: Layout, comment: bytes, shape: Shape, options: IngestOptions) -> None:
    """Add the header, the columns and their number to ``shape``."""
    first, rows, wishes = layout.lines[0], layout.rows, options.wishes
    names = None
    if is_header(name, layout, shape.is_own, options):
        names, rows = text_of(cells_of_header(first, rows)), rows[1:]
        shape.header_line = first.text.decode("utf-8", "replace").strip()
        shape.skip, shape.skip_lines, shape.empty = first.end, first.number, not rows
        if layout.strings:
            shape.checks += (HeaderAgain(first.text.strip().lower()),)
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
    shape.names = names if names is not None and len(names) == columns else None
    if options.format == "auto":
        look_twice(where, layout, rows, comment, shape, options)
    if shape.names is not None:
        shape.warnings += notes(shape.names, shape.read, wishes)
    elif columns - len(shape.further) > 3 and options.weight_column == "auto":
        raise FormatError(
            f"{where}: expected 2 or 3 columns, found {columns}; say which holds weights with "
            "--weight-column N, or none; pass --format adjacency if each row has a vertex and its neighbors"
        )


def _columns(name: str, layout: Layout, skip: int, options: IngestOptions) -> int:
    """The number of cells of each row.

    FormatError for the first row with another number, unless malformed rows are skipped.
    """
    lines, sizes = layout.lines[skip:], [len(row) for row in layout.rows[skip:]]
    columns = sizes[0] if options.on_error == "stop" else _usual(sizes)
    other = next((k for k, size in enumerate(sizes) if size != columns), None)
    if other is not None and options.on_error == "stop" and options.weight_column != "none":
        raise _unequal(name, lines, layout.rows[skip:], other)
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


def _unequal(name: str, lines: list[Line], rows: list[list[bytes]], other: int) -> FormatError:
    first, odd, sizes = lines[0], lines[other], [len(row) for row in rows]
    if all(len(row) > 1 and row[1] == b"%d" % (len(row) - 2) for row in rows):
        return FormatError(
            f"{name}:{first.number}: expected an edge, found a vertex, the number of its neighbors, and these: "
            f"{row_shown(first.text)}; read them without the second: awk '{{$2=\"\"}} 1' FILE | csaw partition - "
            "OUT --format adjacency"
        )
    if other == 1 and len(sizes) > 2 and len(set(sizes[1:])) == 1:
        matrix = ", --format matrix-market if it is 'rows columns entries'" if SIZES.match(first.text) else ""
        lists = ", --format adjacency if each row has a vertex and its neighbors"
        return FormatError(
            f"{name}:{first.number}: expected {sizes[1]} columns as in the rows that follow, found "
            f"{sizes[0]}: {row_shown(first.text)}; if it holds counts "
            f"or a title, pass --skip-lines {first.number}{matrix}{lists}"
        )
    usual = _usual(sizes)
    counted = sizes[0] == 2 and rows[0][0] == b"%d" % (len(rows) - 1)  # of METIS, and of its hypergraphs
    sets = usual == 3 and all(cell.isdigit() for row in rows for cell in row)
    most = MOST_UNEQUAL_LISTS if sets else MOST_UNEQUAL
    few = (
        not counted
        and not like_lists(rows)
        and 1 < usual < 4
        and max(sizes) <= usual + 2
        and most * sizes.count(usual) >= (most - 1) * len(sizes)
    )
    skip = f"--on-error skip to keep only rows of {usual} columns, or " if few else ""
    return FormatError(
        f"{name}:{odd.number}: expected {sizes[0]} columns as in line {first.number}, found "
        f"{sizes[other]}: {row_shown(odd.text)}; an edge list has one edge in each row; pass {skip}--format adjacency "
        "if each row has a vertex and its neighbors, --format metis if the first has counts"
    )
