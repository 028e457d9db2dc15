"""Edge-list rows to numbers: a Numba parser for a block of bytes. Ids keep all 64 bits; a row that is not one is reported, never guessed."""

import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from csaw.partition.compile import njit

GOOD, COLUMNS, NOT_A_NUMBER, TOO_LARGE, BAD_WEIGHT, EMPTY, QUOTE = range(7)
COUNTS = 13
LINES, COMMENTS, BLANK, ROWS, SKIPPED, NEGATIVE, BIG, WIDE, BAD_WEIGHTS, ERROR, ERROR_LINE, ERROR_FOUND, WEIGHT_LINE = (
    range(COUNTS)
)
FLOAT32_END = 2.0**128 - 2.0**103  # numbers below this round to a finite float32
TENS_OF_DIGITS = np.array([10**k for k in range(8)], np.uint64)
TENS = np.array([10.0**k for k in range(23)])


@njit(nogil=True)
def parse_block(text, newline, separator, columns, first, second, weight_column, skip_errors, ones, others, weights, counts):
    """Fill ones and others (uint64 bits of the ids in columns first < second), weights; ``counts`` by the names above. Stops at the
    first bad row unless skipping.

    ``columns`` is the number each row must have, 0 for any above the needed ones; all columns count from 0, a weight_column of -1 is none;
    ``separator`` is the only byte that ends a cell, or 0 for blanks, commas and semicolons as they come.
    """
    position, size, rows, wide = 0, text.size, 0, np.uint64(0)
    need = max(second, weight_column) + 1
    plain = weight_column < 0 and (columns == 2 or columns == 0) and separator == 0 and first == 0 and second == 1
    while position < size:
        if plain and 48 <= text[position] <= 57:
            position, read, bits = parse_plain_rows(text, position, newline, ones, others, rows)
            counts[LINES] += read
            rows += read
            wide |= bits
            if position == size:
                break
        counts[LINES] += 1
        begin = position
        position, separators = gap(text, position, newline, 0)
        if position == size or text[position] == newline:
            counts[BLANK] += 1
            position += 1
            continue
        if text[position] == 35 or text[position] == 37:  # '#', '%'
            counts[COMMENTS] += 1
            position = end_of_line(text, position, newline)
            continue
        position, a, b, weight, negative, big, column, status = parse_row(
            text, begin if separator else position, newline, separator, columns, first, second, weight_column
        )
        if separators and not separator:
            status = EMPTY
        if status != EMPTY and (column < need or (columns > 0 and column != columns)):
            status = COLUMNS
        if status == GOOD and not (weight >= 0.0 and weight < FLOAT32_END):
            counts[BAD_WEIGHTS] += 1
            if counts[WEIGHT_LINE] == 0:
                counts[WEIGHT_LINE] = counts[LINES]
            status = BAD_WEIGHT
        if status != GOOD:
            if skip_errors:
                counts[SKIPPED] += 1
                continue
            if status == BAD_WEIGHT:
                continue  # all are counted before the run is refused
            counts[ERROR], counts[ERROR_LINE], counts[ERROR_FOUND] = status, counts[LINES], column
            return rows
        counts[NEGATIVE] |= negative
        counts[BIG] |= big
        wide |= a | b
        ones[rows], others[rows] = a, b
        if weight_column >= 0:
            weights[rows] = weight
        rows += 1
    counts[ROWS], counts[WIDE] = rows, wide >> np.uint64(32) > np.uint64(0)
    return rows


@njit(inline="always")
def parse_row(text, position, newline, separator, columns, first, second, weight_column):
    """A row from its first cell: (the next line, both ids, weight, whether an id is negative, is 2^63 or more, cells found, what is wrong)."""
    size = text.size
    column, status, weight = 0, GOOD, 1.0
    a = b = np.uint64(0)
    negative = big = False
    while True:
        wrong = GOOD
        if separator:
            position = skip_blanks(text, position, newline, separator)
        if separator and (position >= size or text[position] == newline or text[position] == separator):
            if column == first or column == second or column == weight_column:
                wrong = EMPTY
        elif column == first or column == second:
            position, value, minus, wrong = parse_id(text, position, newline)
            if minus:
                negative = True
            elif value >> np.uint64(63):
                big = True
            if column == first:
                a = value
            else:
                b = value
        elif column == weight_column:
            position, weight, wrong = parse_weight(text, position, newline)
        else:
            position, wrong = skip_cell(text, position, newline, separator)
        if wrong and status == GOOD:
            status = wrong
        column += 1
        position, separators = gap(text, position, newline, separator)
        ends = position >= size or text[position] == newline
        if separators == 0 and not ends and text[position] == 35 and column > max(1, second):  # a comment ends the row
            position, ends = end_of_line(text, position, newline) - 1, True
        if separator == 0 and (separators > 1 or (separators and ends)):
            status = EMPTY
        if ends and (separator == 0 or separators == 0 or (separator == 9 and column >= columns > 0)):
            break
        if separator and separators == 0:  # more than a value in a cell
            status = NOT_A_NUMBER
            while position < size and text[position] != newline and text[position] != separator:
                position += 1
            position, separators = gap(text, position, newline, separator)
            if separators == 0:
                break
    return position + 1, a, b, weight, negative, big, column, status


@njit(inline="always")
def gap(text, position, newline, separator):
    """After what lies between two cells: (where the next begins, how many separators there were); only one where ``separator`` says which."""
    separators = 0
    if separator:
        position = skip_blanks(text, position, newline, separator)
        if position < text.size and text[position] == separator:
            return position + 1, 1
        return position, 0
    while position < text.size and text[position] != newline and is_space(text[position], newline):
        separators += text[position] == 44 or text[position] == 59
        position += 1
    return position, separators


@njit(inline="always")
def skip_blanks(text, position, newline, separator):
    while position < text.size and (
        text[position] == 32 or (text[position] == 9 and separator != 9) or (text[position] == 13 and newline != 13)
    ):
        position += 1
    return position


@njit
def skip_cell(text, position, newline, separator):
    """After a cell that is not read: (where it ends, whether its quotes do)."""
    if text[position] != 34:
        while position < text.size and text[position] != newline:
            if is_space(text[position], newline) if separator == 0 else text[position] == separator:
                break
            position += 1
        return position, GOOD
    position += 1
    while position < text.size and text[position] != newline:
        if text[position] == 34:
            position += 1
            if position == text.size or text[position] != 34:
                return position, GOOD
        position += 1
    return position, QUOTE


@njit
def parse_plain_rows(text, start, newline, src, dst, rows):
    """Rows of two unsigned numbers below 10^18, one separator, and the line's end: nearly all of most files, at the memory's rate.

    Returns where the first other row begins, how many rows came before it, and the bits that occur in their numbers.
    """
    position, size, end, bits = np.uint64(start), np.uint64(text.size), np.uint8(newline), np.uint64(0)
    one, row = np.uint64(1), np.uint64(rows)
    while True:
        begin = position
        first, a = parse_digits(text, begin)
        if first == begin or first - begin > np.uint64(18) or first >= size:
            break
        separator = text[first]
        if separator != 9 and separator != 32 and separator != 44:
            break
        position, b = parse_digits(text, first + one)
        digits = position - first - one
        if digits == np.uint64(0) or digits > np.uint64(18) or position >= size:
            break
        if text[position] == 13 and end == 10 and position + one < size:
            position += one
        if text[position] != end:
            break
        position += one
        bits |= a | b
        src[row], dst[row] = a, b
        row += one
    return np.int64(begin), np.int64(row - np.uint64(rows)), bits


@njit(inline="always")
def parse_digits(text, position):
    """The number that begins here: (after it, its value). Eight bytes at a time, for a loop that ends at any digit is predicted badly."""
    value, size = np.uint64(0), np.uint64(text.size)
    while position + np.uint64(8) <= size:
        word = eight_bytes(text, position) ^ np.uint64(0x3030303030303030)  # digits become 0 .. 9
        others = (word | (word + np.uint64(0x7676767676767676))) & np.uint64(0x8080808080808080)
        if others == np.uint64(0):
            value = value * np.uint64(100_000_000) + eight_digits(word)
            position += np.uint64(8)
            continue
        count = trailing_zeros(others) >> np.uint64(3)
        word = (word << (np.uint64(56) - np.uint64(8) * count)) << np.uint64(8)  # zeros before the digits
        return position + count, value * TENS_OF_DIGITS[count] + eight_digits(word)
    while position < size and np.uint8(text[position] - np.uint8(48)) <= 9:
        value = value * np.uint64(10) + np.uint64(text[position] - np.uint8(48))
        position += np.uint64(1)
    return position, value


@intrinsic
def trailing_zeros(typing_context, word):
    """How many of the lowest bits are zero; one instruction, which no Python expression compiles to."""

    def build(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return word(word), build


@njit(inline="always")
def eight_bytes(text, position):
    """Little-endian; the compiler makes it one load."""
    word = np.uint64(0)
    for k in range(8):
        word |= np.uint64(text[position + np.uint64(k)]) << np.uint64(8 * k)
    return word


@njit(inline="always")
def eight_digits(word):
    """The number whose digits are the bytes of ``word``, the lowest byte first: pairs, then fours, then all in one product each."""
    word = word * np.uint64(10) + (word >> np.uint64(8))
    low, high = word & np.uint64(0x000000FF000000FF), (word >> np.uint64(16)) & np.uint64(0x000000FF000000FF)
    return (low * np.uint64(100 + (1_000_000 << 32)) + high * np.uint64(1 + (10_000 << 32))) >> np.uint64(32)


@njit(inline="always")
def is_space(byte, newline):
    """Separators: space, tab, comma, semicolon, and the carriage return of CRLF."""
    return byte == 32 or byte == 9 or byte == 44 or byte == 59 or (byte == 13 and newline != 13)


@njit
def end_of_line(text, position, newline):
    while position < text.size and text[position] != newline:
        position += 1
    return position + 1


@njit
def parse_id(text, position, newline):
    """An integer of up to 64 bits, in quotes or not: (after it, its bits, negative, what is wrong). ``1.0`` is 1."""
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


@njit
def end_of_id(text, position, newline, quoted):
    """After what follows the digits of an id: (the end of the cell, whether it was only a point, zeros and the closing quote)."""
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


@njit
def parse_weight(text, position, newline):
    """A decimal number, in quotes or not: (after it, value, what is wrong). nan and inf come out as NaN, which no weight may be."""
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
    return position, sign * mantissa, wrong
