"""Batches of traversals in time: each vertex selects among its edges before a time that it knows.

Edges are compared with the time of the source, which all vertices of its instance know, or with that of the edge by
which a vertex was met. A vertex picks by the address of its random numbers, as any other, among the places of the
edges that it may select in the order of its row by time.
"""

import numpy as np

from csaw.engine.batches.minibatches import MiniBatches
from csaw.engine.batches.traversals import Traversals
from csaw.engine.plan.contracts import Array
from csaw.engine.samples.layouts.hops import time_names
from csaw.engine.schedule.backend import Backend
from csaw.engine.schedule.flags import set_count
from csaw.partition.graph.edge_columns import NO_TIME


class Clocked(Traversals):
    """A batch that selects in time.

    ``now`` int64 [entries]: the time with which the edges of each frontier entry are compared. ``time`` int64 [cells]:
    the time of the edge to each neighbor, which kernels note.
    """

    now: Array
    time: Array

    def _reserve(self, capacity: Array) -> None:
        super()._reserve(capacity)
        self.time = self.xp.full(self.out.size, np.int64(NO_TIME))

    def _select(self, entries: Array) -> None:
        self.backend.select_in_time(self, entries)

    def _next_depth(self) -> None:
        self._count_dead()
        super()._next_depth()

    def _count_dead(self) -> None:
        """Count the entries that have edges, but none that they may select."""
        if self.sizes[self.depth] != 0:  # those without any edge are counted already
            self.dead += set_count(self.xp, (self.degree > 0) & (self.found == 0))


class InTime(Clocked):
    """Subgraphs or hops, of the instances from number ``first`` on.

    ``sources`` int64 [instances, frontier size, 2]: the vertices that they start from, and their times.
    """

    def __init__(self, backend: Backend, first: int, sources: np.ndarray) -> None:
        self.seed_time = backend.xp.asarray(sources[:, :, 1], np.int64)
        self.then = self.seed_time.ravel()  # the times that the entries of the next depth know
        self.times: list[Array] = []  # of the edges that each depth has drawn
        super().__init__(backend, first, np.ascontiguousarray(sources[:, :, 0]))

    def _hold(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        super()._hold(local, slot, vertex, previous)
        self.now = self.then

    def _next_depth(self) -> None:
        if self.hops:
            found, then = self.time, self.xp.repeat(self.now, self.sizes[self.depth])
        else:
            entry, cell = self._found_cells()
            found, then = self.time[cell], self.now[entry]
        self.times.append(found)
        self.then = found if self.algorithm.against_previous else then
        super()._next_depth()

    def _samples(self) -> dict[str, Array]:
        samples, xp = super()._samples(), self.xp
        if self.hops:
            times = (time.reshape(table.shape) for time, table in zip(self.times, self.tables[1:], strict=True))
            return samples | dict(zip(time_names(self.tables), (self.seed_time, *times), strict=True))
        time = xp.concatenate([xp.zeros(0, np.int64), *self.times])
        local = xp.concatenate([xp.zeros(0, np.int64), *(sampled[0] for sampled in self.sampled)])
        order = xp.argsort(local, kind="stable")  # in which the edges are
        return samples | {"time": time[order], "seed_time": self.seed_time.ravel()}

    def _drop(self) -> None:
        super()._drop()
        if not self.hops and self.xp is np:
            self.times, self.time, self.then, self.now = [], *[np.zeros(0, np.int64)] * 3


class MiniBatchesInTime(Clocked, MiniBatches):
    """The mini-batches from number ``first`` on, whose nodes know the time of their seed.

    ``sources`` int64 [instances, seeds, 3]: each seed's vertex, its position in the list of sources, and its time.
    """

    def __init__(self, backend: Backend, first: int, sources: np.ndarray) -> None:
        self.seed_time = backend.xp.asarray(sources[:, :, 2], np.int64).ravel()
        self.there = backend.xp.asarray(sources[:, :, 0]).ravel() >= 0
        self.drawn_times: list[Array] = []  # of the edges of each hop
        super().__init__(backend, first, np.ascontiguousarray(sources[:, :, :2]))

    def _hold(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        super()._hold(local, slot, vertex, previous)
        self.now = self.seed_time[local * self.width + self.owner]

    def _next_depth(self) -> None:
        self.drawn_times.append(self.time[self._found_cells()[1]])
        super()._next_depth()

    def _samples(self) -> dict[str, Array]:
        times = [(hop[0], time) for hop, time in zip(self.drawn, self.drawn_times, strict=True)]
        _, time = self._in_order(times, 2)
        return super()._samples() | {"time": time, "seed_time": self.seed_time[self.there]}

    def _drop(self) -> None:
        self.owner = self.owner[:0]
        super()._drop()
