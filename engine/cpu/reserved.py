"""Address space for whole arrays, memory for what is used of them."""

import mmap
from contextlib import suppress

import numpy as np

PAGE = mmap.PAGESIZE


class Reserved:
    """An array that takes memory only where it has been written, and gives it back by the range."""

    def __init__(self, count: int, dtype: np.dtype) -> None:
        self.item = np.dtype(dtype).itemsize
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
        self.memory = mmap.mmap(-1, max(count * self.item, 1), flags=flags)
        self.huge_pages(True)
        self.array: np.ndarray = np.frombuffer(self.memory, dtype, count)

    def huge_pages(self, wanted: bool) -> None:
        """Whether what is written from now on may take pages of 2 MiB, which are faster where much of them is used."""
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with suppress(OSError):  # a kernel without them
                self.memory.madvise(mmap.MADV_HUGEPAGE if wanted else mmap.MADV_NOHUGEPAGE)

    def release(self, first: int, last: int) -> None:
        """Give back the whole pages between two elements; what they held reads as zero from then on."""
        begin, end = -(-first * self.item // PAGE) * PAGE, last * self.item // PAGE * PAGE
        if end > begin and self.array.size:
            self.memory.madvise(mmap.MADV_DONTNEED, begin, end - begin)
