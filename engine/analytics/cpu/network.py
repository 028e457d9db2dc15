"""A network in host memory: all of it, or two blocks of it at a time, of which one is read while the other is in use."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from csaw.engine.analytics.cpu.kernels import adjacency
from csaw.engine.analytics.network import Block, Network, Wanted
from csaw.engine.analytics.unfinished import Unfinished
from csaw.engine.plan.machine import available_bytes
from csaw.engine.plan.residency import Residency
from csaw.partition.base.parallel import processors
from csaw.partition.graph.recut import Recut

STATE_BYTES = 48  # for each vertex: offsets, degrees, and what a measure keeps
EDGES_OF_TASK, TASKS_OF_THREAD = 1 << 14, 8  # a smaller task takes less time than handing it to a thread
DIRECTIONS = ("undirected", "incoming")
DERIVED_SHARE = 3  # graphs in memory while the undirected one is made: rows, rows backward, and both


class HostNetwork(Network):
    """The graph of ``store``, in at most ``memory`` bytes (default: what is free) with ``threads`` threads (default: one for each processor).

    ``residency``: resident or disk (default: resident if it fits).
    ``derived``: a folder for graph stores that are made of a graph that does not fit, such as its undirected one; they are found again there.
    BudgetError, with the bytes needed, where the memory does not hold two rows and what is kept of all vertices.
    """

    device, flag, state_bytes = "cpu", "--memory", STATE_BYTES
    xp = np

    def __init__(
        self,
        store: Any,
        *,
        memory: int | None = None,
        threads: int | None = None,
        derived: Path | None = None,
        residency: Residency | None = None,
    ) -> None:
        self.store, self.derived, self.residency = store, derived, residency
        self.memory = available_bytes() if memory is None else memory
        self.threads = processors() if threads is None else threads
        self.pool, self.reader = ThreadPoolExecutor(self.threads), ThreadPoolExecutor(1)
        self.vertices, self.edges = store.vertices, store.edges
        self.directed, self.weighted = store.directed, store.weighted
        self.id_dtype = np.dtype(store.id_dtype)
        self.held = {}
        if not self.resident:
            self.require_least()

    @classmethod
    def of_arrays(
        cls,
        indptr: np.ndarray,
        indices: np.ndarray,
        weights: np.ndarray | None = None,
        *,
        directed: bool,
        like: Self | None = None,
    ) -> Self:
        """A network of CSR arrays whose rows are sorted; it has as many threads as the network ``like``."""
        from csaw.partition.graph.in_memory import InMemory

        store = InMemory("graph in memory", indptr, indices, weights, directed=directed)
        network = cls(store, threads=None if like is None else like.threads)
        network.unfinished = network.unfinished if like is None else like.unfinished
        network.held[weights is not None] = Block(0, store.vertices, store.indptr, store.indices, store.weights)
        return network

    @cached_property
    def indptr(self) -> np.ndarray:
        """int64 [V + 1]: where each row begins among all entries."""
        return next(iter(self.held.values())).indptr if self.held else self.store.read_indptr()

    @cached_property
    def degrees(self) -> np.ndarray:
        return np.diff(self.indptr)

    @property
    def budget(self) -> int:
        return self.memory

    @property
    def offsets(self) -> np.ndarray:
        return self.indptr

    def blocks(self, *, weights: bool = False, wanted: Wanted | None = None) -> Iterator[Block]:
        if self.resident:
            yield self._whole(weights)
            return
        numbers = self.numbers(wanted)
        largest = max((self.cut.partitions[number].edges for number in numbers), default=0)
        buffers = [
            (np.empty(largest, self.id_dtype), np.empty(largest, np.float32) if weights else None) for _ in range(2)
        ]
        coming = None
        for turn, number in enumerate(numbers):
            block = coming.result() if coming else self._read(number, buffers[0])
            following = numbers[turn + 1 : turn + 2]
            coming = self.reader.submit(self._read, following[0], buffers[(turn + 1) % 2]) if following else None
            yield block

    def _whole(self, weights: bool) -> Block:
        if True in self.held:  # with weights, which do no harm
            return self.held[True]
        if weights not in self.held:
            self.held.clear()
            whole = Recut(self.store, [(0, 0)]) if self.vertices else self.store
            indices, heavy = np.empty(self.edges, self.id_dtype), np.empty(self.edges, np.float32) if weights else None
            if self.vertices:
                whole.read_partition(0, indices, heavy)
            self.held[weights] = Block(0, self.vertices, self.store.read_indptr(), indices, heavy)
        return self.held[weights]

    def _read(self, number: int, buffers: tuple[np.ndarray, np.ndarray | None]) -> Block:
        part = self.cut.partitions[number]
        indices, weights = (None if buffer is None else buffer[: part.edges] for buffer in buffers)
        assert indices is not None
        self.cut.read_partition(number, indices, weights)
        offsets = self.indptr[part.first_vertex : part.last_vertex + 1] - part.first_edge
        return Block(part.first_vertex, part.last_vertex, offsets, indices, weights)

    # Work

    def tasks(self, block: Block) -> list[tuple[int, int]]:
        """The vertices of a block in ranges with about equal numbers of entries, as (first, end), for threads to share."""
        edges = int(block.indptr[-1] - block.indptr[0])
        pieces = max(1, min(self.threads * TASKS_OF_THREAD, edges // EDGES_OF_TASK))
        cuts = np.searchsorted(block.indptr, block.indptr[0] + np.linspace(0, edges, pieces + 1).astype(np.int64)[1:-1])
        bounds = np.unique(np.concatenate([[0], cuts, [block.last - block.first]])) + block.first
        return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))

    def over_rows(self, kernel: Callable, block: Block, *arguments: Any) -> list[Any]:
        """``kernel(low, high, first, indptr, indices, *arguments)`` on ranges of a block's vertices, by threads; what each returned, in order."""
        return self.over(
            lambda low, high: kernel(low, high, block.first, block.indptr, block.indices, *arguments), self.tasks(block)
        )

    def over(self, work: Callable[[int, int], Any], ranges: list[tuple[int, int]]) -> list[Any]:
        """``work(low, high)`` of each range, by threads; what each returned, in order."""
        if len(ranges) <= 1 or self.threads == 1:
            return [work(*one) for one in ranges]
        return list(self.pool.map(lambda one: work(*one), ranges))

    def spans(self, count: int) -> list[tuple[int, int]]:
        """0 .. count - 1 in a range for each thread."""
        cuts = np.linspace(0, count, self.threads + 1).astype(int).tolist()
        return [(low, high) for low, high in pairwise(cuts) if low < high]

    # Other directions

    @cached_property
    def undirected(self) -> "HostNetwork":
        if not self.directed and self._is_simple():
            return self
        if not self._can_derive:
            return self._stored("undirected")
        block = self._whole(False)
        back_ptr, back = (
            self._backward(block) if self.directed else (np.zeros(self.vertices + 1, np.int64), block.indices[:0])
        )
        given, tasks, counts = (
            (block.indptr, block.indices, back_ptr, back),
            self.tasks(block),
            np.zeros(self.vertices + 1, np.int64),
        )
        self.over(lambda low, high: adjacency.count_union(low, high, *given, counts[1:]), tasks)
        indptr = np.cumsum(counts)
        indices = np.empty(int(indptr[-1]), self.id_dtype)
        self.over(lambda low, high: adjacency.fill_union(low, high, *given, indptr, indices), tasks)
        return HostNetwork.of_arrays(indptr, indices, directed=False, like=self)

    def _is_simple(self) -> bool:
        return all(all(self.over_rows(adjacency.is_simple, block)) for block in self.blocks())

    @cached_property
    def incoming(self) -> "HostNetwork":
        if not self.directed:
            return self
        if not self._can_derive:
            return self._stored("incoming")
        return HostNetwork.of_arrays(*self._backward(self._whole(False)), directed=True, like=self)

    @property
    def _can_derive(self) -> bool:
        return self.resident and DERIVED_SHARE * self.edges * self.id_dtype.itemsize <= self.room

    def _backward(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """``indptr`` and ``indices`` of the rows of those that edges come from. Each thread does a range of them, so none writes where another does."""
        counts, spans = np.zeros(self.vertices + 1, np.int64), self.spans(self.vertices)
        self.over(lambda low, high: adjacency.count_targets(low, high, block.indices, counts[1:]), spans)
        indptr = np.cumsum(counts)
        at, out = indptr[:-1].copy(), np.empty(self.edges, self.id_dtype)
        self.over(lambda low, high: adjacency.fill_sources(low, high, block.indptr, block.indices, at, out), spans)
        return indptr, out

    def _stored(self, kind: str) -> "HostNetwork":
        """The network of a store on disk that is made of this graph, in bounded memory, and kept."""
        from csaw.engine.analytics.derived import derived_store

        store = derived_store(self.store, kind, self.derived, memory=self.memory, threads=self.threads)
        other = HostNetwork(
            store, memory=self.memory, threads=self.threads, derived=self.derived, residency=self.residency
        )
        other.unfinished = self.unfinished
        return other

    def keep_unfinished(self, place: Unfinished) -> None:
        """Let computations from now on, those of other directions too, keep there what they have done."""
        self.unfinished = place
        for name in DIRECTIONS:
            if (other := self.__dict__.get(name, self)) is not self:
                other.keep_unfinished(place)

    def close(self) -> None:
        for name in DIRECTIONS:
            if (other := self.__dict__.pop(name, self)) is not self:
                other.close()
        self.held.clear()
        self.pool.shutdown(cancel_futures=True)
        self.reader.shutdown(cancel_futures=True)
