"""Adjacency lists: each line has a vertex and its neighbors."""

import re

from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text.cells import BLANK, INTEGER
from csaw.partition.ingestion.text.head import Head, Line
from csaw.partition.ingestion.text.shape import ADJACENCY, Shape

SUFFIX = re.compile(r"\.adjlist(\.\w+)?$")
NETWORKX = re.compile(rb"#[^\n]*\n# GMT \w{3} \w{3} ")  # above lists that networkx writes
MARKS = re.compile(rb"[:;\"()\[\]{}<>]")
BRACES = re.compile(rb"[,;{}]")


def adjacency_of(head: Head, lines: list[Line], shape: Shape, options: IngestOptions) -> bool:
    """Whether a text has adjacency lists, which ``shape`` then describes: an option says so, a colon behind each
    vertex, or the name or the comments that networkx gives such a file.
    """
    texts = [line.text for line in lines]
    colon = all(map(_has_colon, texts))
    named = SUFFIX.search(head.name) or NETWORKX.match(head.text)
    if options.format == "auto" and not colon and not (named and not any(map(BRACES.search, texts))):
        return False
    words = (text.replace(b":", b" " * colon or b":").replace(b",", b" ").split() for text in texts)
    integers = all(INTEGER.fullmatch(cell) for row in words for cell in row)
    shape.format, shape.colon, shape.before = ADJACENCY, colon, 1
    shape.strings = options.ids == "string" or (options.ids == "auto" and not integers)
    shape.separator = BLANK if shape.strings and not any(b"," in text for text in texts) else None
    return True


def _has_colon(text: bytes) -> bool:
    """Whether a row is a vertex with a colon behind it, and its neighbors: ``1: 2 3``."""
    vertex, colon, others = text.partition(b":")
    if not colon or not (others[:1].isspace() or not others) or len(vertex.split()) != 1:
        return False
    return not MARKS.search(vertex) and not MARKS.search(others)
