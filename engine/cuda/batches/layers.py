"""Samples of layers on a GPU, whose edges are counted by bits: twin of engine/batches/layer_edges.py.

An instance has a bit for each vertex of the graph. How many bits are set before one is its vertex's place among the candidates, so sums are added without
sorting the edges, and come in the order of the vertices. Where there are fewer edges than words of bits, they are sorted.
"""

import cupy
import numpy as np

from csaw.engine.batches.fixed import shifts
from csaw.engine.batches.layer_edges import Kept, LayerEdges
from csaw.engine.batches.layers import Layer, Layers
from csaw.engine.contracts import Array
from csaw.engine.cuda.constants import BLOCK
from csaw.engine.cuda.launch import Kernels

WORD = 32  # vertices of a word of bits
LEAST_BLOCKS = 32  # of an instance
MOST_ROWS = 1 << 15  # of a grid


class DeviceLayerEdges(LayerEdges):
    """As LayerEdges. Edges are taken out of the batch's arrays only if they lead to drawn vertices."""

    def __init__(self, batch: Layers) -> None:
        self.batch, self.xp = batch, batch.xp
        self.kernels: Kernels = batch.backend.kernels  # type: ignore[attr-defined]
        self.instances, self.vertices = batch.instances, batch.backend.store.vertices
        self.width = words(self.vertices)
        begin = cupy.searchsorted(batch.local, cupy.arange(self.instances + 1))
        self.row_ends = cupy.concatenate([cupy.zeros(1, np.int64), cupy.cumsum(batch.capacity)])
        self.ends = self.row_ends[begin]

    def _over(self, kernel: str, *arguments: Array) -> None:
        """Run a kernel over all cells, which takes the bits of all instances first."""
        blocks = max(LEAST_BLOCKS, 16 * self.kernels.device.processors // max(self.instances, 1))
        given = (self.instances, self.ends, self.batch.out, self.batch.keys, self.width)
        self.kernels.launch(kernel, (blocks, min(self.instances, MOST_ROWS)), BLOCK, *given, *arguments)

    def _sums(self) -> tuple[Array, Array, Array]:
        bits = self._no_bits()
        count, largest = (cupy.zeros(self.instances, np.int64) for _ in range(2))
        self._over("mark_edges", bits, count, largest)
        before = cupy.zeros(bits.size + 1, np.int64)
        self.kernels.over("count_bits", bits.size, bits.size, bits, before[1:])
        cupy.cumsum(before[1:], out=before[1:])
        owner, vertex, sums = (cupy.zeros(int(before[-1]), np.int64) for _ in range(3))
        self._over("add_biases", bits, before, shifts(cupy, largest.view(np.float64), count), sums)
        self.kernels.over("list_bits", bits.size, bits.size, self.width, bits, before, owner, vertex)
        return owner, vertex, sums

    def _no_bits(self) -> Array:
        return cupy.zeros(self.instances * self.width, np.uint32)

    def to(self, layer: Layer) -> Kept:
        bits, found = self._no_bits(), cupy.empty(self.batch.keys.size, bool)
        self.kernels.over(
            "mark_vertices", layer.local.size, layer.local.size, layer.local, layer.vertex, self.width, bits
        )
        self._over("find_edges", bits, found)
        cell = cupy.flatnonzero(found)
        self._hold(cupy.searchsorted(self.row_ends, cell, side="right") - 1, cell)
        return super().to(layer)


class DeviceLayers(Layers):
    """A batch of samples of layers on a GPU."""

    @staticmethod
    def edges_of(batch: Layers) -> LayerEdges:
        """The edges of a depth, in whichever way needs less memory."""
        by_bits = batch.instances * words(batch.backend.store.vertices) <= batch.keys.size
        return (DeviceLayerEdges if by_bits else LayerEdges)(batch)


def words(vertices: int) -> int:
    """Words that hold a bit for each vertex."""
    return -(-vertices // WORD)
