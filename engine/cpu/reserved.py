"""Arrays that reserve address space and take memory only where they are written."""

import mmap
from contextlib import suppress

import numpy as np

PAGE = mmap.PAGESIZE


class Reserved:
    """An array of ``count`` elements that takes memory only where it has been written, and can give back any range of it."""

    def __init__(self, count: int, dtype: np.dtype) -> None:
        self.item = np.dtype(dtype).itemsize
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
        self.memory = mmap.mmap(-1, max(count * self.item, 1), flags=flags)
        self.huge_pages(True)
        self.array: np.ndarray = np.frombuffer(self.memory, dtype, count)

    def huge_pages(self, wanted: bool) -> None:
        """Choose whether memory written from now on may take pages of 2 MiB, which are faster if most of a page is used."""
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with suppress(OSError):  # a system without huge pages
                self.memory.madvise(mmap.MADV_HUGEPAGE if wanted else mmap.MADV_NOHUGEPAGE)

    def release(self, first: int, last: int) -> None:
        """Give back the whole pages between elements ``first`` and ``last``; their elements read as zero from then on."""
        begin, end = -(-first * self.item // PAGE) * PAGE, last * self.item // PAGE * PAGE
        if end > begin and self.array.size:
            self.memory.madvise(mmap.MADV_DONTNEED, begin, end - begin)
