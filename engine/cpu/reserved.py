"""Arrays that reserve address space and take memory only where they are written."""

import ctypes
import mmap
import sys
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

PAGE, HUGE = mmap.PAGESIZE, 2 << 20
TO_PLACE_BUT_KEEP_RANGE = 1 | 2 | 4  # of mremap: MREMAP_MAYMOVE, MREMAP_FIXED, MREMAP_DONTUNMAP
FAILED = ctypes.c_void_p(-1).value


class Reserved:
    """An array of ``count`` elements that takes memory only where it has been written, and can give back any range of it."""

    def __init__(self, count: int, dtype: np.dtype) -> None:
        self.item = np.dtype(dtype).itemsize
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
        self.memory = mmap.mmap(-1, max(count * self.item, 1), flags=flags)
        self.array: np.ndarray = np.frombuffer(self.memory, dtype, count)
        self.spare: list[tuple[int, int]] = []  # begin and end, in bytes, of pages that keep their memory for `take`
        self.huge_pages(True)

    def huge_pages(self, wanted: bool, first: int = 0, last: int | None = None) -> None:
        """Choose whether memory written from now on may take pages of 2 MiB, which are faster if most of a page is used.

        Given elements ``first`` and ``last``, only those pages that lie between the two.
        """
        begin, length = 0, len(self.memory)
        if last is not None:
            address = self.array.ctypes.data
            begin = first * self.item + -(address + first * self.item) % HUGE
            length = (address + last * self.item) // HUGE * HUGE - address - begin
        if hasattr(mmap, "MADV_HUGEPAGE") and length > 0:
            with suppress(OSError):  # a system without huge pages
                self.memory.madvise(mmap.MADV_HUGEPAGE if wanted else mmap.MADV_NOHUGEPAGE, begin, length)

    def release(self, first: int, last: int) -> None:
        """Give back the whole pages between elements ``first`` and ``last``; their elements read as zero from then on."""
        begin, end = self._pages(first, last)
        if end > begin:
            self.memory.madvise(mmap.MADV_DONTNEED, begin, end - begin)

    def spare_for_later(self, first: int, last: int) -> None:
        """Let ``take`` move the whole pages between elements ``first`` and ``last`` to where memory is written next; they hold nothing of use."""
        begin, end = self._pages(first, last)
        if end > begin:
            self.spare.append((begin, end))

    def take(self, first: int, last: int) -> None:
        """Before elements ``first`` to ``last`` are written, move spare pages there: the system takes three times as long to make new ones."""
        missing = [self._pages(first, last)]
        written = first * self.item // PAGE * PAGE, -(-last * self.item // PAGE) * PAGE
        there = [one for one in self.spare if overlap(one, missing[0])]
        self.spare = [rest for one in self.spare for rest in without(one, written)]
        for one in there:
            missing = [rest for span in missing for rest in without(span, one)]
        for begin, end in missing:
            self._fill(begin, end)

    def _fill(self, begin: int, end: int) -> None:
        """Move spare pages to bytes ``begin`` to ``end``, as many as there are."""
        while self.spare and begin < end:
            low, high = self.spare.pop()
            size = min(high - low, end - begin)
            if not self._move(low, begin, size):
                self.spare.append((low, high))
                self.release_spare()
                return
            if low + size < high:
                self.spare.append((low + size, high))
            begin += size

    def release_spare(self) -> None:
        """Give back all spare pages."""
        for begin, end in self.spare:
            self.memory.madvise(mmap.MADV_DONTNEED, begin, end - begin)
        self.spare.clear()

    def _pages(self, first: int, last: int) -> tuple[int, int]:
        """Begin and end, in bytes, of the whole pages between two elements; an empty range where there are none."""
        if not self.array.size:
            return 0, 0
        begin = -(-first * self.item // PAGE) * PAGE
        return begin, max(begin, last * self.item // PAGE * PAGE)

    def _move(self, source: int, target: int, size: int) -> bool:
        """Move pages to another place in the array, which reads as zero where they were. False on a system that cannot."""
        move, base = _mremap(), self.array.ctypes.data
        return move is not None and bool(
            move(base + source, size, size, TO_PLACE_BUT_KEEP_RANGE, base + target) != FAILED
        )


def overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two ranges have a place in common."""
    return one[0] < other[1] and other[0] < one[1]


def without(one: tuple[int, int], other: tuple[int, int]) -> list[tuple[int, int]]:
    """The parts of a range that are not in another one."""
    parts = [(one[0], min(one[1], other[0])), (max(one[0], other[1]), one[1])]
    return [part for part in parts if part[0] < part[1]]


@cache
def _mremap() -> Any:
    """The system call mremap of Linux; None elsewhere."""
    if not sys.platform.startswith("linux"):
        return None
    function = ctypes.CDLL(None, use_errno=True).mremap
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
    return function
