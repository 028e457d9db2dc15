"""Blocks of a network that is larger than a GPU's memory: one is copied there while kernels read another."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Self

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics.network import Network
from csaw.engine.analytics.rows_in_memory import Block, Slot
from csaw.engine.cuda.device import Device
from csaw.engine.cuda.graphs.node import copied
from csaw.engine.cuda.memory import page_locked
from csaw.engine.plan.choices import Residency
from csaw.partition import GraphStore
from csaw.partition.errors import BudgetError
from csaw.partition.graph.views import Recut


class HostRows(NamedTuple):
    """Entries of rows in page-locked host memory, with their weights, float32, or None."""

    indices: np.ndarray
    weights: np.ndarray | None

    @classmethod
    def empty(cls, entries: int, id_dtype: np.dtype, weights: bool) -> Self:
        """Room for so many entries, with their weights if they are wanted."""
        return cls(page_locked(entries, id_dtype), page_locked(entries, np.float32) if weights else None)

    @classmethod
    def within(cls, store: GraphStore, budget: int, residency: Residency | None) -> Self | None:
        """All entries of a store; None where they do not fit ``budget`` bytes of host memory, or are read from disk.

        Raises BudgetError where they must fit, because the residency is streamed.
        """
        needed = store.edges * (store.id_dtype.itemsize + 4 * store.weighted)
        if residency is Residency.DISK or (needed > budget and residency is None):
            return None
        if needed > budget:
            raise BudgetError(
                f"{store.path}: {needed:,} bytes of host memory are needed for all rows, but there is room for "
                f"only {max(budget, 0):,}; raise --memory, or pass --residency disk"
            )
        rows = cls.empty(store.edges, store.id_dtype, store.weighted)
        for part in store.partitions:
            store.read_partition(part.number, *rows.part(part.first_edge, part.edges, store.weighted))
        return rows

    def part(self, first: int, count: int, weights: bool) -> "HostRows":
        """The entries first .. first + count - 1, with their weights if they are there and wanted."""
        heavy = self.weights[first : first + count] if weights and self.weights is not None else None
        return HostRows(self.indices[first : first + count], heavy)


def copy_rows(source: Network, to: Network, gpu: Device) -> None:
    """Copy where rows begin, and the rows that are in memory, from the GPU of one network to that of another."""
    indptr = source.indptr  # made there, if it was not
    with cupy.cuda.Device(gpu.number):
        to.indptr = copied(indptr)
        for weights, (first, last, _, indices, heavy) in source.held.items():
            to.held[weights] = Block(first, last, to.indptr, copied(indices), copied(heavy))
        cupy.cuda.get_current_stream().synchronize()


class Copies:
    """The blocks ``numbers`` of ``cut``, in order, through two ``slots`` of the memory of the GPU ``gpu``.

    ``offsets``: int64 [V + 1] on the host, where each row begins among all entries. ``whole``: all rows in host memory;
    None: blocks are read from the store.
    """

    def __init__(
        self, cut: Recut, offsets: np.ndarray, whole: HostRows | None, gpu: int, numbers: list[int], slots: list[Slot]
    ) -> None:
        self.cut, self.offsets, self.whole, self.gpu = cut, offsets, whole, gpu
        self.numbers, self.slots, self.weights = numbers, slots, slots[0].weights is not None
        largest = max((cut.partitions[number].edges for number in numbers), default=0)
        self.staged = (
            [] if whole is not None else [HostRows.empty(largest, cut.id_dtype, self.weights) for _ in range(2)]
        )
        self.stream = cupy.cuda.Stream(non_blocking=True)
        # The slots, or what their memory was before, may be in use by work that is queued still.
        self.stream.wait_event(cupy.cuda.get_current_stream().record())

    def __iter__(self) -> Iterator[Block]:
        try:
            yield from self._blocks()
        finally:
            self.stream.synchronize()  # a caller that has enough of it may use the slots again

    def _blocks(self) -> Iterator[Block]:
        used: list[cupy.cuda.Event | None] = [None, None]  # when kernels are done with a slot
        with ThreadPoolExecutor(1) as reader:
            coming = [
                reader.submit(self._begin, number, turn % 2, used) for turn, number in enumerate(self.numbers[:1])
            ]
            for turn in range(len(self.numbers)):
                block, arrived = coming.pop().result()
                cupy.cuda.get_current_stream().wait_event(arrived)
                if turn + 1 < len(self.numbers):
                    coming.append(reader.submit(self._begin, self.numbers[turn + 1], (turn + 1) % 2, used))
                yield block
                used[turn % 2] = cupy.cuda.get_current_stream().record()

    def _begin(self, number: int, at: int, used: list[cupy.cuda.Event | None]) -> tuple[Block, cupy.cuda.Event]:
        """Begin to copy a block to slot ``at``, once kernels are done with the block before in it.

        Returns the block, and the event of its arrival.
        """
        with cupy.cuda.Device(self.gpu):
            part, slot, source = self.cut.partitions[number], self.slots[at], self._source(number, at)
            if used[at] is not None:
                self.stream.wait_event(used[at])
            offsets = self.offsets[part.first_vertex : part.last_vertex + 1] - part.first_edge
            indptr: Array = slot.indptr[: offsets.size]
            indices: Array = slot.indices[: part.edges]
            indptr.set(offsets, stream=self.stream)
            indices.set(source.indices, stream=self.stream)
            weights: Array | None = None
            if source.weights is not None:
                assert slot.weights is not None
                heavy: Array = slot.weights[: part.edges]
                heavy.set(source.weights, stream=self.stream)
                weights = heavy
            arrived = self.stream.record()
            if self.staged:
                arrived.synchronize()  # the buffer is filled again after the next one
            return Block(part.first_vertex, part.last_vertex, indptr, indices, weights), arrived

    def _source(self, number: int, at: int) -> HostRows:
        """A block's entries in page-locked memory, read there if they are not."""
        part = self.cut.partitions[number]
        if self.whole is not None:
            return self.whole.part(part.first_edge, part.edges, self.weights)
        rows = self.staged[at].part(0, part.edges, self.weights)
        self.cut.read_partition(number, *rows)
        return rows
