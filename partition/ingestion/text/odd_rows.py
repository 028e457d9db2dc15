"""The slow, general parser of rows of numbers: it goes on where fast_rows.py meets a row that is not plain.

Ids keep all 64 bits; a malformed row is reported, never guessed.
"""

import numpy as np

from csaw.partition.base.compile import inner, njit
from csaw.partition.ingestion.text.fast_rows import (
    BAD_WEIGHTS,
    BIG,
    BLANK,
    COMMENTS,
    ERROR,
    ERROR_FOUND,
    ERROR_LINE,
    LED_BY_ZERO,
    LINES,
    NEGATIVE,
    RESPELLED,
    ROWS,
    SKIPPED,
    WEIGHT_LINE,
    WIDE,
    parse_digits,
    parse_plain_rows,
    parse_weighted_rows,
)
from csaw.partition.ingestion.text.numbers import (
    BAD_WEIGHT,
    COLUMNS,
    EMPTY,
    GOOD,
    NOT_A_NUMBER,
    QUOTE,
    is_space,
    is_weight,
    parse_id,
    parse_weight,
)


@njit(nogil=True)
def parse_block(
    text,
    start,
    newline,
    separator,
    columns,
    first,
    second,
    weight_column,
    slots,
    skip_errors,
    ones,
    others,
    weights,
    cells,
    counts,
):
    """Parse a block.

    Fills ``ones`` and ``others`` (uint64 bits of the ids in columns first < second), ``weights``, and ``counts`` by the
    names above. Stops at the first malformed row unless such rows are skipped.

    Begins at byte ``start`` and row ``counts[ROWS]``. ``columns`` is the number each row must have, 0 for any above the
    needed ones; all columns count from 0, a weight_column of -1 is none; ``separator`` is the only byte that ends a
    cell, or 0 for blanks, commas and semicolons as they come. Where ``slots[column]`` is from 0 on, the begin and the
    end of each of its cells go to ``cells[slots[column]]``, [2, rows].
    """
    position, size, rows, wide = (
        np.int64(start),
        text.size,
        np.int64(counts[ROWS]),
        np.uint64(counts[WIDE]) << np.uint64(32),
    )
    need = max(second, weight_column, slots.size - 1) + 1
    ends_first = first == 0 and second == 1 and slots.size == 0
    plain = ends_first and weight_column < 0 and (columns == 2 or columns == 0) and separator == 0
    weighted = ends_first and weight_column == 2 and columns == 3
    while position < size:
        if plain and 48 <= text[position] <= 57:
            position, read, bits = parse_plain_rows(text, position, newline, ones, others, rows)
            counts[LINES] += read
            rows += read
            wide |= bits & ~(np.uint64(1) << LED_BY_ZERO)
            counts[RESPELLED] |= bits >> LED_BY_ZERO
            if position == size:
                break
        if weighted and 48 <= text[position] <= 57:
            position, read, bits = parse_weighted_rows(text, position, newline, separator, ones, others, weights, rows)
            counts[LINES] += read
            rows += read
            wide |= bits & ~(np.uint64(1) << LED_BY_ZERO)
            counts[RESPELLED] |= bits >> LED_BY_ZERO
            if position == size:
                break
        counts[LINES] += 1
        column, status, weight, ends = 0, GOOD, 1.0, False
        a = b = np.uint64(0)
        negative = big = False
        while True:  # what lies before a cell, then the cell; no calls, each would count references to ``text``
            separators = 0
            while position < size and is_space(text[position], newline):
                if separator == 0:
                    separators += text[position] == 44 or text[position] == 59
                elif text[position] == separator:
                    if separators or column == 0:
                        break
                    separators = 1
                elif text[position] == 44 or text[position] == 59:
                    break
                position += 1
            ends = position >= size or text[position] == newline
            if column == 0:
                if ends or text[position] == 35 or text[position] == 37:  # '#', '%'
                    break
                if separator and text[position] == separator and is_blank(text, position, newline):
                    ends = True
                    break
                if separators:
                    status = EMPTY
            else:
                if separator == 0 and (separators > 1 or (separators and ends)):
                    status = EMPTY
                if ends and (separator == 0 or separators == 0 or (separator == 9 and column >= columns > 0)):
                    break
                if separators == 0 and text[position] == 35 and column > max(1, second):  # a comment behind a row
                    break
                if separator and separators == 0:  # more than a value in a cell
                    status = NOT_A_NUMBER
                    while position < size and text[position] != newline and text[position] != separator:
                        position += 1
                    continue
            wrong = GOOD
            if separator and (ends or text[position] == separator):
                if column in (first, second, weight_column) or (column < slots.size and slots[column] >= 0):
                    wrong = EMPTY
            elif column in (first, second):
                counts[RESPELLED] |= is_respelled(text, position)
                after, value = parse_digits(text, np.uint64(position))
                digits, minus = np.int64(after) - position, False
                if (
                    0 < digits < 19
                    and np.int64(after) < size
                    and (text[after] == newline or is_space(text[after], newline))
                ):
                    position += digits
                else:
                    begin = position
                    position, value, minus, wrong = parse_id(text, position, newline)
                    counts[RESPELLED] |= has_thousands(text, begin, position)
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
                begin = position
                if text[position] == 34:
                    position, wrong = quoted_cell(text, position, newline)
                else:
                    while position < size and text[position] != newline:
                        if is_space(text[position], newline) if separator == 0 else text[position] == separator:
                            break
                        position += 1
                if column < slots.size and slots[column] >= 0:
                    cells[slots[column], 0, rows], cells[slots[column], 1, rows] = begin, position
            if wrong and status == GOOD:
                status = wrong
            column += 1
        if column == 0:
            counts[BLANK if ends else COMMENTS] += 1
        position = position + 1 if ends else end_of_line(text, position, newline)
        if column == 0:
            continue
        if status != EMPTY and (column < need or (columns > 0 and column != columns)):
            status = COLUMNS
        if status == GOOD and not is_weight(weight):
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


@inner
def is_respelled(text, position):
    """Whether the id that begins here begins with a plus, or a zero before another digit."""
    position += text[position] == 34  # '"'
    if position < text.size and text[position] == 43:
        return True
    position += position < text.size and text[position] == 45
    return position + 1 < text.size and text[position] == 48 and 48 <= text[position + 1] <= 57


@inner
def has_thousands(text, begin, end):
    """Whether an id that is an integer is written with a point and three zeros: 1.000 may be a thousand."""
    end -= text[end - 1] == 34
    return end - begin > 4 and text[end - 4] == 46


@inner
def is_blank(text, position, newline):
    """Whether the rest of the line consists of separators."""
    while position < text.size and text[position] != newline:
        if not is_space(text[position], newline):
            return False
        position += 1
    return True


@inner
def quoted_cell(text, position, newline):
    """Skip a cell in quotes. Returns (position after it, whether its quotes end)."""
    position += 1
    while position < text.size and text[position] != newline:
        if text[position] == 34:
            position += 1
            if position == text.size or text[position] != 34:
                return position, GOOD
        position += 1
    return position, QUOTE


@inner
def end_of_line(text, position, newline):
    while position < text.size and text[position] != newline:
        position += 1
    return position + 1
