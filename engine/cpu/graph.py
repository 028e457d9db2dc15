"""The graph in host memory: all of it, or address space for all of it, with memory for single rows, and slots for
partitions behind that.

Kernels see whole arrays and do not know which rows are in memory; the scheduler sees to it that they read no others.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from csaw.engine.cpu.kernels.access import GraphArrays
from csaw.engine.cpu.places import HUGE, PAGE, Places, Reserved
from csaw.engine.cpu.scratch_file import ScratchFile
from csaw.engine.cpu.specialize import Kernels
from csaw.engine.plan.choices import ALIAS_IDS, GraphLayout
from csaw.engine.plan.contracts import Partitions, Store, WaitingBatch
from csaw.engine.plan.needs import Needs, filter_words, member_slots
from csaw.engine.schedule.backend import VERTICES_AT_A_TIME, check_bias
from csaw.engine.schedule.single_rows import SingleRows
from csaw.engine.schedule.specialization import TimeRules
from csaw.partition import Partition
from csaw.partition.base.stages import EDGES, tell
from csaw.partition.graph.edge_columns import WEIGHT
from csaw.partition.graph.store import INDICES

PIECES = 32  # tasks of a partition
PIECE_EDGES = 1 << 12  # least edges of a task: a smaller one takes less time than handing it to a thread


class HostGraph(Partitions):
    """Loads and evicts partitions; builds the alias table, running sums, row sums and filters that the run ``needs``.

    ``layout`` is the plan's: csr, table or ctps. ``membership`` is the plan's: hash tables or filters of rows are
    built. ``weighs_members``: whether hash tables hold weights. ``events``: the rules of a run for which edges are
    kept in the order by time, too. ``streamed``: whether partitions are loaded and evicted; ``capacity``: bytes for
    those in memory. ``columns`` float64 [columns, V]: data of vertices.
    """

    def __init__(
        self,
        store: Store,
        kernels: Kernels,
        table_kernels: Kernels,
        params: tuple[float, ...],
        threads: ThreadPoolExecutor,
        needs: Needs,
        *,
        layout: GraphLayout,
        membership: str,
        weighs_members: bool,
        events: TimeRules | None,
        streamed: bool,
        capacity: int,
        columns: np.ndarray,
    ) -> None:
        self.store, self.kernels, self.table_kernels = store, kernels, table_kernels
        self.params, self.threads, self.layout = params, threads, layout
        self.table, self.summed = layout.has_alias_tables, layout.has_sums
        self.edge_bytes = needs.edge.in_partition(layout)  # of an edge while its partition is loaded
        parts = (store.edges, store.largest_partition, len(store.partitions))
        words = 0 if events is None else events.event_words
        self.events = Reserved(words * store.edges, np.dtype(np.uint32))
        bounded = events is not None and events.bounded
        self.far_ends, self.time_rules = Reserved(store.edges if bounded else 0, np.dtype(np.uint32)), events
        self._reserve(needs, membership, weighs_members, Slots.places(*parts) if streamed else store.edges)
        self.kept = KeptTables(store.path.parent, threads) if streamed and self.table else None
        self.slots = Slots(self.edge_arrays, *parts[:2], capacity // self.edge_bytes) if streamed else None
        self.places = Places(store.partitions, store.vertices if streamed else 0)
        self.arrays = self._arrays(columns, needs.cases)
        self.loaded = self.arrays.loaded[:-1]
        self.reads_in_place = streamed and store.is_plain
        self.rows = HostRows(self)
        self.transfers, self.transfer_bytes = 0, 0
        self.coming: int | None = None  # the partition that the system was asked to read ahead

    def _reserve(self, needs: Needs, membership: str, weighs_members: bool, places: int) -> None:
        """Reserve address space for arrays of ``places`` edges, and for what is built of them."""
        store, ids = self.store, np.dtype(self.store.id_dtype)
        self.indices, self.weights = Reserved(places, ids), Reserved(places if needs.weights else 0, WEIGHT.dtype)
        self.edge_columns = tuple(Reserved(places, column.dtype) for column in needs.edge_columns)
        of_tables = ALIAS_IDS * needs.edge.tables  # ids of an edge
        self.entries = Reserved(of_tables * places if self.table else 0, ids)
        self.sums = Reserved(store.edges if self.summed else 0, np.dtype(np.int64))
        self.possible = Reserved(store.vertices if self.summed else 0, np.dtype(np.uint32))
        self.strength = Reserved(store.vertices if needs.row_weights else 0, np.dtype(np.float64))
        self.bloom = Reserved(filter_words(store.edges) if membership == "filter" else 0, np.dtype(np.uint64))
        slots = member_slots(store.edges, store.vertices) if membership == "hash" else 0
        self.members = Reserved(slots * (2 if weighs_members else 1), np.dtype(np.uint32))
        # What is read from the store, by its names there.
        weights = [self.weights] if needs.weights else []
        beside = zip(needs.stored_columns, [*weights, *self.edge_columns], strict=True)
        self.stored = {INDICES: self.indices} | {column.array: held for column, held in beside}
        # What holds edges, with the number of elements of each: of a partition while its table is made, and while it is
        # loaded.
        self.edge_arrays = tuple((array, 1) for array in self.stored.values())
        self.lasting = self.edge_arrays
        if self.table:
            self.edge_arrays += ((self.entries, of_tables),)
            kept = weights if needs.single_weights else []  # weights that stay beside the tables made of them
            self.lasting = ((self.entries, of_tables), *((array, 1) for array in kept))

    def _arrays(self, columns: np.ndarray, cases: tuple[int, ...]) -> GraphArrays:
        """The arrays that kernels read; ``columns`` as of the constructor, ``cases`` as of Needs."""
        parts = len(self.store.partitions)
        return GraphArrays(
            indptr=self.store.read_indptr(),
            indices=self.indices.array,
            weights=self.weights.array,
            table=self.entries.array,
            sums=self.sums.array,
            possible=self.possible.array,
            strength=self.strength.array,
            bloom=self.bloom.array,
            members=self.members.array,
            member_weights=self.members.array.view(WEIGHT.dtype),
            events=self.events.array,
            event_times=self.events.array.view(np.int64),
            far_ends=self.far_ends.array,
            moved=np.zeros(parts, np.int64),
            loaded=np.zeros(parts + 1, np.uint8),
            near=self.places.near,
            begins=self.places.begins,
            alone=self.places.alone,
            cases=np.array(cases or (0,), np.uint8),
            columns=columns.ravel(),
            edge_columns=tuple(column.array for column in self.edge_columns),
            previous=0,
            began=0,
            word=np.uint64(0),
            path=np.empty(0, self.store.id_dtype),
            known=np.full(3, -1, np.int64),
            edge=0,
        )

    @property
    def indptr(self) -> np.ndarray:
        return self.arrays.indptr

    def degrees(self, vertices: np.ndarray) -> np.ndarray:
        """Neighbors of each vertex."""
        return self.arrays.indptr[vertices + 1] - self.arrays.indptr[vertices]

    def ends_of(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The vertex whose row has each edge, and the edge's position in that row."""
        vertex = np.searchsorted(self.indptr, edges, side="right") - 1
        return vertex, edges - self.indptr[vertex]

    def partition_of(self, vertices: np.ndarray) -> np.ndarray:
        return self.places.of(vertices)

    @cached_property
    def mean_row(self) -> float:
        """Mean degree of the vertex at the end of a random edge."""
        cuts = range(0, self.store.vertices, VERTICES_AT_A_TIME)
        pieces = (np.diff(self.indptr[first : first + VERTICES_AT_A_TIME + 1]).astype(np.float64) for first in cuts)
        return sum(float(degrees @ degrees) for degrees in pieces) / max(self.store.edges, 1)

    def can_read(self, vertices: np.ndarray) -> np.ndarray:
        """Whether the row of each vertex is in memory."""
        return self.places.readable(vertices, self.arrays.loaded)

    def room_to_reach(self, batch: WaitingBatch) -> float:
        return self.rows.room_for(batch.needs())

    @property
    def in_place_bytes(self) -> int:
        return self.rows.bytes

    def reach(self, batch: WaitingBatch, room: float) -> bool:
        """Read the rows that the batch needs, as many as fit ``room`` bytes. False: the batch cannot advance."""
        return self.rows.read(batch.needs(), room)

    def load_all(self) -> None:
        for part in self.store.partitions:
            self.load(part.number)
            tell(part.first_edge + part.edges, self.store.edges, EDGES)
        if self.time_rules is not None:
            self._build_events(self.time_rules)

    def _build_events(self, rules: TimeRules) -> None:
        """Bring the edges into the order by time, and note of each which may follow it."""
        for part in self.store.partitions:
            self._over_vertices(part, lambda first, last, bad: self.kernels.sort_events(self.arrays, first, last))
        given = rules.numbers, rules.scale
        cuts = np.linspace(0, self.store.edges, PIECES + 1).astype(np.int64).tolist()
        list(self.threads.map(lambda ends: self.kernels.find_followers(self.arrays, *ends, *given), pairwise(cuts)))

    def load(self, number: int) -> None:
        """Read a partition and build the tables, sums and filters that kernels read. Drops single rows."""
        self.rows.drop()
        if self.slots is not None:
            part = self.store.partitions[number]
            self.arrays.moved[number] = self.slots.take(number, part.edges) - part.first_edge
        if self.kept is not None and number in self.kept:
            self.kept.read(number, self._columns(number, self.lasting))
        else:
            self._make(number)
        self.arrays.loaded[number] = 1
        self.coming = None if number == self.coming else self.coming
        self.transfers += 1
        self.transfer_bytes += self.store.partitions[number].edges * self.edge_bytes

    def _columns(self, number: int, arrays: Iterable[tuple[Reserved, int]]) -> list[np.ndarray]:
        """The parts of ``arrays`` that hold a partition."""
        low, high = self._edges_of(number)
        return [array.array[each * low : each * high] for array, each in arrays]

    def _edges_of(self, number: int) -> tuple[int, int]:
        """The place of a partition's first edge, and the one after its last."""
        part = self.store.partitions[number]
        low = part.first_edge + int(self.arrays.moved[number])
        return low, low + part.edges

    def _make(self, number: int) -> None:
        """Read a partition and build the tables, sums and filters that kernels read."""
        part = self.store.partitions[number]
        low, high = self._edges_of(number)
        self.store.read_edges(number, {name: held.array[low:high] for name, held in self.stored.items()})
        if self.table:
            self._over_vertices(part, self._build_tables)
            if self.kept is not None:
                self.kept.keep(number, self._columns(number, self.lasting))
            for array, each in self.edge_arrays:
                if (array, each) not in self.lasting:
                    array.release(each * low, each * high)
        if self.summed:
            self._over_vertices(part, self._build_sums)
            for name, held in self.stored.items():
                if name != INDICES:
                    held.release(low, high)
        if self.bloom.array.size:
            self.kernels.build_bloom(self.arrays, self.bloom.array, part.first_vertex, part.last_vertex)
        if self.members.array.size:
            self._over_vertices(part, self._build_members)

    def ahead(self, waiting: dict[int, int]) -> None:
        """Let the system read the partition that most instances wait for into its page cache meanwhile: 1.2 times as
        fast from a cold disk.
        """
        following = max(waiting, key=waiting.__getitem__, default=None)
        if following is None or following == self.coming:
            return
        if self.kept is not None and following in self.kept:
            self.kept.ahead(following)
        else:
            self.store.read_ahead(following, self.stored.keys())
        self.coming = following

    def evict(self, number: int) -> None:
        assert self.slots is not None
        self.arrays.loaded[number] = self.arrays.moved[number] = 0
        self.slots.give_back(number)

    def close(self) -> None:
        """Give back threads and files."""
        self.rows.close()
        if self.kept is not None:
            self.kept.close()

    def sizes(self) -> np.ndarray:
        """int64 [partitions]: bytes that each one takes while it is loaded."""
        return np.array([p.edges for p in self.store.partitions], np.int64) * self.edge_bytes

    def build_table(self, vertices: np.ndarray, bad: np.ndarray) -> None:
        """Build the alias tables of the rows of ``vertices``; a bad bias is noted in ``bad``."""
        self.table_kernels.build_table(self.params, self.arrays, vertices, bad)

    def _build_tables(self, first: int, last: int, bad: np.ndarray) -> None:
        self.build_table(np.arange(first, last), bad)

    def _build_sums(self, first: int, last: int, bad: np.ndarray) -> None:
        self.table_kernels.build_sums(self.params, self.arrays, first, last, bad)

    def _build_members(self, first: int, last: int, bad: np.ndarray) -> None:
        self.kernels.build_members(self.arrays, first, last)

    def _over_vertices(self, part: Partition, work: Callable[[int, int, np.ndarray], None]) -> None:
        """Run ``work(first vertex, end vertex, bad)`` in threads over ranges of a partition's vertices.

        The ranges have about equal numbers of edges.
        """
        pieces = min(PIECES, 1 + part.edges // PIECE_EDGES)
        cuts = np.linspace(part.first_edge, part.first_edge + part.edges, pieces + 1).astype(np.int64)
        bounds = np.searchsorted(self.indptr, cuts)
        bounds = np.clip(bounds, part.first_vertex, part.last_vertex)
        bounds[0], bounds[-1] = part.first_vertex, part.last_vertex
        bads = np.zeros((pieces, 3), np.int64)
        list(self.threads.map(work, bounds[:-1].tolist(), bounds[1:].tolist(), bads))
        self.check(bads)

    def check(self, bads: Iterable[np.ndarray]) -> None:
        """Raise the first error that a kernel has noted in ``bads``."""
        for bad in bads:
            check_bias(self.store, bad)


# Alias tables of a streamed graph, kept on disk once they are made: reading one again takes a fifth of the time of
# making it.

log = logging.getLogger(__name__)


class KeptTables:
    """``keep`` the columns of a partition, and ``read`` them later.

    A partition is in it once it is kept; none is where no disk has room.
    """

    def __init__(self, folder: Path, threads: ThreadPoolExecutor) -> None:
        self.file = ScratchFile(folder, threads.map)
        self.full = False
        self.places: dict[int, list[int]] = {}  # where each column of a partition begins

    def __contains__(self, number: int) -> bool:
        return number in self.places

    def keep(self, number: int, columns: Iterable[np.ndarray]) -> None:
        """Write a partition's columns; do nothing, and note why once, where there is no room for them."""
        if self.full:
            return
        try:
            self.places[number] = [self.file.append(column.view(np.uint8)) for column in columns]
        except OSError as error:
            self.full = True
            log.info("alias tables cannot be kept on disk (%s): they are built again for each load", error.strerror)

    def read(self, number: int, columns: Iterable[np.ndarray]) -> None:
        """Fill arrays with the columns of a partition that was kept. StoreError where the file has changed."""
        for begin, column in zip(self.places[number], columns, strict=True):
            self.file.read(begin, column.view(np.uint8))

    def ahead(self, number: int) -> None:
        """Ask the system to read a partition's columns into its page cache."""
        for begin in self.places[number]:
            self.file.ahead(begin)

    def close(self) -> None:
        """Remove the file."""
        self.file.close()


# Single rows in host memory, each at its own place in address space for the whole graph.
#
# The space is on small pages, so that a row takes little more than its bytes.

SLICE = 64  # rows of a task that makes tables: a task for each row took longer than the tables


class HostRows(SingleRows["HostGraph"]):
    """Single rows of a ``HostGraph``, which its ``places`` note.

    The last entry of its ``loaded`` says whether there are any.
    """

    def sizes(self, vertices: np.ndarray) -> np.ndarray:
        """Bytes of memory that the row of each vertex takes: whole pages, of every array."""
        degrees, arrays = self.graph.degrees(vertices), self.graph.edge_arrays
        none = np.zeros(degrees.shape, np.int64)
        return sum(((degrees * each * array.item // PAGE + 2) * PAGE for array, each in arrays), none)

    def bring(self, vertices: np.ndarray) -> None:
        graph, begin = self.graph, self.graph.indptr[vertices]
        assert graph.slots is not None
        graph.slots.trim()
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
        assert graph.slots is not None
        graph.places.forget(self.vertices)
        graph.arrays.loaded[-1] = 0
        for array, each in graph.edge_arrays:
            array.release(0, each * graph.slots.first)


# Slots: fixed places for the partitions of a streamed graph, so that a partition is read into the memory of one before
# it.
#
# To clear new pages takes longer than to read a partition into pages that are there (docs/contributing/tuning.md).

ALIGNED = HUGE // 4  # edges, of 4 bytes or a multiple of them: a slot begins where a huge page may begin


class Slots:
    """Slots for partitions of at most ``largest`` edges, behind the first ``edges`` places of each of ``arrays``.

    ``arrays``: each with its number of elements of an edge; they have as many places as ``places`` says, so that each
    partition can have a slot. A slot that is free keeps its memory, and so does one that a smaller partition is in, as
    long as all slots together have memory for at most ``most`` edges.
    """

    def __init__(self, arrays: Sequence[tuple[Reserved, int]], edges: int, largest: int, most: int) -> None:
        self.arrays, self.first, self.room, self.most = arrays, _aligned(edges), _aligned(largest), most
        self.free: list[int] = []  # slots that a partition has left
        self.of: dict[int, int] = {}  # the slot of each partition that has one
        self.used: list[int] = []  # edges of the partition in each slot
        self.filled: list[int] = []  # edges for which each slot has memory
        for array, _ in arrays:
            array.huge_pages(False)

    @staticmethod
    def places(edges: int, largest: int, count: int) -> int:
        """Places that arrays must have."""
        return _aligned(edges) + count * _aligned(largest)

    def take(self, partition: int, edges: int) -> int:
        """The place of the first edge of a slot for a partition of so many edges."""
        if partition not in self.of:
            slot = self._free()
            self.of[partition], self.used[slot] = slot, edges
            if edges > self.filled[slot]:
                self._grow(slot, edges)
            self.trim(self.most)
        return self._begin(self.of[partition])

    def give_back(self, partition: int) -> None:
        """Free the slot of a partition."""
        slot = self.of.pop(partition)
        self.used[slot] = 0
        self.free.append(slot)

    def trim(self, most: int = 0) -> None:
        """Give back memory that no partition uses, where most of it is first.

        It ends when there is memory for at most ``most`` edges, or no more of it.
        """
        while sum(self.filled) > max(most, sum(self.used)):
            slot = max(range(len(self.used)), key=lambda slot: self.filled[slot] - self.used[slot])
            begin = self._begin(slot)
            for array, each in self.arrays:
                array.release(each * (begin + self.used[slot]), each * (begin + self.room))
            self.filled[slot] = self.used[slot]

    def _free(self) -> int:
        """The free slot with most memory, or a new one."""
        if self.free:
            slot = max(self.free, key=self.filled.__getitem__)
            self.free.remove(slot)
            return slot
        self.used.append(0)
        self.filled.append(0)
        return len(self.used) - 1

    def _grow(self, slot: int, edges: int) -> None:
        """Let a slot take memory for so many edges: in huge pages, but for the last one, which is not full."""
        begin = self._begin(slot)
        for array, each in self.arrays:
            array.huge_pages(False, each * begin, each * (begin + self.room))
            array.huge_pages(True, each * begin, each * (begin + edges))
        self.filled[slot] = edges

    def _begin(self, slot: int) -> int:
        return self.first + slot * self.room


def _aligned(edges: int) -> int:
    return -(-edges // ALIGNED) * ALIGNED
