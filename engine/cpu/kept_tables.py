"""Alias tables of a streamed graph, kept on disk once they are made: reading one again takes a fifth of the time of
making it.
"""

import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from csaw.engine.cpu.scratch_file import ScratchFile

log = logging.getLogger(__name__)


class KeptTables:
    """``keep`` the columns of a partition, and ``read`` them later.

    A partition is in it once it is kept; none is where no disk has room.
    """

    def __init__(self, folder: Path, threads: ThreadPoolExecutor) -> None:
        self.file = ScratchFile(folder, threads.map)
        self.full = False
        self.places: dict[int, list[int]] = {}  # where each column of a partition begins

    def __contains__(self, number: int) -> bool:
        return number in self.places

    def keep(self, number: int, columns: Iterable[np.ndarray]) -> None:
        """Write a partition's columns; do nothing, and note why once, where there is no room for them."""
        if self.full:
            return
        try:
            self.places[number] = [self.file.append(column.view(np.uint8)) for column in columns]
        except OSError as error:
            self.full = True
            log.info("alias tables cannot be kept on disk (%s): they are made anew for each load", error.strerror)

    def read(self, number: int, columns: Iterable[np.ndarray]) -> None:
        """Fill arrays with the columns of a partition that was kept. StoreError where the file has changed."""
        for begin, column in zip(self.places[number], columns, strict=True):
            self.file.read(begin, column.view(np.uint8))

    def ahead(self, number: int) -> None:
        """Ask the system to read a partition's columns into its page cache."""
        for begin in self.places[number]:
            self.file.ahead(begin)

    def close(self) -> None:
        """Remove the file."""
        self.file.close()
