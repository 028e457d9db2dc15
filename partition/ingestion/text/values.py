"""Values of edge columns in text: numbers of an element type, whose cells the parsers of rows have found."""

from math import isinf

import numpy as np

from csaw.partition.base.compile import njit
from csaw.partition.graph.edge_columns import EdgeColumn
from csaw.partition.ingestion.text.cells import INTEGER, row_shown
from csaw.partition.ingestion.text.numbers import TENS, digits_of
from csaw.partition.ingestion.text.times import time_in, times_in
from csaw.partition.ingestion.time_column import TimeColumn

MOST_DIGITS = 15  # that a double holds exactly, so that a single division rounds once
ENDS = 2**63


def values_of(
    text: np.ndarray, begins: np.ndarray, ends: np.ndarray, column: EdgeColumn
) -> tuple[np.ndarray, np.ndarray]:
    """Read the cells ``text[begins[i] : ends[i]]`` as numbers of a column: their values, of its dtype, and whether each
    is such a number, bool.
    """
    if isinstance(column, TimeColumn):
        return times_in(text, begins, ends, column)
    values, odd = np.empty(begins.size, np.float64), np.empty(begins.size, np.bool_)
    if column.is_integer:
        values = np.empty(begins.size, np.int64)
        parse_integers(text, begins, ends, values, odd)
    else:
        parse_decimals(text, begins, ends, values, odd)
    good = column.holds(values) & ~odd
    for place in np.flatnonzero(odd).tolist():
        value = value_of(text[begins[place] : ends[place]].tobytes(), column)
        if value is not None:
            values[place], good[place] = value, True
    with np.errstate(over="ignore"):
        return values.astype(column.dtype), good


def value_of(word: bytes, column: EdgeColumn) -> int | float | None:
    """Read any cell as a number of a column; None where it is none that the column holds."""
    if isinstance(column, TimeColumn):
        return time_in(word, column)
    word = word.strip(b' \t\r"')
    if column.is_integer:
        integer = int(word.partition(b".")[0]) if INTEGER.fullmatch(word) else None
        return integer if integer is not None and -ENDS <= integer < ENDS and column.holds(np.array(integer)) else None
    try:
        number = float(word.replace(b"_", b"?"))
    except ValueError:
        return None
    is_too_large = isinf(number) and any(48 <= byte <= 57 for byte in word)
    return number if column.holds(np.array(number)) and not is_too_large else None


def not_of_column(column: EdgeColumn, row: bytes) -> str:
    """Say what is wrong with a row in which a cell is no number that its column holds."""
    if isinstance(column, TimeColumn):
        return f"expected {column.expected}, found {row_shown(row)}"
    return f"expected a number that {column.dtype} holds as {column.name}, found {row_shown(row)}"


@njit(nogil=True)
def parse_integers(text, begins, ends, values, odd):
    """Read cells of at most 18 digits behind a sign or none; ``odd`` says which are others."""
    for i in range(begins.size):
        place, end = begins[i], ends[i]
        minus = place < end and text[place] == 45
        place += minus
        odd[i], value = not 0 < end - place <= 18, np.int64(0)
        while place < end and not odd[i]:
            odd[i] = not 48 <= text[place] <= 57
            value = value * 10 + (np.int64(text[place]) - 48)
            place += 1
        values[i] = -value if minus and not odd[i] else 0 if odd[i] else value


@njit(nogil=True)
def parse_decimals(text, begins, ends, values, odd):
    """Read cells of at most 15 digits with a point between them or none; ``odd`` says which are others."""
    for i in range(begins.size):
        place, end = begins[i], ends[i]
        minus = place < end and text[place] == 45
        value, _, decimals, odd[i] = digits_of(text, place + minus, end, MOST_DIGITS)
        number = 0.0 if odd[i] else np.float64(value) / TENS[decimals]
        values[i] = -number if minus else number
