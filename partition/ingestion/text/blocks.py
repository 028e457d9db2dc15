"""The bytes of an input, decompressed according to its first bytes, in blocks that end at line ends."""

import bz2
import gzip
import io
import os
import stat
import sys
import threading
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO

from csaw.partition.base.quoting import shown
from csaw.partition.errors import FormatError, MissingDependencyError, StoreError
from csaw.partition.ingestion.text.members import ALONE, Members, Unpackers

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from pyarrow import NativeFile

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


def open_bytes(path: str, unpackers: Unpackers = ALONE) -> tuple[io.BufferedIOBase, io.IOBase]:
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
                f"{self.path}: the compressed data is cut off or damaged after {readable} lines ({error}); fetch "
                "the file again"
            ) from error
        return filled


def read_blocks(path: str, progress: Callable[[int, int], None] | None = None) -> Iterator[memoryview]:
    """The blocks of an input."""
    return Blocks(path, progress).read()


def too_long(path: str, line: int) -> FormatError:
    return FormatError(
        f"{path}:{line}: a line of more than {LONGEST_LINE:,} bytes; expected one edge per line, ended by a line feed"
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
        is_bz2 = file.read(3) == b"BZh"
        unpack: Callable[[bytes], bytes] = (
            bz2.BZ2Decompressor().decompress if is_bz2 else zlib.decompressobj(31).decompress
        )
        file.seek(0)
        lines = 0
        try:
            while piece := file.read(4096):
                lines += unpack(piece).count(b"\n")
        except (EOFError, zlib.error, OSError):
            return lines
    return lines


# Packed text as a stream of bytes: gzip, bz2 and zstd, by what reads each of them well.

UNPACKED = 1 << 18  # packed bytes read at a time


def gzip_stream(packed: io.BufferedReader, path: str, unpackers: Unpackers = ALONE) -> io.BufferedIOBase:
    """Unpack a gzip file: by ISA-L where it is installed and the file can be read twice, else by zlib, with the
    same bytes and errors.
    """
    isal = _isal() if path != "-" and os.path.isfile(path) else None
    if isal is None:
        return gzip.GzipFile(fileobj=packed)
    alone = unpackers.threads == 1
    stream = isal.igzip.IGzipFile(fileobj=packed) if alone else Members(isal, packed, unpackers)
    return io.BufferedReader(FastGzip(isal, stream, path), UNPACKED)


class FastGzip(io.RawIOBase):
    """gzip by ISA-L, at three times the rate of zlib.

    Where ``stream`` finds anything wrong, zlib reads on and says what it is.
    """

    def __init__(self, isal: ModuleType, stream: io.RawIOBase | io.BufferedIOBase, path: str) -> None:
        self.wrong = (EOFError, OSError, zlib.error, isal.isal_zlib.error)
        self.crc32 = isal.isal_zlib.crc32
        self.path, self.given, self.check, self.stream = path, 0, 0, stream

    def readable(self) -> bool:
        return True

    def readinto(self, room: "WriteableBuffer") -> int:
        """Fill the beginning of ``room``; errors as of ``gzip.GzipFile``."""
        room = memoryview(room)
        try:
            got = self.stream.readinto(room) or 0
        except self.wrong:
            if type(self.stream) is gzip.GzipFile:
                raise
            self._begin_again()
            return self.readinto(room)
        self.given, self.check = self.given + got, self.crc32(room[:got], self.check)
        return got

    def _begin_again(self) -> None:
        """From where the fast reader came to, by zlib. OSError where that reader gave what zlib does not find."""
        self.stream.close()
        self.stream, left, check = gzip.GzipFile(self.path), self.given, 0
        while left and (piece := self.stream.read(min(left, UNPACKED))):
            left, check = left - len(piece), self.crc32(piece, check)
        if left or check != self.check:
            raise gzip.BadGzipFile("zlib and ISA-L do not agree on what a member holds")

    def close(self) -> None:
        self.stream.close()
        super().close()


class Bz2Members(io.RawIOBase):
    """A stream of the bytes that bz2 streams, one after the other in a file, hold.

    ``bz2.BZ2File`` takes a later one that is damaged for the end of the file.
    """

    def __init__(self, packed: io.BufferedReader) -> None:
        self.packed, self.member, self.begun = packed, bz2.BZ2Decompressor(), False
        self.rest = b""  # packed bytes of the next member

    def readable(self) -> bool:
        return True

    def readinto(self, room: "WriteableBuffer") -> int:
        """Fill the beginning of ``room``; EOFError where a member ends too early, OSError where it is damaged."""
        room = memoryview(room)
        while True:
            if self.member.eof:
                self.rest, self.member, self.begun = self.member.unused_data, bz2.BZ2Decompressor(), False
            data = b""
            if self.member.needs_input:
                data = self.rest or self.packed.read(UNPACKED)
                self.rest = b""
                if not data:
                    if self.begun:
                        raise EOFError("the last bz2 stream has no end")
                    return 0
            self.begun = True
            if text := self.member.decompress(data, len(room)):
                room[: len(text)] = text
                return len(text)


def zstd_stream(packed: io.BufferedReader) -> "NativeFile":
    """Unpack a zstd file. Raises MissingDependencyError."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingDependencyError("zstd input needs pyarrow: pip install pyarrow") from error
    return pyarrow.CompressedInputStream(packed, "zstd")


def _isal() -> ModuleType | None:
    """The package, or None where it is not installed."""
    try:
        import isal.igzip
        import isal.igzip_lib
        import isal.isal_zlib
    except ImportError:
        return None
    return isal


# Opening an input.
#
# A device is an error at once, and a pipe that no program writes to after a while: neither would end.

WAIT_SECONDS = 10.0


def open_input(path: str) -> BinaryIO:
    """Open the file or pipe at ``path`` for reading; ``-`` is standard input. Raises StoreError."""
    if path == "-":
        if sys.stdin is None:
            raise StoreError("-: standard input is closed; expected a file or a pipe there")
        return sys.stdin.buffer
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise StoreError(
                f"{shown(path)} is a directory; expected an edge list (a graph store goes to csaw sample or csaw info)"
            )
        if stat.S_ISFIFO(mode):
            return os.fdopen(_reading_end(path), "rb")
        file = open(path, "rb")  # noqa: SIM115 - lives as long as the stream
    except ValueError as error:
        raise StoreError(f"{shown(path)} is not a path: {error}") from error
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(f"{shown(path) or 'INPUT is empty and'} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(mode) and not file.isatty():
        file.close()
        raise StoreError(f"{shown(path)} is a device; expected a file of edges or a pipe")
    return file


def _reading_end(path: str) -> int:
    """Open the pipe at ``path`` for reading and wait for a program that opens it for writing. Raises StoreError."""
    opened: list[int] = []
    failed: list[OSError] = []

    def wait() -> None:
        try:
            opened.append(os.open(path, os.O_RDONLY))
        except OSError as error:
            failed.append(error)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    waiting.join(WAIT_SECONDS)
    if waiting.is_alive():
        with suppress(OSError):
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))  # a writer, so that the waiting ends
            waiting.join()
        for end in opened:
            os.close(end)
        raise StoreError(f"{shown(path)} is a pipe that no program writes to; start the writing program first")
    if failed:
        raise failed[0]
    return opened[0]
