"""Reads many short spans of an array side by side, and checks them.

The threads that read do not hold the interpreter's lock.

A span from a disk takes 20 us with 16 threads, and 90 us when Python makes each read (docs/contributing/tuning.md).
"""

import os
import resource
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from csaw.partition.arrays.checksum_kernels import all_within, first_damaged
from csaw.partition.arrays.checksums import BLOCK
from csaw.partition.arrays.loader import AGAIN, Limit, StoredArray, check_within, open_chunk
from csaw.partition.arrays.read_kernels import read_bytes
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import copy, empty
from csaw.partition.errors import StoreError

READERS = 32  # threads that keep a disk busy
AT_A_TIME = 16  # spans of a task at most
FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[0]  # that a process may have open; negative: any number
# That stay open: of readers for eight GPUs together half of those at most.
HANDLES = max(1, min(256, FILES // 16)) if FILES >= 0 else 256

ROOM = 1 << 18  # bytes of a row that are read at a time, in whole blocks
GOOD, UNREADABLE, DAMAGED, OUTSIDE = 0, 1, 2, 3


@njit(nogil=True)
def _read(low, high, handle, begin, count, stored, sums, slot, limited, limit, out, place):
    """Read the spans low .. high - 1 into ``out``; return the first span that fails, and the reason.

    Span i has ``count[i]`` elements from number ``begin[i]`` of a file of ``stored[i]`` bytes, and goes to
    ``out[place[i]]`` and on. Whole blocks are read and compared with the checksums ``sums[slot[i]]``, unless there are
    none. Where they are ``limited``, values must lie in 0 .. ``limit``.
    """
    room, item, raw = empty(ROOM, np.uint8), out.itemsize, out.view(np.uint8)
    for i in range(low, high):
        at, end, to = begin[i] * item, (begin[i] + count[i]) * item, place[i] * item
        while at < end:
            first = at // BLOCK
            want = min(ROOM, stored[i] - first * BLOCK, -(-end // BLOCK) * BLOCK - first * BLOCK)
            if not read_bytes(handle[i], room[:want], first * BLOCK):
                return i, UNREADABLE
            if sums.size > 0:
                blocks = -(-want // BLOCK)
                if first_damaged(room[:want], BLOCK, sums[slot[i], first : first + blocks]) >= 0:
                    return i, DAMAGED
            skip = at - first * BLOCK
            taken = min(want - skip, end - at)
            copy(room[skip : skip + taken], raw[to:])
            at, to = at + taken, to + taken
        if limited and not all_within(out[place[i] : place[i] + count[i]], limit):
            return i, OUTSIDE
    return high, GOOD


class File(NamedTuple):
    """A chunk of an array: where it is, how many bytes it holds, and the checksums of its blocks, if there are any."""

    path: Path
    stored: int
    sums: np.ndarray | None


class Partitions(Protocol):
    """A plain store, whose partitions have arrays."""

    def opened(self, number: int, name: str) -> StoredArray: ...

    def limit_of(self, name: str) -> Limit | None: ...


class SpanReader:
    """Reads parts of arrays of a plain store's partitions, for one thread. Files stay open until ``close``."""

    def __init__(self, store: Partitions) -> None:
        self.store, self.threads = store, ThreadPoolExecutor(READERS)
        self.handles: dict[
            Path, tuple[int, int]
        ] = {}  # of open files, the one used longest ago first, and the row of ``sums`` of each
        self.sums = np.zeros((0, 0), np.uint32)  # checksums of the blocks of open files
        self.free: list[int] = []  # rows of sums of files that were closed

    def read(
        self, name: str, number: np.ndarray, first: np.ndarray, count: np.ndarray, out: np.ndarray, to: np.ndarray
    ) -> None:
        """Read spans of the array ``name`` of partitions: ``count[i]`` elements of partition ``number[i]``
        from ``first[i]`` on, to ``out[to[i]]`` and on.

        All but ``name`` and ``out`` are int64 [n]. StoreError names the file that cannot be read.
        """
        met, which = np.unique(number, return_inverse=True)
        arrays = {part: self.store.opened(part, name) for part in met.tolist()}
        chunk = np.array([array.chunk for array in arrays.values()], np.int64)[which]
        span, part, low, high = _cut(first, count, chunk)
        files, file = np.unique(number[span] << 32 | part, return_inverse=True)
        order = np.argsort(file, kind="stable")
        span, file, part, low, high = span[order], file[order], part[order], low[order], high[order]
        cuts = np.searchsorted(file, np.arange(0, files.size + HANDLES, HANDLES))
        for turn, (begin, end) in enumerate(pairwise(cuts.tolist())):
            some, base = slice(begin, end), turn * HANDLES
            numbers = [divmod(k, 1 << 32) for k in files[base : base + HANDLES].tolist()]
            opened = [_file_of(arrays[part], k, out.itemsize) for part, k in numbers]
            within, place = low[some] - part[some] * chunk[span[some]], (to - first)[span[some]] + low[some]
            self._fill(name, opened, file[some] - base, within, (high - low)[some], out, place)

    def _fill(
        self,
        name: str,
        files: list[File],
        file: np.ndarray,
        within: np.ndarray,
        count: np.ndarray,
        out: np.ndarray,
        place: np.ndarray,
    ) -> None:
        """Read spans of a few ``files``: span i is in ``files[file[i]]``, from element ``within[i]`` on."""
        limit = self.store.limit_of(name)
        opened = np.array(self._open(files), np.int64)[file]
        stored = np.array([one.stored for one in files], np.int64)[file]
        given = (
            opened[:, 0].astype(np.int32),
            within,
            count,
            stored,
            self.sums,
            opened[:, 1],
            limit is not None,
            out.dtype.type(limit or 0),
            out,
            place,
        )
        each = max(1, min(AT_A_TIME, file.size // READERS))

        def task(low: int) -> None:
            high, tried = min(low + each, file.size), -1
            while low < high:
                low, what = _read(low, high, *given)
                if what != GOOD:
                    _explain(files[file[low]], what, out[place[low] : place[low] + count[low]], limit, low == tried)
                    tried = low

        list(self.threads.map(task, range(0, file.size, each)))

    def _open(self, files: list[File]) -> list[tuple[int, int]]:
        """Descriptors of ``files`` and the rows of their checksums.

        Files that are not open are opened; where too many are open, others are closed.
        """
        new = [file for file in files if file.path not in self.handles]
        for file in files:
            if file.path in self.handles:
                self.handles[file.path] = self.handles.pop(file.path)
        for _ in range(len(self.handles) + len(new) - HANDLES):
            descriptor, slot = self.handles.pop(next(iter(self.handles)))
            os.close(descriptor)
            self.free.append(slot)
        coming = [self.threads.submit(open_chunk, file.path, file.stored) for file in new]
        for file, handle in zip(new, coming, strict=True):
            if handle.exception() is None:
                self.handles[file.path] = handle.result(), self._keep(file)
        for handle in coming:
            handle.result()  # or the first error
        return [self.handles[file.path] for file in files]

    def _keep(self, file: File) -> int:
        """Store the checksums of the file in a row of ``sums`` and return its number."""
        slot = self.free.pop() if self.free else len(self.handles)
        if file.sums is not None:
            rows, columns = self.sums.shape
            if slot >= rows or file.sums.size > columns:
                larger = np.zeros((max(rows, 2 * slot, 1), max(columns, file.sums.size)), np.uint32)
                larger[:rows, :columns] = self.sums
                self.sums = larger
            self.sums[slot, : file.sums.size] = file.sums
        return slot

    def close(self) -> None:
        self.threads.shutdown(cancel_futures=True)
        for handle, _ in self.handles.values():
            os.close(handle)
        self.handles.clear()


def _file_of(array: StoredArray, number: int, item: int) -> File:
    return File(array.file(number), array.chunk * item, array.sums_of(number, item))


def _explain(file: File, what: int, values: np.ndarray, limit: Limit | None, again: bool) -> None:
    """Raise StoreError with what is wrong with a file. A file that can now be read is tried once more."""
    if what == DAMAGED:
        raise StoreError(f"{file.path}: its bytes have changed since they were written; {AGAIN}")
    if what == OUTSIDE and limit is not None:
        check_within(file.path, values, limit)
    os.close(open_chunk(file.path, file.stored))
    if again:
        raise StoreError(f"{file.path}: expected {file.stored:,} bytes, which cannot be read; {AGAIN}")


def _cut(first: np.ndarray, count: np.ndarray, chunk: np.ndarray) -> tuple[np.ndarray, ...]:
    """Cut spans where chunks end.

    Returns for each part its span, its chunk, its first element and the one after its last.
    """
    begin = first // chunk
    parts = np.where(count > 0, (first + count - 1) // chunk - begin + 1, 0)
    span = np.repeat(np.arange(first.size), parts)
    part = begin[span] + np.arange(span.size) - np.repeat(parts.cumsum() - parts, parts)
    low = np.maximum(first[span], part * chunk[span])
    return span, part, low, np.minimum((first + count)[span], (part + 1) * chunk[span])
