"""Single rows in host memory, each at the place it would have in its partition, on pages of its own."""

import numpy as np

from csaw.engine.cpu.reserved import PAGE, Reserved
from csaw.engine.plan.needs import ALIAS_IDS
from csaw.engine.schedule.single_rows import SingleRows


class HostRows(SingleRows):
    """Single rows of a ``HostGraph``, which its ``places`` note. The last entry of its ``loaded`` says whether there are any."""

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
        graph.places.note(vertices)
        graph.arrays.loaded[-1] = 1
        graph.transfer_bytes += int(graph.degrees(vertices).sum()) * graph.edge_bytes

    def forget(self) -> None:
        graph = self.graph
        graph.places.forget(self.vertices)
        graph.arrays.loaded[-1] = 0
        for part in np.unique(self.partition_of(self.vertices)).tolist():
            graph.release(part)
        self._huge(True)

    def _huge(self, wanted: bool) -> None:
        for array, _ in self._arrays():
            array.huge_pages(wanted)
