"""Many short parts of an array, read side by side by threads that do not hold the interpreter's lock.

From a disk a part takes 20 us with 16 threads, and 90 where Python makes each read (docs/tuning.md).
"""

import os
from concurrent.futures import Executor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numba import types
from numba.core.typing import signature

from csaw.partition.compile import njit
from csaw.partition.loader import open_chunk, read_chunk

READERS = 16  # threads that keep a disk busy
AT_A_TIME = 16  # spans of a task: few of them are long
HANDLES = 256  # files that stay open

_pread = types.ExternalFunction("pread", signature(types.int64, types.int32, types.int64, types.int64, types.int64))


@njit(nogil=True)
def _read(low, high, handle, offset, size, address):
    """Bytes of files to addresses, spans low .. high - 1; the number of the first that could not be read, or ``high``."""
    for i in range(low, high):
        done = 0
        while done < size[i]:
            got = _pread(handle[i], address[i] + done, size[i] - done, offset[i] + done)
            if got <= 0:
                return i
            done += got
    return high


class SpanReader:
    """Reads parts of the array ``name`` ("indices", "weights") of a plain store's partitions. Files stay open until ``close``."""

    def __init__(self, store: Any, name: str, threads: Executor) -> None:
        self.store, self.name, self.threads = store, name, threads
        self.handles: dict[int, int] = {}  # of open files by their number, the one used longest ago first

    def read(self, number: np.ndarray, first: np.ndarray, count: np.ndarray, out: np.ndarray, to: np.ndarray) -> None:
        """``count`` elements of partitions ``number`` from ``first`` on into ``out`` from ``to`` on: int64 [n] each.

        StoreError names the file that cannot be read.
        """
        met, which = np.unique(number, return_inverse=True)
        chunk = np.array([self.store.chunk_of(part, self.name) for part in met.tolist()], np.int64)[which]
        span, part, low, high = _cut(first, count, chunk)
        files, file = np.unique(number[span] << 32 | part, return_inverse=True)
        order = np.argsort(file, kind="stable")
        span, file, part, low, high = span[order], file[order], part[order], low[order], high[order]
        cuts = np.searchsorted(file, np.arange(0, files.size + HANDLES, HANDLES))
        for begin, end in pairwise(cuts.tolist()):
            some = slice(begin, end)
            within, place = low[some] - part[some] * chunk[span[some]], (to - first)[span[some]] + low[some]
            self._fill(files, file[some], within, (high - low)[some], out, place)

    def _fill(
        self,
        files: np.ndarray,
        file: np.ndarray,
        within: np.ndarray,
        count: np.ndarray,
        out: np.ndarray,
        place: np.ndarray,
    ) -> None:
        """Spans of few files."""
        known = np.zeros(files.size, np.int32)
        for k in np.unique(file).tolist():
            known[k] = self._handle(int(files[k]), out.itemsize)
        item, base = out.itemsize, out.ctypes.data
        given = known[file], within * item, count * item, base + place * item

        def task(low: int) -> None:
            high = min(low + AT_A_TIME, file.size)
            while (low := _read(low, high, *given)) < high:
                path, chunk = self._file(int(files[file[low]]))  # says what is wrong
                read_chunk(path, out[place[low] : place[low] + count[low]], chunk, int(within[low]))
                low += 1

        list(self.threads.map(task, range(0, file.size, AT_A_TIME)))

    def _file(self, number: int) -> tuple[Path, int]:
        """Where a file is, and its elements."""
        part, chunk = number >> 32, number & (2**32 - 1)
        return self.store.chunk_path(part, self.name, chunk), self.store.chunk_of(part, self.name)

    def _handle(self, number: int, item: int) -> int:
        handle = self.handles.pop(number, None)
        if handle is None:
            path, chunk = self._file(number)
            handle = open_chunk(path, chunk * item)
        self.handles[number] = handle
        if len(self.handles) > HANDLES:
            os.close(self.handles.pop(next(iter(self.handles))))
        return handle

    def close(self) -> None:
        for handle in self.handles.values():
            os.close(handle)
        self.handles.clear()


def _cut(first: np.ndarray, count: np.ndarray, chunk: np.ndarray) -> tuple[np.ndarray, ...]:
    """Spans cut where chunks end: of each part its span, its chunk, and its first and last element, exclusive."""
    begin = first // chunk
    parts = np.where(count > 0, (first + count - 1) // chunk - begin + 1, 0)
    span = np.repeat(np.arange(first.size), parts)
    part = begin[span] + np.arange(span.size) - np.repeat(parts.cumsum() - parts, parts)
    low = np.maximum(first[span], part * chunk[span])
    return span, part, low, np.minimum((first + count)[span], (part + 1) * chunk[span])
