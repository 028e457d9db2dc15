"""Single rows of a graph on disk, read one by one where so few wait for them that whole partitions would take longer."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from csaw.engine.cpu.reserved import PAGE, Reserved

ROW_BYTES = 128 << 10  # that a disk gives in order in the time of a row from anywhere
READERS = 16  # rows at a time


class SingleRows:
    """Rows of ``graph`` beside the partitions that are loaded. Kernels find them by ``part_of``, as if they were a partition of their own, the last one."""

    def __init__(self, graph: Any) -> None:
        self.graph, self.own = graph, len(graph.store.partitions)
        self.vertices = np.zeros(0, np.int64)  # whose rows are here
        self.bytes = 0  # of memory that they take
        self.readers = ThreadPoolExecutor(READERS)

    def room_for(self, wanted: tuple[np.ndarray, ...]) -> float:
        """Bytes of memory that the rows which are not there take."""
        return float(self._sizes(self._missing(wanted)).sum())

    def read(self, wanted: tuple[np.ndarray, ...], room: float) -> bool:
        """Read rows until ``room`` bytes are full: those that each instance needs together; False where not even the first ones fit."""
        vertices = self._missing(wanted)
        sizes = self._sizes(vertices)
        if self.bytes + sizes.sum() > room:
            self.drop()
            vertices = self._missing(wanted)
            sizes = self._sizes(vertices)
        upto = sizes.cumsum()
        count = int(np.searchsorted(upto, room, side="right"))
        if count < min(vertices.size, len(wanted)):
            return False
        if count:
            self._read(vertices[:count])
            self.bytes += int(upto[count - 1])
        return True

    def _missing(self, wanted: tuple[np.ndarray, ...]) -> np.ndarray:
        """Vertices whose rows are not in memory, those of the first instances first."""
        vertices, first = np.unique(np.stack(wanted, axis=1), return_index=True)
        vertices = vertices[np.argsort(first)]
        return vertices[~self.graph.can_read(vertices)]

    def _sizes(self, vertices: np.ndarray) -> np.ndarray:
        """Bytes of memory that rows take: pages, of every array."""
        degrees, arrays = self.graph.degrees(vertices), self._arrays()
        return sum((degrees * each * array.item // PAGE + 2) * PAGE for array, each in arrays)

    def _arrays(self) -> list[tuple[Reserved, int]]:
        """What a row is in, and how many elements an edge has there."""
        graph = self.graph
        arrays = ((graph.indices, 1), (graph.weights, 1), (graph.entries, 3))
        return [(array, each) for array, each in arrays if array.array.size]

    def _read(self, vertices: np.ndarray) -> None:
        if not self.vertices.size:
            self._huge(False)  # a row takes the pages that it is on
        graph = self.graph
        number = graph.partition_of(vertices)
        self.vertices = np.append(self.vertices, vertices)
        list(self.readers.map(self._read_row, vertices.tolist(), number.tolist()))
        if graph.table:
            bads = np.zeros((vertices.size, 3), np.int64)
            list(graph.threads.map(graph.build_table, vertices.tolist(), (vertices + 1).tolist(), bads))
            graph.check(bads)
        graph.arrays.part_of[vertices] = self.own
        graph.arrays.loaded[self.own] = 1
        graph.transfer_bytes += int(graph.degrees(vertices).sum()) * graph.edge_bytes()

    def _read_row(self, v: int, number: int) -> None:
        graph = self.graph
        begin, end = graph.indptr[v : v + 2].tolist()
        weights = graph.weights.array[begin:end] if graph.weighted else None
        first = begin - graph.store.partitions[number].first_edge
        graph.store.read_edges(number, first, graph.indices.array[begin:end], weights)

    def drop(self) -> None:
        """Forget all of them."""
        if not self.vertices.size:
            return
        graph, number = self.graph, self.graph.partition_of(self.vertices)
        graph.arrays.part_of[self.vertices] = number
        graph.arrays.loaded[self.own] = 0
        for part in np.unique(number).tolist():
            graph.release(part)
        self.vertices, self.bytes = self.vertices[:0], 0
        self._huge(True)

    def _huge(self, wanted: bool) -> None:
        for array, _ in self._arrays():
            array.huge_pages(wanted)

    def close(self) -> None:
        self.readers.shutdown(cancel_futures=True)
