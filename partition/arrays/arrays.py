"""Writing one-dimensional Zarr arrays that grow at their end, so that no whole array is in memory.

Chunk files without a codec are the array's bytes, so they are written piece by piece; for the others a chunk is held
until it is full. Several threads write pieces and take their checksums, in any order.
"""

import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np

from csaw.partition.arrays import nodes
from csaw.partition.arrays.checksums import DTYPE, file_sum, sums_of
from csaw.partition.arrays.loader import SUMS, StoredArray, array_digest, read_array
from csaw.partition.arrays.spool import write_all
from csaw.partition.base.parallel import Backlog

CHUNK_BYTES = 16 << 20
PIECE_BYTES = 1 << 20  # written at a time, of a chunk: whole blocks of checksums


class Written(NamedTuple):
    """An array whose chunk files are there: ``size`` elements, ``chunk`` of them in a file, and the checksums of all
    blocks; plain data, which processes may send to each other.
    """

    path: Path
    dtype: np.dtype
    size: int
    chunk: int
    packed: bool
    sums: np.ndarray

    def close(self, about: nodes.About | None = None) -> str:
        """Say what the files are, and return the digest that vouches for them.

        ``about``: what viewers read of the array.
        """
        nodes.write_array(self.path, self.dtype, (self.size,), (self.chunk,), packed=self.packed, about=about)
        (self.path / SUMS).write_bytes(self.sums.tobytes())
        return array_digest((self.path / "zarr.json").read_bytes(), self.sums.tobytes())

    def read(self, first: int, count: int) -> np.ndarray:
        """Elements from number ``first`` on, compared with their checksums; good before ``close``, too."""
        out = np.empty(count, self.dtype)
        stored = StoredArray(self.path, self.size, self.chunk, not self.packed, self.sums)
        read_array(stored, out, first=first, elements=self.size)
        return out


class PlainArray:
    """An array without compression: call ``extend`` for each piece, then ``close``.

    An array smaller than a chunk has a chunk of its own size.
    """

    packed = False

    def __init__(
        self, path: Path, dtype: np.dtype, jobs: Backlog | None = None, syncs: Callable[[Path], object] | None = None
    ) -> None:
        self.path, self.dtype, self.size, self.jobs, self.syncs = path, np.dtype(dtype), 0, jobs or Backlog(), syncs
        self.left: dict[int, int] = {}  # bytes of chunks in work that are not written yet
        self.lock = Lock()
        self.chunk = CHUNK_BYTES // self.dtype.itemsize
        self.piece = self._piece_bytes() // self.dtype.itemsize
        self.held: list[np.ndarray] = []
        self.held_size, self.ended = 0, False
        self.sums: list[Callable[[], np.ndarray]] = []
        path.mkdir(exist_ok=True)  # not its parents: a process that was given up may come to itself when they are gone
        (path / "c").mkdir()

    def _piece_bytes(self) -> int:
        return min(CHUNK_BYTES, PIECE_BYTES)

    def extend(self, data: np.ndarray) -> None:
        """Append. What does not fill a piece is held without a copy, so ``data`` must stay as it is."""
        while data.size:
            part, data = np.split(data, [self.piece - self.held_size])
            self.held.append(part)
            self.held_size += part.size
            self.size += part.size
            if self.held_size == self.piece:
                self._submit(0)

    def _submit(self, missing: int) -> None:
        """Queue the buffered elements, padded with ``missing`` zeros, for writing."""
        held, begin = self.held, self.size - self.held_size
        self.held, self.held_size = [], 0
        nbytes = (self.size - begin) * self.dtype.itemsize
        self.sums.append(self.jobs.add(nbytes, self._write, begin, held, missing))

    def end(self) -> None:
        """Nothing more is appended: begin to write the rest, with zeros up to a whole chunk."""
        self.ended = True
        self.chunk = max(1, min(self.size, self.chunk))
        missing = -self.size % self.chunk
        if self.held or missing:
            self._submit(missing)

    def close(self, about: nodes.About | None = None) -> str:
        """Wait until all is written, then close it as ``Written.close`` does."""
        return self.written().close(about)

    def written(self) -> Written:
        """End the array where nobody has, and describe its files, once they are written."""
        if not self.ended:
            self.end()
        sums = np.concatenate([np.empty(0, DTYPE), *(wait() for wait in self.sums)])
        return Written(self.path, self.dtype, self.size, self.chunk, self.packed, sums)

    def _whole(self, held: list[np.ndarray], missing: int) -> np.ndarray:
        parts = [*held, np.zeros(missing, self.dtype)] if missing else held
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _write(self, begin: int, held: list[np.ndarray], missing: int) -> np.ndarray:
        """A piece to its place in the file of its chunk; its checksums. Zeros are left to the file system."""
        data = self._whole(held, missing)
        handle = os.open(self.path / "c" / str(begin // self.chunk), os.O_WRONLY | os.O_CREAT, 0o666)
        try:
            write_all(handle, data[: data.size - missing], begin % self.chunk * self.dtype.itemsize)
            if missing:
                os.ftruncate(handle, self.chunk * self.dtype.itemsize)
        finally:
            os.close(handle)
        self._written(begin // self.chunk, data.size)
        return sums_of(data.view(np.uint8))

    def _written(self, chunk: int, size: int) -> None:
        """Let the disk begin with a file that is complete, so that not all is left for the end."""
        with self.lock:
            self.left[chunk] = self.left.get(chunk, self.chunk) - size
            complete = self.left[chunk] == 0
        if complete and self.syncs:
            self.syncs(self.path / "c" / str(chunk))


class PackedArray(PlainArray):
    """An array whose chunks are compressed by LZ4; it has one checksum for each file."""

    packed = True

    def _piece_bytes(self) -> int:
        return CHUNK_BYTES

    def _write(self, begin: int, held: list[np.ndarray], missing: int) -> np.ndarray:
        """A chunk as a file."""
        from numcodecs import blosc

        data = self._whole(held, missing)
        packed = np.frombuffer(blosc.compress(data, b"lz4", 5, blosc.BITSHUFFLE), np.uint8)
        (self.path / "c" / str(begin // self.chunk)).write_bytes(packed.data)
        return np.array([file_sum(packed)], DTYPE)


def growing_array(
    path: Path,
    dtype: np.dtype,
    compression: str | None,
    jobs: Backlog | None = None,
    syncs: Callable[[Path], object] | None = None,
) -> PlainArray:
    """An empty array at ``path``, whose pieces ``jobs`` writes; ``syncs`` is told of each file that is complete."""
    return (PackedArray if compression == "lz4" else PlainArray)(path, dtype, jobs, syncs)
