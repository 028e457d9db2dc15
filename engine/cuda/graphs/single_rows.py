"""Single rows on a GPU: they share a slot of a streamed graph, and each is a piece of its own."""

from collections.abc import Mapping
from typing import Protocol

import cupy
import numpy as np

from csaw.engine.cuda.constants import OFFSET_BITS
from csaw.engine.cuda.graphs.edge_arrays import EdgeArrays, made
from csaw.engine.cuda.graphs.host_partitions import HostPartitions
from csaw.engine.cuda.graphs.pieces import OFFSET
from csaw.engine.cuda.graphs.resident import build_alias_of_rows, build_sums
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.memory import page_locked
from csaw.engine.plan.contracts import Array, Store
from csaw.engine.plan.layouts import GraphLayout
from csaw.engine.schedule.single_rows import SingleRows
from csaw.partition.graph.edge_columns import EdgeColumn

MOST_ROWS = 1 << 14  # rows in the slot at a time
STAGED = 1 << 20  # edges that the page-locked buffer holds


class RowsGraph(Protocol):
    """A graph on a GPU whose slots can hold single rows; see StreamedGraph."""

    store: Store
    host: HostPartitions
    builder: Kernels
    stored_columns: tuple[EdgeColumn, ...]
    indptr: Array
    strength: Array
    possible: Array
    layout: GraphLayout
    readable: np.ndarray
    free: list[int]
    used: int
    edge_bytes: int
    stored_bytes: int
    transfer_bytes: int

    @property
    def slot_bytes(self) -> int:
        """Bytes of a slot."""

    def degrees(self, vertices: Array) -> Array:
        """Neighbors of each vertex."""

    def can_read(self, vertices: Array) -> Array:
        """Whether the rows of vertices can be read now."""

    def room_of_rows(self, slot: int, first: int, last: int) -> EdgeArrays:
        """The arrays for edges first .. last - 1 of a slot's single rows."""

    def place_pieces(self, which: int | slice, first: int | np.ndarray, arrays: EdgeArrays) -> None:
        """Note where pieces are."""

    def tell(self) -> None:
        """Copy what is noted to where kernels read it."""

    def check(self, bad: Array) -> None:
        """Raise the error that a kernel has noted."""


class DeviceRows(SingleRows):
    """Single rows of a streamed graph.

    Kernels find a row by its vertex's entry of ``indptr``: the row's piece, and its first edge in the graph. Rows of
    partitions that are in host memory are copied from there, and only others are read from the store.
    """

    most = MOST_ROWS

    def __init__(self, graph: RowsGraph) -> None:
        super().__init__(graph)
        from csaw.partition.arrays.spans import copy_spans  # brings Numba, which other runs do without

        self.copy_spans = copy_spans
        self.partitions = len(graph.store.partitions)
        self.first_in_host = np.array([p.first_edge for p in graph.store.partitions], np.int64)  # of each, as it is cut
        self.home = cupy.arange(self.partitions + MOST_ROWS)  # the partition that each piece belongs to
        self.slot: int | None = None
        self.stage: dict[str, np.ndarray] = {}

    def sizes(self, vertices: np.ndarray) -> np.ndarray:
        """Bytes that the row of each vertex takes in the slot."""
        return self.graph.degrees(cupy.asarray(vertices)).get() * self.graph.edge_bytes

    def can_read(self, vertices: np.ndarray) -> np.ndarray:
        return self.graph.can_read(cupy.asarray(vertices)).get()

    def room_for(self, wanted: tuple[Array, ...]) -> float:
        """Bytes of a slot: rows take a whole one, however few they are."""
        return float(self.graph.slot_bytes)

    def read(self, wanted: tuple[Array, ...], room: float) -> bool:
        """Read the wanted rows into a slot; False if no slot is free, or as for any other graph."""
        if self.slot is None and not self.graph.free:
            return False
        return super().read(tuple(vertices.get().astype(np.int64) for vertices in wanted), self.graph.slot_bytes)

    def bring(self, vertices: np.ndarray) -> None:
        graph, at, number = self.graph, cupy.asarray(vertices), self.partition_of(vertices)
        if self.slot is None:
            self.slot = graph.free.pop()
        begin, degree = (graph.indptr[at] & OFFSET).get(), graph.degrees(at).get()
        start = degree.cumsum() - degree
        edges = int(degree.sum())
        upto = self.bytes // graph.edge_bytes  # end of the slot's edges in use, with the new rows
        arrays = graph.room_of_rows(self.slot, upto - edges, upto)
        self._read(begin, start, edges, arrays.stored)
        last = self.partitions + self.vertices.size
        pieces = slice(last - vertices.size, last)
        graph.place_pieces(pieces, begin - start, arrays)
        self.home[pieces] = cupy.asarray(number)
        graph.indptr[at] = graph.indptr[at] & OFFSET | cupy.arange(pieces.start, last) << OFFSET_BITS
        graph.readable[pieces], graph.used = 1, last
        graph.tell()
        if graph.layout.has_sums:
            build_sums(graph.builder, 0, at.size, at, graph.possible, graph.check)
        elif arrays.entries is not None:
            build_alias_of_rows(graph.builder, at, cupy.asarray(start), edges, graph.strength, graph.check)
        graph.transfer_bytes += edges * graph.stored_bytes

    def _read(self, begin: np.ndarray, start: np.ndarray, edges: int, arrays: dict[str, Array]) -> None:
        """Copy rows to ``arrays`` on the GPU, by their names in the store: row i from edge begin[i] of the graph to
        position start[i].

        ``edges``: edges of all rows. They pass through a page-locked buffer of STAGED edges, so a long row comes in
        parts.
        """
        if not self.stage:
            self.stage = made(page_locked, STAGED, self.graph.store, self.graph.stored_columns)
        end = np.append(start[1:], edges)
        for low in range(0, edges, STAGED):
            high = min(low + STAGED, edges)
            here = np.flatnonzero((start < high) & (end > low))
            first, last = np.maximum(start[here], low), np.minimum(end[here], high)
            self.read_edges(begin[here] - start[here] + first, last - first, first - low, self.stage)
            for name, device in arrays.items():
                device[low:high].set(self.stage[name][: high - low])
            cupy.cuda.get_current_stream().synchronize()  # the buffer is used again

    def read_edges(
        self, begin: np.ndarray, count: np.ndarray, to: np.ndarray, arrays: Mapping[str, np.ndarray]
    ) -> None:
        host, number = self.graph.host, np.searchsorted(self.first_in_host, begin, side="right") - 1
        lent = {part: buffer for part in np.unique(number).tolist() if (buffer := host.lend(part)) is not None}
        try:
            for part, buffer in lent.items():
                mine = number == part
                spans = begin[mine] - self.first_in_host[part], count[mine]
                for name, array in arrays.items():
                    self.copy_spans(buffer.arrays[name], *spans, array, to[mine], self.reader.threads)
        finally:
            for part in lent:
                host.give_back(part)
        away = ~np.isin(number, list(lent))
        if away.any():
            super().read_edges(begin[away], count[away], to[away], arrays)
            host.count_read(int(count[away].sum()))

    def forget(self) -> None:
        graph, at = self.graph, cupy.asarray(self.vertices)
        graph.indptr[at] = graph.indptr[at] & OFFSET | cupy.asarray(self.partition_of(self.vertices)) << OFFSET_BITS
        if self.slot is not None:
            graph.free.append(self.slot)
        self.slot, graph.used = None, self.partitions
