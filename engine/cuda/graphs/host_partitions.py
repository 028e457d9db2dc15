"""Partitions in page-locked host memory, which GPUs copy at full rate and can read in place: all of them, or as many as
a budget holds.
"""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from csaw.engine.cuda.graphs.edge_arrays import EdgeArrays, made
from csaw.engine.cuda.memory import page_locked
from csaw.engine.plan.contracts import Array, Store
from csaw.engine.plan.needs import Needs
from csaw.partition.graph.edge_columns import WEIGHT


@dataclass
class Buffer:
    """Page-locked ``arrays`` for one partition, by their names in the store; ``uses``: the number of GPUs that copy
    from it now; ``read``: done once the partition is in it.
    """

    arrays: dict[str, np.ndarray]
    uses: int = 0
    read: Future = field(default_factory=Future)


class HostPartitions:
    """A store's partitions in host memory, shared by any number of GPUs.

    Each is read when a GPU first takes it, or ahead of that.

    ``room``: bytes for partitions (None: for all). There are at least two buffers a GPU, so that one is read while the
    other is used. One thread reads, so that partitions arrive in the order in which they were asked for.
    """

    def __init__(self, store: Store, needs: Needs, *, room: int | None = None, gpus: int = 1) -> None:
        self.store, self.columns = store, needs.stored_columns
        self.largest = store.largest_partition
        each = max(self.largest * needs.edge.stored, 1)
        self.most = len(store.partitions) if room is None else max(2 * gpus, room // each)
        self.whole = room is None
        self.held: dict[int, Buffer] = {}  # in order of use: the first was used longest ago
        # Alias tables of partitions, made by a GPU, and weights where they are read beside: see streamed_tables.py.
        self.tables: dict[int, EdgeArrays] = {}
        self.beside = (WEIGHT,) if needs.single_weights else ()
        self.changed = threading.Condition()
        self.reader = ThreadPoolExecutor(1)

    def take(self, number: int) -> Buffer:
        """Wait for a partition, reading it if it is not here. It stays in its buffer until ``give_back``."""
        with self.changed:
            while (buffer := self._begin(number, {})) is None:
                self.changed.wait()  # all buffers are in use or being read
            buffer.uses += 1
            self.held[number] = self.held.pop(number)
        try:
            buffer.read.result()
        except BaseException:
            self.give_back(number)
            raise
        return buffer

    def give_back(self, number: int) -> None:
        with self.changed:
            buffer = self.held[number]
            buffer.uses -= 1
            if buffer.uses == 0 and number in self.tables:
                del self.held[number]  # its table is what GPUs copy from now on
            self.changed.notify_all()

    def keep_table(self, number: int, table: Array) -> None:
        """Copy a partition's alias table from a GPU, unless another GPU did so before.

        The partition's rows are not needed any more.
        """
        if number in self.tables:
            return
        kept = table.get(out=page_locked(table.size, table.dtype))
        with self.changed:
            buffer = self.held.get(number)
            if number in self.tables or buffer is None:
                return
            self.tables[number] = EdgeArrays({c.array: buffer.arrays[c.array] for c in self.beside}, kept)
            if buffer.uses == 0:
                del self.held[number]

    def has(self, number: int) -> bool:
        """Whether a partition is here or being read."""
        return number in self.held

    def ahead(self, waiting: dict[int, int]) -> None:
        """Begin to read the missing partition that most instances wait for.

        This needs a buffer that is free or holds one that fewer wait for.
        """
        with self.changed:
            missing = [number for number in waiting if number not in self.held]
            if missing:
                self._begin(max(missing, key=lambda number: waiting[number]), waiting)

    def _begin(self, number: int, waiting: dict[int, int]) -> Buffer | None:
        """The partition's buffer, with its reading under way.

        None if every buffer is in use or holds a partition that is wanted more.
        """
        if number in self.held:
            return self.held[number]
        buffer = self._room(number, waiting)
        if buffer is not None:
            self.held[number] = buffer
            buffer.read = self.reader.submit(self._read, number, buffer)
            buffer.read.add_done_callback(self._tell)
        return buffer

    def _room(self, number: int, waiting: dict[int, int]) -> Buffer | None:
        if len(self.held) < self.most:
            edges = self.store.partitions[number].edges if self.whole else self.largest
            return Buffer(made(page_locked, edges, self.store, self.columns))
        idle = [k for k, buffer in self.held.items() if buffer.uses == 0 and buffer.read.done()]
        least = min(idle, key=lambda k: waiting.get(k, 0), default=None)
        if least is None or (waiting and waiting.get(least, 0) >= waiting.get(number, 0)):
            return None
        return self.held.pop(least)

    def _read(self, number: int, buffer: Buffer) -> None:
        edges = self.store.partitions[number].edges
        self.store.read_edges(number, {name: array[:edges] for name, array in buffer.arrays.items()})

    def _tell(self, _: Future) -> None:
        with self.changed:
            self.changed.notify_all()

    def close(self) -> None:
        """Give the memory back; no GPU may read from it any more."""
        self.reader.shutdown(cancel_futures=True)
        self.held.clear()
        self.tables.clear()
