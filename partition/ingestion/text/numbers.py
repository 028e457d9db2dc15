"""Parsing numbers in bytes: ids of 64 bits and decimal weights. Each parser returns a code for what is wrong."""

import numpy as np

from csaw.partition.base.compile import inner, njit
from csaw.partition.graph.given_arrays import FLOAT32_END, FLOAT32_NOTHING, LEAST_DOUBLE

GOOD, COLUMNS, NOT_A_NUMBER, TOO_LARGE, BAD_WEIGHT, EMPTY, QUOTE = range(7)
TENS = np.array([10.0**k for k in range(23)])


@inner
def parse_id(text, position, newline):
    """Parse an integer of up to 64 bits, in quotes or not.

    Returns (position after it, its bits, whether it is negative, what is wrong). ``1.0`` is 1.
    """
    quoted = text[position] == 34
    position += quoted
    minus = position < text.size and text[position] == 45
    if minus or (position < text.size and text[position] == 43):
        position += 1
    value, digits, wrong = np.uint64(0), 0, GOOD
    while position < text.size and text[position] != newline and not is_space(text[position], newline):
        digit = np.uint64(text[position]) - np.uint64(48)
        if digit > np.uint64(9):
            position, is_end = end_of_id(text, position, newline, quoted)
            quoted = False
            if not is_end:
                wrong = NOT_A_NUMBER
            break
        if value > np.uint64(1844674407370955161) or (value == np.uint64(1844674407370955161) and digit > np.uint64(5)):
            wrong = TOO_LARGE
        else:
            value = value * np.uint64(10) + digit
        digits += 1
        position += 1
    if digits == 0 or quoted:
        wrong = NOT_A_NUMBER
    if minus:
        if value > np.uint64(1 << 63):
            wrong = TOO_LARGE
        value = ~value + np.uint64(1)
    return position, value, minus and value != np.uint64(0), wrong


@inner
def end_of_id(text, position, newline, quoted):
    """Skip what follows the digits of an id.

    Returns (end of the cell, whether there was nothing but a point, zeros and the closing quote).
    """
    good = True
    if text[position] == 46:
        position += 1
        while position < text.size and text[position] == 48:
            position += 1
    if quoted:
        good = position < text.size and text[position] == 34
        position += good
    while position < text.size and text[position] != newline and not is_space(text[position], newline):
        good = False
        position += 1
    return position, good


@inner
def parse_weight(text, position, newline):
    """Parse a decimal number, in quotes or not.

    Returns (position after it, value, what is wrong). nan and inf give NaN, which is refused as a weight; a positive
    number that no double holds gives the least one.
    """
    sign = 1.0
    quoted = text[position] == 34
    position += quoted
    if position < text.size and (text[position] == 45 or text[position] == 43):
        sign = -1.0 if text[position] == 45 else 1.0
        position += 1
    mantissa, digits, scale, point, exponent, wrong = 0.0, 0, 0, False, 0, GOOD
    while position < text.size and text[position] != newline and not is_space(text[position], newline):
        byte = text[position]
        if 48 <= byte <= 57:
            digits += 1
            if mantissa < 1e17:
                mantissa = mantissa * 10.0 + (byte - 48)
                scale -= point
            else:
                scale += not point
        elif byte == 46 and not point:
            point = True
        elif (byte == 101 or byte == 69) and digits > 0:
            position += 1
            minus = position < text.size and text[position] == 45
            if position < text.size and (text[position] == 45 or text[position] == 43):
                position += 1
            if position >= text.size or not 48 <= text[position] <= 57:
                wrong = NOT_A_NUMBER
            while position < text.size and 48 <= text[position] <= 57:
                exponent = min(exponent * 10 + (text[position] - 48), 9999)
                position += 1
            exponent = -exponent if minus else exponent
            continue
        elif quoted and byte == 34:
            quoted = False
            after = position + 1
            if after < text.size and text[after] != newline and not is_space(text[after], newline):
                wrong = NOT_A_NUMBER
        else:
            wrong = NOT_A_NUMBER
            if byte == 110 or byte == 78 or byte == 105 or byte == 73:  # nan, inf
                while position < text.size and text[position] != newline and not is_space(text[position], newline):
                    position += 1
                return position, np.nan, GOOD
        position += 1
    if digits == 0 or quoted:
        wrong = NOT_A_NUMBER
    scale += exponent
    positive = mantissa > 0.0
    while scale > 0 and mantissa != 0.0:
        step = min(scale, 22)
        mantissa *= TENS[step]
        scale -= step
        if mantissa > 1e300:
            break
    while scale < 0 and mantissa != 0.0:
        step = min(-scale, 22)
        mantissa /= TENS[step]
        scale += step
    if positive and mantissa == 0.0:
        mantissa = LEAST_DOUBLE
    return position, sign * mantissa + 0.0, wrong  # of -0 the sign goes


@njit(inline="always")
def is_weight(value):
    """Whether a number is one that :func:`are_weights` says yes to."""
    return value == 0.0 or FLOAT32_NOTHING < value < FLOAT32_END


@njit(inline="always")
def is_space(byte, newline):
    """Whether a byte separates cells: space, tab, comma, semicolon, and the carriage return of CRLF."""
    return byte == 32 or byte == 9 or byte == 44 or byte == 59 or (byte == 13 and newline != 13)


@inner(forceinline=True)
def digits_of(text, place, end, most):
    """Read digits with a point between them or none, without their sign.

    Returns their number as an integer, how many there are, how many stand behind the point, and whether the cell is
    another, or has more than ``most``.
    """
    value, digits, behind, point, odd = np.int64(0), 0, 0, False, False
    while place < end and not odd:
        byte = text[place]
        if 48 <= byte <= 57:
            value = value * 10 + (np.int64(byte) - 48)
            digits += 1
            behind += point
            odd = digits > most
        else:
            odd = byte != 46 or point
            point = True
        place += 1
    return value, digits, behind, odd or digits == 0
