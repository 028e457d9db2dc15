"""Views of a graph store, which copy no data. Those here have other partitions than those on disk: ranges of vertices,
whose edges are read from whatever stored partitions have them; windowed.py has a view of some of the edges.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np

from csaw.partition.arrays.words import Words
from csaw.partition.graph.attributes import Attributes
from csaw.partition.graph.cuts import cuts_of
from csaw.partition.graph.parts import Partition
from csaw.partition.graph.store import GraphStore

OFFSET_BYTES = 8


class View(GraphStore):
    """A graph with the vertices of ``store``, whose ids and clusters are read there."""

    def __init__(self, store: GraphStore, attributes: Attributes) -> None:
        super().__init__(store.path, attributes, store.checksums)
        self.store, self.id_dtype, self.clusters = store, store.id_dtype, store.clusters

    @property
    def is_plain(self) -> bool:
        return self.store.is_plain

    @property
    def unpack_bytes(self) -> int:
        return self.store.unpack_bytes

    def read_clusters(self) -> np.ndarray:
        return self.store.read_clusters()

    @property
    def id_bytes(self) -> int:
        return self.store.id_bytes

    def map_ids(self) -> None:
        self.store.map_ids()

    def stored_ids(self) -> np.ndarray | Words | None:
        return self.store.stored_ids()

    def dense_ids(self, originals: Iterable[int | str]) -> np.ndarray:
        return self.store.dense_ids(originals)


class Recut(View):
    """``store`` in partitions that begin at other vertices.

    ``begins``: first vertex and first edge of each partition, in order; the graph ends with the last one.
    """

    def __init__(self, store: GraphStore, begins: list[tuple[int, int]]) -> None:
        super().__init__(store, store.attributes)
        each = sum(self.edge_items.values())
        ends = [*begins[1:], (store.vertices, store.edges)]
        self.partitions = [
            Partition(number, vertex, last, edge, end - edge, OFFSET_BYTES * (last - vertex + 1) + each * (end - edge))
            for number, ((vertex, edge), (last, end)) in enumerate(zip(begins, ends, strict=True))
        ]
        self.first_edges = [part.first_edge for part in store.partitions]

    @property
    def stored(self) -> GraphStore:
        return self.store.stored

    def _spans(self, begin: int, count: int) -> Iterator[tuple[int, int, slice]]:
        """Edges begin .. begin + count - 1 of the graph in the store's partitions: (partition, its first edge wanted,
        the place of them among all wanted).
        """
        at, number = begin, max(bisect_right(self.first_edges, begin) - 1, 0)
        while at < begin + count:
            part = self.store.partitions[number]
            end = min(part.first_edge + part.edges, begin + count)
            if at < end:
                yield number, at - part.first_edge, slice(at - begin, end - begin)
            at, number = max(at, end), number + 1

    def read_indptr(self) -> np.ndarray:
        return self.store.read_indptr()

    def read_offsets(self, number: int, out: np.ndarray | None = None) -> np.ndarray:
        part = self.partitions[number]
        offsets = np.zeros(part.last_vertex - part.first_vertex + 1, np.int64) if out is None else out
        for one in self.store.partitions:
            low, high = max(one.first_vertex, part.first_vertex), min(one.last_vertex, part.last_vertex)
            if low < high:
                rows = self.store.read_offsets(one.number)[low - one.first_vertex : high - one.first_vertex + 1]
                offsets[low - part.first_vertex : high - part.first_vertex + 1] = (
                    rows + one.first_edge - part.first_edge
                )
        return offsets

    def read_edges(self, number: int, arrays: Mapping[str, np.ndarray], first: int = 0) -> None:
        count = next((array.size for array in arrays.values()), 0)
        for part, edge, span in self._spans(self.partitions[number].first_edge + first, count):
            self.store.read_edges(part, {name: array[span] for name, array in arrays.items()}, edge)

    def read_ahead(self, number: int, names: Collection[str], first: int = 0, count: int | None = None) -> None:
        part = self.partitions[number]
        for at, edge, span in self._spans(part.first_edge + first, part.edges if count is None else count):
            self.store.read_ahead(at, names, edge, span.stop - span.start)


class Split(Recut):
    """``store`` with each partition of more than ``edges`` edges cut into pieces of at most that many, about equal
    ones, so that any memory has room for some; a row is never cut.
    """

    def __init__(self, store: GraphStore, edges: int) -> None:
        begins: list[tuple[int, int]] = []
        for part in store.partitions:
            cuts, offsets = [0], np.zeros(1, np.int64)
            if part.edges > edges:
                offsets = store.read_offsets(part.number)
                cuts = cuts_of(offsets, edges)
            begins += [(part.first_vertex + cut, part.first_edge + int(offsets[cut])) for cut in cuts]
        super().__init__(store, begins)


class Coalesced(Recut):
    """``store`` with neighboring partitions merged into at most ``count``, of about equal edges, so that each transfer
    is worth its start.
    """

    def __init__(self, store: GraphStore, count: int) -> None:
        firsts = np.array([p.first_edge for p in store.partitions] + [store.edges])
        cuts = np.searchsorted(firsts, np.linspace(0, store.edges, count + 1)[1:-1])
        cuts = np.unique([0, *np.clip(cuts, 1, None)])
        begins = [store.partitions[k] for k in cuts.tolist() if k < len(store.partitions)]
        super().__init__(store, [(part.first_vertex, part.first_edge) for part in begins])
