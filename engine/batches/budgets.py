"""A batch of mini-batches whose layers are drawn by budgets, as HGT sampling has them (Hu et al., WWW 2020).

A vertex that enters a mini-batch gives each neighbor 1/d for each of the d edges of its row of a relation: a neighbor's
budget is the sum of what it was given. A layer draws vertices of each type one after the other, in proportion to the
squares of their budgets as they were at the layer's start, and these then enter together. At the end, all edges among
the vertices of a mini-batch are kept. In time, rows have only the edges before the time of the seeds, and d is the
number of these.

Budgets decide what is drawn, so they are sums of integers, which are the same in any order and on every device. A share
1/d is q 2^-UNIT_BITS + r 2^-(UNIT_BITS + REST_BITS), rounded down, so that it is off by less than d 2^-71 of itself:
2^-51 for d of a million. The square of a budget is computed from both integers in 64-bit floats, whose rounding adds
less than 2^-50 of it. Nothing else is rounded.

The number of a vertex at a layer is drawn at the address of the vertex itself: see engine/draws/addresses.py.
"""

from types import ModuleType
from typing import NamedTuple

import numpy as np

from csaw.engine.batches.in_time import MiniBatchesInTime
from csaw.engine.batches.layers import early
from csaw.engine.batches.minibatches import MiniBatches
from csaw.engine.batches.traversals import begins, fresh, in_pieces
from csaw.engine.plan.by_relation import sizes_of_types
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.footprint import LISTED_EDGES
from csaw.engine.schedule.backend import Backend
from csaw.partition.base.flags import set_count
from csaw.partition.errors import BudgetError

UNIT_BITS, REST_BITS = 40, 31
UNITS = 1 << UNIT_BITS
MOST_ROWS = 1 << 62 - UNIT_BITS  # of a mini-batch, each of which gives a neighbor 1 at most
MOST_EDGES = 1 << 32  # of a row
BUDGET_BYTES = 100  # of a vertex with a budget, while more are added
FOUND_BYTES = 120  # of an edge of a mini-batch, while they are put in order
NUMBER_BITS, LAYER_BITS = 31, 16  # of a vertex and a layer in the address of a random number


class Budget(NamedTuple):
    """Vertices of mini-batches, ascending, with what they were given."""

    key: Array
    """int64 [n]: instance * vertices of the graph + vertex."""
    units: Array
    """int64 [n]: in 2^-UNIT_BITS."""
    rest: Array
    """int64 [n]: in 2^-REST_BITS of a unit, below one unit."""

    def kept(self, at: Array) -> "Budget":
        """The vertices with these numbers, in order."""
        return Budget(self.key[at], self.units[at], self.rest[at])

    @property
    def squares(self) -> Array:
        """float64 [n]: the squares of budgets, in proportion to which vertices are drawn."""
        value = self.units.astype(np.float64) + self.rest.astype(np.float64) * 2.0**-REST_BITS
        found: Array = value * value
        return found


def shares(degree: Array) -> tuple[Array, Array]:
    """int64 [n] units and rests of 1 / ``degree``, which is at least 1."""
    units = UNITS // degree
    return units, (UNITS - units * degree << REST_BITS) // degree


def added_up(xp: ModuleType, given: Budget) -> Budget:
    """Add up the shares ``given`` to vertices, in any order and several times each."""
    order = xp.argsort(given.key, kind="stable")
    key = given.key[order]
    first = xp.flatnonzero(fresh(xp, key))
    ends, zero = xp.append(first, key.size), xp.zeros(1, np.int64)
    units, rest = (
        xp.diff(xp.concatenate([zero, xp.cumsum(of[order])])[ends])  # sums may overflow; their differences are right
        for of in (given.units, given.rest)
    )
    return Budget(key[first], units + (rest >> REST_BITS), rest & (1 << REST_BITS) - 1)


class Budgets(MiniBatches):
    """The mini-batches from number ``first`` on; ``sources`` as for MiniBatches.

    At each depth, entries of the frontier are rows: those of the relations that leave the type of a vertex that is new
    in its mini-batch, and after the last layer of all vertices of mini-batches.
    """

    def __init__(self, backend: Backend, first: int, sources: np.ndarray) -> None:
        xp, rows, store = backend.xp, backend.store.relation_rows, backend.store
        if store.max_degree >= MOST_EDGES:
            raise BudgetError(
                f"{store.path}: a vertex has {store.max_degree:,} edges, and its budget can be divided among at most "
                f"{MOST_EDGES - 1:,}"
            )
        self.rows = rows
        self.shifts = xp.asarray(np.array([[0, store.vertices, 0]]) if rows is None else rows.shifts)
        self.bases = xp.asarray(np.zeros(1, np.int64) if rows is None else rows.bases)
        self.numbers = sizes_of_types(backend.algorithm)
        self.budget = Budget(*(xp.zeros(0, np.int64) for _ in Budget._fields))
        self.parts: list[tuple[Array, ...]] = []  # entry, member, number, in time also time of edges that are kept
        super().__init__(backend, first, sources)
        self.sizes = (*self.sizes, -1)

    # Rows

    def _enter(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        """Begin the next depth with these vertices, which are new; the first one with the seeds, each once."""
        if self.depth < 0:
            local, vertex = self.known // self.vertices, self.known % self.vertices
        self.depth += 1
        self.frontier = local.size
        self._read(local, vertex)

    def _read(self, local: Array, vertex: Array) -> None:
        """Make the rows of these vertices of instances the entries of the frontier."""
        xp, (low, high, shift) = self.xp, self.shifts.T
        self.node, relation = xp.nonzero((vertex[:, None] >= low) & (vertex[:, None] < high))
        self.local, self.vertex = local[self.node], vertex[self.node] + shift[relation]
        self.degree = self.capacity = self.backend.graph.degrees(self.vertex)
        self.pending = xp.flatnonzero(self.degree)
        if self.backend.streamed:
            self.backend.partitions.leave()

    def _is_over(self) -> bool:
        return False  # vertices with budgets are drawn without a frontier, too

    def _select(self, entries: Array) -> None:
        for some in in_pieces(self.xp, self.degree[entries], LISTED_EDGES):
            if self._ends:
                self.parts.append(self._members(entries[some]))
                self.backend.claim(FOUND_BYTES * sum(part[0].size for part in self.parts))
            else:
                self._give(entries[some])

    @property
    def _ends(self) -> bool:
        """Whether all layers are drawn."""
        return self.depth + 1 == len(self.sizes)

    def _listed(self, entries: Array) -> tuple[Array, Array, Array]:
        """The entry of each edge of these entries, its place in the row, and the key of the vertex that it leads to."""
        xp, degree = self.xp, self.degree[entries]
        start = xp.cumsum(degree) - degree
        out = xp.empty(int(degree.sum()), self.dtype)
        self.backend.list_rows(self.vertex[entries], start, xp.flatnonzero(degree), out)
        row = xp.repeat(xp.arange(entries.size), degree)
        entry = entries[row]
        return entry, xp.arange(out.size) - start[row], self.local[entry] * self.vertices + out.astype(np.int64)

    # Layers

    def _give(self, entries: Array) -> None:
        """Add what the rows of these entries give to the budgets of vertices that are not in their mini-batch yet."""
        xp, budget, (entry, _, key) = self.xp, self.budget, self._listed(entries)
        given = added_up(xp, Budget(key, *shares(self._lengths()[entry])))
        self.backend.claim(BUDGET_BYTES * (given.key.size + budget.key.size))
        given = given.kept(xp.flatnonzero(self.known[self._place(given.key)] != given.key))
        both = (xp.concatenate(pair) for pair in zip(budget, given, strict=True))
        self.budget = added_up(xp, Budget(*both)) if budget.key.size else given

    def _place(self, key: Array) -> Array:
        """The numbers among known vertices that these keys have, if they are known."""
        found: Array = self.xp.minimum(self.xp.searchsorted(self.known, key), self.known.size - 1)
        return found

    def _lengths(self) -> Array:
        """int64 [entries]: the edges of each row, as far as rows were listed."""
        return self.degree

    def _next_depth(self) -> None:
        if self._ends:
            return self._keep()
        totals = self.xp.zeros(self.frontier, np.int64)
        self.xp.add.at(totals, self.node, self._lengths())
        self.dead += set_count(self.xp, totals == 0)
        xp, (local, vertex) = self.xp, self._drawn()
        self._number(local * self.vertices + vertex, local)
        self._check_rows()
        self.nodes.append((local, vertex, xp.zeros(local.size, np.int64)))
        if self.depth + 2 < len(self.sizes):
            return self._enter(local, local, vertex, vertex)
        self.depth += 1
        self.order = xp.lexsort((self.known_node, self.known // self.vertices))
        key = self.known[self.order]
        return self._read(key // self.vertices, key % self.vertices)

    def _drawn(self) -> tuple[Array, Array]:
        """The vertices that this layer draws, and their instances: one after the other, type by type, in the order in
        which they were drawn. They leave the budgets.
        """
        xp, types, budget = self.xp, len(self.numbers[0]), self.budget
        sizes = xp.asarray(self.numbers[self.depth])
        local, vertex = budget.key // self.vertices, budget.key % self.vertices
        kind = xp.searchsorted(self.bases, vertex, side="right") - 1
        able = xp.flatnonzero(sizes[kind] > 0)
        pool, rate = (local * types + kind)[able], budget.squares[able]
        times = self._race(local[able], vertex[able], rate)
        pools = self.instances * types
        count, total = xp.diff(begins(xp, pool, pools)), xp.zeros(pools, np.float64)
        xp.add.at(total, pool, rate)  # in any order: it only tells how many to look at
        size = xp.tile(sizes, self.instances)
        order = early(xp, pool, times, count, size, xp.where(count > 0, total, 1.0))
        order = order[xp.lexsort((times[order], pool[order]))]  # of equal times, the lower vertex
        of = pool[order]
        rank = xp.arange(of.size) - begins(xp, of, pools)[of]
        chosen = able[order[xp.flatnonzero(rank < size[of])]]
        left = xp.ones(budget.key.size, bool)
        left[chosen] = False
        self.budget = budget.kept(xp.flatnonzero(left))
        return local[chosen], vertex[chosen]

    def _race(self, local: Array, vertex: Array, rate: Array) -> Array:
        """float64 [n]: when vertices of instances arrive, at exponential times of these rates."""
        ids = vertex if self.rows is None else self.rows.in_graph(self.xp, vertex).astype(np.int64)
        slot = (ids >> NUMBER_BITS << LAYER_BITS) + self.depth
        return self.backend.race_numbers(local + self.first, slot, ids & (1 << NUMBER_BITS) - 1, rate)

    def _check_rows(self) -> None:
        """BudgetError if a mini-batch has more rows than budgets can be added up of."""
        most = int(self.node_counts.max()) if self.instances else 0
        if most * len(self.shifts) >= MOST_ROWS:
            raise BudgetError(
                f"a mini-batch has {most:,} vertices, and at most {(MOST_ROWS - 1) // len(self.shifts):,} can add to "
                "budgets; lower --seeds-per-batch or --num-samples"
            )

    # Edges among all vertices

    def _members(self, entries: Array) -> tuple[Array, ...]:
        """The edges from these entries to vertices of the same mini-batch: the entry, the number of the neighbor among
        known vertices, and the number of each edge; in time, also its time.
        """
        xp, (entry, place, key) = self.xp, self._listed(entries)
        at = self._place(key)
        kept = xp.flatnonzero(self.known[at] == key)
        rows = self.vertex[entries] if xp is np else self.vertex[entries].get()
        begin, row = xp.asarray(self.backend.row_begins[rows]), xp.searchsorted(entries, entry[kept])
        return entry[kept], at[kept], begin[row] + place[kept]

    def _keep(self) -> None:
        """Put the edges in order, by the layer at which both ends are there."""
        xp, none = self.xp, (self.xp.zeros(0, np.int64),) * (3 + self.backend.needs.timed)
        entry, at, edge, *times = (xp.concatenate(column) for column in zip(*(self.parts or [none]), strict=True))
        self.parts = []
        if self.backend.streamed or times:  # rows came to memory in another order, or have that of time
            order = xp.lexsort((edge, entry))
            entry, at, edge, *times = (column[order] for column in (entry, at, edge, *times))
        own, layers = self.order[self.node[entry]], self._layers()
        columns = self.local[entry], self.known_node[at], self.known_node[own], edge
        later = xp.maximum(layers[at], layers[own])
        self.sizes = self.sizes[:-1]
        for number in range(len(self.sizes)):
            here = xp.flatnonzero(xp.maximum(later - 1, 0) == number)
            self.drawn.append(tuple(column[here] for column in columns))
            self._keep_times(*(column[here] for column in times))

    def _keep_times(self, *times: Array) -> None:
        """Keep the times of the edges of a layer, of mini-batches in time."""

    def _layers(self) -> Array:
        """int64 [known]: the layer at which each known vertex was drawn, 0 for seeds."""
        xp = self.xp
        key = xp.concatenate([local * self.vertices + vertex for local, vertex, _ in self.nodes])
        layer = xp.repeat(xp.arange(len(self.nodes)), xp.asarray(np.array([one[0].size for one in self.nodes])))
        order = xp.argsort(key, kind="stable")
        found: Array = layer[order[fresh(xp, key[order])]]
        return found


class BudgetsInTime(Budgets, MiniBatchesInTime):
    """The mini-batches from number ``first`` on by the edges before the time of their seeds, one for each mini-batch;
    ``sources`` as for MiniBatchesInTime.

    ``found`` int64 [entries]: the edges of each row until that time.
    """

    def _read(self, local: Array, vertex: Array) -> None:
        super()._read(local, vertex)
        zero = self.xp.zeros_like(self.vertex)
        self.owner = zero  # all seeds of a mini-batch have the time of the first
        self._hold(self.local, zero, self.vertex, zero - 1)
        self.start, self.found, self.keys = zero.copy(), zero.copy(), self.xp.zeros(0)

    def _lengths(self) -> Array:
        return self.found

    def _listed(self, entries: Array) -> tuple[Array, Array, Array]:
        """The same as in Budgets, of the edges before the time of each; ``cell`` places ``edge`` and ``time``."""
        xp, degree = self.xp, self.degree[entries]
        start = xp.cumsum(degree) - degree
        self.start[entries] = start
        total = int(degree.sum())
        self.out, self.edge = xp.empty(total, self.dtype), xp.empty(total, np.int64)
        self.time = xp.empty(total, np.int64)
        self.backend.select_in_time(self, entries)  # all that each may select: as many as its row has
        many = self.found[entries]
        row = xp.repeat(xp.arange(entries.size), many)
        cell = xp.arange(row.size) - (xp.cumsum(many) - many)[row] + start[row]
        entry = entries[row]
        return entry, cell, self.local[entry] * self.vertices + self.out[cell].astype(np.int64)

    def _members(self, entries: Array) -> tuple[Array, ...]:
        entry, cell, key = self._listed(entries)
        at = self._place(key)
        kept = self.xp.flatnonzero(self.known[at] == key)
        return entry[kept], at[kept], self.edge[cell[kept]], self.time[cell[kept]]

    def _keep_times(self, *times: Array) -> None:
        self.drawn_times.extend(times)
