"""A graph larger than a GPU's budget: partitions in host memory or on disk, some of them in slots on the device (C-SAW,
section V).

A slot has room for the largest partition and holds any one. When few instances wait for the other partitions, the GPU
reads single rows in host memory over the bus, or single rows are copied from the disk, without loading partitions.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.cuda.graphs.edge_arrays import EdgeArrays, entries_for, made
from csaw.engine.cuda.graphs.host_partitions import HostPartitions
from csaw.engine.cuda.graphs.pieces import MOST_ROWS, DeviceRows, Pieces
from csaw.engine.cuda.launch import Kernels
from csaw.engine.plan.choices import GraphLayout
from csaw.engine.plan.contracts import Partitions, Store, WaitingBatch
from csaw.engine.plan.needs import Needs
from csaw.engine.plan.rates import Rates


class StreamedGraph(Pieces, Partitions):
    """Loads partitions into slots and evicts them, on a stream of its own. ``capacity``: bytes of GPU memory for slots.

    If host memory holds all partitions, and the layout needs nothing built, kernels can read them there over the bus.
    Otherwise single rows can be copied from the disk, if ``few`` allows it. ``lands``: whether one more slot takes the
    partition that is likely to come next, while others are sampled. ``rates``: of the machine, for the costs of loads.
    """

    def __init__(
        self,
        store: Store,
        layout: GraphLayout,
        builder: Kernels,
        host: HostPartitions,
        capacity: int,
        needs: Needs,
        *,
        few: bool,
        lands: bool,
        rates: Rates,
        columns: Array,
    ) -> None:
        single = few and not host.whole and store.is_plain
        super().__init__(store, layout, needs, columns=columns, rows=MOST_ROWS if single else 0)
        self.builder, self.host, self.needs, self.stored_columns = builder, host, needs, needs.stored_columns
        self.edge_bytes = needs.edge.in_slot(layout)
        self.stored_bytes = needs.edge.stored  # of an edge in the store, counting what the run reads
        self.device = cupy.cuda.Device().id
        self.disk_cost, self.round_bytes = rates.disk_cost, round(rates.round_bytes)
        self.fetches = len(store.partitions) if host.whole else 1  # a copy from the disk keeps a buffer
        # A partition that lands, one that comes and one that is loaded next have a buffer each.
        lands = lands and (host.whole or host.most >= 3 * host.gpus)
        self.edges = store.largest_partition  # that a slot has room for
        count = min(len(store.partitions), capacity // max(self.slot_bytes, 1))
        self.slots = [self._slot() for _ in range(count + lands)]
        self.free = list(range(count))
        self.landing = count  # the slot of ``landed``, if there is one
        self.landed: tuple[int, cupy.cuda.Event] | None = None  # a partition that is in no slot yet, and its copy's end
        self.slot_of: dict[int, int] = {}
        self.ready: set[int] = set()  # partitions that kernels can read in their slots
        self.untold = False  # whether kernels take a partition that was evicted for one that they can read
        self.coming: dict[int, cupy.cuda.Event] = {}  # events that end the copies under way
        self.copies = cupy.cuda.Stream(non_blocking=True)
        self.rows = DeviceRows(self) if single else None
        builder.set_graph(self.address())
        self._begin()

    def _begin(self) -> None:
        """Take further memory."""

    @property
    def reads_in_place(self) -> bool:  # type: ignore[override]
        return self.rows is not None or (self.host.whole and not self.layout.is_built)

    def _slot(self) -> EdgeArrays:
        stored = made(cupy.empty, self.edges, self.store, self.stored_columns)
        return EdgeArrays(stored, entries_for(self.edges, self.layout, self.needs))

    @property
    def slot_bytes(self) -> int:
        return self.edges * self.edge_bytes

    def sizes(self) -> np.ndarray:
        """int64 [partitions]: bytes of GPU memory that each one takes, those of a slot."""
        return np.full(len(self.store.partitions), self.slot_bytes, np.int64)

    def costs(self) -> np.ndarray:
        """int64 [partitions]: cost of loading each one, as bytes copied to a GPU: reading it from the store first costs
        more, and the one that has landed costs a round.
        """
        copied = np.array([part.edges for part in self.store.partitions], np.int64) * self.stored_bytes
        found: np.ndarray = copied + self._cost_of_reading(copied)
        if self.landed is not None:
            found[self.landed[0]] = min(found[self.landed[0]], self.round_bytes)
        return found

    def _cost_of_reading(self, copied: np.ndarray) -> np.ndarray:
        """int64 [partitions]: cost of reading each one of ``copied`` bytes that is not in host memory, as bytes copied
        to a GPU.
        """
        if self.host.whole:
            return np.zeros_like(copied)
        here = self.host.here()
        away = np.array([part.number not in here for part in self.store.partitions])
        return (away * copied * self.disk_cost).astype(np.int64)

    @property
    def read_bytes(self) -> int:  # type: ignore[override]
        return 0 if self.host.whole else self.host.read_bytes[self.device]

    def partition_of(self, vertices: Array) -> Array:
        number = super().partition_of(vertices)
        return number if self.rows is None else self.rows.home[number]

    def ends_of(self, edges: Array) -> tuple[Array, Array]:
        self._drop_rows()  # the search needs offsets in ascending order
        return super().ends_of(edges)

    def _drop_rows(self) -> None:
        if self.rows is not None:
            self.rows.drop()

    def room_of_rows(self, slot: int, first: int, last: int) -> EdgeArrays:
        """The arrays for edges first .. last - 1 of a slot's single rows."""
        return self.slots[slot].part(first, last)

    def fetch(self, number: int) -> None:
        """Begin to copy a partition into a free slot while kernels run. Single rows are dropped if no slot is free."""
        if self.untold:
            self.tell()
        self._fetch(number)

    def _fetch(self, number: int) -> None:
        if not self.free:
            self._drop_rows()
        self.slot_of[number] = self.free.pop()
        if self.landed is not None and self.landed[0] == number:
            self.slot_of[number], self.landing = self.landing, self.slot_of[number]
            self.coming[number], self.landed = self.landed[1], None
            return
        with self._unless_it_fails(number):
            self.coming[number] = self._begin_copy(number, self.slots[self.slot_of[number]])

    @contextmanager
    def _unless_it_fails(self, number: int) -> Iterator[None]:
        """Evict the partition if the block fails, so that it can be loaded again later."""
        try:
            yield
        except BaseException:
            self.evict(number)
            raise

    def _begin_copy(self, number: int, slot: EdgeArrays) -> cupy.cuda.Event | None:
        """Begin to copy a partition into a slot; return the end of the copy, None if there is none yet."""
        buffer = self.host.take(number)
        try:
            return self._copy((slot.stored[name], host) for name, host in buffer.arrays.items())
        except BaseException:
            self.host.give_back(number)
            raise

    def _copy(self, pairs: Iterable[tuple[Array, np.ndarray]]) -> cupy.cuda.Event:
        """Begin to copy a partition's host arrays into the beginnings of arrays on the GPU; return the end.

        ``pairs``: (GPU array, host array).
        """
        for device, host in pairs:
            size = min(len(device), len(host))
            device[:size].set(host[:size], stream=self.copies)
            self.transfer_bytes += host[:size].nbytes
        self.transfers += 1
        return self.copies.record()

    def _arrive(self, number: int) -> None:
        """Have the kernels that follow wait for a partition's copy."""
        try:
            self._await(self.coming.pop(number))
        finally:
            self.host.give_back(number)

    def _await(self, copied: cupy.cuda.Event) -> None:
        """Have kernels wait for a copy: the host goes on, unless the copy's buffer is to be read into again."""
        if self.host.whole:
            cupy.cuda.get_current_stream().wait_event(copied)
        else:
            copied.synchronize()

    def load(self, number: int) -> None:
        """Load a partition into a slot, for kernels to read once its copy has ended, and build its layout."""
        self._drop_rows()
        if number not in self.coming:
            self._fetch(number)
        with self._unless_it_fails(number):
            self._make_ready(number)
        self.ready.add(number)
        self.loaded[number] = 1
        self.tell()

    def _make_ready(self, number: int) -> None:
        self._arrive(number)
        self.place(number, self.slots[self.slot_of[number]])
        if self.layout.is_built:
            self.tell()
            self.build_table(self.builder, self.store.partitions[number])

    def evict(self, number: int) -> None:
        """Free a partition's slot; no running kernel may need it. Later ones are told before anything else is there."""
        if number in self.coming:
            self._arrive(number)
        self.loaded[number] = 0
        self.ready.discard(number)
        self.free.append(self.slot_of.pop(number))
        self.untold = True

    def close(self) -> None:
        """Wait for the copies under way and give their buffers back."""
        if self.rows is not None:
            self.rows.close()
        with suppress(Exception):
            self.copies.synchronize()
        with suppress(Exception):  # a device that has failed raises here, too
            self._give_up()
        for number in list(self.coming):
            with suppress(Exception):
                self._arrive(number)

    def ahead(self, waiting: dict[int, int]) -> None:
        """Begin to read the partition that most instances wait for from the store, unless host memory holds them all,
        and to copy the one in host memory that most of them wait for, if there is a slot for it.
        """
        if not self.host.whole:
            self.host.ahead(waiting)
        if self.landing == len(self.slots):
            return  # there is no slot for it
        if self.landed is not None and self.landed[0] in waiting:
            return
        self._give_up()
        likely = max(self._that_can_land(waiting), key=lambda number: waiting[number], default=None)
        if likely is not None:
            if self.untold:
                self.tell()
            copied = self._begin_copy(likely, self.slots[self.landing])
            assert copied is not None
            self.landed = likely, copied

    def _that_can_land(self, waiting: dict[int, int]) -> list[int]:
        """The partitions waited for that can be copied without waiting for the store."""
        here = self.host.here()
        return [number for number in waiting if number in here]

    def _give_up(self) -> None:
        """Have the copy of the partition that no slot has yet end."""
        if self.landed is not None:
            (number, copied), self.landed = self.landed, None
            self.coming[number] = copied
            self._arrive(number)

    def tell(self) -> None:
        super().tell()
        self.untold = False

    def room_to_reach(self, batch: WaitingBatch) -> float:
        return 0 if self.rows is None else self.rows.room_for(())

    @property
    def in_place_bytes(self) -> int:
        return self.slot_bytes if self.rows is not None and self.rows.slot is not None else 0

    def reach(self, batch: WaitingBatch, room: float) -> bool:
        """Make the rows that the batch needs readable until ``leave``: copy them from the disk, or let kernels read
        host memory over the bus.
        """
        if self.rows is not None:
            return self.rows.read(batch.needs(), room)
        for part in self.store.partitions:
            if part.number not in self.ready:
                self._place_in_host(part.number)
        self.loaded[:] = 1
        self.tell()
        return True

    def _place_in_host(self, number: int) -> None:
        buffer = self.host.take(number)
        self.place(number, EdgeArrays(buffer.arrays))
        self.host.give_back(number)  # host memory holds all partitions to the end

    def leave(self) -> None:
        """End ``reach``: only partitions in slots can be read again."""
        self.loaded[:] = 0
        self.loaded[list(self.ready)] = 1
        self.tell()


# A streamed graph for runs that read alias tables: made on the GPU once, kept in host memory, then copied or read over
# the bus.

TABLE_COST = 3  # cost of a new table, as a multiple of copying its rows: copy them, build the table, copy it back


class StreamedTables(StreamedGraph):
    """Slots hold alias tables, with weights where a run reads those too.

    One buffer on the GPU, for one partition at a time, takes the rows to build a table from.
    """

    def _begin(self) -> None:
        self.rows_to_build = EdgeArrays(made(cupy.empty, self.edges, self.store, self.stored_columns))

    @property
    def reads_in_place(self) -> bool:  # type: ignore[override]
        return self.rows is not None or len(self.host.tables) == len(self.store.partitions)

    def _slot(self) -> EdgeArrays:
        beside = {column.array: cupy.empty(self.edges, column.dtype) for column in self.host.beside}
        return EdgeArrays(beside, entries_for(self.edges, self.layout, self.needs))

    def room_of_rows(self, slot: int, first: int, last: int) -> EdgeArrays:
        kept, rows = self.slots[slot].part(first, last), self.rows_to_build.part(0, last - first)
        return EdgeArrays(rows.stored | kept.stored, kept.entries)

    def costs(self) -> np.ndarray:
        """int64 [partitions]: cost of loading each one, as bytes copied: of its table, or more if the table has to be
        made.
        """
        made = np.array([part.number in self.host.tables for part in self.store.partitions])
        edges = np.array([part.edges for part in self.store.partitions], np.int64)
        rows = edges * self.stored_bytes
        return np.where(made, edges * self.edge_bytes, TABLE_COST * rows + self._cost_of_reading(rows))

    def _begin_copy(self, number: int, slot: EdgeArrays) -> cupy.cuda.Event | None:
        """Begin to copy a partition's table; if it has to be made, do nothing yet."""
        if number not in self.host.tables:
            return None
        kept = self.host.tables[number]
        return self._copy([(slot.entries, kept.entries), *((slot.stored[name], w) for name, w in kept.stored.items())])

    def _arrive(self, number: int) -> None:
        """Have the kernels that follow wait for a table's copy."""
        event = self.coming.pop(number)
        if event is not None:
            self._await(event)

    def _make_ready(self, number: int) -> None:
        slot, is_made = self.slots[self.slot_of[number]], self.coming[number] is not None
        self._arrive(number)
        if not is_made:
            self._make(number, slot)
        self.place(number, slot)

    def _make(self, number: int, slot: EdgeArrays) -> None:
        """Copy the rows of a partition, and build its table in ``slot``."""
        part, buffer = self.store.partitions[number], self.host.take(number)
        rows = EdgeArrays(self.rows_to_build.stored | slot.stored, slot.entries)
        try:
            self._await(self._copy((rows.stored[name], host) for name, host in buffer.arrays.items()))
        finally:
            self.host.give_back(number)
        self.place(number, rows)
        self.tell()
        self.build_table(self.builder, part)
        if self.host.whole:
            self.host.keep_table(number, slot.entries[: part.edges])

    def _place_in_host(self, number: int) -> None:
        self.place(number, self.host.tables[number])
