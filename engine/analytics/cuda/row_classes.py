"""Rows of a block by their lengths, so that as many threads serve a row as it has work for."""

from itertools import pairwise
from typing import Self

import cupy
import numpy as np

from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.cuda.constants import HUB_BLOCK
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.memory import on_device
from csaw.engine.plan.contracts import Array

# Threads of a warp that serve a row, and the entries from which on more do; from the last on, a block serves one.
ENDS = {2: 8, 8: 64, 32: 2048}
FEW_ROWS = 1 << 15  # that the host orders sooner than it hears from a GPU
LONG = 2048  # entries of a long row, as in warp_rows.cuh,
LONG_BLOCK = 256  # threads of a block that serves one, as there,
SHARES = 8  # blocks of threads that share one,
SIDE_BY_SIDE = 4  # and long rows of a multiprocessor at a time


class RowClasses:
    """Numbers of rows, as ids of vertices, in the order of the block, by the number of threads that serve one.

    ``indptr``: where rows begin, on the GPU, or on the host where there are few: a GPU says four times how many rows it
    has found, for which the host waits longer than it takes to order thousands.
    """

    def __init__(self, indptr: Array, id_dtype: np.dtype) -> None:
        begins = [0, *ENDS.values()]
        if isinstance(indptr, np.ndarray):
            kinds = np.searchsorted(begins[1:], np.diff(indptr), side="right").astype(np.uint8)
            ends = np.bincount(kinds, minlength=len(begins)).cumsum().tolist()
            rows = on_device(np.argsort(kinds, kind="stable").astype(id_dtype))
            found = [rows[low:high] for low, high in pairwise([0, *ends])]
        else:
            lengths = cupy.diff(indptr)
            found = [
                cupy.flatnonzero((low <= lengths) & (lengths < high)).astype(id_dtype)
                for low, high in pairwise([*begins, np.iinfo(np.int64).max])
            ]
        self.rows, self.hubs = dict(zip(ENDS, found, strict=False)), found[-1]

    @classmethod
    def of_block(cls, block: Block, offsets: np.ndarray, id_dtype: np.dtype) -> Self:
        """The rows of a block; ``offsets`` [V + 1], on the host: where each of all rows begins."""
        few = block.last - block.first <= FEW_ROWS
        return cls(offsets[block.first : block.last + 1] if few else block.indptr, id_dtype)

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
