"""Columns of numbers that arrive in pieces and are read back, whole or in part: in memory up to a limit, in files
beyond it.
"""

import os
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import numpy as np
from numba import types
from numba.core.typing import signature

from csaw.partition.base.compile import inner, njit
from csaw.partition.base.parallel import Backlog
from csaw.partition.errors import StoreError

FILES = 8  # in turn: a system lets one thread at a time write to a file
IN_MEMORY = -1

_pread = types.ExternalFunction("pread", signature(types.int64, types.int32, types.int64, types.int64, types.int64))
_copy = types.ExternalFunction("memcpy", signature(types.int64, types.int64, types.int64, types.int64))


class Budget:
    """Bytes that spools may keep in memory together, and the folder for the rest."""

    def __init__(self, memory: int, folder: Path) -> None:
        self.left = memory
        self.folder = folder
        self.spilled = 0


class Stored:
    """A column in the file of a spool; slicing it reads an array."""

    def __init__(self, handle: int, start: int, dtype: np.dtype, size: int) -> None:
        self.handle, self.start, self.dtype, self.size = handle, start, dtype, size

    def __getitem__(self, rows: slice) -> np.ndarray:
        low, high, _ = rows.indices(self.size)
        out = np.empty(max(high - low, 0), self.dtype)
        rest, position = out.data.cast("B"), self.start + low * self.dtype.itemsize
        while rest:
            done = os.preadv(self.handle, [rest], position)
            if done <= 0:
                raise shorter()
            rest, position = rest[done:], position + done
        return out


Column = np.ndarray | Stored
Places = tuple[np.ndarray, np.ndarray]
"""Where the columns of some pieces are, each [columns, pieces]: addresses or places in files, int64, and the handles of
these files, int32.
"""


def places_of(pieces: Iterable[tuple[Column, ...]]) -> Places:
    """Where the columns of some pieces are."""
    columns = list(zip(*pieces, strict=True))
    addresses = [[c.start if isinstance(c, Stored) else c.ctypes.data for c in column] for column in columns]
    handles = [[c.handle if isinstance(c, Stored) else IN_MEMORY for c in column] for column in columns]
    return np.array(addresses, np.int64), np.array(handles, np.int32)


class Spool:
    """Keeps tuples of equally long arrays: ``append`` them, then ``settle``.

    Then iterate over the pieces, or have kernels :func:`gather` parts of a column from its ``places``.

    Several threads may read.
    """

    places: Places

    def __init__(self, budget: Budget, jobs: Backlog | None = None) -> None:
        self.budget, self.jobs = budget, jobs or Backlog()
        self.pieces: deque[tuple[Column, ...]] = deque()
        self.rows = self.kept_bytes = self.stored = 0
        self.files: list[IO[bytes]] = []
        self.ends = [0] * FILES

    def append(self, *columns: np.ndarray) -> None:
        """The next piece. Which ones go to files depends on their order and sizes alone."""
        self.rows += columns[0].size
        size = sum(c.nbytes for c in columns)
        if size <= self.budget.left:
            self.budget.left -= size
            self.kept_bytes += size
            self.pieces.append(columns)
        else:
            self.pieces.append(self._spill(columns, size))

    def _spill(self, columns: tuple[np.ndarray, ...], size: int) -> tuple[Stored, ...]:
        turn, self.stored = self.stored % FILES, self.stored + 1
        if turn == len(self.files):
            with _full_disk_named(self.budget.folder, size):
                self.files.append(tempfile.TemporaryFile(dir=self.budget.folder, prefix="csaw-"))  # noqa: SIM115 - lives with the spool
        handle, start = self.files[turn].fileno(), self.ends[turn]
        starts = [start + sum(c.nbytes for c in columns[:k]) for k in range(len(columns))]
        self.ends[turn] = start + size
        self.jobs.add(size, self._write, handle, start, columns, size)
        self.budget.spilled += size
        return tuple(Stored(handle, at, c.dtype, c.size) for at, c in zip(starts, columns, strict=True))

    def _write(self, handle: int, position: int, columns: tuple[np.ndarray, ...], size: int) -> None:
        with _full_disk_named(self.budget.folder, size):
            for column in columns:
                write_all(handle, column, position)
                position += column.nbytes

    def settle(self) -> None:
        """Nothing more is appended: wait for what is being written."""
        self.jobs.finish()
        self.places = places_of(self.pieces)

    def __iter__(self) -> Iterator[tuple[Column, ...]]:
        """Pieces; a slice of a column is an array."""
        return iter(self.pieces)

    def drain(self) -> Iterator[tuple[Column, ...]]:
        """Iterate, letting go of each piece; :meth:`let_go` gives its memory to others."""
        while self.pieces:
            yield self.pieces.popleft()

    def let_go(self, size: int) -> None:
        """Note that this many kept bytes are gone."""
        self.kept_bytes -= size
        self.budget.left += size

    def close(self) -> None:
        self.jobs.drop()
        self.let_go(self.kept_bytes)
        self.pieces.clear()
        for file in self.files:
            file.close()
        self.files = []


@inner
def gather(addresses, handles, begins, ends, item, to):
    """Join entries ``begins`` to before ``ends`` of all pieces of a column at address ``to``.

    An entry has ``item`` bytes. Returns whether they could be read.
    """
    for i in range(addresses.size):
        place, count = addresses[i] + begins[i] * item, (ends[i] - begins[i]) * item
        if handles[i] == IN_MEMORY:
            _copy(to, place, count)
            to += count
            continue
        done = 0
        while done < count:
            got = _pread(handles[i], to, count - done, place + done)
            if got <= 0:
                return False
            done += got
            to += got
    return True


@njit(nogil=True)
def gather_ranges(addresses, handles, ends, item, out):
    """Join several ranges of a column in ``out``, bytes, as :func:`gather` does with one; whether they could be read.

    Range k has entries ``ends[k]`` to before ``ends[k + 1]`` of all pieces.
    """
    done = np.int64(0)
    for k in range(ends.shape[0] - 1):
        if not gather(addresses, handles, ends[k], ends[k + 1], item, out[done:].ctypes.data):
            return False
        done += item * (ends[k + 1] - ends[k]).sum()
    return True


@njit(nogil=True)
def copy_runs(held, begins, ends, gap, out):
    """Copy the bytes ``begins`` to before ``ends`` of ``held`` to ``out``, run after run, ``gap`` bytes apart."""
    to = np.int64(0)
    for k in range(begins.size):
        _copy(out.ctypes.data + to, held.ctypes.data + begins[k], ends[k] - begins[k])
        to += ends[k] - begins[k] + gap


def grouped(pieces: Iterable[tuple[Column, ...]], least: int) -> Iterator[tuple[tuple[Column, ...], ...]]:
    """Pieces together that have ``least`` rows or more."""
    held: list[tuple[Column, ...]] = []
    for piece in pieces:
        held.append(piece)
        if sum(columns[0].size for columns in held) >= least:
            yield tuple(held)
            held = []
    if held:
        yield tuple(held)


def write_all(handle: int, data: np.ndarray, position: int) -> None:
    """All bytes of a contiguous array to a place in a file."""
    rest = data.view(np.uint8).data
    while rest:
        done = os.pwrite(handle, rest, position)
        rest, position = rest[done:], position + done


class _full_disk_named:
    """Turns what keeps a temporary file from being written into an error that names its folder."""

    def __init__(self, folder: Path, size: int) -> None:
        self.folder, self.size = folder, size

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError) and not isinstance(error, StoreError):
            raise StoreError(
                f"{self.folder}: cannot write {self.size:,} more bytes of temporary files "
                f"({error.strerror}); make room there, "
                f"or raise --memory"
            ) from error


def shorter() -> StoreError:
    return StoreError("a temporary file has become shorter; run the command again")
