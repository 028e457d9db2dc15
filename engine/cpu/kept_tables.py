"""Alias tables of a streamed graph, kept on disk once they are made: reading one again takes a fifth of the time of making it.

They are in a file without a name, beside the graph store or in the system's folder for such files, and gone when the run ends however it ends. A
checksum of each block stays in memory, 4 bytes for 4 KiB.
"""

import logging
import os
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np

from csaw.partition.checksums import BLOCK, first_damaged, sums_of
from csaw.partition.errors import StoreError
from csaw.partition.loader import fill

PIECE = 1 << 20  # bytes that a thread reads or writes at a time
log = logging.getLogger(__name__)


class KeptTables:
    """``keep`` the columns of a partition, and ``read`` them later. A partition is in it once it is kept; none is where no disk has room."""

    def __init__(self, folder: Path, threads: ThreadPoolExecutor) -> None:
        self.folder, self.threads = folder, threads
        self.file: IO[bytes] | None = None
        self.full = False
        self.end = 0  # bytes in the file
        self.places: dict[int, list[int]] = {}  # where each column of a partition begins
        self.sums: dict[int, np.ndarray] = {}  # checksums of what begins there

    def __contains__(self, number: int) -> bool:
        return number in self.places

    def keep(self, number: int, columns: Iterable[np.ndarray]) -> None:
        """Write a partition's columns; do nothing, and note why once, where there is no room for them."""
        if self.full:
            return
        places = []
        try:
            handle = self._opened().fileno()
            for column in (column.view(np.uint8) for column in columns):
                self._write(handle, column)
                places.append(self.end)
                self.end += -(-column.size // BLOCK) * BLOCK
            self.places[number] = places
        except OSError as error:
            self.full = True
            log.info("alias tables cannot be kept on disk (%s): they are made anew for each load", error.strerror)

    def read(self, number: int, columns: Iterable[np.ndarray]) -> None:
        """Fill arrays with the columns of a partition that was kept. StoreError where the file has changed."""
        assert self.file is not None
        handle = self.file.fileno()
        for begin, column in zip(self.places[number], columns, strict=True):
            self._read(handle, begin, column.view(np.uint8))

    def ahead(self, number: int) -> None:
        """Ask the system to read a partition's columns into its page cache."""
        if self.file is None or not hasattr(os, "posix_fadvise"):
            return
        with suppress(OSError):
            for begin in self.places[number]:
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
        return self.file

    def _write(self, handle: int, column: np.ndarray) -> None:
        begin, sums = self.end, np.empty(-(-column.size // BLOCK), np.uint32)

        def write(at: int) -> None:
            piece = column[at : at + PIECE]
            sums[at // BLOCK : -(-(at + piece.size) // BLOCK)] = sums_of(piece)
            done = 0
            while done < piece.size:
                done += os.pwrite(handle, piece[done:].data, begin + at + done)

        self._over_pieces(column, write)
        self.sums[begin] = sums

    def _read(self, handle: int, begin: int, column: np.ndarray) -> None:
        sums = self.sums[begin]

        def read(at: int) -> None:
            piece = column[at : at + PIECE]
            fill(self.folder / "(a file without a name)", handle, piece, begin + at)
            if first_damaged(piece, BLOCK, sums[at // BLOCK : -(-(at + piece.size) // BLOCK)]) >= 0:
                raise StoreError(
                    f"{self.folder}: a file without a name, which held alias tables, has changed since it was written; check this disk and run again"
                )

        self._over_pieces(column, read)

    def _over_pieces(self, column: np.ndarray, work: Callable[[int], None]) -> None:
        list(self.threads.map(work, range(0, column.size, PIECE)))
