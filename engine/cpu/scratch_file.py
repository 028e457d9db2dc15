"""A file without a name for data that does not fit in memory: next to the graph store or in the system's temporary
folder, and gone however a run ends.

A checksum of each block stays in memory, 4 bytes for 4 KiB.
"""

import os
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np

from csaw.partition.arrays.checksums import BLOCK, first_damaged, sums_of
from csaw.partition.arrays.loader import fill
from csaw.partition.errors import StoreError

PIECE = 1 << 20  # bytes that a thread reads or writes at a time


class ScratchFile:
    """``append`` bytes, and ``read`` them later. ``over``: a ``map`` that has threads share the pieces."""

    def __init__(self, folder: Path, over: Callable[..., Iterable[object]] = map) -> None:
        self.folder, self.over = folder, over
        self.file: IO[bytes] | None = None
        self.end = 0
        self.sums: dict[int, np.ndarray] = {}  # checksums of what begins at a place
        self.lock = threading.Lock()

    def append(self, data: np.ndarray) -> int:
        """Write bytes (uint8) to the end; return where they begin. OSError where a disk has no room."""
        with self.lock:
            handle = self._opened().fileno()
            begin, self.end = self.end, self.end + -(-data.size // BLOCK) * BLOCK
        sums = np.empty(-(-data.size // BLOCK), np.uint32)

        def write(at: int) -> None:
            piece = data[at : at + PIECE]
            sums[at // BLOCK : -(-(at + piece.size) // BLOCK)] = sums_of(piece)
            done = 0
            while done < piece.size:
                done += os.pwrite(handle, piece[done:].data, begin + at + done)

        list(self.over(write, range(0, data.size, PIECE)))
        self.sums[begin] = sums
        return begin

    def read(self, begin: int, out: np.ndarray) -> None:
        """Fill ``out`` (uint8) with what was appended at ``begin``. StoreError where the file has changed."""
        assert self.file is not None
        handle, sums = self.file.fileno(), self.sums[begin]

        def read(at: int) -> None:
            piece = out[at : at + PIECE]
            fill(self.folder / "(a file without a name)", handle, piece, begin + at)
            if first_damaged(piece, sums[at // BLOCK : -(-(at + piece.size) // BLOCK)]) >= 0:
                raise StoreError(
                    f"{self.folder}: a temporary file, for data that did not fit in memory, has changed since it "
                    "was written; check this disk and run again"
                )

        list(self.over(read, range(0, out.size, PIECE)))

    def ahead(self, begin: int) -> None:
        """Ask the system to read what was appended at ``begin`` into its page cache."""
        if self.file is not None and hasattr(os, "posix_fadvise"):
            with suppress(OSError):
                os.posix_fadvise(self.file.fileno(), begin, BLOCK * self.sums[begin].size, os.POSIX_FADV_WILLNEED)

    def close(self) -> None:
        """Remove the file."""
        if self.file is not None:
            self.file.close()

    def _opened(self) -> IO[bytes]:
        if self.file is None:
            try:
                self.file = tempfile.TemporaryFile(dir=self.folder, prefix="csaw-")  # noqa: SIM115 - lives with the run
            except OSError:  # a graph that others keep, perhaps
                self.file = tempfile.TemporaryFile(prefix="csaw-")  # noqa: SIM115
            weakref.finalize(self, self.file.close)
        return self.file
