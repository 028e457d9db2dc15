"""A resident graph: all of it in the memory of one GPU, in the layout that the kernels read (see
cuda/kernels/graph.cuh).
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.cuda.declarations import BLOCK, HUB_BLOCK, LONG_ROW, WARP, struct
from csaw.engine.cuda.device import Device
from csaw.engine.cuda.graphs.edge_arrays import addresses, made
from csaw.engine.cuda.graphs.node import copied
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.memory import on_device, page_locked
from csaw.engine.cuda.transfer import Checks
from csaw.engine.plan.choices import GraphLayout
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.gpu_memory import ALIAS_CHUNK
from csaw.engine.plan.needs import Needs, filter_words, member_slots
from csaw.engine.schedule.backend import check_bias
from csaw.engine.schedule.specialization import TimeRules
from csaw.partition import Partition
from csaw.partition.base.stages import EDGES, tell
from csaw.partition.graph.edge_columns import WEIGHT, EdgeColumn
from csaw.partition.graph.left_offsets import read_left_offsets
from csaw.partition.graph.store import INDICES

EMPTY = np.uint32(2**32 - 1)  # a slot that holds no neighbor
SHARERS = 16  # blocks that make the entries of a long row's alias table


class DeviceGraph:
    """Loads all partitions, builds the layout with ``builder``, and drops the arrays that kernels do not read.

    Attributes: indptr int64 [V + 1]; indices [E] and weights float32 [E], None once dropped; entries, strength float64
    [V], bloom and members as cuda/kernels/graph.cuh declares them, None if the run does not need them. ``columns``
    float64 [columns, V]: data of vertices, None without. ``edge_columns``: [E] each, those that hooks read beside
    weights, none once dropped; ``column_places`` uint64, their addresses, None without. ``rules``: those of a walk in
    time.
    """

    def __init__(
        self,
        store: Store,
        layout: GraphLayout,
        builder: Kernels,
        needs: Needs,
        *,
        membership: str,
        weighs_members: bool,
        keeps_indices: bool,
        keeps_weights: bool,
        columns: Array,
        rules: TimeRules,
        checks: Checks | None = None,
    ) -> None:
        self.store, self.layout, self.builder, self.columns = store, layout, builder, columns
        self.transfers, self.transfer_bytes = 0, 0
        self.loaded = np.ones(len(store.partitions), np.uint8)
        staging = Staging(store, needs.stored_columns, checks)
        self.indptr = staging.offsets()
        stored = made(cupy.empty, store.edges, store, needs.stored_columns)
        self.indices, self.weights = stored[INDICES], stored.get(WEIGHT.array)
        self.edge_columns = tuple(stored[column.array] for column in needs.edge_columns)
        self.column_places = addresses(self.edge_columns)
        self.strength = cupy.zeros(store.vertices, np.float64) if needs.row_weights else None
        self.bloom = cupy.zeros(filter_words(store.edges), np.uint64) if membership == "filter" else None
        slots = member_slots(store.edges, store.vertices) if membership == "hash" else 0
        self.members = cupy.full(slots * (2 if weighs_members else 1), EMPTY, np.uint32) if slots else None
        self.entries: Array = None
        self.possible: Array = None
        self.built_bytes = needs.edge.built(layout) * store.edges
        self.depths, self.cases = needs.table_depths, cases_of(needs)
        if membership != "search" or layout.is_built:
            self.builder.set_graph(self.address())
        self._read(stored, staging)
        del stored, staging
        if layout.is_built:
            self._build(rules)
        if not keeps_indices:
            self.indices = None
        if not keeps_weights:
            self.weights = None
        if not layout.keeps_weights:
            self.edge_columns, self.column_places = (), None

    def copy(self) -> "DeviceGraph":
        """Copy the graph to the memory of the current GPU."""
        other = copy(self)
        for name, value in vars(self).items():
            setattr(other, name, copied(value))
        other.edge_columns = tuple(map(copied, self.edge_columns))
        other.column_places = addresses(other.edge_columns)
        other.transfers, other.transfer_bytes = 0, 0
        cupy.cuda.get_current_stream().synchronize()
        return other

    def degrees(self, vertices: Array) -> Array:
        """Neighbors of each vertex."""
        return self.indptr[vertices + 1] - self.indptr[vertices]

    def ends_of(self, edges: Array) -> tuple[Array, Array]:
        """The vertex whose row has each edge, and the edge's position in that row."""
        vertex = cupy.searchsorted(self.indptr, edges, side="right") - 1
        return vertex, edges - self.indptr[vertex]

    def _read(self, stored: dict[str, Array], staging: "Staging") -> None:
        """Fill arrays of all edges, neighbors and columns, by their names in the store.

        What answers questions about members is built of a partition while the next one is read.
        """
        beside = cupy.cuda.Stream(non_blocking=True)
        for part in self.store.partitions:
            span = slice(part.first_edge, part.first_edge + part.edges)
            self.transfer_bytes += staging.upload(part, {name: array[span] for name, array in stored.items()})
            self.transfers += 1
            with beside:
                self._build_members(part.first_vertex, part.last_vertex)
            tell(part.first_edge + part.edges, self.store.edges, EDGES)
        beside.synchronize()

    def _build_members(self, first: int, last: int) -> None:
        for name, table in (("build_bloom", self.bloom), ("build_members", self.members)):
            if table is not None:
                for block, blocks in blocks_of(last - first, self.builder.device).items():
                    self.builder.launch(name, blocks, block, first, last, table)

    def _build(self, rules: TimeRules) -> None:
        launch, vertices = self.builder.launch, self.store.vertices
        rows_of = blocks_of(vertices, self.builder.device)
        if self.layout is GraphLayout.ENTRIES:
            self.entries = cupy.empty(self.built_bytes // 4, np.uint32)
            self.builder.over("build_entries", self.store.edges, 0, self.store.edges, self.entries, block=BLOCK)
        elif self.layout is GraphLayout.EVENTS:
            self.entries = cupy.empty(self.built_bytes // 4, np.uint32)
            of_walks = rules.window, rules.last, rules.scale
            for block, blocks in rows_of.items():
                launch("build_events", blocks, block, 0, vertices, *of_walks, self.entries)
        elif self.layout.has_sums:
            self.entries, self.possible = cupy.empty(self.built_bytes // 8, np.int64), cupy.empty(vertices, np.uint32)
            build_sums(self.builder, 0, vertices, None, self.possible, self.check, self.entries)
        elif self.layout.has_alias_tables:
            self.entries = cupy.empty(self.built_bytes, np.uint8)
            self._build_alias()

    def _build_alias(self) -> None:
        first, edges, spans, indptr = 0, 0, [], self.indptr.get()
        while first < self.store.vertices:
            last = int(np.searchsorted(indptr, indptr[first] + ALIAS_CHUNK, side="right")) - 1
            last = min(max(last, first + 1), self.store.vertices)
            spans.append((first, last, int(indptr[first]), self.entries))
            edges = max(edges, int(indptr[last] - indptr[first]))
            first = last
        build_alias(self.builder, spans, edges, self.depths, self.strength, self.check)

    def address(self) -> np.ndarray:
        """The struct Graph of engine/cuda/kernels/graph.cuh, filled for this graph."""
        return struct(
            "Graph",
            indptr=self.indptr,
            indices=self.indices,
            weights=self.weights,
            entries=self.entries,
            strength=self.strength,
            bloom=self.bloom,
            members=self.members,
            possible=self.possible,
            columns=self.columns,
            cases=self.cases,
            pieces=None,
            loaded=None,
            edge_columns=self.column_places,
            vertices=self.store.vertices,
        )

    def check(self, bad: Array) -> None:
        """Raise the error that a kernel has noted in ``bad``."""
        check_bias(self.store, bad.tolist())


def cases_of(needs: Needs) -> Array:
    """The number of the alias table of each step, uint8, for kernels; None where there is one table."""
    return cupy.asarray(np.array(needs.cases, np.uint8)) if needs.edge.tables > 1 else None


class Staging:
    """A page-locked buffer through which partitions go to the current GPU, one after the other.

    It takes their neighbors and ``columns``. ``checks``: of blocks that the store leaves to them; None: it leaves none.
    """

    def __init__(self, store: Store, columns: Sequence[EdgeColumn], checks: Checks | None = None) -> None:
        self.store, self.checks = store, checks
        self.room = made(page_locked, store.largest_partition, store, columns)

    def offsets(self) -> Array:
        """Where the rows of the whole graph begin among all edges, on the GPU: int64 [V + 1]."""
        if self.checks is not None:
            stored, room = self.store.stored, self.room[INDICES].view(np.uint8)
            count = stored.vertices + len(stored.partitions)
            held = room[: 8 * count].view(np.int64) if room.size >= 8 * count else np.empty(count, np.int64)
            sums = read_left_offsets(stored, held)
            if sums is not None:
                return self.checks.offsets(held, sums)
        return on_device(self.store.read_indptr())

    def upload(self, part: Partition, arrays: Mapping[str, Array]) -> int:
        """Copy a partition into arrays on the GPU, by their names in the store. Returns the bytes copied."""
        held = {name: self.room[name][: part.edges] for name in arrays}
        blocks = []
        if self.checks is None:
            self.store.read_edges(part.number, held)
        else:
            blocks = self.store.read_uncompared(part.number, held)
        for name, device in arrays.items():
            device.set(held[name])
        if self.checks is not None and blocks:
            self.checks.require(part, held, arrays, blocks)
        cupy.cuda.get_current_stream().synchronize()  # the buffer is used again
        return sum(host.nbytes for host in held.values())


def blocks_of(vertices: int, device: Device) -> dict[int, int]:
    """The launches that build rows, as {threads of a block: number of blocks}; long rows get large blocks."""
    return {WARP: min(vertices, 1 << 20), HUB_BLOCK: min(vertices, 4 * device.processors)}


def build_alias(
    builder: Kernels,
    spans: list[tuple[int, int, int, Array]],
    edges: int,
    depths: tuple[int, ...],
    strength: Array,
    check: Callable[..., object],
) -> None:
    """Build alias tables of spans of rows, each of at most ``edges`` edges: one of the biases at each of ``depths``.

    A span is (first vertex, end vertex, number of its first edge, table to fill).
    """
    room = _SumsOfRows(edges)
    for first, last, origin, entries in spans:
        room.build(builder, (first, last), depths, None, None, origin, entries, strength)
    check(room.bad)


def build_alias_of_rows(
    builder: Kernels,
    rows: Array,
    starts: Array,
    edges: int,
    depths: tuple[int, ...],
    strength: Array,
    check: Callable[..., object],
) -> None:
    """Build alias tables of rows that are pieces of their own, of ``edges`` edges in all; ``starts``: edges of the rows
    before each.
    """
    room = _SumsOfRows(edges)
    room.build(builder, (0, rows.size), depths, rows, starts, 0, None, strength)
    check(room.bad)


class _SumsOfRows:
    """Room for what alias tables of ``edges`` edges are made of: the running sums of their rows, and a list of the long
    ones.

    ``bad`` int64 [3]: a bias that cannot be one, as kernels note it.
    """

    def __init__(self, edges: int) -> None:
        self.bad = cupy.zeros(3, np.int64)
        self.need, self.spare = cupy.empty(edges, np.uint64), cupy.empty(edges, np.uint64)
        self.longs = cupy.empty(edges // LONG_ROW + 1, np.int64)

    def build(
        self,
        builder: Kernels,
        span: tuple[int, int],
        depths: tuple[int, ...],
        rows: Array,
        starts: Array,
        origin: int,
        entries: Array,
        strength: Array,
    ) -> None:
        """Queue the kernels that build the tables of a span of rows; see cuda/kernels/build.cu for the arguments.

        Short rows have a warp each. Of long ones, which a single block would take longest for, a block makes the sums,
        and many blocks the entries.
        """
        grid = builder.device.processors, SHARERS
        sums = (builder.params, origin, self.need, self.spare, entries, strength, self.longs, self.bad)
        made = (rows, starts, origin, self.need, self.spare, entries, self.longs, self.bad)
        for number, depth in enumerate(depths):
            self.longs[:1].fill(0)
            builder.over("list_long", span[1] - span[0], *span, rows, self.longs)
            for block, blocks in blocks_of(span[1] - span[0], builder.device).items():
                builder.launch("build_alias", blocks, block, *span, number, depth, rows, starts, *sums)
            builder.launch("fill_long", grid, HUB_BLOCK, number, *made)


def build_sums(
    builder: Kernels,
    first: int,
    last: int,
    rows: Array,
    possible: Array,
    check: Callable[..., object],
    entries: Array = None,
) -> None:
    """Build the running sums of the rows ``first`` .. ``last`` - 1, or of ``rows`` with these numbers.

    ``possible`` uint32 [V]: gets the number of each row's biases above zero. ``entries``: of the whole graph; None
    where kernels know the places of pieces.
    """
    bad = cupy.zeros(3, np.int64)
    for block, blocks in blocks_of(last - first, builder.device).items():
        builder.launch("build_ctps", blocks, block, first, last, rows, builder.params, entries, possible, bad)
    check(bad)
