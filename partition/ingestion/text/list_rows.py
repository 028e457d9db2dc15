"""Edges of a text whose lines have a vertex and its neighbors: adjacency lists and METIS graphs."""

from typing import NamedTuple

import numpy as np

from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import mixed
from csaw.partition.errors import FormatError
from csaw.partition.ingestion.text import fast_rows, numbers
from csaw.partition.ingestion.text.cells import cells, is_blank, refuse_mark, row_shown
from csaw.partition.ingestion.text.fast_rows import (
    BIG,
    BLANK,
    COMMENTS,
    ERROR,
    ERROR_LINE,
    LINES,
    NEGATIVE,
    ROWS,
    parse_digits,
)
from csaw.partition.ingestion.text.numbers import (
    BAD_WEIGHT,
    COLUMNS,
    GOOD,
    is_space,
    is_weight,
    parse_id,
    parse_weight,
)
from csaw.partition.ingestion.text.odd_rows import end_of_line
from csaw.partition.ingestion.text.pieces import Parser, Piece, ReadRecord
from csaw.partition.ingestion.text.shape import ADJACENCY, METIS, Shape

SHORTEST_CELL = 2  # bytes: a digit and what ends it
EXPECTED = {
    METIS: "numbers of vertices, each followed by a weight if the first line says so",
    ADJACENCY: "a vertex and its neighbors as integers (words as ids: --id-type string)",
}
WRONG = {
    numbers.TOO_LARGE: "an id of at most 64 bits",
    numbers.BAD_WEIGHT: "a weight from 0 to 3.4e38, of which positive ones are at least 1e-45",
    numbers.COLUMNS: "as many numbers as the first line says: those of the vertex, then its neighbors, each with "
    "its weight if edges have weights",
}


class Lists(NamedTuple):
    """A block as edges of integers; ``vertices``: its lines that are of a vertex; ``row``: the first that is wrong."""

    src: np.ndarray
    dst: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    vertices: int
    row: bytes


class ListRows(Parser[Lists | bytes]):
    """Parses blocks of lines, by any thread; in order, it adds to ``said``, the record of TextRows."""

    def __init__(self, path: str, shape: Shape, skip_errors: bool, said: ReadRecord, both_ways: bool) -> None:
        self.path, self.shape, self.skip_errors, self.said = path, shape, skip_errors, said
        self.numbered, self.both_ways = shape.format == METIS, both_ways

    def cut(self, given: bytes | memoryview) -> Lists | bytes:
        """The edges of a block; the block itself where ids are words."""
        shape, block = self.shape, bytes(given)
        if shape.colon:
            block = block.replace(b":", b" ")
        if shape.strings:
            return block
        ending = bytes([shape.newline])
        text = np.frombuffer(block if block.endswith(ending) or not block else block + ending, np.uint8)
        most = text.size // SHORTEST_CELL + 1
        owners, others = np.empty(most, np.uint64), np.empty(most, np.uint64)
        weights = np.empty(most if shape.weighted_lists else 0, np.float32)
        counts = np.zeros(fast_rows.COUNTS, np.int64)
        vertices = parse_lists(
            text, shape.newline, shape.before, shape.weighted_lists, self.numbered, owners, others, weights, counts
        )
        rows, bad = int(counts[fast_rows.ROWS]), int(counts[fast_rows.ERROR_LINE])
        kind = np.uint64 if counts[fast_rows.BIG] else np.int64
        row = block.split(ending)[bad - 1] if bad else b""
        return Lists(owners[:rows].view(kind), others[:rows].view(kind), weights[:rows], counts, vertices, row)

    def counted(self, given: Lists | bytes) -> Piece:
        """The edges of the next block, after what is wrong with them is raised as FormatError."""
        if isinstance(given, bytes):
            return self._words(given)
        said, counts = self.said, given.counts
        if counts[fast_rows.ERROR]:
            status = int(counts[fast_rows.ERROR])
            expected = WRONG.get(status, EXPECTED[self.shape.format])
            where = f"{self.path}:{said.counts['lines'] + int(counts[fast_rows.ERROR_LINE])}"
            raise FormatError(f"{where}: expected {expected}, found {row_shown(given.row)}")
        if counts[fast_rows.BIG] and counts[fast_rows.NEGATIVE]:
            raise FormatError(
                f"{self.path}: expected ids that fit in one 64-bit type, found some below 0 and "
                "some of 2^63 or more; pass --id-type string"
            )
        piece = self._of_metis(given) if self.numbered else Piece(given.src, given.dst)
        for name, at in (("lines", fast_rows.LINES), ("comments", fast_rows.COMMENTS), ("blank", fast_rows.BLANK)):
            said.counts[name] += int(counts[at])
        said.counts["edges"] += len(piece.src)
        said.vertices += given.vertices
        return piece

    def _of_metis(self, given: Lists) -> Piece:
        """The edges of a block of METIS: each once, or in both rows where they are asked for as directed."""
        vertices = self.shape.declared["vertices"]
        src, dst, weights = given.src, given.dst, given.weights
        src += self.said.vertices + 1
        if self.both_ways:
            src, dst, weights = src.copy(), dst.copy(), weights.copy()
        sums = np.array(self.said.sums, np.uint64)
        kept, wrong = keep_half(given.src, given.dst, given.weights.view(np.uint32), vertices, sums)
        if wrong >= 0:
            owner, other = int(given.src[wrong]), int(given.dst[wrong])
            raise FormatError(
                f"{self.path}: expected lines of {vertices} vertices by the first line, with neighbors from 1 to "
                f"{vertices} other than the vertex itself; the line of vertex {owner} has {other}"
            )
        self.said.sums = int(sums[0]), int(sums[1])
        if not self.both_ways:
            src, dst, weights = given.src[:kept], given.dst[:kept], given.weights[:kept]
        return Piece(src, dst, (weights,) * (self.shape.read.weight >= 0))

    def _words(self, block: bytes) -> Piece:
        """The edges of adjacency lists of words."""
        sources, targets, said = list[bytes](), list[bytes](), self.said
        for line in block.split(bytes([self.shape.newline])):
            if line.lstrip()[:1] in (b"#", b"%"):
                said.counts["comments"] += 1
            elif is_blank(line):
                said.counts["blank"] += 1
            else:
                refuse_mark(f"{self.path}:{said.counts['lines'] + 1}", line)
                owner, *others = cells(line, self.shape.separator)
                sources += [owner] * len(others)
                targets += others
                said.vertices += 1
            said.counts["lines"] += 1
        if block.endswith(bytes([self.shape.newline])):  # behind which no line begins
            said.counts["lines"] -= 1
            said.counts["blank"] -= 1
        said.counts["edges"] += len(sources)
        return Piece(sources, targets)

    def end(self) -> None:
        """FormatError where a METIS graph has other counts than its first line, or an edge in the line of one end."""
        if not self.numbered:
            return
        said, declared = self.said, self.shape.declared
        edges = said.counts["edges"] // (2 if self.both_ways else 1)
        if said.sums[0] != said.sums[1]:
            raise FormatError(
                f"{self.path}: expected each edge of METIS in the lines of both its ends, with one weight; found some "
                "in the line of one end; lists of directed edges, whose lines begin with their vertex, are read by "
                "--format adjacency"
            )
        vertices = min(said.vertices, declared["vertices"])  # empty lines may follow
        for name, found in (("vertices", vertices), ("edges", edges)):
            if declared[name] != found:
                raise FormatError(f"{self.path}: expected {declared[name]} {name} by the first line, found {found}")


# Parsing lines of one vertex and its neighbors: adjacency lists and METIS graphs.

MIX = np.uint64(0x9E3779B97F4A7C15)


@njit(nogil=True)
def parse_lists(text, newline, before, weighted, numbered, owners, others, weights, counts):
    """Fill ``owners`` and ``others`` (uint64 bits of ids) and ``weights`` with an edge for each neighbor.

    A line has ``before`` numbers that are passed over, then neighbors, each with a weight behind it if ``weighted``.
    Where lines are ``numbered``, the owner is the number of the line, from 0, and an empty line is a vertex without
    edges; otherwise it is the first number of the line. Returns the number of lines of vertices; stops at the first
    malformed one, which ``counts`` have.
    """
    position, vertices = np.int64(0), np.int64(0)
    while position < text.size:
        counts[LINES] += 1
        position = next_cell(text, position, newline)
        ends = position >= text.size or text[position] == newline
        if not ends and (text[position] == 37 or (text[position] == 35 and not numbered)):  # '%', '#'
            counts[COMMENTS] += 1
            position = end_of_line(text, position, newline)
            continue
        if ends and not numbered:
            counts[BLANK] += 1
            position += 1
            continue
        owner, column, wrong = np.uint64(vertices), 0, GOOD
        while position < text.size and text[position] != newline and wrong == GOOD:
            rows = counts[ROWS]
            if weighted and column >= before and (column - before) % 2:
                position, weights[rows - 1], wrong = parse_weight(text, position, newline)
                if wrong == GOOD and not is_weight(weights[rows - 1]):
                    wrong = BAD_WEIGHT
            else:
                position, value, minus, wrong = cell_of(text, position, newline)
                counts[NEGATIVE] |= minus
                counts[BIG] |= not minus and value >> np.uint64(63) > 0
                if not numbered and column == 0:
                    owner = value
                elif column >= before:
                    owners[rows], others[rows] = owner, value
                    counts[ROWS] += 1
            column += 1
            position = next_cell(text, position, newline)
        if wrong == GOOD and numbered and (0 < column < before or (weighted and max(column - before, 0) % 2)):
            wrong = COLUMNS
        if wrong != GOOD:
            counts[ERROR], counts[ERROR_LINE] = wrong, counts[LINES]
            break
        vertices += 1
        position += 1
    return vertices


@inner
def next_cell(text, position, newline):
    """Where the next cell of the line begins, or the line ends."""
    while position < text.size and text[position] != newline and is_space(text[position], newline):
        position += 1
    return position


@inner
def cell_of(text, position, newline):
    """An id: (position behind it, its bits, whether it is negative, what is wrong with it)."""
    after, value = parse_digits(text, np.uint64(position))
    end = np.int64(after)
    if 0 < end - position < 19 and (end == text.size or text[end] == newline or is_space(text[end], newline)):
        return end, value, False, GOOD
    return parse_id(text, position, newline)


@njit(nogil=True)
def keep_half(owners, others, weights, vertices, sums):
    """Move the edges to larger neighbors to the front, and return (their number, a place that is wrong or -1).

    ``sums`` [2] get a sum over edges to larger neighbors, and one over those to smaller ones. They are equal where each
    edge is in the lines of both ends with one weight, and chance makes others equal once in 2^64 times. ``weights``:
    the bits of float32, uint32.
    """
    kept = 0
    for i in range(owners.size):
        one, other = owners[i], others[i]
        if one > vertices or other < 1 or other > vertices or one == other:
            return kept, i
        low, high = min(one, other), max(one, other)
        word = mixed(np.uint64(low) * MIX ^ mixed(np.uint64(high)))
        if weights.size:
            word = mixed(word ^ np.uint64(weights[i]))
        sums[0 if one < other else 1] += word
        if one < other:
            owners[kept], others[kept] = one, other
            if weights.size:
                weights[kept] = weights[i]
            kept += 1
    return kept, -1
