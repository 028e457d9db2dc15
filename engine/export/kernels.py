"""Compiled loops that write numbers, ids and weights as text; loaded when a file of text is written, for other formats
need none of them.

A weight is written with the fewest of 6 to 9 digits that give the same float32 again: six are enough for each that was
written with so few, nine for every one (Steele and White, How to print floating-point numbers accurately, PLDI 1990).
"""

import numpy as np

from csaw.engine.export.digits import DIGITS, MINUS, ZERO, decimal, number, places, signed
from csaw.engine.export.kinds import DECIMALS, NUMBER, SIGNED, WEIGHT, WORD
from csaw.engine.export.time_kernels import moment
from csaw.partition.base.compile import njit

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
    :mod:`csaw.engine.export.kinds`; a weight is the bits of a float32, and any other float the number of its text in
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
