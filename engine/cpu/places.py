"""The partition of each vertex, in little memory: a table of blocks of vertices, a search where a block has several
partitions, and a bit for single rows.

A number for each vertex takes two bytes a vertex and is no faster, because it fits no cache
(docs/contributing/tuning.md).
"""

import mmap
import platform
import sys
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from csaw.engine.cpu.kernels.access import BLOCK_BITS, partition_of
from csaw.partition import Partition
from csaw.partition.base.compile import njit

# Arrays that reserve address space and take memory only where they are written.

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


# The partition of each vertex.

BIT = np.uint8(1)


class Places:
    """``near`` uint32 [blocks + 1]: the partition of each block's first vertex; the last one stands for the end of the
    graph.

    ``begins`` int64 [partitions + 1]: the first vertex of each partition, and the end of the graph. ``alone`` uint8
    [vertices / 8 + 1]: bits of single rows.
    """

    def __init__(self, partitions: Sequence[Partition], vertices: int) -> None:
        self.begins = np.array([part.first_vertex for part in partitions] + [vertices], np.int64)
        firsts = np.arange(0, vertices + (1 << BLOCK_BITS), 1 << BLOCK_BITS, dtype=np.int64)
        firsts = np.minimum(firsts, max(vertices - 1, 0))
        self.near = (np.searchsorted(self.begins[:-1], firsts, side="right") - 1).astype(np.uint32)
        self.alone = np.zeros((vertices >> 3) + 1, np.uint8)

    def of(self, vertices: np.ndarray) -> np.ndarray:
        """int64: the partition of each vertex."""
        found = np.empty(vertices.size, np.int64)
        _find(self.near, self.begins, np.ascontiguousarray(vertices, np.int64).ravel(), found)
        return found.reshape(vertices.shape)

    def readable(self, vertices: np.ndarray, loaded: np.ndarray) -> np.ndarray:
        """bool: whether the row of each vertex is in memory, with its partition or alone.

        ``loaded``: as in engine/cpu/kernels/access.py.
        """
        here = np.empty(vertices.size, np.uint8)
        flat = np.ascontiguousarray(vertices, np.int64).ravel()
        _look(self.near, self.begins, self.alone, loaded, flat, here)
        return here.view(bool).reshape(vertices.shape)

    def note(self, vertices: np.ndarray) -> None:
        """Note vertices whose rows are in memory by themselves."""
        np.bitwise_or.at(self.alone, vertices >> 3, BIT << (vertices & 7).astype(np.uint8))

    def forget(self, vertices: np.ndarray) -> None:
        """Forget single rows; ``vertices`` are all that are noted."""
        self.alone[vertices >> 3] = 0


@njit(nogil=True)
def _find(near, begins, vertices, out):
    for i in range(vertices.size):
        out[i] = partition_of(near, begins, vertices[i])


@njit(nogil=True)
def _look(near, begins, alone, loaded, vertices, out):
    for i in range(vertices.size):
        v = vertices[i]
        out[i] = loaded[partition_of(near, begins, v)]
        if loaded[loaded.size - 1] and alone[v >> 3] >> (v & 7) & 1:
            out[i] = 1
