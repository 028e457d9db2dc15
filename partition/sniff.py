"""What a text file is, from its first lines: separators, columns, a header line, ids that are not numbers."""

import re
from dataclasses import dataclass, field

from csaw.partition.errors import FormatError

FOREIGN = {".graph": "METIS", ".gml": "GML", ".gr": "DIMACS"}
SNAP_COUNTS = re.compile(rb"Nodes:\s*(\d+)\s+Edges:\s*(\d+)")


@dataclass
class Shape:
    """How to read the rows of a file."""

    newline: int = 10
    columns: int = 0
    strings: bool = False
    separator: bytes | None = None  # of string ids
    header_line: str | None = None
    weighted: bool = False
    undirected: bool = False
    declared: dict[str, int] = field(default_factory=dict)
    skip: int = 0  # bytes before the rows
    skip_lines: int = 0


def sniff(name: str, head: bytes, ids: str) -> Shape:
    """The shape of a file whose first block is ``head``; FormatError for formats that are not edge lists."""
    _refuse_foreign(name, head)
    shape = Shape(newline=10 if b"\n" in head or b"\r" not in head else 13)
    if head.startswith(b"%%MatrixMarket"):
        return _matrix_market(name, head, shape)
    if re.search(r"\.mtx(\.\w+)?$", name):
        raise FormatError(f"{name}:1: expected the banner '%%MatrixMarket matrix coordinate ...', found {_shown(head)}")
    if counts := SNAP_COUNTS.search(head[:4096]):
        shape.declared = {"vertices": int(counts[1]), "edges": int(counts[2])}
    comments = b"\n".join(line for line in head[:65536].splitlines() if line[:1] in b"#%")
    shape.undirected = b"undirected graph" in comments.lower()
    rows = _first_rows(head)
    if not rows:
        return shape
    numeric = [_numeric(row) for row in rows]
    if (
        not numeric[0]
        and ids != "string"
        and (any(numeric[1:]) or ids == "int")
        and len(rows[0][1].split()) >= 0
        and len(rows) > 1
    ):
        text, end = rows[0][1], rows[0][0]
        if numeric[1]:
            shape.header_line, shape.skip = text.decode("utf-8", "replace").strip(), end
            shape.skip_lines = head[:end].count(bytes([shape.newline]))
            rows, numeric = rows[1:], numeric[1:]
    shape.strings = ids == "string" or (ids == "auto" and not any(numeric))
    if shape.strings:
        first = rows[0][1]
        shape.separator = next((s for s in (b"\t", b",", b";") if s in first), None)
    counts_seen = {len(_words(row[1], shape)) for row in rows}
    shape.columns = counts_seen.pop() if len(counts_seen) == 1 else 0
    return shape


def _first_rows(head: bytes) -> list[tuple[int, bytes]]:
    """Up to 32 data lines with the offset of what follows each."""
    rows, position = [], 0
    for line in head[:65536].splitlines(keepends=True):
        position += len(line)
        if line.strip() and line.lstrip()[:1] not in b"#%":
            rows.append((position, line))
        if len(rows) == 32:
            break
    return rows


def _words(line: bytes, shape: Shape) -> list[bytes]:
    if shape.separator:
        return line.strip(b"\r\n").split(shape.separator)
    return re.split(rb"[\s,;]+", line.strip())


def _numeric(row: tuple[int, bytes]) -> bool:
    words = re.split(rb"[\s,;]+", row[1].strip())
    return all(re.fullmatch(rb"[-+]?\d+", w) for w in words[:2])


def _matrix_market(name: str, head: bytes, shape: Shape) -> Shape:
    lines = head[:65536].splitlines(keepends=True)
    words = lines[0].split()
    if len(words) != 5 or words[1].lower() != b"matrix" or words[2].lower() != b"coordinate":
        raise FormatError(f"{name}:1: expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY', found {_shown(head)}")
    kind, symmetry = words[3].lower(), words[4].lower()
    if kind not in (b"pattern", b"real", b"integer") or symmetry not in (b"general", b"symmetric"):
        raise FormatError(f"{name}:1: expected pattern, real or integer and general or symmetric, found {_shown(head)}")
    position = 0
    for number, line in enumerate(lines, 1):
        position += len(line)
        if not line.strip() or line.startswith(b"%"):
            continue
        size = line.split()
        if len(size) != 3 or not all(w.isdigit() for w in size):
            raise FormatError(f"{name}:{number}: expected a size line 'rows columns entries', found {_shown(line)}")
        shape.declared = {"vertices": max(int(size[0]), int(size[1])), "edges": int(size[2])}
        shape.skip, shape.skip_lines = position, number
        break
    shape.columns = 2 if kind == b"pattern" else 3
    shape.weighted, shape.undirected = kind != b"pattern", symmetry == b"symmetric"
    return shape


def _refuse_foreign(name: str, head: bytes) -> None:
    if head.startswith(b"version https://git-lfs"):
        raise FormatError(f"{name}:1: a Git LFS pointer, not the file it points to; fetch it with git lfs pull")
    plain = re.sub(r"\.(gz|bz2|zst)$", "", name)
    for suffix, what in FOREIGN.items():
        if plain.endswith(suffix):
            raise FormatError(
                f"{name}: {what} files are not edge lists; convert to 'source target [weight]' rows first"
            )


def _shown(text: bytes) -> str:
    return repr(text.splitlines()[0][:60].decode("utf-8", "replace")) if text else "nothing"
