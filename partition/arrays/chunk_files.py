"""Files of chunks: opened, read and checked, by threads that share the work."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np

from csaw.partition.arrays.checksums import all_within
from csaw.partition.arrays.regular import open_regular
from csaw.partition.base.interruptible import heeding
from csaw.partition.errors import StoreError

THREADS = max(
    4, min(16, os.cpu_count() or 1)
)  # that read and check chunks: from the page cache each is as fast as its core
AGAIN = "make the store again with csaw partition"

Item = TypeVar("Item")
Limit = float | np.float32
"""The largest value that an array may hold, if the least is 0."""


def open_chunk(file: Path, stored: int | None = None, most: int | None = None) -> int:
    """Open the file of a chunk and return its descriptor.

    StoreError when it cannot be opened, or does not have ``stored`` bytes, or has more than ``most``.
    """
    try:
        return open_regular(file, size=stored, most=most)
    except OSError as error:
        raise StoreError(f"{file} cannot be opened: {error.strerror}; {AGAIN}") from error


def fill(file: Path, handle: int, out: np.ndarray, begin: int) -> None:
    """Fill ``out`` (uint8) from byte ``begin`` of a file on.

    StoreError, with its name, when it cannot be read or ends before.
    """
    done = 0
    while done < out.size:
        try:
            got = os.preadv(handle, [out[done:].data], begin + done)
        except OSError as error:
            raise StoreError(f"{file} cannot be read: {error.strerror}; {AGAIN}") from error
        if got <= 0:
            raise StoreError(f"{file}: expected {out.size:,} bytes, could read {done:,}; {AGAIN}")
        done += got


def check_within(file: Path, values: np.ndarray, limit: Limit) -> None:
    """StoreError unless all ``values``, which came from ``file``, lie in 0 .. ``limit``."""
    if not all_within(values, values.dtype.type(limit)):
        raise StoreError(f"{file}: expected values from 0 to {limit}, found {values.min()} to {values.max()}; {AGAIN}")


def damaged(file: Path, begin: int) -> StoreError:
    """The error for a block that has changed since it was written."""
    return StoreError(f"{file}: bytes from {begin:,} on have changed since they were written; {AGAIN}")


def spread(work: Callable[[Item], None], items: Iterable[Item]) -> None:
    """Run ``work`` on each item in threads. When this returns or raises, none of them works any more."""
    heard = heeding(work)
    futures = [_readers(os.getpid()).submit(heard, item) for item in items]
    try:
        wait(futures, return_when=FIRST_EXCEPTION)
    finally:
        for future in futures:
            future.cancel()
        wait(futures)
    for future in futures:
        if not future.cancelled():
            future.result()


@cache
def _readers(process: int) -> ThreadPoolExecutor:
    """The threads that read, of this ``process``: those of a process that was forked are not in the new one."""
    return ThreadPoolExecutor(THREADS)
