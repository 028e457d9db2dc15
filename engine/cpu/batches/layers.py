"""Samples of layers on the CPU: instances are added up and matched by threads, without sorting all edges at once; see
engine/cpu/kernels/layers.py.
"""

import numpy as np

from csaw.engine.batches.integer_sums import LEAST_BITS
from csaw.engine.batches.layers import Layer, LayerEdges, Layers
from csaw.engine.batches.traversals import begins
from csaw.engine.cpu.kernels.layers import add_up, match
from csaw.engine.cpu.runner import CpuRunner


class HostLayerEdges(LayerEdges):
    """The edges of LayerEdges on the CPU, in the same order."""

    backend: CpuRunner

    def _sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        ends, bits = begins(np, self.local, self.instances), max(self.vertices - 1, 1).bit_length()
        found = self.backend.of_each(
            self.instances, lambda i: add_up(ends[i], ends[i + 1], self.dst, self.bias, bits, 1 << LEAST_BITS)
        )
        vertex, sums = (np.concatenate([np.zeros(0, np.int64), *(one[k] for one in found)]) for k in range(2))
        owner = np.repeat(np.arange(self.instances), [one[0].size for one in found])
        return owner, vertex, sums, np.array([one[2] for one in found], np.int64)

    def _matched(self, layer: Layer) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        draws, edges = begins(np, layer.local, self.instances), begins(np, self.local, self.instances)
        found = self.backend.of_each(
            self.instances, lambda i: match(draws[i], draws[i + 1], layer.vertex, edges[i], edges[i + 1], self.dst)
        )
        kept, draw, times = np.concatenate([np.zeros((3, 0), np.int64), *found], axis=1)
        return kept, draw, times


class HostLayers(Layers):
    """The batch of Layers on the CPU, with the same sample."""

    def _edges_to_layers(self) -> LayerEdges:
        return HostLayerEdges(self)
