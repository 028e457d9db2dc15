"""The edges from the frontiers of a depth of layers: which vertices they lead to, with what chances, and which of them
lead to those that were drawn.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from csaw.engine.batches.fixed import scaled, shifts
from csaw.engine.batches.ordered import begins, counts, fresh
from csaw.engine.batches.traversals import Traversals
from csaw.engine.plan.contracts import Array


@dataclass(frozen=True)
class Layer:
    """The vertices that were drawn at a depth, in order of instance and draw, with the chance of each in a draw."""

    local: Array
    vertex: Array
    probability: Array
    candidate: Array | None = None  # the number of each among the candidates, where they are of a frontier


@dataclass(frozen=True)
class Candidates:
    """The vertices that each instance may draw, in order of instance and vertex.

    Each has an integer in proportion to its chance.
    """

    local: Array
    vertex: Array
    upto: Array  # running sums of the integers; they overflow, and their differences within an instance are right
    sums: Array
    begin: Array  # int64 [instances + 1]: the first candidate of each instance
    total: Array  # int64 [instances]: the sum over each instance


class Kept(NamedTuple):
    """Edges to vertices of a layer, in order: arrays [n].

    ``draw``: a draw of the layer that gave the vertex; ``times``: how many did.
    """

    local: Array
    src: Array
    dst: Array
    bias: Array
    draw: Array
    times: Array


class LayerEdges:
    """The edges of the rows of a batch's frontier whose biases are above 0."""

    def __init__(self, batch: Traversals) -> None:
        self.batch, self.backend, self.xp = batch, batch.backend, batch.xp
        self.instances, self.vertices = batch.instances, batch.backend.store.vertices
        xp = self.xp
        cell = xp.flatnonzero(batch.keys > 0.0)
        entry = xp.repeat(xp.arange(batch.capacity.size), batch.capacity)[cell]
        self._hold(entry, cell)

    def _hold(self, entry: Array, cell: Array) -> None:
        """Make these the edges.

        ``entry``: numbers of the vertices of the frontier that they begin at; ``cell``: their places in the batch's
        arrays.
        """
        batch = self.batch
        self.local, self.src = batch.local[entry], batch.vertex[entry]
        self.dst, self.bias = batch.out[cell].astype(np.int64), batch.keys[cell]

    def candidates(self) -> Candidates:
        """Return the vertices that the edges lead to, with the sums of the edges' biases.

        The sums are integers of a scale for each instance.
        """
        xp = self.xp
        owner, vertex, sums = self._sums()
        upto = xp.cumsum(sums)
        begin = begins(xp, owner, self.instances)
        ends = xp.concatenate([xp.zeros(1, np.int64), upto])[begin]
        return Candidates(owner, vertex, upto, sums, begin, xp.diff(ends))

    def _sums(self) -> tuple[Array, Array, Array]:
        """int64 [n]: the instances, in order; the different vertices of each, in order; and the sums of the biases of
        edges to them, as integers.
        """
        xp = self.xp
        largest = xp.zeros(self.instances, np.float64)
        xp.maximum.at(largest, self.local, self.bias)
        units = scaled(xp, self.bias, shifts(xp, largest, counts(xp, self.local, self.instances))[self.local])
        key = self.local * self.vertices + self.dst
        order = xp.argsort(key, kind="stable")
        key, upto = key[order], xp.cumsum(units[order])
        last = xp.flatnonzero(xp.concatenate([key[1:] != key[:-1], xp.ones(min(key.size, 1), bool)]))
        key, upto = key[last], upto[last]
        return key // self.vertices, key % self.vertices, xp.diff(xp.concatenate([xp.zeros(1, np.int64), upto]))

    def to(self, layer: Layer) -> Kept:
        """The edges that lead to vertices of the layer."""
        kept, draw, times = self._matched(layer)
        return Kept(self.local[kept], self.src[kept], self.dst[kept], self.bias[kept], draw, times)

    def _matched(self, layer: Layer) -> tuple[Array, Array, Array]:
        """int64 [n]: the edges that lead to vertices of the layer, in order; the first draw that gave each of these
        vertices; and how many did.
        """
        xp = self.xp
        drawn = layer.local * self.vertices + layer.vertex
        order = xp.argsort(drawn, kind="stable")
        begin = xp.flatnonzero(fresh(xp, drawn[order]))
        drawn, times = drawn[order[begin]], xp.diff(xp.append(begin, order.size))
        wanted = self.local * self.vertices + self.dst
        at = xp.searchsorted(drawn, wanted)
        kept = xp.flatnonzero(xp.append(drawn, -1)[at] == wanted)
        at = at[kept]
        return kept, order[begin[at]], times[at]
