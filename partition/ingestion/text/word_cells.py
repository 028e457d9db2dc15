"""Cutting rows of words at the rate of the memory: rows without quotes, comments, empty cells and other rarities.

Any other block is left to the caller.
"""

from typing import NamedTuple

import numpy as np

from csaw.partition.arrays.words import Words
from csaw.partition.base.compile import njit
from csaw.partition.ingestion.text.fast_rows import BLANK, COUNTS, LINES, ROWS
from csaw.partition.ingestion.text.numbers import TENS

SPACE, QUOTE = 32, 34
MOST_DIGITS = 15  # of a weight: a double holds them exactly, so a single division rounds once


class Cells(NamedTuple):
    """Words in a text: number i is ``text[starts[i] : starts[i] + sizes[i]]``; ``text`` uint8, the others int64 [n]."""

    text: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, words: list[bytes]) -> "Cells":
        """Cells of words that have no text in common."""
        joined = Words.of(words)
        return cls(joined.text, joined.offsets[:-1], joined.sizes())


class CutRows(NamedTuple):
    """Rows of a block: sources, targets, weights (float32, empty where there are none), the cells of other columns, and
    ``counts``, as parsers of numbers give them.
    """

    sources: Cells
    targets: Cells
    weights: np.ndarray
    further: list[Cells]
    counts: np.ndarray


def cut_rows(block: bytes, newline: int, separator: int, columns: int, places: tuple[int, ...]) -> CutRows | None:
    """The rows of a block of whole lines; None where one of them is not plain.

    ``places`` are the columns of source, target, weight (-1: none) and others.
    """
    text = np.frombuffer(block, np.uint8)
    most = np.count_nonzero(text == newline) + 1
    ends, counts = np.empty((2 * len(places), most), np.int64), np.zeros(COUNTS, np.int64)
    weights = np.empty(most if places[2] >= 0 else 0, np.float32)
    stops = np.zeros(256, np.bool_)
    stops[:SPACE] = stops[QUOTE] = stops[separator] = True
    if not cut_plain_rows(text, newline, separator, columns, np.array(places), stops, ends, weights, counts):
        return None
    rows = int(counts[ROWS])
    sources, targets, _, *further = (Cells(text, *ends[2 * k : 2 * k + 2, :rows]) for k in range(len(places)))
    return CutRows(sources, targets, weights[:rows], further, counts)


@njit(nogil=True)
def cut_plain_rows(text, newline, separator, columns, places, stops, ends, weights, counts):
    """Fill ``ends`` [2 x places, rows] with the begin and the size of the cells at ``places``, but for weights.

    Returns whether all lines are plain rows or empty.

    A ``separator`` of a blank is any run of blanks and tabs. Bytes that ``stops`` are those that end a cell, and those
    that no plain row has.
    """
    position, rows = np.int64(0), np.int64(0)
    need = places.max()
    while position < text.size:
        position, column = cut_plain_row(text, position, newline, separator, places, stops, ends, weights, rows)
        if column < 0 or 0 < column <= need or (column > 0 and columns > 0 and column != columns):
            return False
        counts[LINES] += 1
        counts[BLANK] += column == 0
        rows += column > 0
    counts[ROWS] = rows
    return True


@njit(inline="always")
def cut_plain_row(text, position, newline, separator, places, stops, ends, weights, row):
    """Cut the line that begins here. Returns (begin of the next line, number of cells: -1 where it is not plain)."""
    size, column = text.size, np.int64(0)
    while True:
        while separator == 32 and position < size and (text[position] == 32 or text[position] == 9):
            position += 1
        after = end_of_row(text, position, newline)
        if after > position and (separator == 32 or column == 0):
            break
        begin = position
        while position < size and not stops[text[position]]:
            position += 1
        if not is_plain_cell(text, begin, position, separator, column):
            column = np.int64(-1)
            break
        if column == places[0]:
            ends[0, row], ends[1, row] = begin, position - begin
        elif column == places[1]:
            ends[2, row], ends[3, row] = begin, position - begin
        elif column == places[2]:
            weights[row] = plain_weight(text, begin, position)
            if weights[row] < 0.0:
                column = np.int64(-1)
                break
        for k in range(3, places.size):
            if column == places[k]:
                ends[2 * k, row], ends[2 * k + 1, row] = begin, position - begin
        column += 1
        after = end_of_row(text, position, newline)
        if after > position and separator != 32:
            break
        if after == position:
            if text[position] != separator and not (separator == 32 and text[position] == 9):
                column = np.int64(-1)
                break
            position += 1
    return after, column


@njit(inline="always")
def end_of_row(text, position, newline):
    """The place behind the end of the line if it is here, also after a carriage return or at the end of the text.

    Otherwise ``position``.
    """
    if position >= text.size:
        return position + 1
    if text[position] == newline:
        return position + 1
    if text[position] == 13 and position + 1 < text.size and text[position + 1] == newline:
        return position + 2
    return position


@njit(inline="always")
def is_plain_cell(text, begin, end, separator, column):
    """Whether a cell is its bytes: not empty, no blanks around it, and no beginning that may say something else of it
    or of its line.
    """
    if begin == end:
        return False
    first = text[begin]
    if first == 32 or text[end - 1] == 32 or first == 44 or first == 59:  # ',', ';': perhaps a line without values
        return False
    if column == 0:
        if first == 239 and end - begin > 2 and text[begin + 1] == 187 and text[begin + 2] == 191:  # byte order mark
            return False
        return first != 35 and first != 37  # '#', '%'
    return column == 1 or separator != 32 or first != 35


@njit(inline="always")
def plain_weight(text, begin, end):
    """The value of digits with at most one point between them; -1 for any other text."""
    value, digits, decimals, point = np.int64(0), 0, 0, False
    for place in range(begin, end):
        byte = text[place]
        if 48 <= byte <= 57:
            value = value * 10 + (byte - 48)
            digits += 1
            decimals += point
        elif byte == 46 and not point:
            point = True
        else:
            return -1.0
    if digits == 0 or digits > MOST_DIGITS:
        return -1.0
    return np.float64(value) / TENS[decimals]
