"""Single rows in host memory, each at its own place in address space for the whole graph.

The space is on small pages, so that a row takes little more than its bytes.
"""

import numpy as np

from csaw.engine.cpu.reserved import PAGE
from csaw.engine.schedule.single_rows import SingleRows

SLICE = 64  # rows of a task that makes tables: a task for each row took longer than the tables


class HostRows(SingleRows):
    """Single rows of a ``HostGraph``, which its ``places`` note.

    The last entry of its ``loaded`` says whether there are any.
    """

    def sizes(self, vertices: np.ndarray) -> np.ndarray:
        """Bytes of memory that the row of each vertex takes: whole pages, of every array."""
        degrees, arrays = self.graph.degrees(vertices), self.graph.edge_arrays
        return sum((degrees * each * array.item // PAGE + 2) * PAGE for array, each in arrays)

    def bring(self, vertices: np.ndarray) -> None:
        self.graph.slots.trim()
        graph, begin = self.graph, self.graph.indptr[vertices]
        arrays = {name: held.array for name, held in graph.stored.items()}
        self.read_edges(begin, graph.degrees(vertices), begin, arrays)
        if graph.table:
            slices = [vertices[i : i + SLICE] for i in range(0, vertices.size, SLICE)]
            bads = np.zeros((len(slices), 3), np.int64)
            list(graph.threads.map(graph.build_table, slices, bads))
            graph.check(bads)
        graph.places.note(vertices)
        graph.arrays.loaded[-1] = 1
        graph.transfer_bytes += int(graph.degrees(vertices).sum()) * graph.edge_bytes

    def forget(self) -> None:
        graph = self.graph
        graph.places.forget(self.vertices)
        graph.arrays.loaded[-1] = 0
        for array, each in graph.edge_arrays:
            array.release(0, each * graph.slots.first)
