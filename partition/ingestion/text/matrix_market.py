"""The header of a Matrix Market file: its banner and its size line."""

import re
from dataclasses import dataclass

from csaw.partition.errors import FormatError

BANNER = re.compile(rb"\s*%%?MatrixMarket\b", re.IGNORECASE)
SUFFIX = re.compile(r"\.mtx(\.\w+)?$")
LOOKED_AT = 1 << 16


@dataclass(frozen=True)
class MatrixMarket:
    """The header of a Matrix Market file; ``skip`` bytes and ``lines`` lines come before the entries."""

    vertices: int
    entries: int
    columns: int
    symmetric: bool
    skip: int
    lines: int


def matrix_market(name: str, head: bytes, asked: bool = False) -> MatrixMarket | None:
    """The header of a Matrix Market file that begins with ``head``.

    None for another file; FormatError for one that csaw cannot read. ``asked``: it is one, even without a banner.
    """
    lines = head[:LOOKED_AT].splitlines(keepends=True)
    kind = symmetry = b""
    if BANNER.match(head):
        kind, symmetry = _banner(name, next(line for line in lines if line.strip()))
    elif not asked:
        if SUFFIX.search(name):
            raise FormatError(
                f"{name}:1: expected the banner '%%MatrixMarket matrix coordinate ...', found {shown(head)}; "
                "pass --format matrix-market if it begins with the size line 'rows columns entries', --format edges "
                "if each row is an edge"
            )
        return None
    position = 0
    for number, line in enumerate(lines, 1):
        position += len(line)
        if line.strip() and not line.lstrip().startswith(b"%"):
            side, entries = _size(f"{name}:{number}", line)
            columns = 2 if kind == b"pattern" or (not kind and _cells_below(lines[number:]) == 2) else 3
            return MatrixMarket(side, entries, columns, symmetry == b"symmetric", position, number)
    raise FormatError(f"{name}:{len(lines)}: expected a size line 'rows columns entries', found the end")


def _banner(name: str, line: bytes) -> tuple[bytes, bytes]:
    words = line.lower().split()
    if len(words) != 5 or words[1] != b"matrix" or words[2] != b"coordinate":
        raise FormatError(f"{name}:1: expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY', found {shown(line)}")
    kind, symmetry = words[3], words[4]
    if kind not in (b"pattern", b"real", b"integer") or symmetry not in (b"general", b"symmetric"):
        raise FormatError(f"{name}:1: expected pattern, real or integer and general or symmetric, found {shown(line)}")
    return kind, symmetry


def _cells_below(lines: list[bytes]) -> int:
    """The number of cells of the first entry."""
    return next((len(line.split()) for line in lines if line.strip() and not line.lstrip().startswith(b"%")), 0)


def _size(where: str, line: bytes) -> tuple[int, int]:
    size = line.split()
    if len(size) != 3 or not all(re.fullmatch(rb"[0-9]{1,18}", word) for word in size):
        raise FormatError(f"{where}: expected a size line 'rows columns entries', found {shown(line)}")
    rows, columns, entries = map(int, size)
    if rows != columns:
        raise FormatError(f"{where}: expected a square matrix, found {shown(line)}: rows and columns differ")
    return rows, entries


def shown(text: bytes) -> str:
    """The beginning of the first line, for an error."""
    return repr(text.splitlines()[0][:60].decode("utf-8", "replace")) if text else "nothing"
