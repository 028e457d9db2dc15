"""Partitions in page-locked host memory, which GPUs copy at full rate and can read in place: all of them, or as many as
a budget holds.

Memory is written by the threads that read, and locked then: pages that are there already are locked ten times as fast.
"""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.cuda.graphs.edge_arrays import EdgeArrays, dtypes_of
from csaw.engine.cuda.memory import huge_pages, lock
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.needs import Needs
from csaw.partition.graph.edge_columns import WEIGHT

READERS = 3  # partitions that are read at a time, where memory holds all: one is read while another's memory is locked
ALIGNED = 256  # bytes


@dataclass
class Buffer:
    """Page-locked memory for one partition.

    Attributes:
        arrays: by their names in the store; none before it is first read.
        table: bytes, room for its alias table, none where no table is kept.
        uses: the number of GPUs that copy from it now.
        read: done once the partition is in it.
    """

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    table: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint8))
    uses: int = 0
    read: Future[object] = field(default_factory=Future)


class HostPartitions:
    """A store's partitions in host memory, shared by any number of GPUs.

    If ``room`` is None, memory holds them all: once a GPU takes one, threads read the others, too. Otherwise it is the
    bytes for partitions, each of which is read when a GPU takes it, or ahead of that. One for which few wait makes way,
    and of several the one that was asked for last, so that others stay: the partitions that are here are served again
    and again from memory, and those that are not pass through one buffer. There are at least two buffers a GPU, so that
    one is read while the other is used.
    """

    def __init__(self, store: Store, needs: Needs, *, room: int | None = None, gpus: int = 1) -> None:
        self.store, self.gpus, self.dtypes = store, gpus, dtypes_of(store, needs.stored_columns)
        self.largest = store.largest_partition
        each = max(self.largest * needs.edge.stored, 1)
        self.most = len(store.partitions) if room is None else max(2 * gpus, room // each)
        self.whole = room is None
        # By the number of the GPU: instances that waited for each partition when they were last counted, and bytes
        # that it has had read from the store.
        self.waiting, self.read_bytes = dict[int, dict[int, int]](), Counter[int]()
        self.edge_bytes, self.table_bytes = needs.edge.stored, needs.edge.alias
        self.held: dict[int, Buffer] = {}  # in the order in which they were asked for
        # Alias tables of partitions, made by a GPU, and weights where they are read beside: see streamed.py.
        self.tables: dict[int, EdgeArrays] = {}
        self.keeps_tables = self.whole and needs.alias_tables
        self.beside = (WEIGHT,) if needs.single_weights else ()
        self.changed = threading.Condition()
        self.reader = ThreadPoolExecutor(1)  # so that partitions arrive in the order in which they were asked for
        self.others = ThreadPoolExecutor(READERS)  # read what no GPU waits for yet, where memory holds all
        self.device = cupy.cuda.Device().id

    def take(self, number: int) -> Buffer:
        """Wait for a partition, reading it if it is not here. It stays in its buffer until ``give_back``."""
        with self.changed:
            while (buffer := self._begin(number, {})) is None:
                self.changed.wait()  # all buffers are in use or being read
            if self.whole:
                self._read_others(number, buffer)
            buffer.uses += 1
        try:
            buffer.read.result()
        except BaseException:
            self.give_back(number)
            raise
        return buffer

    def give_back(self, number: int) -> None:
        with self.changed:
            self.held[number].uses -= 1
            self.changed.notify_all()

    @contextmanager
    def lent(self, numbers: Iterable[int]) -> Iterator[dict[int, Buffer]]:
        """The buffers of those of some partitions that are here, by number; they stay until the block ends."""
        with self.changed:
            found = {number: self.held[number] for number in numbers if self._is_here(number)}
            for buffer in found.values():
                buffer.uses += 1
        try:
            yield found
        finally:
            for number in found:
                self.give_back(number)

    def keep_table(self, number: int, table: Array) -> None:
        """Copy a partition's alias table from a GPU, unless another GPU did so before.

        The partition's rows are not needed any more, but for the weights that are read beside a table.
        """
        if number in self.tables:
            return
        buffer = self.held[number]
        kept = table.get(out=buffer.table.reshape(table.shape))
        self.tables[number] = EdgeArrays({column.array: buffer.arrays[column.array] for column in self.beside}, kept)

    def here(self) -> set[int]:
        """The partitions that are here, all of each."""
        with self.changed:
            return {number for number in self.held if self._is_here(number)}

    def _is_here(self, number: int) -> bool:
        buffer = self.held.get(number)
        return buffer is not None and buffer.read.done() and buffer.read.exception() is None

    def ahead(self, waiting: dict[int, int]) -> None:
        """Begin to read the missing partition that most instances of the current GPU wait for, unless one is being
        read.

        This needs a buffer that is free or holds one that fewer wait for, on all GPUs together.
        """
        with self.changed:
            self.waiting[cupy.cuda.Device().id] = waiting
            missing = [number for number in waiting if number not in self.held]
            if missing and all(buffer.read.done() for buffer in self.held.values()):
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
            self.count_read(self.store.partitions[number].edges)
            self._submit(self.reader, number, buffer)
        return buffer

    def _room(self, number: int, waiting: dict[int, int]) -> Buffer | None:
        if len(self.held) < self.most:
            return Buffer()
        idle = [k for k, buffer in self.held.items() if buffer.uses == 0 and buffer.read.done()]
        least = min(reversed(idle), key=self._wait_for, default=None)
        if least is None or (waiting and self._wait_for(least) >= self._wait_for(number)):
            return None
        return self.held.pop(least)

    def _wait_for(self, number: int) -> int:
        """The instances that wait for a partition, on all GPUs."""
        return sum(waiting.get(number, 0) for waiting in self.waiting.values())

    def _submit(self, readers: ThreadPoolExecutor, number: int, buffer: Buffer) -> None:
        buffer.read = readers.submit(self._read, number, buffer)
        buffer.read.add_done_callback(self._tell)

    def _read_others(self, number: int, buffer: Buffer) -> None:
        """Begin to read all partitions that are not here; ``number``, which a GPU waits for, before those that wait."""
        if buffer.uses == 0 and buffer.read.cancel():
            self._submit(self.reader, number, buffer)
        if len(self.held) == self.most:
            return
        for part in self.store.partitions:
            if part.number not in self.held:
                self.held[part.number] = Buffer()
                self._submit(self.others, part.number, self.held[part.number])

    def _read(self, number: int, buffer: Buffer) -> None:
        """Read a partition into its buffer, which gets its memory now if it has none, and lock that."""
        edges = self.store.partitions[number].edges
        new = None if buffer.arrays else self._memory_for(buffer, edges if self.whole else self.largest)
        self.store.read_edges(number, {name: array[:edges] for name, array in buffer.arrays.items()})
        if new is not None:
            with cupy.cuda.Device(self.device):
                lock(new)

    def _memory_for(self, buffer: Buffer, edges: int) -> np.ndarray:
        """Give a buffer room for ``edges`` edges; returns all of it, which is not locked yet.

        A table is written over the rows that it replaces, unless another GPU may be copying them.
        """
        sizes = {name: edges * dtype.itemsize for name, dtype in self.dtypes.items()}
        kept = [column.array for column in self.beside]
        begins, end = dict[str, int](), 0
        for name in [name for name in self.dtypes if name not in kept]:
            begins[name], end = end, _aligned(end + sizes[name])
        table = 0 if self.gpus == 1 else end
        upto = table + (edges * self.table_bytes if self.keeps_tables else 0)
        end = max(end, _aligned(upto))
        for name in kept:
            begins[name], end = end, _aligned(end + sizes[name])
        room = huge_pages(end)
        buffer.arrays = {name: room[at : at + sizes[name]].view(self.dtypes[name]) for name, at in begins.items()}
        buffer.table = room[table:upto]
        return room

    def count_read(self, edges: int) -> None:
        """Count edges that are read from the store for the current GPU."""
        self.read_bytes[cupy.cuda.Device().id] += edges * self.edge_bytes

    def _tell(self, _: Future[object]) -> None:
        with self.changed:
            self.changed.notify_all()

    def close(self) -> None:
        """Give the memory back; no GPU may read from it any more."""
        self.reader.shutdown(cancel_futures=True)
        self.others.shutdown(cancel_futures=True)
        self.held.clear()
        self.tables.clear()


def _aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED
