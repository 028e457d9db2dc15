"""Single rows on a GPU: they share a slot of a streamed graph, and each is a separate piece."""

from collections.abc import Mapping
from typing import Protocol

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.cuda.constants import OFFSET_BITS
from csaw.engine.cuda.graphs.edge_arrays import EdgeArrays, made
from csaw.engine.cuda.graphs.host_partitions import Buffer, HostPartitions
from csaw.engine.cuda.graphs.pieces import OFFSET
from csaw.engine.cuda.graphs.resident import build_alias_of_rows, build_sums
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.memory import page_locked
from csaw.engine.plan.choices import GraphLayout
from csaw.engine.plan.contracts import Store
from csaw.engine.schedule.single_rows import SingleRows
from csaw.partition.graph.edge_columns import EdgeColumn

MOST_ROWS = 1 << 14  # rows in the slot at a time
STAGED = 1 << 21  # edges that the page-locked buffer holds


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


class DeviceRows(SingleRows[RowsGraph]):
    """Single rows of a streamed graph.

    Kernels find a row by its vertex's entry of ``indptr``: the row's piece, and its first edge in the graph. Rows of
    partitions that are in host memory are copied from there by a kernel, and only others are read from the store.
    """

    most = MOST_ROWS

    def __init__(self, graph: RowsGraph) -> None:
        super().__init__(graph)
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
        graph = self.graph
        if self.slot is None:
            self.slot = graph.free.pop()
        first_edge = (graph.indptr[cupy.asarray(vertices)] & OFFSET).get()
        cut = np.searchsorted(self.first_in_host, first_edge, side="right") - 1
        with graph.host.lent(np.unique(cut).tolist()) as here:
            is_here = np.isin(cut, list(here))
            order = np.argsort(is_here, kind="stable")  # rows from the store first, because they come together
            self.vertices[-vertices.size :] = vertices = vertices[order]
            self._place(vertices, first_edge[order], cut[order], here)

    def _place(self, vertices: np.ndarray, begin: np.ndarray, cut: np.ndarray, here: Mapping[int, Buffer]) -> None:
        """Copy rows into the slot, and make them readable.

        ``begin``: the first edge of each row, whose partition in host memory would be ``cut``; ``here``: those that are
        there, whose rows are the last ones.
        """
        graph, at = self.graph, cupy.asarray(vertices)
        degree = graph.degrees(at).get()
        start = np.append(0, degree.cumsum())  # of each row, and the end
        edges = int(start[-1])
        upto = self.bytes // graph.edge_bytes  # end of the slot's edges in use, with the new rows
        assert self.slot is not None
        arrays = graph.room_of_rows(self.slot, upto - edges, upto)
        away = int(np.count_nonzero(~np.isin(cut, list(here))))
        try:
            self._copy_from_host(begin[away:], cut[away:], start[away:], arrays.stored, here)
            self._read(begin[:away], start[: away + 1], arrays.stored)
        finally:
            cupy.cuda.get_current_stream().synchronize()  # kernels read host memory, which may go, also after an error
        last = self.partitions + self.vertices.size
        pieces = slice(last - vertices.size, last)
        graph.place_pieces(pieces, begin - start[:-1], arrays)
        self.home[pieces] = cupy.asarray(self.partition_of(vertices))
        graph.indptr[at] = graph.indptr[at] & OFFSET | cupy.arange(pieces.start, last) << OFFSET_BITS
        graph.readable[pieces], graph.used = 1, last
        graph.tell()
        if graph.layout.has_sums:
            build_sums(graph.builder, 0, at.size, at, graph.possible, graph.check)
        elif arrays.entries is not None:
            build_alias_of_rows(graph.builder, at, cupy.asarray(start[:-1]), edges, graph.strength, graph.check)
        graph.transfer_bytes += edges * graph.stored_bytes

    def _copy_from_host(
        self,
        begin: np.ndarray,
        cut: np.ndarray,
        start: np.ndarray,
        arrays: Mapping[str, Array],
        here: Mapping[int, Buffer],
    ) -> None:
        """Have kernels copy rows of the partitions ``here`` to ``arrays``, by their names in the store: row i, from
        edge begin[i] of the graph on, to positions start[i] .. start[i + 1] - 1.
        """
        if not begin.size:
            return
        edges, low = int(start[-1] - start[0]), int(start[0])
        places = cupy.asarray(start[:-1] - low)
        for name, device in arrays.items():
            address = {number: buffer.arrays[name].ctypes.data for number, buffer in here.items()}
            item, at = device.itemsize, begin - self.first_in_host[cut]
            rows = cupy.asarray((np.array([address[number] for number in cut.tolist()]) + item * at).astype(np.uint64))
            self.graph.builder.over("copy_rows", edges, edges, begin.size, places, rows, item, device[low:])

    def _read(self, begin: np.ndarray, start: np.ndarray, arrays: Mapping[str, Array]) -> None:
        """Read rows from the store to ``arrays`` on the GPU, by their names in the store: row i, from edge begin[i] of
        the graph on, to positions start[i] .. start[i + 1] - 1, from 0 on.

        They pass through a page-locked buffer of STAGED edges, so a long row comes in parts.
        """
        edges = int(start[-1])
        if edges and not self.stage:
            self.stage = made(page_locked, STAGED, self.graph.store, self.graph.stored_columns)
        for low in range(0, edges, STAGED):
            high = min(low + STAGED, edges)
            here = np.flatnonzero((start[:-1] < high) & (start[1:] > low))
            first, last = np.maximum(start[here], low), np.minimum(start[here + 1], high)
            if low:
                cupy.cuda.get_current_stream().synchronize()  # the buffer is used again
            self.read_edges(begin[here] - start[here] + first, last - first, first - low, self.stage)
            for name, device in arrays.items():
                device[low:high].set(self.stage[name][: high - low])
        self.graph.host.count_read(edges)

    def forget(self) -> None:
        graph, at = self.graph, cupy.asarray(self.vertices)
        graph.indptr[at] = graph.indptr[at] & OFFSET | cupy.asarray(self.partition_of(self.vertices)) << OFFSET_BITS
        if self.slot is not None:
            graph.free.append(self.slot)
        self.slot, graph.used = None, self.partitions
