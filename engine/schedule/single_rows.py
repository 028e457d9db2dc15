"""Single rows of a graph on disk, read one by one.

This pays where few instances need a partition and loading it would take longer.
"""

import sys
from collections.abc import Mapping
from typing import Generic, Protocol, TypeVar

import numpy as np

from csaw.engine.plan.contracts import Array, Store


class Readable(Protocol):
    """A streamed graph whose single rows can be read."""

    store: Store

    def can_read(self, vertices: Array) -> Array: ...


Held = TypeVar("Held", bound=Readable)


class SingleRows(Generic[Held]):
    """Rows of ``graph`` that are in memory beside its loaded partitions.

    Each backend has its own ``sizes``, ``bring`` and ``forget``.
    """

    most = sys.maxsize  # rows

    graph: Held

    def __init__(self, graph: Held) -> None:
        from csaw.partition.arrays.spans import SpanReader  # brings Numba, which a plan does without

        self.graph = graph
        self.vertices = np.zeros(0, np.int64)  # vertices whose rows are here, or are being read
        self.bytes = 0  # of memory that these rows take
        self.reader = SpanReader(graph.store.stored)
        self.first_vertex = np.array([p.first_vertex for p in graph.store.partitions], np.int64)
        self.first_edge = np.array([p.first_edge for p in graph.store.stored.partitions], np.int64)

    def sizes(self, vertices: np.ndarray) -> np.ndarray:
        """Bytes of memory that the row of each of ``vertices`` takes."""
        raise NotImplementedError

    def bring(self, vertices: np.ndarray) -> None:
        """Read the rows of ``vertices``, the last ones noted, and make kernels find them."""
        raise NotImplementedError

    def forget(self) -> None:
        """Make kernels find no single row any more, and free the memory of the rows."""
        raise NotImplementedError

    def can_read(self, vertices: np.ndarray) -> np.ndarray:
        """Whether the row of each of ``vertices`` is in memory, by itself or with its partition: bool, of the shape of
        ``vertices``.
        """
        return self.graph.can_read(vertices)

    def room_for(self, wanted: tuple[np.ndarray, ...]) -> float:
        """Bytes of memory that the missing rows of ``wanted`` would take."""
        return float(self.sizes(self._missing(wanted)).sum())

    def read(self, wanted: tuple[np.ndarray, ...], room: float) -> bool:
        """Read the missing rows of ``wanted`` until ``room`` bytes are full.

        The rows that one instance needs come together.

        False: not even the first ones fit.
        """
        vertices = self._missing(wanted)
        sizes = self.sizes(vertices)
        if self.bytes + sizes.sum() > room or self.vertices.size + vertices.size > self.most:
            self.drop()
            vertices = self._missing(wanted)
            sizes = self.sizes(vertices)
        upto = sizes.cumsum()
        count = min(int(np.searchsorted(upto, room, side="right")), self.most)
        if count < min(vertices.size, len(wanted)):
            return False
        if count:
            self.vertices = np.append(self.vertices, vertices[:count])
            self.bytes += int(upto[count - 1])
            try:
                self.bring(vertices[:count])
            except BaseException:
                self.drop()  # rows that are only half read must not be found
                raise
        return True

    def _missing(self, wanted: tuple[np.ndarray, ...]) -> np.ndarray:
        """The vertices of ``wanted`` whose rows are not in memory, those of the first instances first."""
        vertices, first = np.unique(np.stack(wanted, axis=1), return_index=True)
        vertices = vertices[np.argsort(first)]
        return vertices[~self.can_read(vertices)]

    def read_edges(
        self, begin: np.ndarray, count: np.ndarray, to: np.ndarray, arrays: Mapping[str, np.ndarray]
    ) -> None:
        """Read spans of edges from the store: ``count[i]`` edges from number ``begin[i]`` on, all of one row, into
        ``arrays``, by their names in the store, from place ``to[i]`` on.
        """
        number = np.searchsorted(self.first_edge, begin, side="right") - 1
        for name, array in arrays.items():
            self.reader.read(name, number, begin - self.first_edge[number], count, array, to)

    def partition_of(self, vertices: np.ndarray) -> np.ndarray:
        """The number of the partition that has the row of each of ``vertices``."""
        return np.searchsorted(self.first_vertex, vertices, side="right") - 1

    def drop(self) -> None:
        """Forget all single rows."""
        if self.vertices.size:
            self.forget()
            self.vertices, self.bytes = self.vertices[:0], 0

    def close(self) -> None:
        self.reader.close()
        vars(self).pop("graph", None)  # it refers to these rows; without the circle, its memory is freed at once
