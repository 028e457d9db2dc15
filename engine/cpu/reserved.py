"""Arrays that reserve address space and take memory only where they are written."""

import mmap
import platform
import sys
from contextlib import suppress

import numpy as np

PAGE, HUGE = mmap.PAGESIZE, 2 << 20
# Without it Linux refuses address space for more than the memory of the machine. Not every Python has a name for it.
_VALUE = 0x40 if platform.machine().startswith("ppc") else 0x4000
NORESERVE = getattr(mmap, "MAP_NORESERVE", _VALUE if sys.platform == "linux" else 0)


class Reserved:
    """An array of ``count`` elements that takes memory only where it has been written.

    It can give back any range of it.
    """

    def __init__(self, count: int, dtype: np.dtype) -> None:
        self.item = np.dtype(dtype).itemsize
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE
        self.memory = mmap.mmap(-1, max(count * self.item, 1), flags=flags)
        self.array: np.ndarray = np.frombuffer(self.memory, dtype, count)
        self.huge_pages(True)

    def huge_pages(self, wanted: bool, first: int = 0, last: int | None = None) -> None:
        """Choose whether memory written from now on may take pages of 2 MiB.

        They are faster if most of a page is used.

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
        """Give back the whole pages between elements ``first`` and ``last``.

        Their elements read as zero from then on.
        """
        begin, end = -(-first * self.item // PAGE) * PAGE, last * self.item // PAGE * PAGE
        if end > begin and self.array.size:
            self.memory.madvise(mmap.MADV_DONTNEED, begin, end - begin)
