"""Values of edge columns in text, whose cells the parsers of rows have found: times, then numbers of any type."""

from math import isinf

import numpy as np

from csaw.partition.base.compile import njit
from csaw.partition.graph.edge_columns import EdgeColumn
from csaw.partition.ingestion.text.cells import INTEGER, row_shown
from csaw.partition.ingestion.text.numbers import TENS, digits_of
from csaw.partition.ingestion.time_column import MOST_DIGITS, TimeColumn, time_of_text

# Times in text: decimal numbers and dates of ISO 8601 as integers, exactly.

LEAST, MOST = np.int64(-(2**63)), np.int64(2**63 - 1)


def times_in(
    text: np.ndarray, begins: np.ndarray, ends: np.ndarray, column: TimeColumn
) -> tuple[np.ndarray, np.ndarray]:
    """Read the cells ``text[begins[i] : ends[i]]`` as times: int64, and whether each is one, bool."""
    values, odd = np.zeros(begins.size, np.int64), np.empty(begins.size, np.bool_)
    (parse_dates if column.iso else parse_scaled)(text, begins, ends, column.decimals, values, odd)
    good = ~odd
    for place in np.flatnonzero(odd).tolist():
        value = time_in(text[begins[place] : ends[place]].tobytes(), column)
        if value is not None:
            values[place], good[place] = value, True
    return values, good


def time_in(word: bytes, column: TimeColumn) -> int | None:
    """Read any cell as a time; None where it is none that int64 holds in the column's units."""
    word = word.strip(b' \t\r"')
    if column.iso:
        values, odd = np.zeros(1, np.int64), np.empty(1, np.bool_)
        text = np.frombuffer(word, np.uint8)
        parse_dates(text, np.zeros(1, np.int64), np.full(1, text.size), column.decimals, values, odd)
        return None if odd[0] else int(values[0])
    return time_of_text(word.decode("ascii", "replace"), column.decimals)


@njit(nogil=True)
def parse_scaled(text, begins, ends, decimals, values, odd):
    """Read cells of digits with a point between them or none; ``odd`` says which are others, or have more decimals."""
    for i in range(begins.size):
        place, end = begins[i], ends[i]
        minus = place < end and text[place] == 45
        value, digits, behind, odd[i] = digits_of(text, place + minus, end, MOST_DIGITS)
        odd[i] |= behind > decimals or digits + decimals - behind > MOST_DIGITS
        if not odd[i]:
            for _ in range(decimals - behind):
                value *= 10
            values[i] = -value if minus else value


@njit(nogil=True)
def parse_dates(text, begins, ends, decimals, values, odd):
    """Read cells YYYY-MM-DD, with hours, minutes, seconds, decimals and an offset behind them or none, as UTC."""
    for i in range(begins.size):
        place, end = begins[i], ends[i]
        odd[i] = True
        year, place = digits_at(text, place, end, 4)
        month, place = part_at(text, place, end, 45)
        day, place = part_at(text, place, end, 45)
        if place < 0 or not 1 <= month <= 12 or not 1 <= day <= days_of(year, month):
            continue
        clock, fraction, behind = 0, np.int64(0), 0
        if place < end and (text[place] == 84 or text[place] == 32 or text[place] == 116):
            clock, fraction, behind, place = clock_at(text, place + 1, end)
        if place < 0:
            continue
        east, place = offset_at(text, place, end)
        while behind > decimals and fraction % 10 == 0:
            fraction //= 10
            behind -= 1
        if place != end or behind > decimals:
            continue
        scale = np.int64(1)
        for _ in range(decimals):
            scale *= 10
        for _ in range(decimals - behind):
            fraction *= 10
        seconds = days_since(year, month, day) * 86400 + clock - east
        if seconds < 0:  # both of one sign, so that neither the product nor the sum wraps where int64 holds the time
            seconds, fraction = seconds + 1, fraction - scale
        whole = seconds * scale
        if abs(seconds) > MOST // scale or (fraction > MOST - whole if fraction >= 0 else fraction < LEAST - whole):
            continue
        values[i] = whole + fraction
        odd[i] = False


@njit(nogil=True)
def clock_at(text, place, end):
    """Seconds that hh:mm or hh:mm:ss say, the digits behind a point after seconds as a number, how many they are, and
    the place behind them; -1 where there is no time of a day.
    """
    hour, place = digits_at(text, place, end, 2)
    minute, place = part_at(text, place, end, 58)
    second, fraction, behind = 0, np.int64(0), 0
    if 0 <= place < end and text[place] == 58:
        second, place = part_at(text, place, end, 58)
        if 0 <= place < end and (text[place] == 46 or text[place] == 44):
            place += 1
            while place < end and 48 <= text[place] <= 57 and behind <= 18:
                fraction = fraction * 10 + (np.int64(text[place]) - 48)
                behind += 1
                place += 1
            place = -1 if behind == 0 or behind > 18 else place
    if hour > 23 or minute > 59 or second > 59:
        place = -1
    return hour * 3600 + minute * 60 + second, fraction, behind, place


@njit(nogil=True)
def digits_at(text, place, end, count):
    """The number of so many digits at ``place``, and the place behind them; -1 where there are others."""
    value = 0
    if place < 0 or place + count > end:
        return 0, -1
    for k in range(place, place + count):
        if not 48 <= text[k] <= 57:
            return 0, -1
        value = value * 10 + (np.int64(text[k]) - 48)
    return value, place + count


@njit(nogil=True)
def part_at(text, place, end, sign):
    """The number of two digits behind ``sign`` at ``place``, and the place behind them; -1 where there are others."""
    if place < 0 or place >= end or text[place] != sign:
        return 0, -1
    return digits_at(text, place + 1, end, 2)


@njit(nogil=True)
def offset_at(text, place, end):
    """Seconds east of UTC that Z, +hh:mm, +hhmm or +hh say, 0 without, and the place behind; -1 for anything else."""
    if place == end:
        return 0, place
    if text[place] == 90 or text[place] == 122:
        return 0, place + 1
    if text[place] != 43 and text[place] != 45:
        return 0, -1
    west = text[place] == 45
    hours, place = digits_at(text, place + 1, end, 2)
    minutes = 0
    if 0 <= place < end:
        minutes, place = digits_at(text, place + (text[place] == 58), end, 2)
    if place < 0 or hours > 23 or minutes > 59:
        return 0, -1
    east = hours * 3600 + minutes * 60
    return -east if west else east, place


@njit(nogil=True)
def days_of(year, month):
    """Days of a month of the Gregorian calendar."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month == 4 or month == 6 or month == 9 or month == 11 else 31


@njit(nogil=True)
def days_since(year, month, day):
    """Days since 1970-01-01 (H. Hinnant, chrono-compatible low-level date algorithms)."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


MOST_VALUE_DIGITS = 15  # that a double holds exactly, so that a single division rounds once
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
        value, _, decimals, odd[i] = digits_of(text, place + minus, end, MOST_VALUE_DIGITS)
        number = 0.0 if odd[i] else np.float64(value) / TENS[decimals]
        values[i] = -number if minus else number
