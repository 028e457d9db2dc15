"""Writing one-dimensional Zarr arrays that grow at their end, so that no whole array is in memory.

Chunk files without a codec hold the bytes of the array and are written as they come. For compressed files, a chunk is held in memory until it is full.
"""

import os
from pathlib import Path

import numpy as np

from csaw.partition import nodes
from csaw.partition.checksums import DTYPE, BlockSums, file_sum
from csaw.partition.loader import SUMS, array_digest

CHUNK_BYTES = 16 << 20  # a multiple of a checksum's block


class PlainArray:
    """An array without compression: call ``extend`` for each piece, then ``close``. An array smaller than a chunk has a chunk of its own size."""

    held_size = 0
    packed = False

    def __init__(self, path: Path, dtype: np.dtype) -> None:
        self.path, self.dtype, self.size = path, np.dtype(dtype), 0
        self.chunk = CHUNK_BYTES // self.dtype.itemsize
        self.sums = BlockSums()
        (path / "c").mkdir(parents=True)

    def extend(self, data: np.ndarray) -> None:
        """Append the elements of ``data``, one-dimensional."""
        while data.size:
            part, data = np.split(data, [self.chunk - self.size % self.chunk])
            with self._file(self.size // self.chunk).open("ab") as out:
                out.write(part.data)
            self.sums.add(part)
            self.size += part.size
            if self.size % self.chunk == 0:
                self.sums.end_block()

    def close(self) -> str:
        """Fill the last chunk with zeros, write zarr.json and the checksums, and return their digest."""
        chunk = max(1, min(self.size, self.chunk))
        if missing := -self.size % chunk:
            os.truncate(self._file(self.size // chunk), chunk * self.dtype.itemsize)
            self.sums.add(np.zeros(missing, self.dtype))
        return self._describe(chunk, self.sums.finish())

    def _file(self, number: int) -> Path:
        return self.path / "c" / str(number)

    def _describe(self, chunk: int, sums: np.ndarray) -> str:
        nodes.write_array(self.path, self.dtype, (self.size,), (chunk,), packed=self.packed)
        (self.path / SUMS).write_bytes(sums.tobytes())
        return array_digest((self.path / "zarr.json").read_bytes(), sums.tobytes())


class PackedArray(PlainArray):
    """An array whose chunks are compressed by LZ4; it has one checksum for each file."""

    packed = True

    def __init__(self, path: Path, dtype: np.dtype) -> None:
        super().__init__(path, dtype)
        self.held: list[np.ndarray] = []
        self.files: list[int] = []  # their checksums

    def extend(self, data: np.ndarray) -> None:
        """Append the elements of ``data``; those that do not fill a chunk stay in memory."""
        while data.size:
            part, data = np.split(data, [self.chunk - self.held_size])
            self.held.append(part)
            self.held_size += part.size
            self.size += part.size
            if self.held_size == self.chunk:
                self._write(self.chunk)

    def close(self) -> str:
        """Write the elements that are still in memory, then as in PlainArray."""
        chunk = max(1, min(self.size, self.chunk))
        if self.held:
            self._write(chunk)
        return self._describe(chunk, np.array(self.files, DTYPE))

    def _write(self, chunk: int) -> None:
        """Write the elements in memory as the file of ``chunk``, with zeros up to a whole chunk."""
        from numcodecs import blosc

        data = np.concatenate([*self.held, np.zeros(chunk - self.held_size, self.dtype)])
        self.held, self.held_size = [], 0
        packed = np.frombuffer(blosc.compress(data, b"lz4", 5, blosc.BITSHUFFLE), np.uint8)
        self._file(len(self.files)).write_bytes(packed.data)
        self.files.append(file_sum(packed))


def growing_array(path: Path, dtype: np.dtype, compression: str | None) -> PlainArray:
    """An empty array at ``path``."""
    return (PackedArray if compression == "lz4" else PlainArray)(path, dtype)
