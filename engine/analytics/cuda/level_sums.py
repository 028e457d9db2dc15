"""Sums over the neighbors of the vertices of a level, in an order of their own, by the kernels of betweenness.cu."""

from functools import cached_property

import cupy
import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.analytics.spread import Range
from csaw.engine.cuda.constants import ROW_LANES, SUM_PIECE
from csaw.engine.cuda.structs import struct
from csaw.engine.plan.contracts import Array


class Order:
    """The vertices of a range by distance and then by number; those that were not reached come first.

    ``vertices``: their ids.
    """

    def __init__(self, distance: Array, own: Range, levels: int, id_dtype: np.dtype) -> None:
        first, last = own
        of_own = distance[first:last]
        order = cupy.argsort(of_own, kind="stable") if last > first else cupy.zeros(0, np.int64)
        self.begins_there = cupy.searchsorted(of_own[order], cupy.arange(levels + 1, dtype=np.int32))
        self.vertices = order.astype(id_dtype)
        if first:
            self.vertices += id_dtype.type(first)

    @cached_property
    def begins(self) -> list[int]:
        """Where each level begins among the vertices, and the end."""
        found: list[int] = self.begins_there.get().tolist()
        return found


class ByLevel:
    """Two numbers of each vertex, float64 [V] both: that of a vertex at an even level is in the first, else the second.

    The other one has 0 of it. So the sum over all neighbors of the numbers that belong to the next level, or to the one
    before, is over those at that level, and no neighbor's distance is asked.
    """

    def __init__(self, vertices: int) -> None:
        self.arrays = [cupy.empty(vertices), cupy.empty(vertices)]

    def clear(self) -> None:
        for one in self.arrays:
            one.fill(0)

    def of(self, level: int) -> Array:
        return self.arrays[level % 2]


class LevelSums:
    """The rows of a network at the vertices of an order, and the pieces of the long ones.

    ``at`` int64 [vertices of the order + 1]: how many pieces come before each. ``together``: whether all vertices of a
    level are summed at a time.
    """

    def __init__(self, network: DeviceNetwork, order: Order, *, together: bool) -> None:
        self.kernels, self.order = network.kernels("betweenness"), order
        self.together, degrees = together, network.degrees[order.vertices]
        self.at = cupy.zeros(degrees.size + 1, np.int64)
        if degrees.size:
            cupy.cumsum(cupy.where(degrees > SUM_PIECE, (degrees + SUM_PIECE - 1) // SUM_PIECE, 0), out=self.at[1:])

    @cached_property
    def of_levels(self) -> list[int]:
        """How many pieces come before each level."""
        found: list[int] = self.at[self.order.begins_there].get().tolist()
        return found

    def over(self, kernel: str, block: Block, level: int, part: Range, values: Array, *rest: object) -> None:
        """Run a kernel on some vertices of a level, whose rows a block has.

        Each sums ``values`` of its neighbors. ``part``: the vertices' places in the order.
        """
        first, last = part
        before, after = self._before(level, first, last)
        rows = struct(
            "LevelRows",
            order=self.order.vertices[first:],
            at=self.at[first:],
            indptr=block.indptr,
            indices=block.indices,
            first=block.first,
            before=before,
        )
        count, sums = last - first, cupy.empty(after - before)
        self.kernels.over("sum_pieces", 32 * sums.size, sums.size, count, rows, values, sums)
        self.kernels.over(kernel, ROW_LANES * count, count, rows, sums, values, *rest)

    def level(self, level: int) -> Range:
        """The places of the vertices of a level in the order."""
        begin, end = self.order.begins[level : level + 2]
        return begin, end

    def _before(self, level: int, first: int, last: int) -> Range:
        """Count the pieces before two places of the order, in a level."""
        if self.together:
            return self.of_levels[level], self.of_levels[level + 1]
        return int(self.at[first]), int(self.at[last])
