"""Samples of layers on a GPU, whose edges are counted by bits: twin of engine/batches/layers.py.

An instance has a bit for each vertex of the graph. How many bits are set before one is its vertex's place among the
candidates, so sums are added without sorting the edges, and come in the order of the vertices. Where there are fewer
edges than words of bits, they are sorted.
"""

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.batches.integer_sums import shifts
from csaw.engine.batches.layers import LARGEST, Candidates, Kept, Layer, LayerEdges, Layers
from csaw.engine.batches.traversals import begins
from csaw.engine.cuda import arrays
from csaw.engine.cuda.declarations import BLOCK
from csaw.engine.cuda.runner import CudaRunner

WORD = 32  # vertices of a word of bits
LEAST_BLOCKS = 32  # of an instance
MOST_ROWS = 1 << 15  # of a grid
ALL_ONES = (1 << 64) - 1  # no edge


class DeviceLayerEdges(LayerEdges):
    """The edges of LayerEdges on a GPU.

    Edges are taken out of the batch's arrays only if they lead to drawn vertices.
    """

    def __init__(self, batch: "DeviceLayers") -> None:
        self.batch, self.backend, self.xp = batch, batch.backend, batch.xp
        self.kernels = self.backend.kernels
        self.instances, self.vertices = batch.instances, batch.backend.store.vertices
        self.width = words(self.vertices)
        self.row_ends = arrays.concatenate([cupy.zeros(1, np.int64), cupy.cumsum(batch.capacity)])
        self.ends = self.row_ends[begins(cupy, batch.local, self.instances)]

    def _over(self, kernel: str, *arguments: Array) -> None:
        """Run a kernel over all cells, which takes the bits of all instances first."""
        blocks = max(LEAST_BLOCKS, 16 * self.kernels.device.processors // max(self.instances, 1))
        given = (self.instances, self.ends, self.batch.out, self.batch.keys, self.width)
        self.kernels.launch(kernel, (blocks, min(self.instances, MOST_ROWS)), BLOCK, *given, *arguments)

    def _sums(self) -> tuple[Array, Array, Array, Array]:
        self.bits = self._no_bits()
        count, largest = (cupy.zeros(self.instances, np.int64) for _ in range(2))
        self._over("mark_edges", self.bits, count, largest)
        self.before = cupy.zeros(self.bits.size + 1, np.int64)
        self.kernels.over("count_bits", self.bits.size, self.bits.size, self.bits, self.before[1:])
        cupy.cumsum(self.before[1:], out=self.before[1:])
        owner, vertex, sums = (cupy.zeros(int(self.before[-1]), np.int64) for _ in range(3))
        shift = cupy.asarray(shifts(np, largest.get().view(np.float64), count.get()))  # few: one of an instance
        light = cupy.zeros(self.instances, np.int64)
        self._over("add_biases", self.bits, self.before, shift, sums, light)
        self.kernels.over(
            "list_bits", self.bits.size, self.bits.size, self.width, self.bits, self.before, owner, vertex
        )
        return owner, vertex, sums, light

    def _of(self, some: Array) -> tuple[Array, Array, Array]:
        cell = cupy.flatnonzero(self.batch.keys > 0.0)
        local = cupy.searchsorted(self.ends[1:], cell, side="right")
        at = cupy.flatnonzero(some[local])
        return local[at], self.batch.out[cell[at]].astype(np.int64), self.batch.keys[cell[at]]

    def _no_bits(self) -> Array:
        return cupy.zeros(self.instances * self.width, np.uint32)

    def to(self, layer: Layer) -> Kept:
        return self._to_vertices(layer) if layer.candidate is None else self._to_candidates(layer.candidate)

    def _to_vertices(self, layer: Layer) -> Kept:
        """The edges to vertices that were drawn from the whole graph."""
        bits, found = self._no_bits(), cupy.empty(self.batch.keys.size, bool)
        self.kernels.over(
            "mark_vertices", layer.local.size, layer.local.size, layer.local, layer.vertex, self.width, bits
        )
        self._over("find_edges", bits, None, None, found)
        cell = cupy.flatnonzero(found)
        self._hold(cupy.searchsorted(self.row_ends, cell, side="right") - 1, cell)
        return super().to(layer)

    def _to_candidates(self, drawn: Array) -> Kept:
        """The edges to candidates with these numbers."""
        batch, size = self.batch, int(self.before[-1])
        times, draw = cupy.zeros(size, np.uint32), arrays.full(size, ALL_ONES & 0xFFFFFFFF, np.uint32)
        self.kernels.over("count_draws", drawn.size, drawn.size, drawn, times, draw)
        found = cupy.empty(batch.keys.size, bool)
        self._over("find_edges", self.bits, self.before, times, found)
        cell = cupy.flatnonzero(found)
        kept = cupy.empty((6, cell.size), np.int64)
        self.kernels.over(
            "take_edges",
            cell.size,
            cell.size,
            cell,
            batch.local.size,
            self.row_ends,
            batch.local,
            batch.vertex,
            batch.out,
            batch.keys,
            self.width,
            self.bits,
            self.before,
            draw,
            times,
            kept,
        )
        local, src, dst, bias, of, many = kept
        return Kept(local, src, dst, bias.view(np.float64), of, many)


class DeviceLayers(Layers):
    """A batch of samples of layers on a GPU."""

    backend: CudaRunner

    def _weights(self, kept: Kept, layer: Layer, drawn: Array) -> tuple[Array, int | None]:
        size, beyond = kept.local.size, arrays.full(1, ALL_ONES, np.uint64)
        weight = cupy.empty(size, np.float32)
        self.backend.kernels.over(
            "weigh_kept",
            size,
            size,
            kept.local,
            kept.draw,
            kept.times,
            kept.bias,
            drawn,
            layer.probability,
            LARGEST,
            weight,
            beyond,
        )
        first = int(beyond[0])
        return weight, None if first == ALL_ONES else first

    def _edges_to_layers(self) -> LayerEdges:
        """The edges from the frontier, in whichever way needs less memory."""
        by_bits = self.instances * words(self.backend.store.vertices) <= self.keys.size
        return DeviceLayerEdges(self) if by_bits else LayerEdges(self)

    def _chances(self, pools: Candidates, index: Array, owner: Array) -> Array:
        if pools.rates is not None:
            return super()._chances(pools, index, owner)
        chance = cupy.empty(index.size, np.float64)
        given = (index, owner, pools.sums, pools.total, chance)
        self.backend.kernels.over("find_chances", index.size, index.size, *given)
        return chance

    def _find(self, pools: Candidates, live: Array, target: Array) -> Array:
        found, kernels = cupy.empty(target.shape, np.int64), self.backend.kernels
        kernels.over(
            "find_candidates",
            target.size,
            target.size,
            target.shape[1],
            live,
            pools.begin,
            pools.upto,
            pools.sums,
            target,
            found,
        )
        return found


def words(vertices: int) -> int:
    """Words that hold a bit for each vertex."""
    return -(-vertices // WORD)
