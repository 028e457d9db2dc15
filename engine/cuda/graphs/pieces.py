"""A graph in pieces: each partition has separate arrays, on this or another GPU or in host memory; see
engine/cuda/kernels/graph.cuh. Single rows share a slot of a streamed graph, and each is a separate piece.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Protocol

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.cuda.declarations import OFFSET_BITS, record, struct
from csaw.engine.cuda.device import Device
from csaw.engine.cuda.graphs.edge_arrays import EdgeArrays, entries_for, made
from csaw.engine.cuda.graphs.host_partitions import Buffer, HostPartitions
from csaw.engine.cuda.graphs.node import Node, fetch, reach
from csaw.engine.cuda.graphs.resident import Staging, build_alias, build_alias_of_rows, build_sums, cases_of
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.memory import on_device, page_locked
from csaw.engine.plan.choices import GraphLayout
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.gpu_memory import owners
from csaw.engine.plan.needs import Needs
from csaw.engine.schedule.backend import VERTICES_AT_A_TIME, check_bias
from csaw.engine.schedule.single_rows import SingleRows
from csaw.partition import Partition
from csaw.partition.graph.edge_columns import WEIGHT, EdgeColumn
from csaw.partition.graph.store import INDICES

OFFSET = (1 << OFFSET_BITS) - 1
PIECE_RECORD = record("Piece")


class Pieces:
    """The kernels' view of partitions: ``indptr`` int64 [V + 1] = {partition, offset}, and the addresses of each
    piece's arrays.

    ``loaded`` uint8 [P]: whether each partition can be read now. Beside partitions, up to ``rows`` single rows can be
    pieces; ``used``: pieces in use. ``columns`` float64 [columns, V]: data of vertices, None without.
    ``place`` notes addresses on the host; ``tell`` copies them to where kernels read them.
    """

    def __init__(self, store: Store, layout: GraphLayout, needs: Needs, *, columns: Array, rows: int = 0) -> None:
        self.store, self.layout, self.columns, self.edge_columns = store, layout, columns, needs.edge_columns
        self.transfers, self.transfer_bytes = 0, 0
        self.built_bytes, self.depths, self.cases = needs.edge.built(layout), needs.table_depths, cases_of(needs)
        indptr = store.read_indptr()
        for part in store.partitions:
            indptr[part.first_vertex : part.last_vertex] |= part.number << OFFSET_BITS
        indptr[-1] |= len(store.partitions) << OFFSET_BITS  # ascending to the end, because ends_of searches in it
        self.indptr = on_device(indptr)
        self.strength = cupy.zeros(store.vertices, np.float64) if needs.row_weights else None
        self.possible = cupy.zeros(store.vertices, np.uint32) if layout.has_sums else None
        self.used = len(store.partitions)
        self.readable = np.zeros(self.used + rows, np.uint8)
        self.loaded = self.readable[: self.used]
        self.pieces = np.zeros(self.readable.size, PIECE_RECORD)
        self.device_readable = cupy.asarray(self.readable)
        self.device_pieces = cupy.zeros(self.pieces.nbytes, np.uint8)
        self.column_places = np.zeros((self.readable.size, len(needs.edge_columns)), np.uint64)
        self.device_column_places = cupy.zeros(self.column_places.size, np.uint64) if needs.edge_columns else None

    def partition_of(self, vertices: Array) -> Array:
        return self.indptr[vertices] >> OFFSET_BITS

    def can_read(self, vertices: Array) -> Array:
        """Whether the rows of vertices can be read now."""
        return self.device_readable[self.indptr[vertices] >> OFFSET_BITS].astype(bool)

    def degrees(self, vertices: Array) -> Array:
        """Neighbors of each vertex."""
        return (self.indptr[vertices + 1] - self.indptr[vertices]) & OFFSET

    def ends_of(self, edges: Array) -> tuple[Array, Array]:
        """The vertex whose row has each edge, and the edge's position in that row."""
        first = cupy.asarray([p.first_edge for p in self.store.partitions])
        part = cupy.searchsorted(first, edges, side="right") - 1
        vertex = cupy.searchsorted(self.indptr, edges | part << OFFSET_BITS, side="right") - 1
        return vertex, edges - (self.indptr[vertex] & OFFSET)

    @cached_property
    def mean_row(self) -> float:
        """Mean degree of the vertex at the end of a random edge."""
        squares = 0.0
        for first in range(0, self.store.vertices, VERTICES_AT_A_TIME):
            some = cupy.arange(first, min(first + VERTICES_AT_A_TIME, self.store.vertices))
            squares += float((self.degrees(some).astype(np.float64) ** 2).sum())
        return squares / max(self.store.edges, 1)

    def place(self, number: int, arrays: EdgeArrays) -> None:
        """Note where a partition is."""
        self.place_pieces(number, self.store.partitions[number].first_edge, arrays)

    def place_pieces(self, which: int | slice, first: int | np.ndarray, arrays: EdgeArrays) -> None:
        """Note where pieces ``which`` are; ``first``: the number of the edge that would be first in the arrays, for
        each piece.
        """
        item, stored = self.store.id_dtype.itemsize, arrays.stored
        self.pieces["indices"][which] = _begin(stored.get(INDICES), first, item)
        self.pieces["weights"][which] = _begin(stored.get(WEIGHT.array), first, WEIGHT.dtype.itemsize)
        self.pieces["entries"][which] = _begin(arrays.entries, first, self.built_bytes)
        for number, column in enumerate(self.edge_columns):
            self.column_places[which, number] = _begin(stored.get(column.array), first, column.dtype.itemsize)

    def build_table(self, builder: Kernels, part: Partition) -> None:
        """Build the alias tables, or the running sums, of a partition whose arrays are placed."""
        if self.layout.has_sums:
            build_sums(builder, part.first_vertex, part.last_vertex, None, self.possible, self.check)
            return
        span = (part.first_vertex, part.last_vertex, part.first_edge, self.pieces["entries"][part.number])
        build_alias(builder, [span], part.edges, self.depths, self.strength, self.check)

    def tell(self) -> None:
        """Copy the addresses and ``loaded`` to where kernels read them, in the order of the current stream.

        The host does not wait for the copies: what they read was put aside when they return.
        """
        stream = cupy.cuda.get_current_stream()
        self.device_readable[: self.used].set(self.readable[: self.used], stream=stream)
        pieces = self.pieces[: self.used].view(np.uint8)
        self.device_pieces[: pieces.size].set(pieces, stream=stream)
        if self.device_column_places is not None:
            places = self.column_places[: self.used].ravel()
            self.device_column_places[: places.size].set(places, stream=stream)

    def address(self) -> np.ndarray:
        """The struct Graph of engine/cuda/kernels/graph.cuh, filled for this graph."""
        return struct(
            "Graph",
            indptr=self.indptr,
            indices=None,
            weights=None,
            entries=None,
            strength=self.strength,
            bloom=None,
            members=None,
            possible=self.possible,
            columns=self.columns,
            cases=self.cases,
            pieces=self.device_pieces,
            loaded=self.device_readable,
            edge_columns=self.device_column_places,
            vertices=self.store.vertices,
        )

    def check(self, bad: Array) -> None:
        """Raise the error that a kernel has noted in ``bad``."""
        check_bias(self.store, bad.tolist())


def _begin(array: Array, first: int | np.ndarray, size: int) -> np.ndarray:
    """Return the addresses that edge 0 of the graph would have, uint64, if ``array`` began with edge ``first``.

    There is one for each of these; without an array, they are 0.
    """
    if array is None:
        return np.zeros((), np.uint64)
    address = int(array.data.ptr) if isinstance(array, cupy.ndarray) else int(array.ctypes.data)
    return np.asarray(address - np.int64(first) * size, np.int64).view(np.uint64)


# A graph spread over the GPUs of a node, which read each other's memory.
#
# NextDoor and Gunrock copy the graph to each GPU, or split the work by it.


class PooledGraph(Pieces):
    """Loads this GPU's share of the partitions, and waits for the other GPUs.

    It then has the address of every partition.
    """

    def __init__(
        self,
        store: Store,
        layout: GraphLayout,
        builder: Kernels,
        node: Node,
        devices: tuple[Device, ...],
        needs: Needs,
        columns: Array,
    ) -> None:
        super().__init__(store, layout, needs, columns=columns)
        self.needs = needs
        own = builder.device.number
        holds = [devices[k].number for k in owners(store, len(devices))]
        for device in devices:
            if device.number != own:
                reach(device.number)
        staging = Staging(store, needs.stored_columns)
        for part in (p for p in store.partitions if holds[p.number] == own):
            node.pieces[part.number] = self._load(part, builder, staging)
        cupy.cuda.get_current_stream().synchronize()
        if self.strength is not None:
            node.strengths[own] = self.strength
        node.meet()
        for part in store.partitions:
            self.place(part.number, node.pieces[part.number])
            if self.strength is not None and holds[part.number] != own:
                span = slice(part.first_vertex, part.last_vertex)
                there = node.strengths[holds[part.number]][span]
                fetch(there, self.strength[span])
        self.loaded[:] = 1
        self.tell()
        node.meet()  # before any GPU frees memory that others may still copy

    def _load(self, part: Partition, builder: Kernels, staging: Staging) -> EdgeArrays:
        """Load a partition, build its layout, and return the arrays that sampling reads."""
        arrays = EdgeArrays(made(cupy.empty, part.edges, self.store, self.needs.stored_columns))
        self.transfer_bytes += staging.upload(part, arrays.stored)
        self.transfers += 1
        if not self.layout.has_alias_tables:
            return arrays
        table = entries_for(part.edges, self.layout, self.needs)
        self.place(part.number, arrays._replace(entries=table))
        self.tell()
        builder.set_graph(self.address())
        self.build_table(builder, part)
        return EdgeArrays({WEIGHT.array: arrays.stored[WEIGHT.array]} if self.needs.single_weights else {}, table)


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
    depths: tuple[int, ...]
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
            given = edges, graph.depths, graph.strength, graph.check
            build_alias_of_rows(graph.builder, at, cupy.asarray(start[:-1]), *given)
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
