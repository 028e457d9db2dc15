"""Bytes of an input, decompressed by magic number and cut at line ends."""

import bz2
import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from csaw.partition.errors import FormatError, MissingDependencyError, StoreError

BLOCK = 8 << 20
FOREIGN_MAGIC = {
    b"\xfd7zXZ": "xz",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf": "7z",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
PIECE = 1 << 20  # what was read before a broken end still counts


def open_bytes(path: str) -> tuple[BinaryIO, Any]:
    """A stream of decompressed bytes, and the raw file below it (for progress). ``-`` is standard input."""
    if path == "-":
        raw: Any = sys.stdin.buffer
    else:
        if Path(path).is_dir():
            raise StoreError(
                f"{path} is a directory; expected an edge list (a graph store goes to csaw sample or csaw info)"
            )
        try:
            raw = open(path, "rb")  # noqa: SIM115 - lives as long as the stream
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    reader = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)
    magic = reader.peek(6)[:6]
    if magic[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=reader), raw  # type: ignore[return-value]
    if magic[:3] == b"BZh":
        return bz2.BZ2File(reader), raw  # type: ignore[return-value]
    if magic[:4] == b"\x28\xb5\x2f\xfd":
        return _zstd(reader), raw
    for start, what in FOREIGN_MAGIC.items():
        if magic.startswith(start):
            raw.close()
            raise FormatError(f"{path}: {what} data; expected text, plain or packed by gzip, bz2 or zstd")
    return reader, raw


def _zstd(reader: Any) -> BinaryIO:
    try:
        import pyarrow
    except ImportError as error:
        raise MissingDependencyError("zstd input needs pyarrow: pip install 'csaw[tables]'") from error
    return pyarrow.CompressedInputStream(reader, "zstd")


def read_blocks(path: str, progress: Callable[[int, int], None] | None = None) -> Iterator[bytes]:
    """Blocks of whole lines. A stream that ends too early is an error that says how many lines could be read."""
    stream, raw = open_bytes(path)
    total = Path(path).stat().st_size if path != "-" and Path(path).is_file() else 0
    rest, lines, held = b"", 0, 0
    pieces: list[bytes] = []
    with raw, stream:
        while True:
            try:
                piece = stream.read(PIECE)
            except (EOFError, zlib.error, OSError) as error:
                readable = readable_lines(path) or lines + b"".join([rest, *pieces]).count(b"\n")
                raise FormatError(
                    f"{path}: compressed data ends or breaks after {readable} lines ({error}); fetch the file again"
                ) from error
            pieces.append(piece)
            held += len(piece)
            if piece and held < BLOCK:
                continue
            block = b"".join([rest, *pieces])
            pieces, held = [], 0
            if not piece:
                break
            end = max(block.rfind(b"\n"), block.rfind(b"\r") if b"\n" not in block else -1) + 1
            rest, block = block[end:], block[:end]
            lines += block.count(b"\n")
            if block:
                yield block
            if progress and total:
                progress(min(raw.tell(), total), total)
    if block:
        yield block


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
