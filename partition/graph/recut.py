"""A view of a graph store with other partitions than those on disk: ranges of vertices, whose edges are read from whatever stored partitions have them."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import numpy as np

from csaw.partition.arrays.words import Words
from csaw.partition.graph.store import WEIGHT_BYTES, GraphStore, Partition

OFFSET_BYTES = 8


class Recut(GraphStore):
    """``store`` in partitions that begin at other vertices. No data are copied.

    ``begins``: first vertex and first edge of each partition, in order; the graph ends with the last one.
    """

    def __init__(self, store: GraphStore, begins: list[tuple[int, int]]) -> None:
        super().__init__(store.path, store.attributes, store.checksums)
        self.store, self.id_dtype = store, store.id_dtype
        each = self.id_dtype.itemsize + (WEIGHT_BYTES if store.weighted else 0)
        ends = [*begins[1:], (store.vertices, store.edges)]
        self.partitions = [
            Partition(number, vertex, last, edge, end - edge, OFFSET_BYTES * (last - vertex + 1) + each * (end - edge))
            for number, ((vertex, edge), (last, end)) in enumerate(zip(begins, ends, strict=True))
        ]
        self.first_edges = [part.first_edge for part in store.partitions]

    @property
    def stored(self) -> GraphStore:
        return self.store.stored

    @property
    def is_plain(self) -> bool:  # type: ignore[override]
        return self.store.is_plain

    def _spans(self, begin: int, count: int) -> Iterator[tuple[int, int, slice]]:
        """Edges begin .. begin + count - 1 of the graph in the store's partitions: (partition, its first edge wanted, the place of them among all wanted)."""
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

    def read_part(
        self, number: int, first: int, indices_out: np.ndarray, weights_out: np.ndarray | None = None
    ) -> None:
        for part, edge, span in self._spans(self.partitions[number].first_edge + first, indices_out.size):
            self.store.read_part(part, edge, indices_out[span], None if weights_out is None else weights_out[span])

    def read_ahead(self, number: int, weights: bool, first: int = 0, count: int | None = None) -> None:
        part = self.partitions[number]
        for at, edge, span in self._spans(part.first_edge + first, part.edges if count is None else count):
            self.store.read_ahead(at, weights, edge, span.stop - span.start)

    @property
    def unpack_bytes(self) -> int:
        return self.store.unpack_bytes

    @property
    def id_bytes(self) -> int:
        return self.store.id_bytes

    def map_ids(self) -> None:
        self.store.map_ids()

    def stored_ids(self) -> np.ndarray | Words | None:
        return self.store.stored_ids()

    def dense_ids(self, originals: Any) -> np.ndarray:
        return self.store.dense_ids(originals)
