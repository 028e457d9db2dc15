"""The bytes of an input, decompressed as its first bytes say, in blocks that end at line ends."""

import bz2
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from csaw.partition.errors import FormatError, MissingDependencyError
from csaw.partition.inputs import open_input

BLOCK = 1 << 20  # bytes of text: they and their numbers stay in the processor's cache, and their memory is used again
LONGEST_LINE = 16 << 20
FOREIGN_MAGIC = {
    b"\xfd7zXZ": "xz",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf": "7z",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
PIECE = 1 << 18  # bytes read at a time, so that lines before a broken end still count


def open_bytes(path: str) -> tuple[io.BufferedIOBase, Any]:
    """A stream of decompressed bytes, and the raw file below it (for progress). ``-`` is standard input."""
    raw: Any = open_input(path)
    reader = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)
    magic = reader.peek(6)[:6]
    if magic[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=reader), raw
    if magic[:3] == b"BZh":
        return io.BufferedReader(Bz2Members(reader)), raw
    if magic[:4] == b"\x28\xb5\x2f\xfd":
        return _zstd(reader), raw
    for start, what in FOREIGN_MAGIC.items():
        if magic.startswith(start):
            raw.close()
            raise FormatError(f"{path}: {what} data; expected text, plain or packed by gzip, bz2 or zstd")
    return reader, raw


class Bz2Members(io.RawIOBase):
    """The contents of the bz2 streams that follow each other in a file. ``bz2.BZ2File`` would take a damaged later stream for the end of the file."""

    def __init__(self, packed: io.BufferedReader) -> None:
        self.packed, self.member, self.begun = packed, bz2.BZ2Decompressor(), False
        self.rest = b""  # packed bytes of the next member

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        """Fill the beginning of ``room``; EOFError where a member ends too early, OSError where it is damaged."""
        while True:
            if self.member.eof:
                self.rest, self.member, self.begun = self.member.unused_data, bz2.BZ2Decompressor(), False
            data = b""
            if self.member.needs_input:
                data = self.rest or self.packed.read(PIECE)
                self.rest = b""
                if not data:
                    if self.begun:
                        raise EOFError("the last bz2 stream has no end")
                    return 0
            self.begun = True
            if text := self.member.decompress(data, len(room)):
                room[: len(text)] = text
                return len(text)


def _zstd(reader: Any) -> io.BufferedIOBase:
    try:
        import pyarrow
    except ImportError as error:
        raise MissingDependencyError("zstd input needs pyarrow: pip install 'csaw[tables]'") from error
    return pyarrow.CompressedInputStream(reader, "zstd")


def read_blocks(path: str, progress: Callable[[int, int], None] | None = None) -> Iterator[memoryview]:
    """Yield blocks of whole lines. FormatError, with the line, where compressed data end too early or a line has more than LONGEST_LINE bytes."""
    stream, raw = open_bytes(path)
    total = Path(path).stat().st_size if path != "-" and Path(path).is_file() else 0
    rest, lines, given, newline = b"", 0, 0, b""
    with raw, stream:
        while True:
            # twice the bytes of the line so far, so that each of them is copied only a few times
            block, filled = bytearray(min(2 * len(rest) + BLOCK, max(LONGEST_LINE, BLOCK) + 1)), len(rest)
            block[:filled] = rest
            try:
                while filled < len(block) and (got := stream.readinto(memoryview(block)[filled : filled + PIECE])):
                    filled += got
            except (EOFError, zlib.error, OSError) as error:
                readable = readable_lines(path) or lines + block.count(b"\n", 0, filled)
                raise FormatError(
                    f"{path}: compressed data ends or breaks after {readable} lines ({error}); fetch the file again"
                ) from error
            newline = newline or next((end for end in (b"\n", b"\r") if block.find(end, 0, filled) >= 0), b"")
            last = filled < len(block)
            end = filled if last else block.rfind(newline) + 1 if newline else 0
            rest = bytes(memoryview(block)[end:filled])
            if len(rest) > LONGEST_LINE:
                line = (
                    1
                    + (lines if not total else lines_before(path, given, newline))
                    + block.count(newline or b"\n", 0, end)
                )
                raise FormatError(
                    f"{path}:{line}: a line of more than {LONGEST_LINE:,} bytes; expected one edge on each line, ended by a line feed"
                )
            if not total:
                lines += block.count(newline or b"\n", 0, end)
            given += end
            if end:
                yield memoryview(block)[:end].toreadonly()
            if progress and total:
                progress(min(raw.tell(), total), total)
            if last:
                return


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
    """Number of whole lines before the damaged place of a gzip or bz2 file, where library readers would drop the piece with that place.

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
