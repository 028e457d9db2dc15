"""Parsing lines of one vertex and its neighbors: adjacency lists and METIS graphs."""

import numpy as np

from csaw.partition.base.compile import inner, njit
from csaw.partition.base.mixing import mixed
from csaw.partition.ingestion.text.numbers import (
    BAD_WEIGHT,
    COLUMNS,
    GOOD,
    is_space,
    is_weight,
    parse_id,
    parse_weight,
)
from csaw.partition.ingestion.text.plain import (
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
from csaw.partition.ingestion.text.text import end_of_line

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
