"""Blocks of a network that is larger than a GPU's memory on their way there: one is copied while kernels read the other."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import cupy
import numpy as np

from csaw.engine.analytics.network import Block
from csaw.engine.cuda.memory import page_locked

if TYPE_CHECKING:
    from csaw.engine.analytics.cuda.network import DeviceNetwork


class Copies:
    """The blocks ``numbers`` of a network, in order, through two slots of the GPU's memory."""

    def __init__(self, network: "DeviceNetwork", numbers: list[int], weights: bool) -> None:
        self.network, self.numbers, self.weights = network, numbers, weights
        parts = [network.cut.partitions[number] for number in numbers]
        largest = max((part.edges for part in parts), default=0)
        rows = max((part.last_vertex - part.first_vertex for part in parts), default=0) + 1
        self.slots = [
            (
                cupy.empty(rows, np.int64),
                cupy.empty(largest, np.uint32),
                cupy.empty(largest, np.float32) if weights else None,
            )
            for _ in range(2)
        ]
        self.staged = (
            None
            if network.host_copy
            else [
                (page_locked(largest, np.uint32), page_locked(largest if weights else 0, np.float32)) for _ in range(2)
            ]
        )
        self.stream = cupy.cuda.Stream(non_blocking=True)
        # The memory of the slots may have been given back by work that is queued still.
        self.stream.wait_event(cupy.cuda.get_current_stream().record())

    def __iter__(self) -> Iterator[Block]:
        used: list[Any] = [None, None]  # events: when kernels are done with a slot
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

    def _begin(self, number: int, slot: int, used: list[Any]) -> tuple[Block, Any]:
        """Begin to copy a block to a slot, once kernels are done with what it held; the block, and the event of its arrival."""
        network = self.network
        with cupy.cuda.Device(network.gpu.number):
            part = network.cut.partitions[number]
            sources = self._source(number, slot)
            if used[slot] is not None:
                self.stream.wait_event(used[slot])
            indptr, indices, weights = self.slots[slot]
            offsets = network.host.indptr[part.first_vertex : part.last_vertex + 1] - part.first_edge
            indptr, indices = indptr[: offsets.size], indices[: part.edges]
            weights = None if weights is None else weights[: part.edges]
            indptr.set(offsets, stream=self.stream)
            for there, here in ((indices, sources[0]), (weights, sources[1])):
                if there is not None and here is not None:
                    there.set(here, stream=self.stream)
            arrived = self.stream.record()
            if self.staged is not None:
                arrived.synchronize()  # the buffer is filled again after the next one
            return Block(part.first_vertex, part.last_vertex, indptr, indices, weights), arrived

    def _source(self, number: int, slot: int) -> tuple[np.ndarray, np.ndarray | None]:
        """A block's rows and weights in page-locked memory, read there if they are not."""
        part = self.network.cut.partitions[number]
        if self.network.host_copy is not None:
            indices, weights = self.network.host_copy
            span = slice(part.first_edge, part.first_edge + part.edges)
            return indices[span], None if weights is None or not self.weights else weights[span]
        assert self.staged is not None
        indices, weights = (
            self.staged[slot][0][: part.edges],
            self.staged[slot][1][: part.edges] if self.weights else None,
        )
        self.network.cut.read_partition(number, indices, weights)
        return indices, weights
