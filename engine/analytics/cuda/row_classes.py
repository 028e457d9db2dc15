"""Rows of a block by their lengths, so that as many threads serve a row as it has work for."""

import cupy
import numpy as np

from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.cuda.constants import HUB_BLOCK
from csaw.engine.cuda.launch import Kernels
from csaw.engine.plan.contracts import Array

# Threads of a warp that serve a row, and the entries from which on more do; from the last on, a block serves one.
ENDS = {2: 8, 8: 64, 32: 2048}
LONG = 2048  # entries of a long row, as in warp_rows.cuh,
LONG_BLOCK = 256  # threads of a block that serves one, as there,
SHARES = 8  # blocks of threads that share one,
SIDE_BY_SIDE = 4  # and long rows of a multiprocessor at a time


class RowClasses:
    """Numbers of rows, as ids of vertices, in the order of the block, by the number of threads that serve one."""

    def __init__(self, indptr: Array, id_dtype: np.dtype) -> None:
        lengths = cupy.diff(indptr)
        self.rows, begin = {}, 0
        for lanes, end in ENDS.items():
            self.rows[lanes] = cupy.flatnonzero((begin <= lengths) & (lengths < end)).astype(id_dtype)
            begin = end
        self.hubs = cupy.flatnonzero(lengths >= begin).astype(id_dtype)

    def launch(self, kernels: Kernels, name: str, *arguments: object) -> None:
        """Launch ``name_2``, ``name_8``, ``name_32`` and ``name_hub`` with (number of rows, rows, ``*arguments``)."""
        for lanes, rows in self.rows.items():
            kernels.over(f"{name}_{lanes}", lanes * rows.size, rows.size, rows, *arguments)
        kernels.launch(f"{name}_hub", self.hubs.size, HUB_BLOCK, self.hubs.size, self.hubs, *arguments)


class LongRows:
    """The vertices of long rows among all of a network, ascending, on the host and on the GPU.

    A warp of its own would keep all others waiting.
    """

    def __init__(self, degrees: Array, id_dtype: np.dtype) -> None:
        self.rows = cupy.flatnonzero(degrees >= LONG).astype(id_dtype)
        self.on_host = self.rows.get()

    def launch(self, kernels: Kernels, name: str, block: Block, *arguments: object) -> None:
        """Launch a kernel over the long rows of a block.

        Its arguments are the number of rows, their vertices, the block's first vertex, and ``*arguments``.
        """
        ends = np.array((block.first, block.last), self.on_host.dtype)  # of another type, all rows would be copied
        low, high = np.searchsorted(self.on_host, ends).tolist()
        blocks = min(high - low, SIDE_BY_SIDE * kernels.device.processors)
        kernels.launch(name, (blocks, SHARES), LONG_BLOCK, high - low, self.rows[low:high], block.first, *arguments)
