"""The graph of the stages of a metapath, as a view.

A stage is a place in a metapath. The graph of the stages has a vertex for each vertex of the type of each stage, with
the edges of the relation that leads to the next stage. A walk along the metapath is any walk on this graph: its rows
have only neighbors that may be next, so that a step costs what it costs on a graph of one type.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from csaw.partition.arrays.loader import StoredArray
from csaw.partition.graph.attributes import TYPED, Attributes
from csaw.partition.graph.stages import Stages
from csaw.partition.graph.store import INDICES, GraphStore
from csaw.partition.graph.views import OFFSET_BYTES, OfRelation, RowsInMemory


class Place(NamedTuple):
    """Where the edges of a partition are: in a partition of a view, from number ``first`` on. ``away`` is to be added
    to their ends.
    """

    view: OfRelation
    part: int
    first: int
    away: int


class Staged(RowsInMemory):
    """The graph of the stages of a metapath on ``store``: of the relations of these numbers in turn, ``cyclic`` if the
    last leads back to the first.
    """

    def __init__(self, store: GraphStore, numbers: Sequence[int], cyclic: bool) -> None:
        assert store.types is not None
        relations = [store.types.relations[number] for number in numbers]
        names = [one.source for one in relations] + ([] if cyclic else [relations[-1].target])
        stages = Stages.of([store.types.span(name) for name in names], cyclic, store.id_dtype)
        views = {number: OfRelation(store, number) for number in set(numbers)}
        self._indptr = np.zeros(stages.bases[-1] + 1, np.int64)
        self.places: list[Place] = []
        rows: list[list[int]] = []
        for stage, number in enumerate(numbers):
            self._add(views[number], stage, stages, rows)
        self.indptr[stages.bases[len(numbers)] :] = self.indptr[rows[-1][1]]  # the last stage has no edges
        rows[-1][1] = stages.bases[-1]
        super().__init__(store, _attributes(store, self.indptr, rows))
        self.in_memory, self.clusters, self.stages = store.in_memory, None, stages
        self.id_dtype = np.dtype(np.uint32 if self.vertices < 2**32 else np.uint64)

    def _add(self, view: OfRelation, stage: int, stages: Stages, rows: list[list[int]]) -> None:
        """Add the rows of a stage, a partition for each that ``view`` has of them."""
        first, base = stages.firsts[stage], stages.bases[stage]
        last = first + stages.bases[stage + 1] - base
        to = (stage + 1) % len(stages.firsts)
        each = sum(view.edge_items.values())
        for part in view.partitions:
            low, high = max(part.first_vertex, first), min(part.last_vertex, last)
            if low >= high:
                continue
            begin, before = int(view.indptr[low]), int(self.indptr[low - first + base])
            edges = int(view.indptr[high]) - begin
            self.indptr[low - first + base : high - first + base + 1] = view.indptr[low : high + 1] - begin + before
            nbytes = OFFSET_BYTES * (high - low + 1) + each * edges
            rows.append([low - first + base, high - first + base, before, edges, nbytes])
            self.places.append(Place(view, part.number, begin - part.first_edge, stages.bases[to] - stages.firsts[to]))

    @property
    def indptr(self) -> np.ndarray:
        return self._indptr

    def read_edges(self, number: int, arrays: Mapping[str, np.ndarray], first: int = 0) -> None:
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


def _attributes(store: GraphStore, indptr: np.ndarray, rows: list[list[int]]) -> Attributes:
    """The attributes of the graph of the stages, whose edges have weights and nothing else."""
    said = store.attributes.copy()
    for name in (TYPED, "edge_columns", "time_ordered", "edge_ids", "clusters"):
        said.pop(name, None)  # type: ignore[misc]
    said["vertices"], said["edges"], said["partitions"] = indptr.size - 1, int(indptr[-1]), rows
    said["max_degree"], said["directed"], said["report"] = int(np.diff(indptr).max(initial=0)), True, {}
    return said
