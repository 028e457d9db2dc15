"""A graph in pieces: each partition has separate arrays, on this or another GPU or in host memory; see
engine/cuda/kernels/graph.cuh.
"""

from functools import cached_property

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.cuda.constants import OFFSET_BITS
from csaw.engine.cuda.device import Device
from csaw.engine.cuda.graphs.edge_arrays import EdgeArrays, entries_for, made
from csaw.engine.cuda.graphs.node import Node, fetch, reach
from csaw.engine.cuda.graphs.resident import Staging, build_alias, build_sums
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.memory import on_device
from csaw.engine.cuda.structs import record, struct
from csaw.engine.plan.choices import GraphLayout
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.gpu_memory import owners
from csaw.engine.plan.needs import Needs
from csaw.engine.schedule.backend import VERTICES_AT_A_TIME, check_bias
from csaw.partition import Partition
from csaw.partition.graph.edge_columns import WEIGHT
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
        self.pieces["entries"][which] = _begin(arrays.entries, first, self.layout.built_bytes(item))
        for number, column in enumerate(self.edge_columns):
            self.column_places[which, number] = _begin(stored.get(column.array), first, column.dtype.itemsize)

    def build_table(self, builder: Kernels, part: Partition) -> None:
        """Build the alias tables, or the running sums, of a partition whose arrays are placed."""
        if self.layout.has_sums:
            build_sums(builder, part.first_vertex, part.last_vertex, None, self.possible, self.check)
            return
        span = (part.first_vertex, part.last_vertex, part.first_edge, self.pieces["entries"][part.number])
        build_alias(builder, [span], part.edges, self.strength, self.check)

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
        table = entries_for(part.edges, self.layout, self.store)
        self.place(part.number, arrays._replace(entries=table))
        self.tell()
        builder.set_graph(self.address())
        self.build_table(builder, part)
        return EdgeArrays({WEIGHT.array: arrays.stored[WEIGHT.array]} if self.needs.single_weights else {}, table)
