"""Formats whose lines look like rows of edges, known by their first lines; each is refused with the way to read it."""

import re

from csaw.partition.ingestion.columns import Wishes
from csaw.partition.ingestion.text.cells import row_shown
from csaw.partition.ingestion.text.foreign import LOOKED_AT, OF_DIMACS, OF_GSPAN, refusal, through
from csaw.partition.ingestion.text.head import Head, Line

ALONE = re.compile(rb"(?<=\n)#[ \t\r]*\n(?!\s*#)")  # a line of nothing but #, which no comment follows
LGL = re.compile(r"\.lgl(\.\w+)?$")
VERTEX = re.compile(rb"(?:\A|(?<=\n))#[ \t]*(\S+)[ \t\r]*\n(?=[^#%\s])")  # a line # NAME above a row
DATA = re.compile(rb"\s*\S+\s+\{.*\}\s*$")
EDGE_DATA = re.compile(rb"\s*(\S+|\(.*\))\s+(\S+|\(.*\))\s+\{.*\}\s*$")
LONE = re.compile(rb"\s*[\(\[\{]\s*$")
BRACKET = re.compile(rb"\s*([^\s\(\[\{<]+\s*[\s:]\s*)?[\(\[\{<]")
BRACKETS = re.compile(BRACKET.pattern + rb"(\s*$|[^\)\]\}>]*[,;\s\(\[\{]|(?<=\{)[^\}]*:)")
LETTERED = re.compile(rb"\s*[acdenpstvx]\s")
DIMACS_EDGE = re.compile(rb"\s*[ae]\s+\d+\s+\d+(\s+-?[\d.]+)?\s*$")
GSPAN_VERTEX = re.compile(rb"\s*(v\s+\d+\s+\S+\s*$|t\s+#)")
COLON = re.compile(rb"\s*(\S+\s+)?\d+:\d+(\.\d*)?(\s|,|$)")


def refuse_foreign_rows(head: Head, lines: list[Line], wishes: Wishes) -> None:
    """Raise FormatError for ``lines``, the first rows of ``head``, that are those of a known format.

    Where ``wishes`` say which columns are read, the others may have anything.
    """
    texts = [line.text.rstrip() for line in lines]
    where = f"{head.name}:{lines[0].number}"
    begin = lines[0].end - len(lines[0].text)
    rows = head.text[begin : begin + LOOKED_AT]
    if any(not rows[: found.start()].rpartition(b"\n")[0].rpartition(b"\n")[2].lstrip().startswith(b"#")
           for found in ALONE.finditer(rows)):  # fmt: skip
        way = "the rows below its line '#' are edges: sed '1,/^#$/d' FILE | csaw partition - OUT"
        raise refusal(where, "TGF (Trivial Graph Format)", way)
    if _is_lgl(head, texts):
        raise refusal(where, "LGL (Large Graph Layout)", through("igraph.Graph.Read_Lgl(FILE)"))
    if wishes.weight == "auto" and any(map(EDGE_DATA.match, texts)):
        way = (
            "--weight-column none reads the ends only, networkx.write_weighted_edgelist writes rows with weights, and "
            + through("networkx.read_edgelist(FILE)")
        )
        raise refusal(where, "an edge list of networkx with data in braces", way)
    if any(map(DATA.match, texts)) and not any(map(EDGE_DATA.match, texts)):
        raise refusal(where, "a multiline adjacency list of networkx", through("networkx.read_multiline_adjlist(FILE)"))
    _refuse_letters(where, texts, wishes)
    _refuse_marks(where, texts)


def _is_lgl(head: Head, texts: list[bytes]) -> bool:
    """Whether lines ``# NAME`` stand above rows of one cell, or two with a weight: other names above each, as the ids
    in the rows are, and one at the begin.
    """
    names = VERTEX.findall(head.text[:LOOKED_AT])
    rows = [text.split() for text in texts]
    if not head.text.lstrip().startswith(b"#") or max(map(len, rows)) > 2 or len(set(names)) < len(names):
        return False
    if all(row[0].isdigit() for row in rows) != all(map(bytes.isdigit, names)):
        return False
    return len(names) > (0 if LGL.search(head.name) else 1)


def _refuse_letters(where: str, texts: list[bytes], wishes: Wishes) -> None:
    """Raise FormatError for rows that all begin with a letter, which says what they are."""
    if wishes.source or wishes.target or not all(map(LETTERED.match, texts)):
        return
    if any(map(GSPAN_VERTEX.match, texts)):
        raise refusal(where, "gSpan", OF_GSPAN)
    if any(map(DIMACS_EDGE.match, texts)):
        raise refusal(where, f"DIMACS, without a line p ({row_shown(texts[0])})", OF_DIMACS)


def _refuse_marks(where: str, texts: list[bytes]) -> None:
    """Raise FormatError for rows that have brackets or colons around their ends."""
    row = row_shown(texts[0])
    opened = sum(map(bool, map(BRACKET.match, texts)))
    if LONE.match(texts[0]) or (2 * opened > len(texts) and any(map(BRACKETS.match, texts))):
        way = (
            "remove the brackets, tr -d '()[]{}<>' < FILE > edges.txt, if each line is one edge; in Python, "
            "csaw.partition takes a list of tuples"
        )
        raise refusal(where, f"a list in brackets, as Python and JSON write ({row})", way)
    if 2 * sum(map(bool, map(COLON.match, texts))) > len(texts):
        way = "write them with a blank in place of the colon, tr ':' ' ' < FILE > edges.txt"
        raise refusal(where, f"pairs of numbers with a colon between them ({row})", way)
