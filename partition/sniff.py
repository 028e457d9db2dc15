"""What a text file is, from its first lines: separators, columns, a header line, ids that are not numbers."""

import re
from dataclasses import dataclass, field

from csaw.partition.errors import FormatError

FOREIGN = {".graph": "METIS", ".gml": "GML", ".gr": "DIMACS"}
CONTENT = {
    re.compile(rb"(c\b[^\n]*\n)*p\s+\w+\s+\d+"): "DIMACS",
    re.compile(rb"\s*(Creator[^\n]*\n)?\s*graph\s*\[", re.IGNORECASE): "GML",
    re.compile(rb"\s*<(\?xml|graphml|gexf)\b", re.IGNORECASE): "XML (GraphML, GEXF)",
    re.compile(rb"\s*\*vertices\b", re.IGNORECASE): "Pajek",
    re.compile(rb"\s*\{\s*\""): "JSON",
}
SOURCES, TARGETS = (
    ("source", "src", "from", "u", "fromnodeid"),
    ("target", "dst", "to", "v", "tonodeid"),
)  # column names
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
    named_weight: int = -1  # the column that the header line calls weight, from 0
    exact: bool = False  # ``declared`` must hold: Matrix Market


def sniff(name: str, head: bytes, ids: str, skip_lines: int = 0) -> Shape:
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
    shape.skip, shape.skip_lines = _after_lines(name, head, shape.newline, skip_lines), skip_lines
    rows = _first_rows(head, shape.skip)
    if rows:
        _columns(name, _without_header(rows, head, ids, shape), ids, shape)
    return shape


def _after_lines(name: str, head: bytes, newline: int, lines: int) -> int:
    position = 0
    for _ in range(lines):
        found = head.find(bytes([newline]), position)
        if found < 0:
            raise FormatError(f"{name}: --skip-lines {lines}: its first {len(head):,} bytes have fewer lines")
        position = found + 1
    return position


def _without_header(rows: list[tuple[int, bytes]], head: bytes, ids: str, shape: Shape) -> list[tuple[int, bytes]]:
    """Notes and leaves out a first row of column names: known names, or words above numbers."""
    end, line = rows[0]
    words = [w.lower().decode("utf-8", "replace") for w in re.split(rb"[\s,;]+", line.strip())]
    named = len(words) > 1 and words[0] in SOURCES and words[1] in TARGETS
    above = ids != "string" and len(rows) > 1 and not _numeric(rows[0]) and _numeric(rows[1])
    if not (named or above):
        return rows
    shape.header_line = line.decode("utf-8", "replace").strip()
    shape.skip, shape.skip_lines = end, head[:end].count(bytes([shape.newline]))
    shape.named_weight = words.index("weight", 2) if "weight" in words[2:] else -1
    return rows[1:]


def _columns(name: str, rows: list[tuple[int, bytes]], ids: str, shape: Shape) -> None:
    """Numbers or words, their separator, and how many columns all rows have."""
    shape.strings = ids == "string" or (ids == "auto" and bool(rows) and not any(map(_numeric, rows)))
    if shape.strings and rows:
        if rows[0][1].lstrip()[:1] == b'"':
            raise FormatError(
                f"{name}: quoted fields; read it as a table: --source-column NAME --target-column NAME, by its header line"
            )
        shape.separator = next((s for s in (b"\t", b",", b";") if s in rows[0][1]), None)
    seen = {len(_words(row[1], shape)) for row in rows}
    shape.columns = seen.pop() if len(seen) == 1 else 0


def _first_rows(head: bytes, start: int) -> list[tuple[int, bytes]]:
    """Up to 32 data lines with the offset of what follows each."""
    rows, position = [], start
    for line in head[start : start + 65536].splitlines(keepends=True):
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
        if int(size[0]) != int(size[1]):
            raise FormatError(
                f"{name}:{number}: expected a square matrix, found {_shown(line)}: rows and columns differ"
            )
        shape.declared, shape.exact = {"vertices": int(size[0]), "edges": int(size[2])}, True
        shape.skip, shape.skip_lines = position, number
        break
    else:
        raise FormatError(
            f"{name}:{number}: expected a size line 'rows columns entries' after the banner, found the end"
        )
    shape.columns = 2 if kind == b"pattern" else 3
    shape.weighted, shape.undirected = kind != b"pattern", symmetry == b"symmetric"
    return shape


def _refuse_foreign(name: str, head: bytes) -> None:
    if head.startswith(b"version https://git-lfs"):
        raise FormatError(f"{name}:1: a Git LFS pointer, not the file it points to; fetch it with git lfs pull")
    if b"\0" in head[:4096]:
        raise FormatError(f"{name}: binary data; expected text, plain or packed by gzip, bz2 or zstd")
    for pattern, what in CONTENT.items():
        if pattern.match(head[:65536]):
            raise FormatError(
                f"{name}: this is {what}, not an edge list; convert it to 'source target [weight]' rows first"
            )
    plain = re.sub(r"\.(gz|bz2|zst)$", "", name)
    for suffix, what in FOREIGN.items():
        if plain.endswith(suffix):
            raise FormatError(
                f"{name}: {what} files are not edge lists; convert it to 'source target [weight]' rows first"
            )


def _shown(text: bytes) -> str:
    return repr(text.splitlines()[0][:60].decode("utf-8", "replace")) if text else "nothing"
