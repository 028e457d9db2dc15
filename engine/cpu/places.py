"""The partition of each vertex, in little memory: a table of blocks of vertices, a search where a block has several
partitions, and a bit for single rows.

A number for each vertex takes two bytes a vertex and is no faster, because it fits no cache
(docs/contributing/tuning.md).
"""

from collections.abc import Sequence

import numpy as np

from csaw.engine.cpu.kernels.access import BLOCK_BITS, partition_of
from csaw.partition import Partition
from csaw.partition.base.compile import njit

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

        ``loaded``: as in kernels/access.py.
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
