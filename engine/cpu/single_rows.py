"""Single rows in host memory, each at the place it would have in its partition, on pages of its own."""

from typing import Any

import numpy as np

from csaw.engine.cpu.reserved import PAGE, Reserved
from csaw.engine.plan.needs import ALIAS_IDS
from csaw.engine.schedule.single_rows import SingleRows


class HostRows(SingleRows):
    """Single rows of a ``HostGraph``. In ``part_of`` they form a partition of their own, after the last one."""

    def __init__(self, graph: Any) -> None:
        super().__init__(graph)
        self.own = len(graph.store.partitions)

    def sizes(self, vertices: np.ndarray) -> np.ndarray:
        """Bytes of memory that the row of each vertex takes: whole pages, of every array."""
        degrees, arrays = self.graph.degrees(vertices), self._arrays()
        return sum((degrees * each * array.item // PAGE + 2) * PAGE for array, each in arrays)

    def _arrays(self) -> list[tuple[Reserved, int]]:
        """The arrays that hold rows, each with its number of elements an edge."""
        graph = self.graph
        arrays = ((graph.indices, 1), (graph.weights, 1), (graph.entries, ALIAS_IDS))
        return [(array, each) for array, each in arrays if array.array.size]

    def bring(self, vertices: np.ndarray) -> None:
        self._huge(False)  # with small pages a row takes little more than its own bytes
        graph, begin = self.graph, self.graph.indptr[vertices]
        self.read_edges(begin, graph.degrees(vertices), begin, graph.indices.array, graph.weights.array)
        if graph.table:
            bads = np.zeros((vertices.size, 3), np.int64)
            list(graph.threads.map(graph.build_table, vertices.tolist(), (vertices + 1).tolist(), bads))
            graph.check(bads)
        graph.arrays.part_of[vertices] = self.own
        graph.arrays.loaded[self.own] = 1
        graph.transfer_bytes += int(graph.degrees(vertices).sum()) * graph.edge_bytes

    def forget(self) -> None:
        graph, number = self.graph, self.partition_of(self.vertices)
        graph.arrays.part_of[self.vertices] = number
        graph.arrays.loaded[self.own] = 0
        for part in np.unique(number).tolist():
            graph.release(part)
        self._huge(True)

    def _huge(self, wanted: bool) -> None:
        for array, _ in self._arrays():
            array.huge_pages(wanted)
