"""Cutting lines into cells: at one separator where all rows agree on it, otherwise at any blanks and commas."""

import re
from collections import Counter

from csaw.partition.errors import FormatError

BLANK = b" "
BLANKS = re.compile(rb" *")
QUOTED = re.compile(rb'"([^"]*(?:""[^"]*)*)"')
WORD = re.compile(rb'"(?:[^"]|"")*"(?![^\s,;])|[^\s,;]+')
BLANK_WORD = re.compile(rb'"(?:[^"]|"")*"(?!\S)|\S+')
DECIMAL_COMMA = re.compile(rb"(?<=[;\t])[-+]?[0-9]+,[0-9]+(?=\s*([;\t]|$))")
DECIMAL_LAST = re.compile(rb"(?<=[;\s])[-+]?[0-9]+,[0-9]+(?=\s*$)")
INTEGER = re.compile(rb"[-+]?[0-9]+(\.0*)?")
NUMBER = re.compile(rb"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


def cells(line: bytes, separator: bytes | None) -> list[bytes]:
    """The texts between separators, without the blanks and quotes around them; what is in quotes stays as it is.

    ValueError where quotes do not end.

    A ``separator`` of None stands for any run of blanks, commas and semicolons, and a blank for any run of blanks. In
    both cases, a ``#`` at the beginning of a word after the second one begins a comment.
    """
    if separator is None or separator == BLANK:
        words = line.split() if separator and b'"' not in line else (BLANK_WORD if separator else WORD).findall(line)
        end = next((k for k, word in enumerate(words) if k > 1 and word[:1] == b"#"), None)
        return words[:end] if separator and b'"' not in line else [_unquoted(word, separator) for word in words[:end]]
    line = line.strip(b" \r\n")
    if b'"' not in line:
        return [cell.strip() for cell in line.split(separator)]
    found, place = [], 0
    while place <= len(line):
        cell, place = _cell(line, place, separator)
        found.append(cell)
    return found


def _cell(line: bytes, place: int, separator: bytes) -> tuple[bytes, int]:
    """The cell that begins at ``place``, in quotes or not, and the place behind the separator after it."""
    begin = BLANKS.match(line, place).end()  # type: ignore[union-attr]  # which may be none
    if line[begin : begin + 1] != b'"':
        end = line.find(separator, place)
        end = len(line) if end < 0 else end
        return line[place:end].strip(), end + 1
    quoted = QUOTED.match(line, begin)
    if quoted is None or line[quoted.end() : quoted.end() + 1] not in (b"", separator):
        raise ValueError("quotes that are not those of a CSV file (they do not end before a separator)")
    return quoted[1].replace(b'""', b'"'), quoted.end() + 1


def fitted(row: list[bytes], columns: int, separator: bytes | None) -> list[bytes]:
    """The row, without empty cells that tabs after its last column make."""
    while separator == b"\t" and len(row) > columns and not row[-1]:
        row = row[:-1]
    return row


def width(rows: list[list[bytes]]) -> int:
    """The number of cells that most non-empty rows have; 0 where no number has a majority."""
    sizes = Counter(len(row) for row in rows if row)
    size, count = sizes.most_common(1)[0] if sizes else (0, 0)
    return size if 2 * count > sizes.total() else 0


def is_blank(line: bytes) -> bool:
    return not line.strip(b" \t\r\n,;")


def refuse_comma(where: str, row: bytes, decimal: re.Pattern[bytes] = DECIMAL_COMMA) -> None:
    """Raise FormatError for a number with a decimal comma, by default among the cells that semicolons or tabs end."""
    if found := decimal.search(row):
        number = found[0].decode()
        raise FormatError(
            f"{where}: expected a point in decimals, found the comma of {number} in {row_shown(row)}; write "
            f"{number.replace(',', '.')}"
        )


def row_shown(line: bytes) -> str:
    """The beginning of a row, for an error."""
    return repr(line[:60].decode("utf-8", "replace").strip())


def quote_error(line: bytes, separator: bytes | None) -> str:
    """Say what is wrong with the quotes of a line that cannot be cut into cells because of them."""
    try:
        return f"expected a row, found {cells(line, separator)}"
    except ValueError as error:
        return f"{error}: {row_shown(line)}"


def empty_cell(where: str, line: bytes) -> FormatError:
    """The error for a row that lacks a value where one is read."""
    row, gaps = line.strip(b" \r\n"), (b",", b";", b"\t")
    place = "before the first separator" if row.startswith(gaps) else "between two separators"
    if row.endswith(gaps) and not row.startswith(gaps) and not re.search(rb"([,;])\s*[,;]|\t\t", row):
        place = "after the last separator"
    return FormatError(f"{where}: expected a value {place}, found {row_shown(line)}")


def _unquoted(word: bytes, separator: bytes | None) -> bytes:
    """A word without its quotes; for ids, ValueError where they do not end with it."""
    if word[:1] != b'"':
        return word
    inside = word[1:-1]
    if separator and (len(word) < 2 or word[-1:] != b'"' or b'"' in inside.replace(b'""', b"")):
        raise ValueError("quotes that do not end before a blank")
    return inside.replace(b'""', b'"') if word[-1:] == b'"' else word
