"""A streamed graph for runs that read alias tables: made on the GPU once, kept in host memory, then copied or read over the bus."""

from typing import Any

import cupy
import numpy as np

from csaw.engine.cuda.graphs.streamed import StreamedGraph
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.needs import ALIAS_IDS

TABLE_COST = 3  # cost of a new table, as a multiple of copying its rows: copy them, build the table, copy it back


class StreamedTables(StreamedGraph):
    """Slots hold alias tables, with weights where a run reads those too. One buffer on the GPU, for one partition at a time, takes the rows to build a
    table from."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.row_indices = cupy.empty(self.edges, self.store.id_dtype)
        self.row_weights = cupy.empty(self.edges, np.float32) if self.weighted else None

    @property
    def reads_in_place(self) -> bool:  # type: ignore[override]
        return self.rows is not None or len(self.host.tables) == len(self.store.partitions)

    def _slot(self) -> tuple[Array, Array, Array]:
        weights = cupy.empty(self.edges, np.float32) if self.host.keeps_weights else None
        return None, weights, cupy.empty(ALIAS_IDS * self.edges, self.store.id_dtype)

    def room_of_rows(self, slot: int, first: int, last: int) -> tuple[Array, Array, Array]:
        _, kept, table = self.slots[slot]
        weights = None if self.row_weights is None else self.row_weights[: last - first]
        weights = weights if kept is None else kept[first:last]
        return self.row_indices[: last - first], weights, table[ALIAS_IDS * first : ALIAS_IDS * last]

    def costs(self) -> np.ndarray:
        """int64 [partitions]: cost of loading each one, as bytes copied: of its table, or more if the table has to be made."""
        made = np.array([part.number in self.host.tables for part in self.store.partitions])
        tables = np.array([part.edges for part in self.store.partitions], np.int64) * self.edge_bytes
        return np.where(made, tables, TABLE_COST * super().costs())

    def _begin_copy(self, number: int) -> None:
        """Begin to copy a partition's table; if it has to be made, do nothing yet."""
        if number in self.host.tables:
            (_, weights, table), kept = self.slots[self.slot_of[number]], self.host.tables[number]
            self._copy(number, ((table, kept.entries), (weights, kept.weights)))
        else:
            self.coming[number] = None

    def _arrive(self, number: int) -> None:
        """Wait until a table's copy has ended."""
        event = self.coming.pop(number)
        if event is not None:
            event.synchronize()

    def _make_ready(self, number: int) -> None:
        (_, weights, table), made = self.slots[self.slot_of[number]], self.coming[number] is not None
        self._arrive(number)
        if not made:
            self._make(number, self.row_weights if weights is None else weights, table)
        self.place(number, None, weights, table)

    def _make(self, number: int, weights: Array, table: Array) -> None:
        part, buffer = self.store.partitions[number], self.host.take(number)
        try:
            self._copy(number, ((self.row_indices, buffer.indices), (weights, buffer.weights)))
            self._arrive(number)
        finally:
            self.host.give_back(number)
        self.place(number, self.row_indices, weights, table)
        self.tell()
        self.build_table(self.builder, part)
        if self.host.whole:
            self.host.keep_table(number, table[: ALIAS_IDS * part.edges])

    def _place_in_host(self, number: int) -> None:
        kept = self.host.tables[number]
        self.place(number, None, kept.weights, kept.entries)
