"""Batches of traversals in time: each vertex selects among its edges before a time that it knows.

Edges are compared with the time of the source, which all vertices of its instance know, or with that of the edge by
which a vertex was met. A vertex picks by the address of its random numbers, as any other, among the places of the
edges that it may select in the order of its row by time.
"""

from types import ModuleType

import numpy as np

from csaw.engine.batches.layers import LATER, SPARE
from csaw.engine.batches.minibatches import MiniBatches
from csaw.engine.batches.relations import MiniBatchesByRelation, NeighborsByRelation, SubgraphsByRelation
from csaw.engine.batches.traversals import Traversals, begins, counts, in_pieces
from csaw.engine.plan.by_relation import sizes_of_relations
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.footprint import LISTED_EDGES
from csaw.engine.samples.layouts.hops import time_names
from csaw.engine.samples.layouts.layout import OF_COPIES
from csaw.engine.schedule.backend import Backend
from csaw.partition.base.flags import any_set, set_count
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
            found, then = self.time, self.xp.repeat(self.then, self.sizes[self.depth])
        else:
            entry, cell = self._found_cells()
            found, then = self.time[cell], self.now[entry]
        self.times.append(found)
        self.then = found if self.backend.against_previous else then
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


class NeighborsByRelationInTime(InTime, NeighborsByRelation):
    """Hops of a graph of relations, whose vertices select from every relation that leaves their type."""

    def _hold(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        super()._hold(local, slot, vertex, previous)
        self.now = self.then[self.place]


class SubgraphsByRelationInTime(InTime, SubgraphsByRelation):
    """Subgraphs of a graph of relations, whose vertices select from every relation that leaves their type."""

    def _hold(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        super()._hold(local, slot, vertex, previous)
        if self.depth < len(self.sizes):
            self.now = self.then[self.place]


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
        times: list[tuple[Array, ...]] = [
            (hop[0], time) for hop, time in zip(self.drawn, self.drawn_times, strict=True)
        ]
        _, time = self._in_order(times, 2)
        return super()._samples() | {"time": time, "seed_time": self.seed_time[self.there]}

    def _drop(self) -> None:
        self.owner = self.owner[:0]
        super()._drop()


class MiniBatchesByRelationInTime(MiniBatchesInTime, MiniBatchesByRelation):
    """The same of a graph of relations, whose nodes select from every relation that leaves their type."""


# Batches in time whose frontiers select together: copies of vertices, and the edges that they may select.
#
# A copy is a vertex with the time that it knows. A frontier has each copy once, so that a vertex may be in it at
# several times, and each of its copies has the edges before its own time. Kernels list these edges, and the rules of
# the algorithm decide among all that the copies of an instance have.

ALL_EDGES = -1
CELL_BYTES = 32  # of an edge that is listed, at most
LAST = 64.0  # no time of rate 1 is later: -log of 2^-64 is 44.4


class Copies:
    """The copies that the instances of a batch have met. ``xp``: NumPy or CuPy."""

    def __init__(self, xp: ModuleType, vertices: int) -> None:
        self.xp, self.vertices = xp, vertices
        self.key, self.time = xp.zeros(0, np.int64), xp.zeros(0, np.int64)

    def news(self, local: Array, vertex: Array, time: Array) -> Array:
        """bool [n]: whether copies are new to their instances ``local``."""
        known = self.key.size
        order, run, begin = self._runs(local, vertex, time)
        out = self.xp.empty(order.size, bool)
        out[order] = order[begin][run] >= known
        return out[known:]

    def first(self, local: Array, vertex: Array, time: Array) -> Array:
        """Numbers of the new copies, of equal ones the first, in order of instance, vertex and time."""
        order, _, begin = self._runs(local, vertex, time)
        found = order[begin] - self.key.size
        return found[found >= 0]

    def meet(self, local: Array, vertex: Array, time: Array) -> None:
        """Add copies that are new and differ."""
        xp, key = self.xp, local * self.vertices + vertex
        self.key, self.time = xp.concatenate([self.key, key]), xp.concatenate([self.time, time])

    def counts(self, instances: int) -> Array:
        """int64 [instances]: how many copies each has met."""
        return self.xp.bincount(self.key // self.vertices, minlength=instances)

    def _runs(self, local: Array, vertex: Array, time: Array) -> tuple[Array, Array, Array]:
        """All copies, those that were met and then these, in order: their numbers, the run of equal ones that each is
        in, and where runs begin.
        """
        xp = self.xp
        key = xp.concatenate([self.key, local * self.vertices + vertex])
        time = xp.concatenate([self.time, time])
        order = xp.lexsort((time, key))  # stable, so that what was met comes first in a run
        fresh = xp.ones(order.size, bool)
        fresh[1:] = (xp.diff(key[order]) != 0) | (time[order][1:] != time[order][:-1])
        return order, xp.cumsum(fresh) - 1, xp.flatnonzero(fresh)


class Together(InTime):
    """A batch of the instances from number ``first`` on, whose frontiers are copies, each once.

    ``sources`` int64 [instances, frontier size, 2]: the vertices that they start from, and their times.
    """

    def __init__(self, backend: Backend, first: int, sources: np.ndarray) -> None:
        self.known: list[tuple[Array, ...]] = []  # the times that both ends of the edges of each depth know
        self.met = Copies(backend.xp, backend.store.vertices)
        super().__init__(backend, first, sources)

    def _enter(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        """Begin the next depth with the copies of these vertices at the times ``then``."""
        new = self.met.first(local, vertex, self.then)
        local, vertex, self.then = local[new], vertex[new], self.then[new]
        if self.rule.once:
            self.met.meet(local, vertex, self.then)
        zero = self.xp.zeros(local.size, np.int64)
        super()._enter(local, zero, vertex, zero - 1)

    def _capacities(self, size: int) -> Array:
        return self.degree if size else self.xp.zeros_like(self.degree)

    def _reserve(self, capacity: Array) -> None:
        """Let the entries that have edges wait: there is room for those of some entries at a time."""
        super()._reserve(self.xp.zeros_like(capacity))
        self.capacity, self.pending = capacity, self.xp.flatnonzero(capacity)
        self.listed: list[tuple[Array, Array, Array]] = []  # entry, neighbor and time of edges

    def _select(self, entries: Array) -> None:
        for some in in_pieces(self.xp, self.capacity[entries], LISTED_EDGES):
            self._list(entries[some])

    def _list(self, entries: Array) -> None:
        """List the edges that these entries may select: a hub may be there in many copies, most of them without most of
        its edges.
        """
        xp, many = self.xp, self.capacity[entries]
        upto = xp.cumsum(many)
        total, held = int(upto[-1]), sum(one[0].size for one in (*self.sampled, *self.listed))
        self.backend.claim(self.edge_bytes * held + CELL_BYTES * total)
        self.start[entries] = upto - many
        self.out, self.time = xp.full(total, self.none, self.dtype), xp.empty(total, np.int64)
        self.backend.list_in_time(self, entries, self._asked())
        cell = xp.flatnonzero(self.out != self.none)
        entry = entries[xp.searchsorted(upto, cell, side="right")]
        self.listed.append((entry, self.out[cell].astype(np.int64), self.time[cell]))

    def _asked(self) -> int:
        """The number of edges that numbers of vertices are to keep of each entry, on average; -1 lists all."""
        return ALL_EDGES

    def _next_depth(self) -> None:
        """Keep some of the edges that were listed, and make the next frontier of their ends."""
        xp, none = self.xp, self.xp.zeros(0, np.int64)
        self._count_dead()
        entry, dst, time = (xp.concatenate([none, *(one[k] for one in self.listed)]) for k in range(3))
        kept = xp.argsort(entry, kind="stable")  # rows may have come in any order
        kept = kept[self._kept(self.local[entry[kept]], dst[kept], self._times_after(entry[kept], time[kept]))]
        entry, dst, time = entry[kept], dst[kept], time[kept]
        local, self.then = self.local[entry], self._times_after(entry, time)
        self.sampled.append((local, self._vertices_of(entry), dst))
        self.times.append(time)
        self.known.append((self.now[entry], self.then))
        self._go_on(local, dst)

    def _times_after(self, entry: Array, time: Array) -> Array:
        """The times that the ends of edges know, which begin at these entries."""
        return time if self.backend.against_previous else self.now[entry]

    def _kept(self, local: Array, dst: Array, then: Array) -> Array:
        """Numbers of the edges to keep, of those that lead to the copies ``dst`` at the times ``then``."""
        return self.xp.arange(local.size)

    def _go_on(self, local: Array, dst: Array) -> None:
        none = self.xp.zeros(local.size, np.int64)
        self._enter(local, none, dst, none)

    def _samples(self) -> dict[str, Array]:
        xp, none = self.xp, self.xp.zeros(0, np.int64)
        order = xp.argsort(xp.concatenate([none, *(one[0] for one in self.sampled)]), kind="stable")
        known = (xp.concatenate([none, *(one[k] for one in self.known)])[order] for k in range(2))
        return super()._samples() | dict(zip(OF_COPIES, known, strict=True))

    def _drop(self) -> None:
        super()._drop()
        if self.xp is np:
            self.known, self.listed, self.met = [], [], Copies(np, self.backend.store.vertices)


class SharedDrawsInTime(Together):
    """LABOR-0 in time: a copy that may select d edges keeps that to u if u's number of [0, 1) is below k / d.

    All copies of an instance, of one vertex too, decide by the same number of u, so that each edge has the chance of a
    selection of k among the d.
    """

    def _asked(self) -> int:
        return self.sizes[self.depth]


class SharedDrawsByRelationInTime(SharedDrawsInTime, SubgraphsByRelationInTime):
    """The same of a graph of relations, whose copies select from every relation that leaves their type."""

    size = 0  # how many edges the entries that are listed keep on average

    def _select(self, entries: Array) -> None:
        for size in np.unique(sizes_of_relations(self.algorithm)[self.depth]).tolist():
            self.size = size
            super()._select(entries[self.wanted[entries] == size])

    def _asked(self) -> int:
        return self.size


class PoolsInTime(Together):
    """Layers in time: the edges that all copies of an instance may select are one pool, of which k are drawn.

    A copy enters an instance once, and edges to copies that it has met are not in the pool. Every set of k edges of
    the pool is equally likely: they come first of all that arrive at exponential times of one rate.
    """

    def _kept(self, local: Array, dst: Array, then: Array) -> Array:
        xp, size = self.xp, self.sizes[self.depth]
        if size < 0:
            return self._new(xp.arange(local.size), local, dst, then)
        begin = begins(xp, local, self.instances)
        number, slot = xp.arange(local.size) - begin[local], xp.full(local.size, self.depth, np.int64)
        race = self.backend.race_numbers(local + self.first, slot, number, xp.ones(local.size, np.int64))
        count = xp.diff(begin)
        until = xp.where(count > size, SPARE * size / xp.maximum(count, 1), LAST)
        while True:  # a few that come first in each instance, or all where that takes more
            early = self._new(xp.flatnonzero(race <= until[local]), local, dst, then)
            few = (counts(xp, local[early], self.instances) < size) & (until < LAST)
            if not any_set(few):
                break
            until = xp.where(few, until * LATER, until)
        order = early[xp.lexsort((race[early], local[early]))]  # of equal times, the lower number
        owner = local[order]
        return order[xp.arange(order.size) - begins(xp, owner, self.instances)[owner] < size]

    def _new(self, some: Array, local: Array, dst: Array, then: Array) -> Array:
        """The numbers among ``some`` of edges that are in a pool."""
        return some[self.met.news(local[some], dst[some], then[some])] if self.rule.only_new else some

    def _go_on(self, local: Array, dst: Array) -> None:
        if self.rule.total is not None:
            new = self.met.first(local, dst, self.then)
            met = self.met.counts(self.instances) + self.xp.bincount(local[new], minlength=self.instances)
            on = self.xp.flatnonzero((met < self.rule.total)[local])
            local, dst, self.then = local[on], dst[on], self.then[on]
        super()._go_on(local, dst)
