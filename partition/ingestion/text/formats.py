"""Text files that are not plain edge lists: Matrix Market files, which are read, and formats
that are refused by name.
"""

import re
from dataclasses import dataclass

from csaw.partition.errors import FormatError

FOREIGN = {".graph": "METIS", ".gml": "GML", ".gr": "DIMACS"}
CONTENT = {
    re.compile(rb"(c\b[^\n]*\n)*p\s+\w+\s+\d+"): "DIMACS",
    re.compile(rb"\s*(Creator[^\n]*\n)?\s*graph\s*\[", re.IGNORECASE): "GML",
    re.compile(rb"\s*<(\?xml|graphml|gexf)\b", re.IGNORECASE): "XML (GraphML, GEXF)",
    re.compile(rb"\s*\*vertices\b", re.IGNORECASE): "Pajek",
    re.compile(rb"\s*\{\s*\""): "JSON",
}
BANNER = b"%%MatrixMarket"


@dataclass(frozen=True)
class MatrixMarket:
    """The header of a Matrix Market file; ``skip`` bytes and ``lines`` lines come before the entries."""

    vertices: int
    entries: int
    columns: int
    symmetric: bool
    skip: int
    lines: int


def matrix_market(name: str, head: bytes) -> MatrixMarket | None:
    """The header of a Matrix Market file that begins with ``head``.

    None for another file; FormatError for one that csaw cannot read.
    """
    if not head.startswith(BANNER):
        if re.search(r"\.mtx(\.\w+)?$", name):
            raise FormatError(
                f"{name}:1: expected the banner '%%MatrixMarket matrix coordinate ...', found {shown(head)}"
            )
        return None
    lines = head[:65536].splitlines(keepends=True)
    words = lines[0].split()
    if len(words) != 5 or words[1].lower() != b"matrix" or words[2].lower() != b"coordinate":
        raise FormatError(f"{name}:1: expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY', found {shown(head)}")
    kind, symmetry = words[3].lower(), words[4].lower()
    if kind not in (b"pattern", b"real", b"integer") or symmetry not in (b"general", b"symmetric"):
        raise FormatError(f"{name}:1: expected pattern, real or integer and general or symmetric, found {shown(head)}")
    position = 0
    for number, line in enumerate(lines, 1):
        position += len(line)
        if line.strip() and not line.startswith(b"%"):
            side, entries = _size(f"{name}:{number}", line)
            return MatrixMarket(
                side, entries, 2 if kind == b"pattern" else 3, symmetry == b"symmetric", position, number
            )
    raise FormatError(
        f"{name}:{len(lines)}: expected a size line 'rows columns entries' after the banner, found the end"
    )


def _size(where: str, line: bytes) -> tuple[int, int]:
    size = line.split()
    if len(size) != 3 or not all(re.fullmatch(rb"[0-9]{1,18}", word) for word in size):
        raise FormatError(f"{where}: expected a size line 'rows columns entries', found {shown(line)}")
    rows, columns, entries = map(int, size)
    if rows != columns:
        raise FormatError(f"{where}: expected a square matrix, found {shown(line)}: rows and columns differ")
    return rows, entries


def refuse_foreign(name: str, head: bytes) -> None:
    """Raise FormatError for a file of a known format that is not an edge list."""
    if head.startswith(b"version https://git-lfs"):
        raise FormatError(
            f"{name}:1: this is a Git LFS pointer, not the file that it points to; fetch the file with git lfs pull"
        )
    if head[257:262] == b"ustar":
        raise FormatError(f"{name}: a tar archive; unpack it with tar -xf, and give the file of edges in it")
    if b"\0" in head[:4096]:
        raise FormatError(f"{name}: binary data; expected text, plain or packed by gzip, bz2 or zstd")
    for pattern, what in CONTENT.items():
        if pattern.match(head[:65536]):
            raise FormatError(
                f"{name}: this is {what}, not an edge list; convert it to 'source target [weight]' rows first"
            )
    unpacked = re.sub(r"\.(gz|bz2|zst)$", "", name)
    for suffix, what in FOREIGN.items():
        if unpacked.endswith(suffix):
            raise FormatError(
                f"{name}: {what} files are not edge lists; convert it to 'source target [weight]' rows first"
            )


def shown(text: bytes) -> str:
    """The beginning of the first line, for an error."""
    return repr(text.splitlines()[0][:60].decode("utf-8", "replace")) if text else "nothing"
