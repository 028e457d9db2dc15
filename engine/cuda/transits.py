"""Grouping of a hop's parents by the place of their rows in the graph: see transits.cu."""

import cupy
import numpy as np

from csaw.engine.cuda.constants import GROUP_BLOCK, GROUP_BUCKETS, GROUP_TILE, NEAR_BITS
from csaw.engine.plan.contracts import Array

TILE = GROUP_TILE * GROUP_BLOCK


class Transits:
    """The range of edges that each vertex's row is in, computed once for a graph."""

    def __init__(self, graph: Array, kernels: Array) -> None:
        self.kernels = kernels
        self.shift = max(graph.store.edges // GROUP_BUCKETS, 1).bit_length()
        first = graph.indptr[:: 1 << NEAR_BITS]
        held = cupy.diff(cupy.concatenate([first, graph.indptr[-1:]]))
        narrow = held <= 1 << self.shift
        self.coarse = cupy.where(narrow, first >> self.shift, 2**32 - 1).astype(np.uint32)

    def group(self, parents: Array) -> tuple[Array, Array, Array]:
        """Order the parents by range. ``parents`` uint32: the vertex of each cell, all ones for none.

        Returns uint32 arrays: {vertex, cell} of each parent, range after range; each cell's place in that order, all
        ones for none; and the number of parents [1].
        """
        tiles, given = -(-parents.size // TILE), (parents.size, parents, self.coarse, self.shift)
        counts = cupy.zeros(GROUP_BUCKETS, np.uint32)
        self.kernels.launch("group_count", tiles, GROUP_BLOCK, *given, counts)
        upto = cupy.cumsum(counts, dtype=np.uint32)
        grouped, number = cupy.empty(2 * parents.size, np.uint32), cupy.empty(parents.size, np.uint32)
        self.kernels.launch("group_scatter", tiles, GROUP_BLOCK, *given, upto - counts, grouped, number)
        return grouped, number, upto[-1:]
