"""Many short parts of an array, read side by side by threads that do not hold the interpreter's lock.

From a disk a part takes 20 us with 16 threads, and 90 where Python makes each read (docs/tuning.md).
"""

import os
import resource
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.core.typing import signature

from csaw.partition.compile import njit
from csaw.partition.loader import open_chunk, read_chunk

READERS = 32  # threads that keep a disk busy
AT_A_TIME = 16  # spans of a task at most
FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[0]  # that a process may have open; negative: any number
# That stay open: of readers for eight GPUs together half of those at most.
HANDLES = max(1, min(256, FILES // 16)) if FILES >= 0 else 256

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


class File(NamedTuple):
    """A chunk of an array: where it is, and how many elements it holds."""

    path: Path
    elements: int


class SpanReader:
    """Reads parts of arrays of a plain store's partitions, for one thread. Files stay open until ``close``."""

    def __init__(self, store: Any) -> None:
        self.store, self.threads = store, ThreadPoolExecutor(READERS)
        self.handles: dict[Path, int] = {}  # of open files, the one used longest ago first

    def read(
        self, name: str, number: np.ndarray, first: np.ndarray, count: np.ndarray, out: np.ndarray, to: np.ndarray
    ) -> None:
        """``count`` elements of the array ``name`` ("indices", "weights") of partitions ``number`` from ``first`` on into ``out`` from ``to`` on.

        Int64 [n] each. StoreError names the file that cannot be read.
        """
        met, which = np.unique(number, return_inverse=True)
        chunk = np.array([self.store.chunk_of(part, name) for part in met.tolist()], np.int64)[which]
        span, part, low, high = _cut(first, count, chunk)
        files, file = np.unique(number[span] << 32 | part, return_inverse=True)
        order = np.argsort(file, kind="stable")
        span, file, part, low, high = span[order], file[order], part[order], low[order], high[order]
        cuts = np.searchsorted(file, np.arange(0, files.size + HANDLES, HANDLES))
        for turn, (begin, end) in enumerate(pairwise(cuts.tolist())):
            some, base = slice(begin, end), turn * HANDLES
            numbers = [divmod(k, 1 << 32) for k in files[base : base + HANDLES].tolist()]
            opened = [
                File(self.store.chunk_path(part, name, k), self.store.chunk_of(part, name)) for part, k in numbers
            ]
            within, place = low[some] - part[some] * chunk[span[some]], (to - first)[span[some]] + low[some]
            self._fill(opened, file[some] - base, within, (high - low)[some], out, place)

    def _fill(self, files: list[File], file: np.ndarray, within: np.ndarray, count: np.ndarray, out: np.ndarray, place: np.ndarray) -> None:  # fmt: skip
        """Spans of few ``files``: which one each is in, and from which of its elements on."""
        item, base = out.itemsize, out.ctypes.data
        handle = np.array(self._open(files, item), np.int32)[file]
        given = handle, within * item, count * item, base + place * item
        each = max(1, min(AT_A_TIME, file.size // READERS))

        def task(low: int) -> None:
            high = min(low + each, file.size)
            while (low := _read(low, high, *given)) < high:
                path, elements = files[file[low]]
                part = out[place[low] : place[low] + count[low]]
                read_chunk(path, part, elements, int(within[low]))  # says what is wrong, if it still is
                low += 1

        list(self.threads.map(task, range(0, file.size, each)))

    def _open(self, files: list[File], item: int) -> list[int]:
        """Descriptors of files, those that were open already and new ones; others are closed where there are too many."""
        new = [file for file in files if file.path not in self.handles]
        for file in files:
            if file.path in self.handles:
                self.handles[file.path] = self.handles.pop(file.path)
        for _ in range(len(self.handles) + len(new) - HANDLES):
            os.close(self.handles.pop(next(iter(self.handles))))
        coming = [self.threads.submit(open_chunk, file.path, file.elements * item) for file in new]
        for file, handle in zip(new, coming, strict=True):
            if handle.exception() is None:
                self.handles[file.path] = handle.result()
        for handle in coming:
            handle.result()  # or the first error
        return [self.handles[file.path] for file in files]

    def close(self) -> None:
        self.threads.shutdown(cancel_futures=True)
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
