"""Adjacency lists: each line has a vertex and its neighbors."""

import re

from csaw.partition.errors import FormatError
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text.cells import BLANK, INTEGER, NUMBER, Head, Line, row_shown
from csaw.partition.ingestion.text.shape import ADJACENCY, Shape

SUFFIX = re.compile(r"\.adjlist(\.\w+)?$")
NETWORKX = re.compile(rb"#[^\n]*\n# GMT \w{3} \w{3} ")  # above lists that networkx writes
MARKS = re.compile(rb"[:;\"()\[\]{}<>]|[-=~]{2}|\xe2[\x86\x87\x9f]")
SEPARATORS = re.compile(rb"[,;]")  # beside blanks
BRACES = re.compile(rb"[,;{}\"]")  # which networkx does not write there


def adjacency_of(head: Head, lines: list[Line], shape: Shape, options: IngestOptions) -> bool:
    """Whether a text has adjacency lists, which ``shape`` then describes: an option says so, a colon behind each
    vertex, or the name or the comments that networkx gives such a file.
    """
    texts = [line.text for line in lines]
    colon = all(map(_has_colon, texts))
    named = SUFFIX.search(head.name) or NETWORKX.match(head.text)
    words = [SEPARATORS.sub(b" ", text.replace(b":", b" " * colon or b":")).split() for text in texts]
    lists = named and not any(map(BRACES.search, texts)) and max(map(len, words)) > 1
    if options.format == "auto" and not colon and not lists:
        return False
    if options.format == "auto" and colon:
        _see_weights(f"{head.name}:{lines[0].number}", lines, words, shape)
    integers = all(INTEGER.fullmatch(cell) for row in words for cell in row)
    shape.format, shape.colon, shape.before = ADJACENCY, colon, 1
    shape.strings = options.id_type == "string" or (options.id_type == "auto" and not integers)
    shape.separator = BLANK if shape.strings and not any(map(SEPARATORS.search, texts)) else None
    return True


def _has_colon(text: bytes) -> bool:
    """Whether a row is a vertex with a colon behind it, and its neighbors: ``1: 2 3``."""
    vertex, colon, others = text.partition(b":")
    if not colon or not (others[:1].isspace() or not others) or len(vertex.split()) != 1:
        return False
    return not MARKS.search(vertex) and not MARKS.search(others)


def _see_weights(where: str, lines: list[Line], words: list[list[bytes]], shape: Shape) -> None:
    """Look for a weight behind a neighbor, or in its place; FormatError where the last cells of rows must be such."""
    sizes, last = {len(row) for row in words}, [row[-1] for row in words]
    if sizes not in ({2}, {3}) or not all(map(NUMBER.fullmatch, last)):
        return
    integers = all(INTEGER.fullmatch(cell) for row in words for cell in row)
    if integers and sizes == {3}:
        shape.warnings.append(
            "each row is read as a vertex and two neighbors; if the last number is a weight, replace the colon "
            "with a space: sed 's/:/ /' FILE | csaw partition - OUT"
        )
    elif not integers:
        raise FormatError(
            f"{where}: the row has a colon after its first word and a number at its end, which may be a weight or "
            f"a neighbor: {row_shown(lines[0].text)}; if it is a weight, replace the colon with a space: sed "
            "'s/:/ /' FILE | csaw partition - OUT; if it is a neighbor, pass --format adjacency"
        )
