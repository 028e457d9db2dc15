"""The beginning of a text, whose first rows decide its format."""

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import NamedTuple

from csaw.partition.errors import FormatError
from csaw.partition.ingestion.text.blocks import Blocks
from csaw.partition.ingestion.text.cells import is_blank

SAMPLE_ROWS = 32
LONGEST_HEAD = 64 << 20  # comments and blank lines before the first row


class Line(NamedTuple):
    """A line that is neither blank nor a comment; ``end`` is the offset of the byte after it."""

    number: int
    end: int
    text: bytes


class Head:
    """The first blocks of a text, up to the rows that decide its format.

    ``newline``: the byte that ends lines, a carriage return where there is no line feed; ``comments`` of its first
    64 KiB; ``ended``: whether it is the whole text.
    """

    def __init__(self, name: str, blocks: Iterable[memoryview], ended: Callable[[], bool]) -> None:
        pieces: list[bytes] = []
        rows = size = 0
        for block in blocks:
            pieces.append(bytes(block) if pieces else bytes(block).removeprefix(BOM_UTF8))
            rows, size = rows + len(_first_rows(pieces[-1], _newline_of(pieces[-1]))[0]), size + len(pieces[-1])
            if not pieces[-1] or rows >= SAMPLE_ROWS or size >= LONGEST_HEAD:
                break
        self.name, self.text = name, b"".join(pieces)
        if pieces and pieces[-1] and rows == 0 and size >= LONGEST_HEAD:
            raise FormatError(f"{name}: no row in its first {size:,} bytes; expected rows 'source target [weight]'")
        self.newline, self.ended = _newline_of(self.text), ended()

    @property
    def comments(self) -> bytes:
        return b"\n".join(line for line in self.text[:65536].splitlines() if line[:1] in b"#%")

    def begin(self, size: int, start: int = 0) -> bytes:
        """So many bytes from ``start`` on, in which line feeds end all lines."""
        return self.text[start : start + size].replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def behind(self, lines: int) -> int:
        """Where the text begins behind so many lines; FormatError where it has fewer."""
        position = 0
        for _ in range(lines):
            found = self.text.find(self.newline, position)
            if found < 0:
                raise FormatError(
                    f"{self.name}: --skip-lines {lines}: its first {len(self.text):,} bytes have fewer lines"
                )
            position = found + 1
        return position

    def rows(self, skip_lines: int) -> tuple[list[Line], bytes]:
        """The first rows behind ``skip_lines`` lines, at most 32, and the last comment before them."""
        return _first_rows(self.text, self.newline, self.behind(skip_lines), skip_lines)


def only_line(path: str) -> bytes | None:
    """The only line of a file that is neither blank nor a comment; None where it has another number of them."""
    with closing(Blocks(path)) as blocks:
        head = Head(path, blocks.read(), lambda: blocks.done)
    lines, _ = head.rows(0)
    return lines[0].text.strip() if head.ended and len(lines) == 1 else None


def _newline_of(head: bytes) -> int:
    return 10 if b"\n" in head or b"\r" not in head else 13


def _first_rows(head: bytes, newline: int, start: int = 0, number: int = 0) -> tuple[list[Line], bytes]:
    lines: list[Line] = []
    comment = b""
    while start < len(head) and len(lines) < SAMPLE_ROWS:
        end = head.find(newline, start) + 1 or len(head)
        line, start, number = head[start:end], end, number + 1
        if line.lstrip()[:1] in (b"#", b"%"):
            comment = comment if lines else line
        elif not is_blank(line):
            lines.append(Line(number, end, line))
    return lines, comment
