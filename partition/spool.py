"""Columns of numbers that arrive in pieces and are read back in whole or in part. They are in memory up to a limit, and in one file beyond it."""

import os
import tempfile
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from csaw.partition.errors import StoreError


class Budget:
    """Bytes that spools may keep in memory together, and the folder for the rest."""

    def __init__(self, memory: int, folder: Path) -> None:
        self.left = memory
        self.folder = folder
        self.spilled = 0


class Stored:
    """A column in the file of a spool; slicing it reads an array."""

    def __init__(self, handle: int, start: int, column: np.ndarray) -> None:
        self.handle, self.start, self.dtype, self.size = handle, start, column.dtype, column.size

    def __getitem__(self, rows: slice) -> np.ndarray:
        low, high, _ = rows.indices(self.size)
        out = np.empty(max(high - low, 0), self.dtype)
        rest, position = out.data.cast("B"), self.start + low * self.dtype.itemsize
        while rest:
            done = os.preadv(self.handle, [rest], position)
            if done <= 0:
                raise StoreError("a temporary file has become shorter during the run; run the command again")
            rest, position = rest[done:], position + done
        return out


class Spool:
    """Pieces of columns: ``append`` takes a tuple of equally long arrays, iterating yields these tuples, ``gather`` reads a part of each.

    Several threads may read.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.pieces: deque[tuple[Any, ...]] = deque()
        self.rows = self.kept_bytes = 0
        self.file: Any = None

    def append(self, *columns: np.ndarray) -> None:
        self.rows += columns[0].size
        size = sum(c.nbytes for c in columns)
        if self.file is None and size <= self.budget.left:
            self.budget.left -= size
            self.kept_bytes += size
            self.pieces.append(columns)
        else:
            self.pieces.append(self._spill(columns, size))

    def _spill(self, columns: tuple[np.ndarray, ...], size: int) -> tuple[Stored, ...]:
        try:
            if self.file is None:
                self.file = tempfile.TemporaryFile(dir=self.budget.folder, prefix="csaw-")  # noqa: SIM115 - lives with the spool
            starts = [self.file.tell() + sum(c.nbytes for c in columns[:k]) for k in range(len(columns))]
            for column in columns:
                column.tofile(self.file)
            self.file.flush()
        except OSError as error:
            raise StoreError(
                f"{self.budget.folder}: cannot write {size:,} more bytes of temporary files ({error.strerror}); make room there, "
                f"or raise --memory"
            ) from error
        self.budget.spilled += size
        return tuple(Stored(self.file.fileno(), start, c) for start, c in zip(starts, columns, strict=True))

    def __iter__(self) -> Iterator[tuple[np.ndarray, ...]]:
        for piece in self.pieces:
            yield tuple(column[:] for column in piece)

    def drain(self) -> Iterator[tuple[np.ndarray, ...]]:
        """Yield the pieces and free each of them."""
        while self.pieces:
            yield tuple(column[:] for column in self.pieces.popleft())
        self.close()

    def gather(self, lows: np.ndarray, highs: np.ndarray) -> tuple[np.ndarray, ...]:
        """The rows lows[i] .. highs[i] - 1 of each piece i, joined."""
        spans = [slice(low, high) for low, high in zip(lows.tolist(), highs.tolist(), strict=True)]
        columns = zip(*self.pieces, strict=True)
        return tuple(np.concatenate([c[span] for c, span in zip(column, spans, strict=True)]) for column in columns)

    def close(self) -> None:
        self.budget.left += self.kept_bytes
        self.kept_bytes = 0
        self.pieces.clear()
        if self.file is not None:
            self.file.close()
            self.file = None
