"""One-dimensional Zarr arrays that grow at their end: a chunk is written as soon as it is full, so nobody holds a whole array."""

from pathlib import Path
from typing import Any

import numpy as np

CHUNK_BYTES = 16 << 20


class GrowingArray:
    """``extend`` it, then ``close`` it. An array smaller than a chunk has a chunk of its own size."""

    def __init__(self, path: Path, dtype: np.dtype, compression: str | None) -> None:
        self.path, self.dtype, self.compression = path, np.dtype(dtype), compression
        self.chunk = CHUNK_BYTES // self.dtype.itemsize
        self.held: list[np.ndarray] = []
        self.held_size = self.size = 0
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
        data = np.concatenate([np.empty(0, self.dtype), *self.held])
        self.held, self.held_size = [], 0
        if self.array is None:
            self.array = self._create(data.size)
        else:
            self.array.resize((self.size,))
        if data.size:
            self.array[self.size - data.size :] = data

    def _create(self, size: int) -> Any:
        import zarr
        from zarr.codecs import BloscCodec

        packer = BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle", typesize=self.dtype.itemsize)
        return zarr.create_array(
            str(self.path), shape=(size,), dtype=self.dtype, chunks=(max(1, size),),
            compressors=packer if self.compression == "lz4" else None, filters=None, config={"write_empty_chunks": True},
        )  # fmt: skip
