"""Batches of traversals whose frontiers select together: from pools, by shared numbers, or once."""

import numpy as np

from csaw.engine.api.option import LARGEST
from csaw.engine.batches.relations import SubgraphsByRelation
from csaw.engine.batches.traversals import Traversals, begins, distinct, fresh, rank
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.selection import tries
from csaw.engine.schedule.backend import Backend
from csaw.partition.base.flags import set_count

# A batch of traversals in which each instance picks uniformly, without replacement, from one pool: the edges of all
# its frontier vertices.
#
# The edges of a pool are numbered, frontier entry after frontier entry in the order of their rows, so that a number
# stands for an edge before any row is read. Numbers are drawn, and the first `size` different ones whose edges may be
# selected are the sample, whatever the order in which rows are read. If a pool is small, or `tries` numbers did not
# suffice, its edges are listed and `size` of the list are drawn. In both cases all subsets are equally likely, because
# no draw depends on which edge a number stands for.


class Pools(Traversals):
    """A batch of the instances from number ``first`` on.

    ``sources``: the vertices that they start from [instances, frontier size].
    """

    def __init__(self, backend: Backend, first: int, sources: Array) -> None:
        super().__init__(backend, first, sources[:, :1] if backend.needs.everywhere else sources)

    def _enter(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        """Begin the next depth with these frontier entries: number the pools, and draw from
        those that are not small.
        """
        xp, self.depth = self.xp, self.depth + 1
        self.pending = xp.zeros(0, np.int64)
        if self.depth >= len(self.sizes):
            return
        self.size = self.sizes[self.depth]
        self.tries = tries(max(self.size, 0))
        self.picks: list[tuple[Array, Array, Array]] = []  # instance, src, dst; in order within an instance
        if self.backend.needs.everywhere and self.depth == 0:
            self._number_graph()
        else:
            self._number(local, slot, vertex)
        self.tried = xp.flatnonzero((self.pool > self.tries) & (self.size > 0))
        self.listed = xp.flatnonzero((self.pool > 0) & ((self.pool <= self.tries) & (self.size > 0) | (self.size < 0)))
        self._try()

    def _is_over(self) -> bool:
        return self.frontier is not None and not self.frontier[1].size

    def _number(self, local: Array, slot: Array, vertex: Array) -> None:
        """Number the pools of a frontier: an instance has ``pool`` edges from number ``base`` on, and entry e has the
        numbers upto[e] .. upto[e + 1] - 1.
        """
        xp, degree = self.xp, self.backend.graph.degrees(vertex)
        self.upto = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(degree)])
        bounds = begins(xp, local, self.instances)
        self.base = self.upto[bounds[:-1]]
        self.pool = self.upto[bounds[1:]] - self.base
        self.pool_slot = xp.concatenate([slot, xp.zeros(1, np.int64)])[bounds[:-1]]
        self.frontier: tuple[Array, Array] | None = (local, vertex)
        self.dead += set_count(xp, degree == 0) if self.size != 0 else 0

    def _number_graph(self) -> None:
        """Number pools that are the whole graph: the numbers of edges are those of the graph."""
        xp, edges, vertices = self.xp, self.backend.store.edges, self.backend.store.vertices
        self.base = xp.arange(self.instances, dtype=np.int64) * edges
        self.pool = xp.full(self.instances, edges, np.int64)
        self.pool_slot = xp.zeros(self.instances, np.int64)
        self.frontier = None
        self.slots[:] = vertices
        self.dead += self.instances * self.backend.isolated if self.size != 0 else 0

    def _try(self) -> None:
        """Draw numbers, and have their entries look up the edges."""
        xp, tried, self.trying = self.xp, self.tried, True
        numbers = self.backend.draw_numbers(tried + self.first, self.pool_slot[tried], self.pool[tried], self.tries)
        number = (numbers + self.base[tried][:, None]).ravel()
        order = xp.argsort(number, kind="stable")  # of equal numbers, the first try counts
        order = order[fresh(xp, number[order])]
        self.turn, owner = order % self.tries, tried[order // self.tries]
        entry, vertex, self.offset = self._locate(number[order], owner)
        begin = xp.flatnonzero(fresh(xp, entry))
        self.cell_local, self.cell_vertex = owner, vertex
        self._hold(owner[begin], xp.zeros_like(begin), vertex[begin], xp.full_like(begin, -1))
        self._reserve(xp.diff(xp.concatenate([begin, xp.full(1, order.size, np.int64)])))

    def _locate(self, number: Array, owner: Array) -> tuple[Array, Array, Array]:
        """The entry of each number, the vertex of the entry, and the place within its row."""
        xp = self.xp
        if self.frontier is None:
            vertex, offset = self.backend.graph.ends_of(number - self.base[owner])
            return owner * self.backend.store.vertices + vertex, vertex, offset
        entry = xp.searchsorted(self.upto, number, side="right") - 1
        return entry, self.frontier[1][entry], number - self.upto[entry]

    def _next_depth(self) -> None:
        if self.trying:
            self._take_tried()
            self._list()
        else:
            self._take_listed()
            local, src, dst = (self.xp.concatenate([picks[i] for picks in self.picks]) for i in range(3))
            order = self.xp.argsort(local, kind="stable")
            self._settle(local[order], self.xp.full_like(local, -1), src[order], dst[order])

    def _take_tried(self) -> None:
        """Take the first ``size`` tries that may be selected. An instance with fewer is listed."""
        xp = self.xp
        possible = xp.flatnonzero(self.out != self.none)
        cell = possible[xp.lexsort((self.turn[possible], self.cell_local[possible]))]
        local = self.cell_local[cell]
        enough = xp.bincount(local, minlength=self.instances) >= self.size
        rank = xp.arange(local.size) - begins(xp, local, self.instances)[local]
        keep = cell[enough[local] & (rank < self.size)]
        self.picks.append((self.cell_local[keep], self.cell_vertex[keep], self.out[keep].astype(np.int64)))
        self.listed = xp.sort(xp.concatenate([self.listed, self.tried[~enough[self.tried]]]))

    def _list(self) -> None:
        """Have all edges in the pools of the ``listed`` instances looked up."""
        xp, listed, self.trying = self.xp, self.listed, False
        if self.frontier is None:
            vertices = self.backend.store.vertices
            number = xp.arange(listed.size * vertices)
            local, vertex = listed[number // vertices], number % vertices
        else:
            mine = xp.zeros(self.instances, bool)
            mine[listed] = True
            local, vertex = (array[mine[self.frontier[0]]] for array in self.frontier)
        self._hold(local, xp.zeros_like(local), vertex, xp.full_like(local, -1))
        self._reserve(self.degree)

    def _take_listed(self) -> None:
        """Take all edges of a list, or ``size`` of them where it is longer (Floyd: Bentley, CACM 30(9), 1987)."""
        xp = self.xp
        entry, cell = self._found_cells()
        local, src, dst = self.local[entry], self.vertex[entry], self.out[cell].astype(np.int64)
        count = xp.bincount(local, minlength=self.instances)
        longer = (count > self.size) & (self.size >= 0)
        few, many = ~longer[local], xp.flatnonzero(longer)
        self.picks.append((local[few], src[few], dst[few]))
        picked = self.backend.draw_subsets(
            many + self.first, self.pool_slot[many], count[many], max(self.size, 0), self.tries
        )
        at = (picked + xp.searchsorted(local, many)[:, None]).ravel()
        self.picks.append((local[at], src[at], dst[at]))


# A batch of traversals in which frontier vertices select neighbors by random numbers that they share (LABOR-0).
#
# A frontier vertex of degree d keeps its edge to u if u's number of [0, 1) is below k / d. So each neighbor has the
# same chance as in a selection of k, the number of edges varies around k, and the vertices that a frontier selects
# together are as few as such chances allow.


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


# A batch of traversals that select different vertices at a depth (NextDoor, EuroSys 2021, section 6.3).
#
# The edges that an instance selects at a depth lead to different vertices.
#
# Edges are drawn one after the other, by bias. One that leads to a vertex which this depth has selected already is
# drawn again, until as many are there as were asked for or no other is left. So each draw is by bias among the edges
# that are possible then: those to vertices that are not selected yet, of frontier vertices that have not selected
# enough; a collective depth counts for its frontier as a whole.
#
# Each edge arrives at an exponential time of rate bias, and the edges are taken in the order of time if they are
# possible then: what arrives next among the possible ones is drawn by bias, whatever came before. Two edges of an
# instance depend on each other only if they share a vertex, so many of them are taken at once.


class Unique(Traversals):
    """A batch of the instances from number ``first`` on.

    ``sources``: the vertices that they start from [instances, frontier size].
    """

    edge_bytes = 200

    def _capacities(self, size: int) -> Array:
        """Return the number of neighbors of each entry that may be needed in place of others.

        It is all of them, unless a row that has no edge twice is in a collective selection.
        """
        wanted = super()._capacities(size)
        if self.rule.together:
            self.room = self.xp.full(self.instances, LARGEST if size < 0 else size, np.int64)
            return self.xp.where(wanted > 0, self.degree, 0) if self.backend.store.multigraph else wanted
        self.room = wanted
        return self.xp.where(wanted > 0, self.degree, 0)

    def _next_depth(self) -> None:
        """Take the possible edges in the order of their times, and go on to the next depth."""
        xp = self.xp
        entry, cell = self._found_cells()
        order = xp.lexsort((self.out[cell], entry, self.keys[cell], self.local[entry]))
        entry, dst = entry[order], self.out[cell[order]].astype(np.int64)
        local = self.local[entry]
        taken = self._possible(local, local if self.rule.together else entry, dst)
        self._settle(local[taken], self.previous[entry[taken]], self._vertices_of(entry[taken]), dst[taken])

    def _possible(self, local: Array, owner: Array, dst: Array) -> Array:
        """Numbers of the edges that are possible when they arrive.

        ``owner``: whose ``room`` an edge takes; edges are in the order of time in each instance.
        """
        xp, room = self.xp, self.room
        key, waiting, taken = local * self.backend.store.vertices + dst, xp.arange(dst.size), xp.zeros(dst.size, bool)
        while waiting.size:
            whose = owner[waiting]
            # Nothing that arrives before these can take their vertices or the room of their owners.
            sure = waiting[(rank(xp, key[waiting]) == 0) & (rank(xp, whose) < room[whose])]
            taken[sure] = True
            room = room - xp.bincount(owner[sure], minlength=room.size)
            waiting = waiting[~xp.isin(key[waiting], key[sure]) & (room[whose] > 0)]
        return xp.flatnonzero(taken)


class UniqueByRelation(Unique, SubgraphsByRelation):
    """The same of a graph of relations: each vertex has room for so many edges of every relation that leaves its type,
    and edges of all relations arrive together.
    """
