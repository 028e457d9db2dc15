"""Bytes of an input, decompressed by magic number and cut at line ends."""

import bz2
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from csaw.partition.errors import FormatError, MissingDependencyError
from csaw.partition.inputs import open_input

BLOCK = 1 << 20  # of text: it and its numbers stay in the processor's cache, and their memory is used again
FOREIGN_MAGIC = {
    b"\xfd7zXZ": "xz",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf": "7z",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
PIECE = 1 << 18  # what was read before a broken end still counts


def open_bytes(path: str) -> tuple[io.BufferedIOBase, Any]:
    """A stream of decompressed bytes, and the raw file below it (for progress). ``-`` is standard input."""
    raw: Any = open_input(path)
    reader = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)
    magic = reader.peek(6)[:6]
    if magic[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=reader), raw
    if magic[:3] == b"BZh":
        return bz2.BZ2File(reader), raw
    if magic[:4] == b"\x28\xb5\x2f\xfd":
        return _zstd(reader), raw
    for start, what in FOREIGN_MAGIC.items():
        if magic.startswith(start):
            raw.close()
            raise FormatError(f"{path}: {what} data; expected text, plain or packed by gzip, bz2 or zstd")
    return reader, raw


def _zstd(reader: Any) -> io.BufferedIOBase:
    try:
        import pyarrow
    except ImportError as error:
        raise MissingDependencyError("zstd input needs pyarrow: pip install 'csaw[tables]'") from error
    return pyarrow.CompressedInputStream(reader, "zstd")


def read_blocks(path: str, progress: Callable[[int, int], None] | None = None) -> Iterator[memoryview]:
    """Blocks of whole lines. A stream that ends too early is an error that says how many lines could be read."""
    stream, raw = open_bytes(path)
    total = Path(path).stat().st_size if path != "-" and Path(path).is_file() else 0
    rest, lines = b"", 0
    with raw, stream:
        while True:
            block, filled = bytearray(len(rest) + BLOCK), len(rest)
            block[:filled] = rest
            try:
                while filled < len(block) and (got := stream.readinto(memoryview(block)[filled : filled + PIECE])):
                    filled += got
            except (EOFError, zlib.error, OSError) as error:
                readable = readable_lines(path) or lines + block.count(b"\n", 0, filled)
                raise FormatError(
                    f"{path}: compressed data ends or breaks after {readable} lines ({error}); fetch the file again"
                ) from error
            last = filled < len(block)
            end = filled if last else after_last_line(block)
            rest = bytes(block[end:filled])
            if not total:
                lines += block.count(b"\n", 0, end)
            if end:
                yield memoryview(block)[:end].toreadonly()
            if progress and total:
                progress(min(raw.tell(), total), total)
            if last:
                return


def after_last_line(block: bytearray) -> int:
    """Where the last line begins that may go on in the next block."""
    end = block.rfind(b"\n") + 1
    return end or block.rfind(b"\r") + 1


def readable_lines(path: str) -> int:
    """Whole lines before the break of a gzip or bz2 file: the library's readers drop the piece in which it lies. 0 for what cannot be read twice."""
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
