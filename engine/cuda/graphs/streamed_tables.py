"""A streamed graph for runs that read alias tables: made on the GPU once, kept in host memory, then copied or read over
the bus.
"""

from typing import Any

import cupy
import numpy as np

from csaw.engine.cuda.graphs.edge_arrays import EdgeArrays, entries_for, made
from csaw.engine.cuda.graphs.streamed import StreamedGraph

TABLE_COST = 3  # cost of a new table, as a multiple of copying its rows: copy them, build the table, copy it back


class StreamedTables(StreamedGraph):
    """Slots hold alias tables, with weights where a run reads those too.

    One buffer on the GPU, for one partition at a time, takes the rows to build a table from.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.rows_to_build = EdgeArrays(made(cupy.empty, self.edges, self.store, self.stored_columns))

    @property
    def reads_in_place(self) -> bool:  # type: ignore[override]
        return self.rows is not None or len(self.host.tables) == len(self.store.partitions)

    def _slot(self) -> EdgeArrays:
        beside = {column.array: cupy.empty(self.edges, column.dtype) for column in self.host.beside}
        return EdgeArrays(beside, entries_for(self.edges, self.layout, self.store))

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
