"""METIS graphs: a line of counts, then a line for each vertex with its neighbors, counted from 1, and their weights.

``fmt`` in the first line has three digits: whether vertices have sizes, whether they have ``ncon`` weights, and
whether edges have weights (METIS manual 5.1, section 4.1.1). Comments begin with %, and an empty line is a vertex
without edges.
"""

import re
from typing import NamedTuple

from csaw.partition.errors import FormatError
from csaw.partition.ingestion.text.cells import Head, Line, row_shown

COUNTS = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})(?:\s+([01]{1,3})(?:\s+(\d{1,2}))?)?\s*$")
WHOLE = re.compile(rb"[0-9]{1,18}")
SUFFIX = re.compile(r"\.(metis|graph)(\.\w+)?$")
ENOUGH, CERTAIN = 8, 1000  # edges that the lines of both ends have: chance gives no two


class Metis(NamedTuple):
    """The first line of a METIS graph: ``before`` numbers of the vertex itself stand in each line before its neighbors.

    ``skip`` bytes and ``lines`` lines come before the first vertex.
    """

    vertices: int
    edges: int
    weighted: bool
    before: int
    skip: int
    lines: int


def metis_counts(line: Line) -> Metis | None:
    """The counts in the first line; None where it has others."""
    found = COUNTS.match(line.text)
    if found is None:
        return None
    sized, heavy, weighted = (digit == 49 for digit in (found[3] or b"0").rjust(3, b"0"))
    before = sized + (int(found[4] or 1) if heavy else 0)
    return Metis(int(found[1]), int(found[2]), weighted, before, line.end, line.number)


def required(name: str, lines: list[Line]) -> Metis:
    """The counts of a file that is METIS, as an option says; FormatError where the first line has none."""
    found = metis_counts(lines[0]) if lines else None
    if found is None:
        place, row = (lines[0].number, row_shown(lines[0].text)) if lines else (1, "nothing")
        raise FormatError(f"{name}:{place}: expected the counts 'vertices edges [fmt [ncon]]' of METIS, found {row}")
    return found


def recognized(head: Head, lines: list[Line]) -> Metis | None:
    """The counts of a file that is METIS by its content: each edge that the lines of both ends could have is in both.

    A row of an edge list that has its own number in it, and an edge without its opposite, deny it.
    """
    counts = metis_counts(lines[0])
    if counts is None or not counts.vertices or _beyond(lines[1:], counts):
        return None
    rows, entries, twice = 0, 0, 0
    seen: dict[int, set[int]] = {}
    for text in _whole_lines(head, counts.skip):
        if text.startswith(b"%"):
            continue
        cells = text.split()[counts.before :: 1 + counts.weighted]
        if rows == counts.vertices:
            if text.split():
                return None
            continue
        rows += 1
        if not all(map(WHOLE.fullmatch, cells)):
            return None
        neighbors = set(map(int, cells))
        if rows in neighbors or len(neighbors) < len(cells) or max(neighbors, default=0) > counts.vertices:
            return None
        before = {other for other in neighbors if other < rows}
        if before != seen.pop(rows, set()):
            return None
        for other in neighbors - before:
            seen.setdefault(other, set()).add(rows)
        entries, twice = entries + len(cells), twice + len(before)
        if twice >= CERTAIN and not head.ended:
            return counts
    if head.ended:
        fits = rows == counts.vertices and 0 < entries == 2 * counts.edges
    else:
        fits = twice >= (1 if SUFFIX.search(head.name) else ENOUGH)
    return counts if fits else None


def _beyond(lines: list[Line], counts: Metis) -> bool:
    """Whether one of the first rows has a neighbor that the graph has not."""
    for line in lines:
        for cell in line.text.split()[counts.before :: 1 + counts.weighted]:
            if not WHOLE.fullmatch(cell) or not 1 <= int(cell) <= counts.vertices:
                return True
    return False


def _whole_lines(head: Head, start: int) -> list[bytes]:
    """The lines from ``start`` on, but for a last one that may go on."""
    lines = head.text[start:].split(bytes([head.newline]))
    return lines[:-1] if not lines[-1] or not head.ended else lines
