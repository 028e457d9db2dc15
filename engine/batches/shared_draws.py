"""A batch of traversals in which frontier vertices select neighbors by random numbers that they share (LABOR-0).

A frontier vertex of degree d keeps its edge to u if u's number of [0, 1) is below k / d. So each neighbor has the same
chance as in a selection of k, the number of edges varies around k, and the vertices that a frontier selects together
are as few as such chances allow.
"""

import numpy as np

from csaw.engine.batches.ordered import distinct
from csaw.engine.batches.traversals import Traversals
from csaw.engine.plan.contracts import Array


class SharedDraws(Traversals):
    """A batch of the instances from number ``first`` on.

    ``sources``: the vertices that they start from [instances, frontier size].
    """

    def _enter(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        """Begin the next depth with the frontier of these vertices, each once."""
        local, vertex = distinct(self.xp, local, vertex, self.backend.store.vertices)
        zero = self.xp.zeros(local.size, np.int64)
        super()._enter(local, zero, vertex, zero - 1)

    def _capacities(self, size: int) -> Array:
        return self.degree if size else self.xp.zeros_like(self.degree)

    def _select(self, entries: Array) -> None:
        size = self.sizes[self.depth]
        self.backend.select_shared(self.instance, self.vertex, self.start, entries, self.depth, size, self.out)

    def _next_depth(self) -> None:
        xp = self.xp
        cell = xp.flatnonzero(self.out != self.none)
        entry = xp.repeat(xp.arange(self.capacity.size), self.capacity)[cell]
        local, dst = self.local[entry], self.out[cell].astype(np.int64)
        self.sampled.append((local, self.vertex[entry], dst))
        none = xp.zeros(local.size, np.int64)
        self._enter(local, none, dst, none)
