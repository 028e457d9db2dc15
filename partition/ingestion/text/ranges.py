"""Text of a plain file in ranges, so that several threads read it: to a range belong the lines that begin in it."""

import os
import threading
from collections.abc import Iterator

from csaw.partition.errors import FormatError, StoreError
from csaw.partition.ingestion.text import blocks

PIECE = 1 << 12  # read beyond a range, until its last line ends
SHARES = 8  # ranges for a thread, at least


class Room(threading.local):
    """Where a thread reads to, again and again: it stays in the processor's cache."""

    buffer = bytearray(0)


class Ranges:
    """Ranges of the file open as ``handle``, from byte ``start``, where a line begins, to its present end.

    ``newline`` ends a line. A range has ``most`` bytes; fewer, but ``blocks.BLOCK``, where ``threads`` had too few.
    """

    def __init__(self, path: str, handle: int, start: int, newline: bytes, *, threads: int = 1, most: int = 0) -> None:
        self.path, self.handle, self.start, self.newline = path, handle, start, newline
        self.size, self.room = os.fstat(handle).st_size, Room()
        self.step = max(blocks.BLOCK, min(most, self.size // (SHARES * threads)))

    def between(self, first: int = 0, last: int | None = None) -> Iterator[tuple[int, int]]:
        """Return where each begins and ends, of those of the bytes ``first`` to before ``last``.

        None is the end of the file.
        """
        end = self.size if last is None else min(last, self.size)
        for begin in range(max(first, self.start), end, self.step):
            yield begin, min(begin + self.step, end)

    def read(self, begin: int, end: int) -> memoryview:
        """The lines of a range, good until this thread reads the next.

        FormatError for a line that is too long, or where the file has changed.
        """
        low = max(begin - 1, self.start)  # the byte before tells whether a line begins at the first
        size = self._read(low, end, 0)
        first = self.room.buffer.find(self.newline, 0, size) + 1 if low < begin else 0
        if low < begin and (first == 0 or first == size):
            return memoryview(b"")
        line = self.room.buffer.rfind(self.newline, 0, size - 1) + 1  # where the last one begins
        while self.room.buffer[size - 1] != self.newline[0] and low + size < self.size:
            more = self._read(low + size, min(low + size + PIECE, self.size), size)
            found = self.room.buffer.find(self.newline, size, size + more)
            size = found + 1 if found >= 0 else size + more
            if size - line > blocks.LONGEST_LINE + (found >= 0):
                raise blocks.too_long(self.path, blocks.lines_before(self.path, low + line, self.newline) + 1)
        return memoryview(self.room.buffer)[first:size].toreadonly()

    def _read(self, begin: int, end: int, place: int) -> int:
        """The bytes begin .. end - 1 to ``place`` of the room; how many they are."""
        if len(self.room.buffer) < place + end - begin:
            grown = bytearray(place + max(place, end - begin) + 2 * PIECE)  # bytearray touches all of it
            grown[:place] = memoryview(self.room.buffer)[:place]
            self.room.buffer = grown
        rest = memoryview(self.room.buffer)[place : place + end - begin]
        while rest:
            try:
                got = os.preadv(self.handle, [rest], end - len(rest))
            except OSError as error:
                raise StoreError(f"{self.path} cannot be read: {error.strerror}") from error
            if got <= 0:
                raise FormatError(f"{self.path}: the file has become shorter while it was read; run it again")
            rest = rest[got:]
        return end - begin
