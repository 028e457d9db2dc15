"""Finding the format of a text file from its first lines: what it is, or its separator, columns, header and ids."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from csaw.partition.errors import FormatError, OptionError
from csaw.partition.ingestion.columns import Columns, choose, named_ends, notes, plain
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text import metis
from csaw.partition.ingestion.text.adjacency import adjacency_of
from csaw.partition.ingestion.text.cells import (
    NUMBER,
    Head,
    Layout,
    Line,
    cells_of_header,
    laid_out,
    row_shown,
    text_of,
)
from csaw.partition.ingestion.text.doubts import like_lists, look_twice
from csaw.partition.ingestion.text.foreign import (
    LOOKED_AT,
    refuse_foreign,
    refuse_foreign_rows,
    refuse_lettered_rows,
    refuse_unreadable,
)
from csaw.partition.ingestion.text.konect import see_konect
from csaw.partition.ingestion.text.matrix_market import MatrixMarket, matrix_market
from csaw.partition.ingestion.text.row_checks import Arrow, HeaderAgain, arrow_between
from csaw.partition.ingestion.text.shape import ADJACENCY, MATRIX_MARKET, METIS, Shape

# Describing rows of edges by the first of them: their header, columns, and type of ids.

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
            f"{name}:{first.number}: the header has {len(names)} names, the rows under it have {columns} columns; "
            "choose the columns of the ends with --source-column and --target-column, by number from 1"
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
            f"{where}: expected 2 or 3 columns, found {columns}; choose the column of weights with "
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
            f"{name}:{lines[0].number}: expected 'source target [weight]', separated by spaces, tabs, commas or "
            f"semicolons, found one column: {row_shown(lines[0].text)}"
        )
    return columns


def _usual(sizes: list[int]) -> int:
    """The number of cells that most rows have, of equally frequent ones the first; one cell is no edge."""
    return Counter([size for size in sizes if size > 1] or sizes).most_common(1)[0][0]


def _unequal(name: str, lines: list[Line], rows: list[list[bytes]], other: int) -> FormatError:
    first, odd, sizes = lines[0], lines[other], [len(row) for row in rows]
    if all(len(row) > 1 and row[1] == b"%d" % (len(row) - 2) for row in rows):
        return FormatError(
            f"{name}:{first.number}: expected an edge, found a vertex with the number of its neighbors and the "
            f"neighbors: {row_shown(first.text)}; remove the second column: awk '{{$2=\"\"}} 1' FILE | csaw "
            "partition - OUT --format adjacency"
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


# Telling a header from a row of edges, and finding the names of columns in it or in a comment.


def is_header(name: str, layout: Layout, is_own: bool, options: IngestOptions) -> bool:
    """Whether the first row holds column names: known names, names that options ask for, or words above numbers.

    Where csaw wrote the file, words are vertices. FormatError for names that stand among the rows, too.
    """
    first, rest = layout.rows[0], layout.rows[1:]
    names = text_of(first)
    if {plain(name) for name in names} & {plain(name) for name in options.wishes.names}:
        return True
    if layout.strings and is_own:
        return False
    if ends := named_ends(names):
        below = {cell for row in rest for cell in row}
        if not (layout.strings and below & {first[end] for end in ends}):
            return True
        if first in rest and options.format == "auto":
            line = layout.lines[1 + rest.index(first)]
            raise FormatError(
                f"{name}:{line.number}: the first row, {row_shown(line.text)}, occurs here again; if it is a "
                "header, as in joined files, remove it; if both are edges, pass --format edges"
            )
        beside = [k for k in range(len(first)) if k not in ends]
        return any(_is_above_numbers(first, rest, k) for k in beside)  # otherwise vertices are called u and v
    if not rest:
        return False
    if not first[0] and len(first) > 2:  # the name of an index, which is empty
        return all(row[0] for row in rest)
    if any(all(map(NUMBER.fullmatch, cell.split())) for cell in first):
        return False
    above = range(2 if options.id_type == "string" else 0, len(first))
    return any(_is_above_numbers(first, rest, k) for k in above)


def _is_above_numbers(first: list[bytes], rest: list[list[bytes]], k: int) -> bool:
    """Whether column ``k`` has a word in the first row, and numbers in all that follow."""
    return not NUMBER.fullmatch(first[k]) and all(len(row) > k and NUMBER.fullmatch(row[k]) for row in rest)


def names_in_comment(comment: bytes, separator: bytes | None, columns: int) -> list[str] | None:
    """The names in the last comment before the rows, if they name both ends and are as many as the columns.

    Otherwise None.
    """
    line = comment.strip().lstrip(b"#% \t")
    cuts: Iterator[list[bytes]] = (line.split(by) for by in (separator, None, b",") if line)
    named = (text_of([cell.strip(b' "') for cell in cut]) for cut in cuts if len(cut) == columns)
    return next((names for names in named if named_ends(names)), None)


def refuse_digits(where: str, names: list[str], shape: Shape) -> None:
    """Raise FormatError for a header of unknown names in which the name of an end begins with a digit: 0x1 may be a
    vertex.
    """
    ends = names[shape.read.source : shape.read.source + 1] + names[shape.read.target : shape.read.target + 1]
    if names[0] and any(name[:1].isdigit() for name in ends):
        raise FormatError(
            f"{where}: expected an edge, or a header of words, found "
            f"{row_shown(str(shape.header_line).encode())}, which may be either; if it is an edge, pass --id-type "
            f"string; if it is a header, pass --skip-lines {shape.skip_lines}"
        )


# Finding the format of a text file from its first lines.

SNAP_COUNTS = re.compile(rb"Nodes:\s*(\d{1,18})\s+Edges:\s*(\d{1,18})")


def never() -> bool:
    """Nobody knows whether the text goes on."""
    return False


def sniff(
    name: str, blocks: Iterable[memoryview], options: IngestOptions, ended: Callable[[], bool] = never
) -> tuple[Shape, bytes]:
    """Read as many ``blocks`` of a file as decide its format; returns its shape, and their text.

    ``ended``: whether these were all. FormatError for formats that are not read, and for rows that contradict each
    other.
    """
    head = Head(name, blocks, ended)
    refuse_unreadable(name, head.text)
    shape, asked = Shape(newline=head.newline, further=options.further), options.format
    if asked in ("auto", MATRIX_MARKET) and (matrix := matrix_market(name, head.text, asked == MATRIX_MARKET)):
        _of_matrix(name, matrix, shape, options)
        return shape, head.text
    if asked == "auto":
        refuse_foreign(name, head.begin(LOOKED_AT))
    _see_comments(head, shape)
    shape.skip, shape.skip_lines = head.behind(options.skip_lines), options.skip_lines
    lines, comment = head.rows(options.skip_lines)
    shape.empty = not lines
    shape.only = lines[0].text.strip() if head.ended and len(lines) == 1 else None
    if asked == METIS or (asked == "auto" and lines and metis.recognized(head, lines)):
        _of_metis(name, lines, shape, options)
    elif lines and (asked == ADJACENCY or asked == "auto") and adjacency_of(head, lines, shape, options):
        if asked == "auto":
            refuse_lettered_rows(head, lines, options.wishes)
        _refuse_columns(name, "adjacency lists", options)
    elif lines:
        _of_rows(head, lines, comment, shape, options)
    see_konect(head, shape, options)
    return shape, head.text


def _see_comments(head: Head, shape: Shape) -> None:
    """Add what comments say of the graph to ``shape``."""
    if counts := SNAP_COUNTS.search(head.text[:4096]):
        shape.declared = {"vertices": int(counts[1]), "edges": int(counts[2])}
    comments = head.comments
    shape.undirected = b"undirected graph" in comments.lower()
    shape.says_direction = b"directed graph" in comments.lower()
    shape.is_own = b" graph, written by csaw " in comments


def _of_rows(head: Head, lines: list[Line], comment: bytes, shape: Shape, options: IngestOptions) -> None:
    """Add what rows of edges are like to ``shape``."""
    # csaw's own export has rows of edges, whatever ids look like
    arrow = None if shape.is_own else _arrow(head.name, lines, options)
    if arrow:
        shape.checks = (arrow,)
        lines = [line._replace(text=arrow.blanked(line.text)) for line in lines]
        if arrow.undirected:
            shape.undirected = shape.says_direction = True
    elif options.format == "auto" and not shape.is_own:
        refuse_foreign_rows(head, lines, options.wishes)
    if (layout := laid_out(head.name, lines, options)).rows:
        describe(head.name, layout, comment, shape, options)
    if arrow and arrow.turned:
        shape.read = replace(shape.read, source=shape.read.target, target=shape.read.source)


def _arrow(name: str, lines: list[Line], options: IngestOptions) -> Arrow | None:
    """The arrow between the ends; where ``--format edges`` is given, only one that can be in no vertex."""
    if options.format == "auto":
        return arrow_between(name, lines)
    with suppress(FormatError):
        found = arrow_between(name, lines)
        if found and all(found.is_apart(line.text) for line in lines):
            return found
    return None


def _of_matrix(name: str, matrix: MatrixMarket, shape: Shape, options: IngestOptions) -> None:
    shape.format, shape.exact, shape.says_direction = MATRIX_MARKET, True, True
    shape.declared = {"vertices": matrix.vertices, "edges": matrix.entries}
    shape.skip, shape.skip_lines, shape.undirected = matrix.skip, matrix.lines, matrix.symmetric
    shape.columns, shape.read = matrix.columns, choose(name, None, matrix.columns, options.wishes)


def _of_metis(name: str, lines: list[Line], shape: Shape, options: IngestOptions) -> None:
    counts = metis.required(name, lines)
    _refuse_columns(name, "METIS graphs", options)
    if options.id_type == "string":
        raise OptionError(
            f"{name}: --id-type string: expected int, because the vertices of a METIS graph are line numbers"
        )
    shape.format, shape.empty, shape.undirected, shape.says_direction = METIS, False, True, True
    shape.declared = {"vertices": counts.vertices, "edges": counts.edges}
    shape.skip, shape.skip_lines = counts.skip, counts.lines
    shape.before, shape.weighted_lists = counts.before, counts.weighted
    is_read = counts.weighted and options.weight_column != "none"
    shape.read = Columns(0, 1, 2 if is_read else -1)
    if counts.before:
        shape.warnings.append("sizes and weights of vertices are not read")


def _refuse_columns(name: str, what: str, options: IngestOptions) -> None:
    """Raise OptionError for options that name columns, of which lists of neighbors have none."""
    if flag := next((flag for flag, wish in options.wishes.asked if wish is not None), None):
        raise OptionError(f"{name}: {flag}: expected none, because {what} have no columns; --format edges reads rows")
