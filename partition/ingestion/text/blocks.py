"""The bytes of an input, decompressed as its first bytes say, in blocks that end at line ends."""

import bz2
import io
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

from csaw.partition.errors import FormatError
from csaw.partition.ingestion.text.inputs import open_input
from csaw.partition.ingestion.text.members import ALONE, Unpackers
from csaw.partition.ingestion.text.packed import Bz2Members, gzip_stream, zstd_stream

BLOCK = 1 << 20  # bytes of text: they and their numbers stay in the processor's cache, and their memory is used again
LARGEST = 4  # times as large as that, because what Python does for a block is done by one thread at a time
LONGEST_LINE = 16 << 20
FOREIGN_MAGIC = {
    b"\xfd7zXZ": "xz",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf": "7z",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
PIECE = 1 << 18  # bytes read at a time, so that lines before a broken end still count


def open_bytes(path: str, unpackers: Unpackers = ALONE) -> tuple[io.BufferedIOBase, Any]:
    """A stream of decompressed bytes, and the raw file below it (for progress). ``-`` is standard input."""
    raw: Any = open_input(path)
    reader = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)
    magic = reader.peek(6)[:6]
    if magic[:2] == b"\x1f\x8b":
        return gzip_stream(reader, path, unpackers), raw
    if magic[:3] == b"BZh":
        return io.BufferedReader(Bz2Members(reader)), raw
    if magic[:4] == b"\x28\xb5\x2f\xfd":
        return zstd_stream(reader), raw
    for start, what in FOREIGN_MAGIC.items():
        if magic.startswith(start):
            raw.close()
            raise FormatError(f"{path}: {what} data; expected text, plain or packed by gzip, bz2 or zstd")
    return reader, raw


class Blocks:
    """Blocks of whole lines, in order.

    A stream that ends too early, and a line of more than LONGEST_LINE bytes, is an error that says where.
    """

    def __init__(
        self, path: str, progress: Callable[[int, int], None] | None = None, unpackers: Unpackers = ALONE
    ) -> None:
        self.path, self.progress = path, progress
        self.stream, self.raw = open_bytes(path, unpackers)
        self.total = Path(path).stat().st_size if path != "-" and Path(path).is_file() else 0
        self.given, self.newline, self.done = 0, b"", False
        self.size = BLOCK  # of the next one

    @property
    def is_plain(self) -> bool:
        """Whether the text is the file's bytes, anywhere in it."""
        return bool(self.total) and self.stream is self.raw and hasattr(self.raw, "fileno")

    def read(self) -> Generator[memoryview, None, None]:
        """All of them; the file is open until then, or until what is given here is closed."""
        rest, lines = b"", 0
        with self.raw, self.stream:
            while True:
                # twice what there is of a line, so that each of its bytes is copied a few times at most
                block, filled = bytearray(min(2 * len(rest) + self.size, max(LONGEST_LINE, self.size) + 1)), len(rest)
                block[:filled] = rest
                filled = self._fill(block, filled, lines)
                ends = (end for end in (b"\n", b"\r") if block.find(end, 0, filled) >= 0)
                self.newline = self.newline or next(ends, b"")
                self.done = last = filled < len(block)
                end = filled if last else block.rfind(self.newline) + 1 if self.newline else 0
                rest = bytes(memoryview(block)[end:filled])
                in_block = (
                    block.count(self.newline or b"\n", 0, end) if len(rest) > LONGEST_LINE or not self.total else 0
                )
                if len(rest) > LONGEST_LINE:
                    before = lines_before(self.path, self.given, self.newline) if self.total else lines
                    raise too_long(self.path, before + in_block + 1)
                lines += in_block
                self.given += end
                if end:
                    yield memoryview(block)[:end].toreadonly()
                if self.progress and self.total:
                    self.progress(min(self.raw.tell(), self.total), self.total)
                if last:
                    return

    def close(self) -> None:
        """Let go of the file."""
        self.stream.close()
        self.raw.close()

    def _fill(self, block: bytearray, filled: int, lines: int) -> int:
        """Read until the block is full or the stream ends; returns how much of it is filled."""
        try:
            while filled < len(block) and (got := self.stream.readinto(memoryview(block)[filled : filled + PIECE])):
                filled += got
        except (EOFError, zlib.error, OSError) as error:
            readable = readable_lines(self.path) or lines + block.count(b"\n", 0, filled)
            raise FormatError(
                f"{self.path}: compressed data ends or breaks after {readable} lines ({error}); fetch the file again"
            ) from error
        return filled


def read_blocks(path: str, progress: Callable[[int, int], None] | None = None) -> Iterator[memoryview]:
    """The blocks of an input."""
    return Blocks(path, progress).read()


def too_long(path: str, line: int) -> FormatError:
    return FormatError(
        f"{path}:{line}: a line of more than {LONGEST_LINE:,} bytes; expected one edge a line, ended by a line feed"
    )


def lines_before(path: str, size: int, newline: bytes) -> int:
    """Number of lines in the first ``size`` bytes of text; counted only for an error."""
    stream, raw = open_bytes(path)
    lines = 0
    with raw, stream:
        while size and (piece := stream.read(min(size, BLOCK))):
            lines += piece.count(newline or b"\n")
            size -= len(piece)
    return lines


def readable_lines(path: str) -> int:
    """Return the number of whole lines before the damaged place of a gzip or bz2 file.

    Library readers would drop the piece with that place.

    0 for an input that cannot be read twice.
    """
    if not Path(path).is_file():
        return 0
    with open(path, "rb") as file:
        packer: Any = bz2.BZ2Decompressor() if file.read(3) == b"BZh" else zlib.decompressobj(31)
        file.seek(0)
        lines = 0
        try:
            while piece := file.read(4096):
                lines += packer.decompress(piece).count(b"\n")
        except (EOFError, zlib.error, OSError):
            return lines
    return lines
