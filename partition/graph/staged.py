"""Graphs whose vertices stand for those of a graph of several types, as views: their rows have edges of one relation.

A graph of stages is for metapaths. A stage is a place in a metapath, and the graph has a vertex for each vertex of the
type of each stage, with the edges of the relation that leads to the next stage. A walk along the metapath is any walk
on this graph: its rows have only neighbors that may be next, so that a step costs what it costs on a graph of one type.

A graph of relations is for samples that draw from each relation by itself. It has a row for each vertex and each
relation that leaves its type.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from csaw.partition.arrays.loader import StoredArray
from csaw.partition.graph.attributes import TYPED, Attributes
from csaw.partition.graph.edge_columns import TIME
from csaw.partition.graph.relation_rows import RelationRows
from csaw.partition.graph.stages import Stages
from csaw.partition.graph.store import INDICES, GraphStore
from csaw.partition.graph.views import OFFSET_BYTES, OfRelation, RowsInMemory


class Block(NamedTuple):
    """Rows of the vertices first .. last - 1 of a graph, with the edges of a relation of this number, or with none.
    ``away`` is to be added to the ends of edges.
    """

    relation: int | None
    first: int
    last: int
    away: int


class Place(NamedTuple):
    """Where the edges of a partition are: in a partition of a view, from number ``first`` on. ``away`` is to be added
    to their ends.
    """

    view: OfRelation
    part: int
    first: int
    away: int


class InBlocks(RowsInMemory):
    """The rows of ``blocks`` of ``store``, block after block."""

    def __init__(self, store: GraphStore, blocks: Sequence[Block], in_time: bool = False) -> None:
        """``in_time``: with the times of its edges, if they have any."""
        self.views: dict[int, OfRelation] = {}
        last = {block.relation: number for number, block in enumerate(blocks)}
        bases = np.cumsum([0, *(block.last - block.first for block in blocks)]).tolist()
        self._indptr = np.zeros(bases[-1] + 1, np.int64)
        self.places: list[Place] = []
        rows: list[list[int]] = []
        for number, (block, base) in enumerate(zip(blocks, bases, strict=False)):
            if block.relation is not None and block.relation not in self.views:
                self.views[block.relation] = OfRelation(store, block.relation)
            self._add(block, base, rows)
            if block.relation is not None and last[block.relation] == number:
                self.views[block.relation].release_offsets()
        if not rows and self.views:  # nothing has the type of any source
            rows.append([0, bases[-1], 0, 0, OFFSET_BYTES * (bases[-1] + 1)])
            self.places.append(Place(next(iter(self.views.values())), 0, 0, 0))
        super().__init__(store, _attributes(store, self.indptr, rows, in_time))
        self.in_memory, self.clusters = store.in_memory, None
        self.id_dtype = np.dtype(np.uint32 if self.vertices < 2**32 else np.uint64)

    def _add(self, block: Block, base: int, rows: list[list[int]]) -> None:
        """Add the rows of a block, a partition for each that the view of its relation has of them; rows without edges
        belong to the partition before them.
        """
        end = base + block.last - block.first
        self.indptr[base : end + 1] = self.indptr[base]
        if block.relation is not None:
            view = self.views[block.relation]
            each = sum(view.edge_items.values())
            for part in view.partitions:
                low, high = max(part.first_vertex, block.first), min(part.last_vertex, block.last)
                if low >= high:
                    continue
                to, begin = base - block.first, int(view.indptr[low])
                edges, before = int(view.indptr[high]) - begin, int(self.indptr[low + to])
                self.indptr[low + to : high + to + 1] = view.indptr[low : high + 1] - begin + before
                rows.append([low + to, high + to, before, edges, OFFSET_BYTES * (high - low + 1) + each * edges])
                self.places.append(Place(view, part.number, begin - part.first_edge, block.away))
        if rows:
            rows[0][0], rows[-1][1] = 0, end

    @property
    def indptr(self) -> np.ndarray:
        return self._indptr

    def _read_rows(self, number: int, arrays: Mapping[str, np.ndarray], first: int) -> None:
        place, out = self.places[number], arrays.get(INDICES)
        read = dict(arrays)
        if out is not None and out.dtype != place.view.id_dtype:
            read[INDICES] = np.empty(out.size, place.view.id_dtype)
        place.view.read_edges(place.part, read, place.first + first)
        if out is not None:
            found = read[INDICES].astype(out.dtype, copy=False)
            np.add(found, np.array(place.away).astype(out.dtype), out=out)  # a negative one wraps, and so does the sum

    def opened(self, number: int, name: str) -> StoredArray:
        return self.places[number].view.opened(self.places[number].part, name)


class Staged(InBlocks):
    """The graph of the stages of a metapath on ``store``: of the relations of these numbers in turn, ``cyclic`` if the
    last leads back to the first.
    """

    def __init__(self, store: GraphStore, numbers: Sequence[int], cyclic: bool) -> None:
        assert store.types is not None
        relations = [store.types.relations[number] for number in numbers]
        names = [one.source for one in relations] + ([] if cyclic else [relations[-1].target])
        stages = Stages.of([store.types.span(name) for name in names], cyclic, store.id_dtype)
        spans, blocks = [store.types.span(name) for name in names], list[Block]()
        for stage, (first, last) in enumerate(spans):
            to = (stage + 1) % len(names)
            leads = stage < len(numbers)
            blocks.append(Block(numbers[stage] if leads else None, first, last, stages.bases[to] - stages.firsts[to]))
        super().__init__(store, blocks)
        self.stages = stages


class RelationGraph(InBlocks):
    """The graph of the relations of ``store``: see relation_rows.py for how its rows and vertices are numbered."""

    def __init__(self, store: GraphStore) -> None:
        assert store.types is not None
        rows = RelationRows.of(store.types, store.id_dtype)
        super().__init__(store, [Block(*block) for block in rows.blocks(store.types)], in_time=True)
        self.relation_rows = rows

    @cached_property
    def stored_edges(self) -> np.ndarray:
        """The number in the store of each edge of this graph, uint32 or int64: 4 or 8 bytes an edge, found by a pass
        over the relations of all edges.
        """
        found = np.empty(self.edges, np.uint32 if self.store.edges < 2**32 else np.int64)
        for part, place in zip(self.partitions, self.places, strict=True):
            here = found[part.first_edge : part.first_edge + part.edges]
            here[:] = place.view.kept_edges(place.part, place.first, part.edges)
        return found


def _attributes(store: GraphStore, indptr: np.ndarray, rows: list[list[int]], in_time: bool) -> Attributes:
    """The attributes of a graph of blocks, whose edges have weights, in time also their times, and nothing else."""
    said = store.attributes.copy()
    columns = [one for one in said.get("edge_columns", []) if one["name"] == TIME.name]
    for name in (TYPED, "edge_columns", "time_ordered", "edge_ids", "clusters"):
        said.pop(name, None)  # type: ignore[misc]
    if in_time and store.time is not None:
        said["edge_columns"], said["time_ordered"] = columns, True
    said["vertices"], said["edges"], said["partitions"] = indptr.size - 1, int(indptr[-1]), rows
    said["max_degree"], said["directed"], said["report"] = int(np.diff(indptr).max(initial=0)), True, {}
    return said
