"""One-dimensional Zarr arrays that grow at their end: nobody holds a whole one.

Chunk files without a codec are the array's bytes, so they are written as they come; for the others a chunk is held until it is full.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

CHUNK_BYTES = 16 << 20


class PlainArray:
    """``extend`` it, then ``close`` it. An array smaller than a chunk has a chunk of its own size."""

    held_size = 0

    def __init__(self, path: Path, dtype: np.dtype) -> None:
        self.path, self.dtype, self.size = path, np.dtype(dtype), 0
        self.chunk = CHUNK_BYTES // self.dtype.itemsize

    def extend(self, data: np.ndarray) -> None:
        """Append."""
        while data.size:
            part, data = np.split(data, [self.chunk - self.size % self.chunk])
            file = self._file(self.size // self.chunk)
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("ab") as out:
                out.write(part.data)
            self.size += part.size

    def close(self) -> None:
        """Fill the last chunk with zeros, and say what the files are."""
        chunk = max(1, min(self.size, self.chunk))
        if self.size % chunk:
            os.truncate(self._file(self.size // chunk), chunk * self.dtype.itemsize)
        self._create(self.size, chunk, None)

    def _file(self, number: int) -> Path:
        return self.path / "c" / str(number)

    def _create(self, size: int, chunk: int, packer: Any) -> Any:
        import zarr

        return zarr.create_array(
            str(self.path), shape=(size,), dtype=self.dtype, chunks=(chunk,), compressors=packer, filters=None,
            config={"write_empty_chunks": True},
        )  # fmt: skip


class PackedArray(PlainArray):
    """The same with chunks packed by LZ4."""

    def __init__(self, path: Path, dtype: np.dtype) -> None:
        super().__init__(path, dtype)
        self.held: list[np.ndarray] = []
        self.array: Any = None

    def extend(self, data: np.ndarray) -> None:
        """Append; what does not fill a chunk is held."""
        while data.size:
            part, data = np.split(data, [self.chunk - self.held_size])
            self.held.append(part)
            self.held_size += part.size
            self.size += part.size
            if self.held_size == self.chunk:
                self._write()

    def close(self) -> None:
        """Write what is held."""
        if self.held or self.array is None:
            self._write()

    def _write(self) -> None:
        from zarr.codecs import BloscCodec

        data = np.concatenate([np.empty(0, self.dtype), *self.held])
        self.held, self.held_size = [], 0
        if self.array is None:
            packer = BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle", typesize=self.dtype.itemsize)
            self.array = self._create(data.size, max(1, data.size), packer)
        else:
            self.array.resize((self.size,))
        if data.size:
            self.array[self.size - data.size :] = data


def growing_array(path: Path, dtype: np.dtype, compression: str | None) -> PlainArray:
    """An empty array at ``path``."""
    return (PackedArray if compression == "lz4" else PlainArray)(path, dtype)
