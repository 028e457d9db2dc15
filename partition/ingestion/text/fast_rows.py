"""Parsing rows of plain numbers, which most files consist of, at the rate of the memory.

Any other row is left to the caller, who has odd_rows.py for it.
"""

import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import eight_bytes
from csaw.partition.ingestion.text.numbers import GOOD, TENS, is_space, is_weight, parse_weight

COUNTS = 14  # numbers that a parser gives about a block
(
    LINES,
    COMMENTS,
    BLANK,
    ROWS,
    SKIPPED,
    NEGATIVE,
    BIG,
    WIDE,
    BAD_WEIGHTS,
    ERROR,
    ERROR_LINE,
    ERROR_FOUND,
    WEIGHT_LINE,
    RESPELLED,
) = range(COUNTS)
LED_BY_ZERO = np.uint64(63)  # the bit that says so of ids below 10^18
TENS_OF_DIGITS = np.array([10**k for k in range(8)], np.uint64)
POWERS = np.array([10**k for k in range(16)], np.uint64)


@njit(nogil=True)
def parse_plain_block(text, newline, src, dst, counts):
    """Plain rows, comments and empty lines: (where the first other line begins, rows before it).

    ``counts`` as in :mod:`csaw.partition.ingestion.text.odd_rows`.
    """
    position = rows = np.int64(0)  # a literal would be a type of its own, compiled for twice
    bits = np.uint64(0)
    while position < text.size:
        begin = position
        position, read, seen = parse_plain_rows(text, begin, newline, src, dst, rows)
        counts[LINES] += read
        rows, bits = rows + read, bits | seen
        after = skip_line(text, position, newline, counts)
        if after == position:
            break
        position = after
    counts[ROWS], counts[WIDE], counts[RESPELLED] = rows, is_wide(bits), bits >> LED_BY_ZERO
    return position, rows


@njit(nogil=True)
def parse_weighted_block(text, newline, separator, ones, others, weights, counts):
    """The same for rows with a weight."""
    position = rows = np.int64(0)  # a literal would be a type of its own, compiled for twice
    bits = np.uint64(0)
    while position < text.size:
        begin = position
        position, read, seen = parse_weighted_rows(text, begin, newline, separator, ones, others, weights, rows)
        counts[LINES] += read
        rows, bits = rows + read, bits | seen
        after = skip_line(text, position, newline, counts)
        if after == position:
            break
        position = after
    counts[ROWS], counts[WIDE], counts[RESPELLED] = rows, is_wide(bits), bits >> LED_BY_ZERO
    return position, rows


@inner
def skip_line(text, position, newline, counts):
    """After a comment or an empty line that begins here, which is counted; the same place for any other line."""
    if position >= text.size:
        return position
    first = text[position]
    if first != newline and first != 35 and first != 37:  # '#', '%'
        return position
    counts[LINES] += 1
    counts[BLANK if first == newline else COMMENTS] += 1
    while position < text.size and text[position] != newline:
        position += 1
    return min(position + 1, text.size)


@inner
def parse_plain_rows(text, start, newline, src, dst, rows):
    """Parse rows of two unsigned numbers below 10^18 with one separator between them.

    Returns (begin of the first other row, number of rows before it, all bits that occur in their numbers, and the bit
    LED_BY_ZERO).
    """
    position, size, end, bits = np.uint64(start), np.uint64(text.size), np.uint8(newline), np.uint64(0)
    one, row, zeros = np.uint64(1), np.uint64(rows), False
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
        zeros |= led_by_zero(text, begin, first) | led_by_zero(text, first + one, first + one + digits)
        src[row], dst[row] = a, b
        row += one
    return np.int64(begin), np.int64(row - np.uint64(rows)), bits | (np.uint64(zeros) << LED_BY_ZERO)


@inner
def parse_weighted_rows(text, start, newline, separator, ones, others, weights, rows):
    """The same for rows with a weight after one more of the same separator."""
    position, size, end, bits = np.uint64(start), np.uint64(text.size), np.uint8(newline), np.uint64(0)
    one, row, zeros = np.uint64(1), np.uint64(rows), False
    while True:
        begin = position
        first, a = parse_digits(text, begin)
        if first == begin or first - begin > np.uint64(18) or first >= size or not is_plain(text[first], separator):
            break
        second, b = parse_digits(text, first + one)
        if (
            second == first + one
            or second - first > np.uint64(19)
            or second >= size
            or not is_plain(text[second], separator)
        ):
            break
        position, weight, good = parse_plain_weight(text, second + one, newline)
        if not good or position >= size:
            break
        if text[position] == 13 and end == 10 and position + one < size:
            position += one
        if text[position] != end:
            break
        position += one
        bits |= a | b
        zeros |= led_by_zero(text, begin, first) | led_by_zero(text, first + one, second)
        ones[row], others[row], weights[row] = a, b, weight
        row += one
    return np.int64(begin), np.int64(row - np.uint64(rows)), bits | (np.uint64(zeros) << LED_BY_ZERO)


@njit(inline="always")
def is_plain(byte, separator):
    """Whether ``byte`` is a separator: ``separator``, or a blank, tab or comma where rows have no common one."""
    return byte == separator if separator else byte == 9 or byte == 32 or byte == 44


@njit(inline="always")
def parse_plain_weight(text, position, newline):
    """Parse a weight.

    Returns (position after it, value, whether it is one). A double holds 15 digits exactly, so a single division rounds
    once.
    """
    one, size = np.uint64(1), np.uint64(text.size)
    after, value = parse_digits(text, position)
    digits, decimals = after - position, np.uint64(0)
    if after < size and text[after] == 46:
        point = after + one
        after, fraction = parse_digits(text, point)
        decimals = after - point
        value = value * POWERS[min(decimals, np.uint64(15))] + fraction
    if (
        after < size
        and digits > np.uint64(0)
        and digits + decimals <= np.uint64(15)
        and (text[after] == newline or text[after] == 13)
    ):
        return after, np.float64(value) / TENS[decimals], True
    if position >= size or is_space(text[position], newline) or text[position] == newline:
        return position, 0.0, False
    end, weight, wrong = parse_weight(text, np.int64(position), newline)
    return np.uint64(end), weight, wrong == GOOD and is_weight(weight)


@inner
def is_wide(bits):
    """Whether one of the ids whose bits these are takes more than 32 of them."""
    return (bits << np.uint64(1)) >> np.uint64(33) > np.uint64(0)


@njit(inline="always")
def led_by_zero(text, begin, end):
    """Whether the digits ``text[begin : end]`` begin with a zero that a number is not written with."""
    return (text[begin] == 48) & (end - begin > np.uint64(1))


@njit(inline="always")
def parse_digits(text, position):
    """Parse the digits from ``position`` on.

    Returns (position after them, value). It takes eight bytes at a time, because a loop that may end at any digit is
    predicted badly.
    """
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
    """Number of lowest bits that are zero; one instruction, for which there is no Python expression."""

    def build(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return word(word), build


@njit(inline="always")
def eight_digits(word):
    """The number whose digits are the bytes of ``word``, the lowest byte first: pairs, then fours, then all in one
    product each.
    """
    word = word * np.uint64(10) + (word >> np.uint64(8))
    low, high = word & np.uint64(0x000000FF000000FF), (word >> np.uint64(16)) & np.uint64(0x000000FF000000FF)
    return (low * np.uint64(100 + (1_000_000 << 32)) + high * np.uint64(1 + (10_000 << 32))) >> np.uint64(32)
