"""The rows and the vertices of a graph of relations: see staged.py.

For each type, in order, there is a block of rows for each relation that leaves it, or one without edges. A vertex has
the number of its row in the first block of its type; its row of another relation is so many blocks further on.
"""

from dataclasses import dataclass
from types import ModuleType
from typing import Self

import numpy as np

from csaw.partition.graph.types import Types


@dataclass(frozen=True)
class RelationRows:
    """How a graph of relations is numbered.

    Attributes:
        bases: the number of the first vertex of each type.
        firsts: the same in the graph itself; V at the end.
        shifts: int64 [relations, 3] of each relation: the first vertex that it leaves, the one after the last, and what
            is to be added to a vertex for the number of its row.
        ends: the types of source and target of each relation, int64 [relations, 2].
        order: the relations in the order of their blocks, and so of their edges.
        edges: where the edges of these begin, and E at the end.
        id_dtype: of the vertices of the graph itself.
    """

    bases: np.ndarray
    firsts: np.ndarray
    shifts: np.ndarray
    ends: np.ndarray
    order: np.ndarray
    edges: np.ndarray
    id_dtype: np.dtype

    @classmethod
    def of(cls, types: Types, id_dtype: np.dtype) -> Self:
        """The numbers for a graph of these types."""
        ends, firsts = types.ends(), np.array(types.bounds, np.int64)
        sizes = np.diff(firsts)
        leaving = np.bincount(ends[:, 0], minlength=sizes.size)
        bases = np.cumsum(np.append(0, sizes * np.maximum(leaving, 1)))[:-1]
        shifts = np.zeros((len(ends), 3), np.int64)
        for relation, source in enumerate(ends[:, 0].tolist()):
            before = int((ends[:relation, 0] == source).sum())
            shifts[relation] = bases[source], bases[source] + sizes[source], before * sizes[source]
        order = np.lexsort((np.arange(len(ends)), ends[:, 0]))
        edges = np.cumsum([0, *(types.edges[relation] for relation in order.tolist())])
        return cls(bases, firsts, shifts, ends, order, edges, np.dtype(id_dtype))

    def blocks(self, types: Types) -> list[tuple[int | None, int, int, int]]:
        """Of each block its relation, None without one, the first of its vertices in the graph itself, the one after
        the last, and what is to be added to the ends of its edges.
        """
        found: list[tuple[int | None, int, int, int]] = []
        for kind in range(len(types.names)):
            span = int(self.firsts[kind]), int(self.firsts[kind + 1])
            leaving = np.flatnonzero(self.ends[:, 0] == kind).tolist()
            for relation in leaving:
                to = self.ends[relation, 1]
                found.append((relation, *span, int(self.bases[to] - self.firsts[to])))
            if not leaving:
                found.append((None, *span, 0))
        return found

    def picks(self, sizes: np.ndarray) -> np.ndarray:
        """Numbers by which kernels know each relation at each hop, int64 [hops, relations, 5]: its shifts; how many
        edges a node selects, ``sizes`` [hops, relations]; and how many of relations before it that leave the same type.
        """
        shifts = np.broadcast_to(self.shifts, (*sizes.shape, 3))
        parts = [shifts, sizes[:, :, None], self.offsets(sizes)[:, :, None]]
        return np.ascontiguousarray(np.concatenate(parts, axis=2))

    def offsets(self, sizes: np.ndarray) -> np.ndarray:
        """How many edges a vertex selects of relations before each that leave the same type; ``sizes`` and the result
        int64 [hops, relations].
        """
        found: np.ndarray = sizes @ np.triu(self._same_source, 1)
        return found

    def widest(self, sizes: np.ndarray) -> tuple[int, ...]:
        """The most edges of a node at each hop; ``sizes`` [hops, relations] from 0 on."""
        return tuple((sizes @ self._same_source).max(axis=1, initial=0).tolist())

    @property
    def _same_source(self) -> np.ndarray:
        """Whether two relations leave the same type, int64 [relations, relations]."""
        same: np.ndarray = self.ends[:, 0] == self.ends[:, :1]
        return same.astype(np.int64)

    def frontiers(self, sizes: np.ndarray, seeds: int, most: int) -> list[int]:
        """The most nodes of the frontier of each hop of a mini-batch of ``seeds`` seeds, at most ``most``.

        ``sizes`` int64 [hops, relations]: picks of each node, from 0 on.
        """
        kinds = np.arange(self.bases.size)
        of_types = np.diag(np.full(kinds.size, float(seeds)))  # nodes of each type, by the type of all seeds
        leads = (self.ends[:, 0] == kinds[:, None]).astype(float), (self.ends[:, 1] == kinds[:, None]).astype(float)
        widths = [seeds]
        for hop in sizes[:-1]:
            of_types = np.minimum(of_types @ (leads[0] * hop) @ leads[1].T, most)
            widths.append(int(min(of_types.sum(axis=1).max(initial=0), most)))
        return widths

    # Arrays below are those of `xp`, NumPy or CuPy.

    def numbered(self, xp: ModuleType, vertices: np.ndarray) -> np.ndarray:
        """The numbers of vertices of the graph itself; -1 stays."""
        kind = xp.searchsorted(xp.asarray(self.firsts), vertices, side="right") - 1
        moved = vertices + xp.asarray(self.bases - self.firsts[:-1])[xp.clip(kind, 0, self.bases.size - 1)]
        numbers: np.ndarray = xp.where(vertices < 0, vertices, moved)
        return numbers

    def in_graph(self, xp: ModuleType, numbers: np.ndarray) -> np.ndarray:
        """The vertices of the graph itself that have these numbers; the largest number of its type, which stands for
        none, becomes that of the graph's.
        """
        found = numbers.astype(np.int64)
        kind = xp.searchsorted(xp.asarray(self.bases), found, side="right") - 1
        vertices: np.ndarray = found - xp.asarray(self.bases - self.firsts[:-1])[kind]
        vertices[numbers == np.iinfo(numbers.dtype).max] = -1
        return vertices.astype(self.id_dtype)

    def relation_of(self, xp: ModuleType, edges: np.ndarray) -> np.ndarray:
        """The relations of edges of the graph of relations, uint8."""
        place = xp.searchsorted(xp.asarray(self.edges), edges, side="right") - 1
        relations: np.ndarray = xp.asarray(self.order.astype(np.uint8))[place]
        return relations
