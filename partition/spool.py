"""Columns of numbers that arrive in pieces and are read back in order: in memory up to a limit, on disk beyond it."""

import tempfile
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


class Spool:
    """``append`` tuples of equally long arrays; iterate over them again as often as needed."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.kept: list[tuple[np.ndarray, ...]] = []
        self.rows = 0
        self.file: Any = None
        self.pieces: list[list[tuple[np.dtype, int]]] = []

    def append(self, *columns: np.ndarray) -> None:
        self.rows += columns[0].size
        size = sum(c.nbytes for c in columns)
        if self.file is None and size <= self.budget.left:
            self.budget.left -= size
            self.kept.append(columns)
            return
        try:
            if self.file is None:
                self.file = tempfile.TemporaryFile(dir=self.budget.folder, prefix="csaw-")  # noqa: SIM115 - lives with the spool
            for column in columns:
                column.tofile(self.file)
            self.file.flush()
        except OSError as error:
            raise StoreError(
                f"{self.budget.folder}: cannot write {size:,} more bytes of temporary files ({error.strerror}); make room there, "
                f"or raise --memory"
            ) from error
        self.budget.spilled += size
        self.pieces.append([(c.dtype, c.size) for c in columns])

    def __iter__(self) -> Iterator[tuple[np.ndarray, ...]]:
        yield from self.kept
        if self.file is not None:
            self.file.seek(0)
            for piece in self.pieces:
                yield tuple(np.fromfile(self.file, dtype, count) for dtype, count in piece)

    def columns(self) -> tuple[np.ndarray, ...]:
        """Everything, joined."""
        parts = list(self)
        return parts[0] if len(parts) == 1 else tuple(np.concatenate(column) for column in zip(*parts, strict=True))

    def close(self) -> None:
        self.budget.left += sum(c.nbytes for piece in self.kept for c in piece)
        self.kept = []
        if self.file is not None:
            self.file.close()
            self.file = None
