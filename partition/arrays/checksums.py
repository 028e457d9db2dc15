"""Checksums of a graph store's files: 32 bits for each block of 4 KiB, so that whole arrays and single rows are checked
in the same way.

A checksum is the lower half of XXH64 of the block. A disk reads at least one block at a time, so checking adds no bytes
to the read of a single row. Few bytes are hashed with NumPy (``block_hash``), more by compiled code
(``checksum_kernels``).
"""

import os
import threading
from functools import cache

import numpy as np

from csaw.partition.arrays.block_hash import STRIPE, xxh64
from csaw.partition.base.first_work import Compiled, is_little

BLOCK = 4096  # bytes
DTYPE = np.dtype("<u4")
EMPTY, ZEROS = 0x51D8E999, 0x32D8BBDB  # the checksums of no bytes, and of a block of zeros
STEP = 1 << 12  # bytes of which the check takes as long as what NumPy does for one stripe, however few blocks there are


def sums_of(data: bytes | np.ndarray) -> np.ndarray:
    """Checksums of all blocks of some bytes."""
    return _sums(np.frombuffer(data, np.uint8), BLOCK)


def file_sum(data: np.ndarray) -> int:
    """Checksum of some bytes as one block."""
    return int(_sums(data, data.size)[0]) if data.size else EMPTY


def first_damaged(data: np.ndarray, sums: np.ndarray) -> int:
    """Number of the first block of ``data`` whose checksum is not the one in ``sums``; -1 when all are right."""
    whole = data[: sums.size * BLOCK]
    if _is_little(whole, BLOCK, "first_damaged"):
        return first_damaged_of_few(whole, sums)
    from csaw.partition.arrays import checksum_kernels

    return int(checksum_kernels.first_damaged(whole, BLOCK, sums))


def first_damaged_of_few(data: np.ndarray, sums: np.ndarray) -> int:
    """The same, by NumPy in any case."""
    wrong = np.flatnonzero(_hashed(data, BLOCK) != sums)
    return int(wrong[0]) if wrong.size else -1


def first_damaged_of_end(data: np.ndarray, sums: np.ndarray) -> int:
    """The same for the end of a file, whose blocks but the first only fill it: zeros need no hashing."""
    if data[BLOCK:].any() or (sums[1:] != ZEROS).any():
        return first_damaged_of_few(data, sums)
    return first_damaged_of_few(data[:BLOCK], sums[:1])


def all_within(values: np.ndarray, limit: float | np.number) -> bool:
    """Whether all ``values`` lie in 0 .. ``limit``; NaN does not."""
    if not values.size:
        return True
    return bool(values.max() <= limit and (values.dtype.kind == "u" or values.min() >= 0))


def _sums(data: np.ndarray, block: int) -> np.ndarray:
    if _is_little(data, block, "block_sums"):
        return _hashed(data, block)
    from csaw.partition.arrays import checksum_kernels

    out = np.empty(-(-data.size // block), DTYPE)
    checksum_kernels.block_sums(data, block, out)
    return out


def _is_little(data: np.ndarray, block: int, kernel: str) -> bool:
    """Whether NumPy sums ``data`` up, and not a ``kernel`` of checksum_kernels.py."""

    def code() -> Compiled:
        from csaw.partition.arrays import checksum_kernels

        return getattr(checksum_kernels, kernel)

    return is_little(max(data.size, min(data.size, block) // STRIPE * STEP), code)


def _hashed(data: np.ndarray, block: int) -> np.ndarray:
    """Checksums of blocks of ``data``, the last perhaps shorter, with NumPy."""
    cut = data.size - data.size % block
    rows = data[:cut].reshape(-1, block), data[cut:].reshape(1, -1)
    with _alone(os.getpid()):
        sums = [xxh64(some) & np.uint64(0xFFFFFFFF) for some in rows if some.size]
    return np.concatenate([np.empty(0, DTYPE), *sums], dtype=DTYPE, casting="unsafe")


@cache
def _alone(process: int) -> threading.Lock:
    """The lock of threads that hash with NumPy in this ``process``: side by side, they would take Python's own lock
    from each other many times a millisecond. One that was held when the process was forked is of the other process.
    """
    return threading.Lock()
