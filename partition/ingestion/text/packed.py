"""Packed text as a stream of bytes: gzip, bz2 and zstd, by what reads each of them well."""

import bz2
import gzip
import io
import os
import zlib
from typing import Any

from csaw.partition.errors import MissingDependencyError
from csaw.partition.ingestion.text.members import ALONE, Members, Unpackers

PIECE = 1 << 18  # packed bytes read at a time


def gzip_stream(packed: io.BufferedReader, path: str, unpackers: Unpackers = ALONE) -> io.BufferedIOBase:
    """Unpack a gzip file: by ISA-L where it is installed and the file can be read twice, else by zlib, with the
    same bytes and errors.
    """
    isal = _isal() if path != "-" and os.path.isfile(path) else None
    if isal is None:
        return gzip.GzipFile(fileobj=packed)
    alone = unpackers.threads == 1
    stream = isal.igzip.IGzipFile(fileobj=packed) if alone else Members(isal, packed, unpackers)
    return io.BufferedReader(FastGzip(isal, stream, path), PIECE)


class FastGzip(io.RawIOBase):
    """gzip by ISA-L, at three times the rate of zlib.

    Where ``stream`` finds anything wrong, zlib reads on and says what it is.
    """

    def __init__(self, isal: Any, stream: Any, path: str) -> None:
        self.wrong = (EOFError, OSError, zlib.error, isal.isal_zlib.error)
        self.crc32 = isal.isal_zlib.crc32
        self.path, self.given, self.check, self.stream = path, 0, 0, stream

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        """Fill the beginning of ``room``; errors as of ``gzip.GzipFile``."""
        try:
            got = self.stream.readinto(room)
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
        while left and (piece := self.stream.read(min(left, PIECE))):
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


def zstd_stream(packed: Any) -> Any:
    """Unpack a zstd file. Raises MissingDependencyError."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingDependencyError("zstd input needs pyarrow: pip install pyarrow") from error
    return pyarrow.CompressedInputStream(packed, "zstd")


def _isal() -> Any:
    """The package, or None where it is not installed."""
    try:
        import isal.igzip
        import isal.igzip_lib
        import isal.isal_zlib
    except ImportError:
        return None
    return isal
