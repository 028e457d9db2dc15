"""Batches of a graph of relations, see partition/graph/relation_rows.py: each vertex of a frontier selects from every
relation that leaves its type.

A vertex is an entry of the frontier for each of these relations, whose slot is that of the vertex times the number of
relations, and the relation.
"""

import numpy as np

from csaw.engine.batches.minibatches import MiniBatches, check_nodes
from csaw.engine.batches.traversals import Traversals, distinct
from csaw.engine.plan.by_relation import sizes_of_relations
from csaw.engine.plan.contracts import Array
from csaw.engine.samples.layouts.hops import relation_names
from csaw.engine.schedule.backend import Backend
from csaw.partition.graph.types import RELATION


class ByRelation(Traversals):
    """A batch of the instances from number ``first`` on.

    ``relation`` int64 [entries]: the relation that each entry of a frontier selects from. ``wanted``: how many edges.
    """

    def __init__(self, backend: Backend, first: int, sources: np.ndarray) -> None:
        rows = backend.store.relation_rows
        assert rows is not None
        self.shifts = backend.xp.asarray(rows.shifts)
        sizes = sizes_of_relations(backend.algorithm)
        self.fanouts, self.offsets = (backend.xp.asarray(one) for one in (sizes, rows.offsets(sizes)))
        super().__init__(backend, first, sources)

    def _enter(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        if self.depth + 1 == len(self.sizes):
            return super()._enter(local, slot, vertex, previous)
        sizes, (low, high, shift) = self.fanouts[self.depth + 1], self.shifts.T
        leaves = (vertex[:, None] >= low) & (vertex[:, None] < high) & (sizes != 0)
        place, self.relation = self.xp.nonzero(leaves)
        self.wanted = sizes[self.relation]
        self._divide(place, slot)
        slots, rows = slot[place] * len(shift) + self.relation, vertex[place] + shift[self.relation]
        return super()._enter(local[place], slots, rows, previous[place])

    def _divide(self, place: Array, slot: Array) -> None:
        """Keep what is known of the frontier's vertices, whose slots are these, for their entries."""
        raise NotImplementedError

    def _capacities(self, size: int) -> Array:
        xp = self.xp
        wanted = xp.where(self.wanted < 0, self.degree, self.wanted)
        return xp.where(self.degree > 0, wanted, 0) if self.rule.replace else xp.minimum(wanted, self.degree)


class MiniBatchesByRelation(ByRelation, MiniBatches):
    """Mini-batches whose nodes select from each relation by itself."""

    def _enter(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        if self.depth + 1 < len(self.sizes):
            check_nodes(int(self.node_counts.max()) if self.instances else 0, len(self.shifts))
        super()._enter(local, slot, vertex, previous)

    def _divide(self, place: Array, slot: Array) -> None:
        self.node, self.owner = slot[place], self.owner[place]

    def _nodes_of(self, entry: Array) -> Array:
        return self.node[entry]


class NeighborsByRelation(ByRelation):
    """Hops whose vertices select from each relation by itself: the cells of a vertex in the table of the next hop are
    those of one relation after the other, of those that leave its type.

    ``place`` int64 [entries]: the vertex that each entry is of, one of the ``parents`` of a hop.
    """

    def __init__(self, backend: Backend, first: int, sources: np.ndarray) -> None:
        self.relations: list[Array] = []  # of the cells of each hop
        super().__init__(backend, first, sources)

    def _divide(self, place: Array, slot: Array) -> None:
        self.place, self.parents = place, slot.size

    def _places_in_hop(self, size: int) -> tuple[Array, int]:
        return self.place * size + self.offsets[self.depth][self.relation], self.parents * size

    def _next_depth(self) -> None:
        entry, cell = self._found_cells()
        of_cells = self.xp.zeros(self.out.size, np.uint8)
        of_cells[cell] = self.relation[entry].astype(np.uint8)
        self.relations.append(of_cells)
        super()._next_depth()

    def _samples(self) -> dict[str, Array]:
        tables = (
            of_cells.reshape(table.shape) for of_cells, table in zip(self.relations, self.tables[1:], strict=True)
        )
        return super()._samples() | dict(zip(relation_names(self.tables), tables, strict=True))


class SubgraphsByRelation(ByRelation):
    """Subgraphs whose vertices select from each relation by itself, with the relation of each edge.

    ``place`` int64 [entries]: the vertex of the frontier that each entry is of.
    """

    def __init__(self, backend: Backend, first: int, sources: np.ndarray) -> None:
        self.relations: list[Array] = []  # of the edges of each depth
        super().__init__(backend, first, sources)

    def _divide(self, place: Array, slot: Array) -> None:
        self.place = place

    def _vertices_of(self, entry: Array) -> Array:
        """The same; also note the relations of these edges."""
        relation = self.relation[entry]
        self.relations.append(relation.astype(np.uint8))
        found: Array = self.vertex[entry] - self.shifts[relation, 2]
        return found

    def _samples(self) -> dict[str, Array]:
        xp = self.xp
        local = xp.concatenate([xp.zeros(0, np.int64), *(sampled[0] for sampled in self.sampled)])
        relations = xp.concatenate([xp.zeros(0, np.uint8), *self.relations])
        return super()._samples() | {RELATION.name: relations[xp.argsort(local, kind="stable")]}

    def _drop(self) -> None:
        super()._drop()
        if self.xp is np:
            self.relations, self.place = [], np.zeros(0, np.int64)


class SharedDrawsByRelation(SubgraphsByRelation):
    """Frontiers whose vertices select from each relation by itself, by random numbers that they share: a vertex keeps
    its edge to u if u's number of [0, 1) is below k / d, where it has d edges of the relation and its fanout is k.

    A vertex u has one number at a depth, whatever the relation, so that an instance meets as few vertices as such
    chances allow.
    """

    def _enter(self, local: Array, slot: Array, vertex: Array, previous: Array) -> None:
        """Begin the next depth with the frontier of these vertices, each once."""
        local, frontier = distinct(self.xp, local, vertex, self.backend.store.vertices)
        zero = self.xp.zeros(local.size, np.int64)
        super()._enter(local, zero, frontier, zero - 1)

    def _capacities(self, size: int) -> Array:
        return self.degree

    def _select(self, entries: Array) -> None:
        for size in np.unique(sizes_of_relations(self.algorithm)[self.depth]).tolist():
            some = entries[self.wanted[entries] == size]
            if some.size:
                self.backend.select_shared(self.instance, self.vertex, self.start, some, self.depth, size, self.out)

    def _next_depth(self) -> None:
        xp = self.xp
        cell = xp.flatnonzero(self.out != self.none)
        entry = xp.repeat(xp.arange(self.capacity.size), self.capacity)[cell]
        local, dst = self.local[entry], self.out[cell].astype(np.int64)
        self.sampled.append((local, self._vertices_of(entry), dst))
        none = xp.zeros(local.size, np.int64)
        self._enter(local, none, dst, none)
