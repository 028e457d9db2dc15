"""For each vertex of the graph, the sum of the biases of all edges to it: what layers of vertices of the whole graph
are drawn by.

Biases become integers of one scale, that of the largest, so that the sums are the same in any order. So there are two
passes over the graph: one finds the largest bias, and one adds. A pass goes from range to range of vertices, whose rows
a streamed graph brings as for any frontier.
"""

from collections.abc import Iterator

import numpy as np

from csaw.engine.batches.fixed import shifts
from csaw.engine.batches.ordered import in_pieces
from csaw.engine.plan.contracts import Array, IncomingBias
from csaw.engine.plan.parts import LISTED_EDGES, RANGE
from csaw.engine.schedule.backend import Backend


class Columns:
    """Sums in the making, of the rows of ``pending`` vertices next."""

    def __init__(self, backend: Backend) -> None:
        self.backend, self.xp = backend, backend.xp
        self.vertices, self.dtype = backend.store.vertices, np.dtype(backend.store.id_dtype)
        self.largest, self.shift, self.adding, self.done = 0.0, 0, False, False
        self.sums = self.xp.zeros(self.vertices, np.int64)
        self._begin(0)

    def _begin(self, first: int) -> None:
        self.first = first
        self.pending = self.xp.arange(first, min(first + RANGE, self.vertices))

    def advance(self) -> IncomingBias | None:
        """Add up the rows that can be read; the sums once there are no more."""
        while not self.done:
            for vertices, degree in self._pieces(self._ready()):
                self._weigh(vertices, degree)
            if self.pending.size:
                return None
            self._next()
        return IncomingBias(self.sums, self.xp.cumsum(self.sums))

    def _ready(self) -> Array:
        ready = self.pending
        if not self.backend.streamed:
            self.pending = ready[:0]
            return ready
        mask = self.backend.partitions.can_read(ready)
        self.pending = ready[~mask]
        return ready[mask]

    def _pieces(self, vertices: Array) -> Iterator[tuple[Array, Array]]:
        """Vertices with their degrees, so few at a time that their edges fit the memory."""
        degree = self.backend.graph.degrees(vertices)
        for some in in_pieces(self.xp, degree, LISTED_EDGES):
            yield vertices[some], degree[some]

    def _weigh(self, vertices: Array, degree: Array) -> None:
        xp, upto = self.xp, self.xp.cumsum(degree)
        total = int(upto[-1])
        out, biases = xp.empty(total, self.dtype), xp.empty(total, np.float64)
        self.backend.weigh_rows(vertices, upto - degree, xp.flatnonzero(degree), out, biases)
        if self.adding:
            self.backend.add_scaled(self.sums, out, biases, self.shift)
        elif total:
            self.largest = max(self.largest, float(biases.max()))

    def _next(self) -> None:
        """Go on with the next range, the next pass, or to the end."""
        if self.first + RANGE < self.vertices:
            return self._begin(self.first + RANGE)
        if self.adding or self.largest == 0.0:
            self.done = True
            return None
        self.adding = True
        [self.shift] = shifts(np, np.array([self.largest]), np.array([self.backend.store.edges])).tolist()
        return self._begin(0)
