"""Single rows of a graph on disk, read one by one where so few wait for them that whole partitions would take longer."""

import sys
from typing import Any

import numpy as np


class SingleRows:
    """Rows of ``graph`` that are in memory beside the partitions that are loaded. Backends say how: ``sizes``, ``bring``, ``forget``."""

    most = sys.maxsize  # rows

    def __init__(self, graph: Any) -> None:
        from csaw.partition.spans import SpanReader  # brings Numba, which a plan that asks for ROW_BYTES does without

        self.graph = graph
        self.vertices = np.zeros(0, np.int64)  # whose rows are here, or on their way
        self.bytes = 0  # of memory that they take
        self.names = ("indices", "weights") if graph.weighted else ("indices",)
        self.reader = SpanReader(graph.store.stored)
        self.first_vertex = np.array([p.first_vertex for p in graph.store.partitions], np.int64)
        self.first_edge = np.array([p.first_edge for p in graph.store.stored.partitions], np.int64)

    def sizes(self, vertices: np.ndarray) -> np.ndarray:
        """Bytes of memory that each row takes."""
        raise NotImplementedError

    def bring(self, vertices: np.ndarray) -> None:
        """Read the rows of the last ``vertices`` that were noted, and let kernels find them."""
        raise NotImplementedError

    def forget(self) -> None:
        """Let kernels find no row here any more, and give its memory back."""
        raise NotImplementedError

    def can_read(self, vertices: np.ndarray) -> np.ndarray:
        """Whether rows are in memory, here or with their partitions."""
        return self.graph.can_read(vertices)

    def room_for(self, wanted: tuple[np.ndarray, ...]) -> float:
        """Bytes of memory that the rows which are not there take."""
        return float(self.sizes(self._missing(wanted)).sum())

    def read(self, wanted: tuple[np.ndarray, ...], room: float) -> bool:
        """Read rows until ``room`` bytes are full: those that each instance needs together; False where not even the first ones fit."""
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
                self.drop()  # what is half there must not be read
                raise
        return True

    def _missing(self, wanted: tuple[np.ndarray, ...]) -> np.ndarray:
        """Vertices whose rows are not in memory, those of the first instances first."""
        vertices, first = np.unique(np.stack(wanted, axis=1), return_index=True)
        vertices = vertices[np.argsort(first)]
        return vertices[~self.can_read(vertices)]

    def read_edges(self, begin: np.ndarray, count: np.ndarray, to: np.ndarray, *arrays: np.ndarray) -> None:
        """``count`` edges of the graph from ``begin`` on, each span within a row, into arrays of neighbors and weights from ``to`` on."""
        number = np.searchsorted(self.first_edge, begin, side="right") - 1
        for name, array in zip(self.names, arrays, strict=False):
            self.reader.read(name, number, begin - self.first_edge[number], count, array, to)

    def partition_of(self, vertices: np.ndarray) -> np.ndarray:
        """The partition that each vertex's row is of."""
        return np.searchsorted(self.first_vertex, vertices, side="right") - 1

    def drop(self) -> None:
        """Forget all of them."""
        if self.vertices.size:
            self.forget()
            self.vertices, self.bytes = self.vertices[:0], 0

    def close(self) -> None:
        self.reader.close()
        self.graph = None  # which has these rows: its memory goes when nothing else has it
