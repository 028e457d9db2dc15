"""Partitions in page-locked host memory, which GPUs copy at full rate and can read in place: all of them, or as many as a budget holds."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from csaw.engine.contracts import Array, Store
from csaw.engine.cuda.memory import page_locked
from csaw.engine.plan.needs import Needs


@dataclass
class Buffer:
    """Page-locked room for a partition; ``uses`` GPUs copy from it now."""

    indices: np.ndarray
    weights: np.ndarray
    uses: int = 0
    read: Future = field(default_factory=Future)


class HostPartitions:
    """A store's partitions for any number of GPUs, read when first asked for; ``room`` bytes (None: enough) hold at least two a GPU: one that comes and
    one that is needed before.

    One thread reads, so that what was asked for ahead comes in that order.
    """

    def __init__(self, store: Store, needs: Needs, *, room: int | None = None, gpus: int = 1) -> None:
        self.store, self.weighted = store, needs.weights
        self.largest = store.largest_partition
        each = max(self.largest * needs.edge.stored, 1)
        self.most = len(store.partitions) if room is None else max(2 * gpus, room // each)
        self.whole = room is None
        self.held: dict[int, Buffer] = {}  # the one used longest ago first
        self.tables: dict[int, np.ndarray] = {}  # alias tables of partitions, as a GPU made them: see tables.py
        self.changed = threading.Condition()
        self.reader = ThreadPoolExecutor(1)

    def take(self, number: int) -> Buffer:
        """A partition, read if need be; it stays until it is given back."""
        with self.changed:
            while (buffer := self._begin(number, {})) is None:
                self.changed.wait()  # all are in use, or still being read
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
            self.held[number].uses -= 1
            self.changed.notify_all()

    def keep_table(self, number: int, table: Array) -> None:
        """Bring a partition's table from a GPU, unless another one has; its rows are not needed any more."""
        if number in self.tables:
            return
        kept = table.get(out=page_locked(table.size, table.dtype))
        with self.changed:
            self.tables.setdefault(number, kept)
            buffer = self.held.get(number)
            if buffer is not None and buffer.uses == 0:
                del self.held[number]

    def has(self, number: int) -> bool:
        """Whether a partition is here, or on its way."""
        return number in self.held

    def ahead(self, waiting: dict[int, int]) -> None:
        """Begin to read the partition that most wait for, where there is room or one that fewer wait for."""
        with self.changed:
            missing = [number for number in waiting if number not in self.held]
            if missing:
                self._begin(max(missing, key=lambda number: waiting[number]), waiting)

    def _begin(self, number: int, waiting: dict[int, int]) -> Buffer | None:
        """The partition's buffer, its reading under way; None where all others are wanted more, or in use."""
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
            return Buffer(
                page_locked(edges, self.store.id_dtype), page_locked(edges if self.weighted else 0, np.float32)
            )
        idle = [k for k, buffer in self.held.items() if buffer.uses == 0 and buffer.read.done()]
        least = min(idle, key=lambda k: waiting.get(k, 0), default=None)
        if least is None or (waiting and waiting.get(least, 0) >= waiting.get(number, 0)):
            return None
        return self.held.pop(least)

    def _read(self, number: int, buffer: Buffer) -> None:
        edges = self.store.partitions[number].edges
        weights = buffer.weights[:edges] if self.weighted else None
        self.store.read_partition(number, buffer.indices[:edges], weights)

    def _tell(self, _: Future) -> None:
        with self.changed:
            self.changed.notify_all()

    def close(self) -> None:
        """Give the memory back; nothing reads from it any more."""
        self.reader.shutdown(cancel_futures=True)
        self.held.clear()
        self.tables.clear()
