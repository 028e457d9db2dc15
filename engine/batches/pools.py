"""A batch of traversals in which each instance picks uniformly, without replacement, from one pool: the edges of all
its frontier vertices.

The edges of a pool are numbered, frontier entry after frontier entry in the order of their rows, so that a number
stands for an edge before any row is read. Numbers are drawn, and the first ``size`` different ones whose edges may be
selected are the sample, whatever the order in which rows are read. If a pool is small, or ``tries`` numbers did not
suffice, its edges are listed and ``size`` of the list are drawn. In both cases all subsets are equally likely, because
no draw depends on which edge a number stands for.
"""

import numpy as np

from csaw.engine.batches.ordered import begins, fresh
from csaw.engine.batches.traversals import Traversals
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.selection import tries
from csaw.engine.schedule.backend import Backend
from csaw.engine.schedule.flags import set_count


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
