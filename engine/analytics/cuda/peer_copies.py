"""Rows that another GPU has, a part after the other: one is copied from there while kernels read the one before."""

from collections.abc import Iterator, Sequence

import cupy

from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.plan.contracts import Array
from csaw.partition import Partition


class PeerCopies:
    """The entries of ``parts``, with their weights where ``there`` has weights, through two slots of the current GPU.

    ``there``: rows in the memory of another GPU. ``base``: the number, among all entries, of the first one there.
    """

    def __init__(self, there: Block, base: int, parts: Sequence[Partition]) -> None:
        self.there = [array for array in (there.indices, there.weights) if array is not None]
        self.base, self.parts = base, parts
        largest = max((part.edges for part in parts), default=0)
        self.slots = [[cupy.empty(largest, array.dtype) for array in self.there] for _ in range(2)]
        self.used: list[cupy.cuda.Event | None] = [None, None]  # when kernels are done with a slot
        self.stream = cupy.cuda.Stream(non_blocking=True)
        # The memory of the slots may have been given back by work that is queued still.
        self.stream.wait_event(cupy.cuda.get_current_stream().record())

    def __iter__(self) -> Iterator[tuple[Partition, list[Array]]]:
        """Yield each part with its arrays, which are good until the next is asked for."""
        coming = [self._begin(0)] if self.parts else []
        try:
            for turn, part in enumerate(self.parts):
                cupy.cuda.get_current_stream().wait_event(coming.pop())
                if turn + 1 < len(self.parts):
                    coming.append(self._begin(turn + 1))
                yield part, [array[: part.edges] for array in self.slots[turn % 2]]
                self.used[turn % 2] = cupy.cuda.get_current_stream().record()
        finally:
            self.stream.synchronize()  # a copy may be under way, if the caller stops here

    def _begin(self, turn: int) -> "cupy.cuda.Event":
        """Begin to copy a part, once kernels are done with the one before in its slot. Returns when it has arrived."""
        part, used = self.parts[turn], self.used[turn % 2]
        begin = part.first_edge - self.base
        if used is not None:
            self.stream.wait_event(used)
        if part.edges:
            with self.stream:
                for array, slot in zip(self.there, self.slots[turn % 2], strict=True):
                    fetch(array[begin : begin + part.edges], slot[: part.edges])
        return self.stream.record()
