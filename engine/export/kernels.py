"""Compiled loops that write numbers, ids and weights as text; loaded when a file of text is written, for other formats
need none of them.

A weight is written with the fewest of 6 to 9 digits that give the same float32 again: six are enough for each that was
written with so few, nine for every one (Steele and White, How to print floating-point numbers accurately, PLDI 1990).
"""

import numpy as np

from csaw.engine.export.common import DATES, DECIMALS, NUMBER, SIGNED, WEIGHT, WORD
from csaw.partition.base.compile import njit

# Compiled loops that write integers, four digits at a time from a table.

MINUS, ZERO = 45, 48
DIGITS = np.frombuffer("".join(f"{number:04d}" for number in range(10_001)).encode(), np.uint8)
E4, E8 = np.uint64(10**4), np.uint64(10**8)


@njit(inline="always")
def _four(value, skip, digits, out, at):
    """Write a number below 10^4 without its first ``skip`` digits; up to three bytes after it are no part of it."""
    cell = np.int64(value) * 4 + skip
    a, b, c, d = digits[cell], digits[cell + 1], digits[cell + 2], digits[cell + 3]
    out[at], out[at + 1], out[at + 2], out[at + 3] = a, b, c, d
    return at + 4 - skip


@njit(inline="always")
def _first(value, digits, out, at):
    """Write a number below 10^8, with which a number begins."""
    high = value // E4
    lead = high if high else value
    skip = (lead < np.uint64(1000)) + (lead < np.uint64(100)) + (lead < np.uint64(10))
    at = _four(lead, skip, digits, out, at)
    return _four(value - high * E4, 0, digits, out, at) if high else at


@njit(inline="always")
def _eight(value, digits, out, at):
    """Write a number below 10^8 in eight digits."""
    high = value // E4
    return _four(value - high * E4, 0, digits, out, _four(high, 0, digits, out, at))


@njit(inline="always")
def decimal(value, digits, out, at):
    """Write a uint64 in decimal at ``at``, of which 20 bytes are free; four digits at a time."""
    if value < E8:
        return _first(value, digits, out, at)
    high = value // E8
    if high < E8:
        at = _first(high, digits, out, at)
    else:
        at = _eight(high % E8, digits, out, _first(high // E8, digits, out, at))
    return _eight(value % E8, digits, out, at)


@njit
def number(value, digits, out, at):
    """``decimal`` that is compiled once: inlined at many places, it would take Numba a minute."""
    return decimal(value, digits, out, at)


@njit
def signed(value, digits, out, at):
    """Write an int64."""
    if value < 0:
        out[at] = MINUS
        return number(~np.uint64(value) + np.uint64(1), digits, out, at + 1)
    return number(np.uint64(value), digits, out, at)


@njit
def places(value, count, out, at):
    """Write the last ``count`` digits of a number."""
    for place in range(at + count - 1, at - 1, -1):
        out[place] = ZERO + value % np.uint64(10)
        value //= np.uint64(10)
    return at + count


# Compiled loops that write times as numbers with decimals and as dates of ISO 8601.

COLON, CLOCK, UTC = 58, 84, 90
DAY = 86400  # seconds
FIRST_DAY, LAST_DAY = -719162, 2932896  # since 1970, of the years 1 to 9999, which dates have


@njit
def _date(day, second, out, at):
    """Write YYYY-MM-DDThh:mm:ss of a day since 1970 (H. Hinnant, chrono-compatible low-level date algorithms)."""
    day += 719468
    era = day // 146097
    of_era = day - era * 146097
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month += 3 if month < 10 else -9
    at = places(np.uint64(year + era * 400 + (month <= 2)), 4, out, at)
    parts = (MINUS, month), (MINUS, day), (CLOCK, second // 3600), (COLON, second // 60 % 60), (COLON, second % 60)
    for sign, part in parts:
        out[at] = sign
        at = places(np.uint64(part), 2, out, at + 1)
    return at


@njit
def moment(time, kind, digits, out, at):
    """Write an int64 as a time of its kind: a number with decimals or a date of ISO 8601 in UTC.

    One that is no date of the years 1 to 9999 is written as the integer. It takes 30 bytes, and 3 beyond its end.
    """
    decimals, scale = kind % DECIMALS, np.int64(1)
    for _ in range(decimals):
        scale *= 10
    if kind >= DATES:
        seconds = time // scale
        day = seconds // DAY
        if not FIRST_DAY <= day <= LAST_DAY:
            return signed(time, digits, out, at)
        at, rest = _date(day, seconds - day * DAY, out, at), np.uint64(time - seconds * scale)
    else:
        whole = ~np.uint64(time) + np.uint64(1) if time < 0 else np.uint64(time)
        if time < 0:
            out[at] = MINUS
            at += 1
        rest = whole % np.uint64(scale)
        at = number(whole // np.uint64(scale), digits, out, at)
    if decimals:
        out[at] = POINT
        at = places(rest, decimals, out, at + 1)
    if kind >= DATES:
        out[at] = UTC
        at += 1
    return at


# Compiled loops that write rows.

__all__ = ["DIGITS", "adjacency", "edge_lines", "lines", "rows"]

SPACE, NEWLINE, POINT, EXPONENT = 32, 10, 46, 101
LEAST, MOST = 6, 9  # significant digits of a weight
EXACT = 22  # the largest power of ten that a double holds exactly
LOW = 54  # the smallest power in the table is that of -LOW
POWERS = np.array([float(f"1e{power}") for power in range(-LOW, 55)])
WHOLE = 1e9  # whole weights below it are written as integers
PLAIN = -5  # smaller powers of ten than this are written with an exponent, and those from 10^15 on


@njit(inline="always")
def word(value, half, offsets, text, digits, out, at):
    if text.size:
        for k in range(offsets[value], offsets[value + 1]):
            out[at] = text[k]
            at += 1
        return at
    number = np.uint64(value)
    if half and number >= half:
        out[at] = MINUS
        at += 1
        number = (half << np.uint64(1)) - number
    return decimal(number, digits, out, at)


@njit(nogil=True)
def lines(ids, half, begins, sizes, offsets, text, digits, out):
    at = 0
    for walk in range(begins.size):
        for k in range(begins[walk], begins[walk] + sizes[walk]):
            at = word(ids[k], half, offsets, text, digits, out, at)
            out[at] = SPACE
            at += 1
        if sizes[walk] > 0:
            at -= 1
        out[at] = NEWLINE
        at += 1
    return at


@njit(nogil=True)
def edge_lines(instance, src, dst, depth, times, kind, alone, half, offsets, text, digits, out):
    """Lines ``instance src dst depth`` with ``times``, int64 [edges, columns], of a ``kind`` behind them."""
    at = 0
    for i in range(src.size):
        at = decimal(instance[i], digits, out, at)
        out[at] = SPACE
        at = word(src[i], half, offsets, text, digits, out, at + 1)
        if not alone[i]:
            out[at] = SPACE
            at = word(dst[i], half, offsets, text, digits, out, at + 1)
            out[at] = SPACE
            at = decimal(depth[i], digits, out, at + 1)
            for k in range(times.shape[1]):
                out[at] = SPACE
                at = moment(times[i, k], kind, digits, out, at + 1)
        out[at] = NEWLINE
        at += 1
    return at


@njit(inline="always")
def _power_of(value):
    """The power of ten of the first digit of a positive number."""
    low, high = -LOW + 1, LOW
    while high - low > 1:
        middle = (low + high) // 2
        if POWERS[middle + LOW] <= value:
            low = middle
        else:
            high = middle
    return low


@njit
def shortest(value):
    """The digits of a positive float32 as a number without zeros at its end, how many they are, and the power of ten of
    the first.
    """
    wide = np.float64(value)
    power, count = _power_of(wide), LEAST
    while True:
        shift = count - 1 - power
        if shift >= 0:
            found = np.uint64(wide * POWERS[shift + LOW] + 0.5)
            back = np.float64(found) / POWERS[shift + LOW]
        else:
            found = np.uint64(wide / POWERS[LOW - shift] + 0.5)
            back = np.float64(found) * POWERS[LOW - shift]
        sure = -EXACT <= shift <= EXACT  # where a power is not exact, only nine digits are
        if count == MOST or (sure and np.float32(back) == value):
            break
        count += 1
    if np.float64(found) >= POWERS[count + LOW]:  # rounded up to one digit more
        power += 1
        count += 1
    while found % np.uint64(10) == np.uint64(0):
        found //= np.uint64(10)
        count -= 1
    return found, count, power


@njit(inline="always")
def _zeros(count, out, at):
    for _ in range(count):
        out[at] = ZERO
        at += 1
    return at


@njit
def weight(value, digits, out, at):
    """Write a float32 from 0 on at ``at``, of which 28 bytes are free."""
    if np.float64(value) < WHOLE and np.float32(np.uint64(value)) == value:
        return number(np.uint64(value), digits, out, at)
    found, count, power = shortest(value)
    if PLAIN <= power < 0:
        out[at], out[at + 1] = ZERO, POINT
        return number(found, digits, out, _zeros(-power - 1, out, at + 2))
    if count - 1 <= power < 15:
        return _zeros(power + 1 - count, out, number(found, digits, out, at))
    behind = count - 1 - power if 0 <= power < 15 else count - 1
    divisor = np.uint64(POWERS[behind + LOW])
    at = number(found // divisor, digits, out, at)
    if behind:
        out[at] = POINT
        at = places(found % divisor, behind, out, at + 1)
    if 0 <= power < 15:
        return at
    out[at] = EXPONENT
    if power < 0:
        out[at + 1] = MINUS
        at += 1
    return number(np.uint64(abs(power)), digits, out, at + 1)


@njit(nogil=True)
def rows(cells, filled, kinds, around, ends, offsets, text, floats, digits, out):
    """Rows of ``cells``, uint64 [rows, columns], each with what stands ``around`` it; the bytes that they take.

    ``around``: what a row has before its first cell, between cells and after the last, up to ``ends`` [columns + 1]
    each. ``filled``: how many cells of each row are not empty; no numbers if all are full. ``kinds`` are those of
    :mod:`csaw.engine.export.common`; a weight is the bits of a float32, and any other float the number of its text in
    ``floats``, uint8 [texts, width], which ends at a byte of value 0 or at the width.
    """
    weights = cells.view(np.float32)
    at = 0
    for i in range(cells.shape[0]):
        begin = 0
        for c in range(cells.shape[1] + 1):
            for k in range(begin, ends[c]):
                out[at] = around[k]
                at += 1
            begin = ends[c]
            if c == cells.shape[1] or (filled.size and c >= filled[i]):
                continue
            if kinds[c] == NUMBER:
                at = number(cells[i, c], digits, out, at)
            elif kinds[c] == WORD:
                for k in range(offsets[cells[i, c]], offsets[cells[i, c] + np.uint64(1)]):
                    out[at] = text[k]
                    at += 1
            elif kinds[c] == WEIGHT:
                at = weight(weights[i, 2 * c], digits, out, at)
            elif kinds[c] >= DECIMALS:
                at = moment(np.int64(cells[i, c]), kinds[c], digits, out, at)
            elif kinds[c] == SIGNED:
                at = signed(np.int64(cells[i, c]), digits, out, at)
            else:
                for k in range(floats.shape[1]):
                    byte = floats[cells[i, c], k]
                    if byte == 0:
                        break
                    out[at] = byte
                    at += 1
    return at


@njit(nogil=True)
def adjacency(offsets, neighbors, weights, digits, out):
    """A line of neighbors for each vertex, counted from 1, each with its weight after it if there are ``weights``,
    uint64; the bytes that they take.
    """
    at = 0
    for row in range(offsets.size - 1):
        for k in range(offsets[row], offsets[row + 1]):
            at = number(np.uint64(neighbors[k]) + np.uint64(1), digits, out, at)
            if weights.size:
                out[at] = SPACE
                at = number(weights[k], digits, out, at + 1)
            out[at] = SPACE
            at += 1
        at -= offsets[row + 1] > offsets[row]
        out[at] = NEWLINE
        at += 1
    return at
