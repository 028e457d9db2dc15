"""Finding the format of a text file from its first lines: what it is, or its separator, columns, header and ids."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from csaw.partition.errors import OptionError
from csaw.partition.ingestion.columns import Columns, choose
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text import metis
from csaw.partition.ingestion.text.adjacency import adjacency_of
from csaw.partition.ingestion.text.described import describe
from csaw.partition.ingestion.text.foreign import LOOKED_AT, refuse_foreign, refuse_unreadable
from csaw.partition.ingestion.text.foreign_rows import refuse_foreign_rows, refuse_lettered_rows
from csaw.partition.ingestion.text.head import Head, Line
from csaw.partition.ingestion.text.konect import see_konect
from csaw.partition.ingestion.text.matrix_market import MatrixMarket, matrix_market
from csaw.partition.ingestion.text.row_checks import arrow_between
from csaw.partition.ingestion.text.separators import laid_out
from csaw.partition.ingestion.text.shape import ADJACENCY, MATRIX_MARKET, METIS, Shape

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
    if asked == METIS or (asked == "auto" and lines and metis.recognised(head, lines)):
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
    is_open = (
        options.format == "auto" and not shape.is_own
    )  # csaw's own export has rows of edges, whatever ids look like
    arrow = arrow_between(head.name, lines) if is_open else None
    if is_open:
        if arrow:
            shape.checks = (arrow,)
            lines = [line._replace(text=arrow.blanked(line.text)) for line in lines]
            if arrow.undirected:
                shape.undirected = shape.says_direction = True
        else:
            refuse_foreign_rows(head, lines, options.wishes)
    if (layout := laid_out(head.name, lines, options)).rows:
        describe(head.name, layout, comment, shape, options)
    if arrow and arrow.turned:
        shape.read = replace(shape.read, source=shape.read.target, target=shape.read.source)


def _of_matrix(name: str, matrix: MatrixMarket, shape: Shape, options: IngestOptions) -> None:
    shape.format, shape.exact, shape.says_direction = MATRIX_MARKET, True, True
    shape.declared = {"vertices": matrix.vertices, "edges": matrix.entries}
    shape.skip, shape.skip_lines, shape.undirected = matrix.skip, matrix.lines, matrix.symmetric
    shape.columns, shape.read = matrix.columns, choose(name, None, matrix.columns, options.wishes)


def _of_metis(name: str, lines: list[Line], shape: Shape, options: IngestOptions) -> None:
    counts = metis.required(name, lines)
    _refuse_columns(name, "METIS graphs", options)
    if options.ids == "string":
        raise OptionError(f"{name}: --ids string: expected int, because vertices of METIS graphs are numbers of lines")
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
