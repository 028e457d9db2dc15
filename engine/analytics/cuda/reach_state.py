"""The state of searches from a word of 64 sources on a GPU, as cpu/kernels/reach.py describes it."""

import cupy
import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.several_gpus import Counters
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.analytics.source_words import CHUNK, WORD
from csaw.engine.cuda.constants import BLOCK
from csaw.engine.plan.contracts import Array

PULL_SHARE = 8
"""A level pulls if its frontier has more than one of this many of the entries that are left.

Early pulls do not end before a row does: with one of 64, 64 sources of R-MAT
scale 24 took 61 ms on an H200 in place of 31."""
SETTLE_BLOCKS = 8  # of a multiprocessor: each ends with atomics on the same counters


class ReachState:
    """The words of all vertices, and the flags of chunks of them.

    ``counters`` uint64 [66]: what ``settle`` counts.
    """

    def __init__(self, network: DeviceNetwork) -> None:
        self.network, self.kernels = network, network.kernels("reach")
        vertices, self.chunks = network.vertices, -(-network.vertices // CHUNK)
        self.seen, self.front, self.following = (cupy.zeros(vertices, np.uint64) for _ in range(3))
        self.active, self.touched = (cupy.zeros(self.chunks, np.uint8) for _ in range(2))
        self.counters = Counters(WORD + 2)

    def begin(self, sources: np.ndarray) -> np.uint64:
        """Let each source reach itself; returns the word of all sources."""
        vertices, place = np.unique(sources, return_inverse=True)
        bits: Array = np.zeros(vertices.size, np.uint64)
        own = np.uint64(1) << np.arange(sources.size, dtype=np.uint64)
        np.bitwise_or.at(bits, place, own)
        for array in (self.front, self.seen, self.active):
            array.fill(0)
        at = cupy.asarray(vertices)
        self.front[at] = self.seen[at] = cupy.asarray(bits)
        self.active[at // CHUNK] = 1
        return np.bitwise_or.reduce(own)

    def push(self, block: Block) -> None:
        """Push along the rows of active vertices of a block."""
        given = (block.indptr, block.indices, self.front, self.following, self.active, self.touched)
        self.kernels.over("push", block.last - block.first, block.first, block.last, *given)
        self.network.long_rows.launch(self.kernels, "push_long", block, *given)

    def pull(self, block: Block, full: np.uint64) -> None:
        """Pull along the rows backward of a block to the vertices that not all of the sources ``full`` have reached."""
        rows = (block.first, block.last, block.indptr, block.indices)
        given = (self.front, self.following, self.touched, self.seen, full)
        self.kernels.over("pull", block.last - block.first, *rows, *given)

    def settle(self, kernel: str, chunks: int, *arguments: object) -> None:
        """End a level by one of the kernels that do, and ask for what it counts."""
        self.counters.clear()
        blocks = min(chunks, SETTLE_BLOCKS * self.network.gpu.processors)
        self.kernels.launch(kernel, blocks, BLOCK, *arguments, self.counters.there)
        self.counters.ask()
