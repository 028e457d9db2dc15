"""A network in host memory: all of it, or two blocks at a time, one of which is read while the other is in use."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Self, TypedDict, TypeVar

import numpy as np

from csaw.engine.analytics.network import Network
from csaw.engine.analytics.rows_in_memory import Block, Slot, Wanted
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.footprint import NOTHING, Footprint
from csaw.engine.plan.rates import available_bytes
from csaw.partition import GraphStore
from csaw.partition.base.parallel import processors
from csaw.partition.graph.views import Recut

STATE_BYTES = 48  # set aside for each vertex before a measure says what it keeps
EDGES_OF_TASK, TASKS_OF_THREAD = 1 << 14, 8  # a smaller task takes less time than handing it to a thread
# Graphs in memory while the undirected one is made: rows, and of directed ones rows backward, and both together.
DERIVED_SHARES = {True: 4, False: 2}
MOST_KEPT = Footprint(STATE_BYTES)
Buffer = TypeVar("Buffer")
Result = TypeVar("Result")


def equal_ranges(upto: np.ndarray, pieces: int, first: int = 0) -> list[tuple[int, int]]:
    """Cut the vertices from ``first`` on into at most ``pieces`` ranges (low, high) of about as much work each.

    ``upto``: int64 [vertices + 1], running sums of the work.
    """
    wanted = upto[0] + np.linspace(0, int(upto[-1] - upto[0]), max(pieces, 1) + 1).astype(np.int64)[1:-1]
    cuts = np.unique(np.concatenate([[0], np.searchsorted(upto, wanted), [upto.size - 1]]))
    return list(pairwise((cuts + first).tolist()))


class HostOptions(TypedDict):
    """The options of HostNetwork, as a GPU's network gives them on."""

    memory: int | None
    threads: int | None
    derived: Path | None


class HostNetwork(Network):
    """The graph of ``store`` in host memory.

    Args:
        store: A graph store.
        memory: Bytes that may be used (default: what is free).
        threads: Number of threads (default: one for each processor).
        derived: A folder for graph stores that are made of a graph that does not fit, such as its undirected one; they
            are found again there (default: the cache).
        residency: resident or disk (default: resident if it fits).
        kept: The memory set aside until a measure says what it keeps.

    Raises:
        BudgetError: The memory does not hold two rows and what is kept of all vertices, if anything is.
    """

    device, flag = "cpu", "--memory"
    xp = np
    lasting = False
    """Whether the rows are in memory as long as the network, since its store has them."""

    def __init__(
        self,
        store: GraphStore,
        *,
        memory: int | None = None,
        threads: int | None = None,
        derived: Path | None = None,
        residency: Residency | None = None,
        kept: Footprint = MOST_KEPT,
    ) -> None:
        super().__init__(store, residency)
        self.derived, self.kept = derived, kept
        self.memory = available_bytes() if memory is None else memory
        self.threads = processors() if threads is None else threads
        self.pool, self.reader = ThreadPoolExecutor(self.threads), ThreadPoolExecutor(1)
        if kept != NOTHING and not self.resident:
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
        """Make a network of CSR arrays whose rows are sorted.

        ``like``: the network that it is made of, whose rows stay in memory beside it if they are there: it has its
        memory and threads.
        """
        from csaw.partition.graph.in_memory import InMemory

        store = InMemory("graph in memory", indptr, indices, weights, directed=directed)
        if like is None:
            network = cls(store)
        else:
            network = cls(store, threads=like.threads, kept=like.kept)
            network.unfinished, network.memory, network.suffices = like.unfinished, like.memory, like.suffices
            network.beside = like.rows_bytes if like.resident else 0
        network.lasting = True
        network.held[weights is not None] = Block(0, store.vertices, store.indptr, store.indices, store.weights)
        return network

    @cached_property
    def indptr(self) -> np.ndarray:
        return next(iter(self.held.values())).indptr if self.held else self.store.read_indptr()

    @property
    def offsets(self) -> np.ndarray:
        return self.indptr

    def let_go(self) -> None:
        if not self.lasting:
            super().let_go()

    def blocks(self, *, weights: bool = False, wanted: Wanted | None = None) -> Iterator[Block]:
        if self.resident:
            yield self.whole(weights)
            return
        self.take_turn()
        with self.slots(weights) as slots:
            yield from self.one_ahead(self._read, self.numbers(wanted), slots)

    def one_ahead(
        self, read: Callable[[int, Buffer], Result], numbers: Sequence[int], buffers: Sequence[Buffer]
    ) -> Iterator[Result]:
        """Yield ``read(number, buffer)`` of each number in order, and read the next one meanwhile.

        Each is good until the next is asked for: they take turns in two buffers.
        """
        coming = None
        try:
            for turn, number in enumerate(numbers):
                found = coming.result() if coming else read(number, buffers[0])
                following = numbers[turn + 1 : turn + 2]
                coming = self.reader.submit(read, following[0], buffers[(turn + 1) % 2]) if following else None
                yield found
        finally:
            if coming and not coming.cancel():
                wait([coming])  # a caller that has enough of it may use the buffers again

    def _read_whole(self, weights: bool) -> Block:
        indices, heavy = np.empty(self.edges, self.id_dtype), np.empty(self.edges, np.float32) if weights else None
        if self.vertices:
            Recut(self.store, [(0, 0)]).read_partition(0, indices, heavy)
        return Block(0, self.vertices, self.indptr, indices, heavy)

    def _read(self, number: int, slot: Slot) -> Block:
        part = self.cut.partitions[number]
        indices, weights = slot.indices[: part.edges], None if slot.weights is None else slot.weights[: part.edges]
        self.cut.read_partition(number, indices, weights)
        offsets = self.indptr[part.first_vertex : part.last_vertex + 1]
        indptr = np.subtract(offsets, part.first_edge, out=slot.indptr[: offsets.size])
        return Block(part.first_vertex, part.last_vertex, indptr, indices, weights)

    # Work

    def tasks(self, block: Block) -> list[tuple[int, int]]:
        """Cut the vertices of a block into ranges (first, end) of about as many entries each, for threads to share."""
        edges = int(block.indptr[-1] - block.indptr[0])
        return equal_ranges(block.indptr, min(self.threads * TASKS_OF_THREAD, edges // EDGES_OF_TASK), block.first)

    def over_rows(self, kernel: Callable[..., Result], block: Block, *arguments: object) -> list[Result]:
        """Call ``kernel(low, high, first, indptr, indices, *arguments)`` on ranges of a block's vertices, by threads.

        Returns the results in the order of the vertices.
        """
        return self.each(kernel, self.tasks(block), block.first, block.indptr, block.indices, *arguments)

    def each(self, kernel: Callable[..., Result], ranges: list[tuple[int, int]], *arguments: object) -> list[Result]:
        """Call ``kernel(low, high, *arguments)`` on each range, by threads. Returns the results in order."""
        return self.over(lambda low, high: kernel(low, high, *arguments), ranges)

    def over(self, work: Callable[[int, int], Result], ranges: list[tuple[int, int]]) -> list[Result]:
        """Call ``work(low, high)`` on each range, by threads. Returns the results in order."""
        if len(ranges) <= 1 or self.threads == 1:
            return [work(*one) for one in ranges]
        return list(self.pool.map(lambda one: work(*one), ranges))

    def spans(self, count: int) -> list[tuple[int, int]]:
        """Cut 0 .. count - 1 into a range for each thread."""
        cuts = np.linspace(0, count, self.threads + 1).astype(int).tolist()
        return [(low, high) for low, high in pairwise(cuts) if low < high]

    # Other directions

    @cached_property
    def undirected(self) -> "HostNetwork":
        if not self.directed and self._is_simple():
            return self
        if not (self._can_derive and self.leaves_enough("undirected")):
            return self._stored("undirected", beside=False)
        return HostNetwork.of_arrays(*self._union(self.whole(False)), directed=False, like=self)

    def _union(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Make ``indptr`` and ``indices`` of the rows of the simple undirected graph."""
        from csaw.engine.analytics.cpu.kernels import adjacency

        counts = np.zeros(self.vertices + 1, np.int64)
        backward = self._backward(block) if self.directed else (np.zeros_like(counts), block.indices[:0])
        rows, tasks = (block.indptr, block.indices, *backward), self.tasks(block)
        self.each(adjacency.count_union, tasks, *rows, counts[1:])
        indptr = np.cumsum(counts)
        indices = np.empty(int(indptr[-1]), self.id_dtype)
        self.each(adjacency.fill_union, tasks, *rows, indptr, indices)
        return indptr, indices

    def _is_simple(self) -> bool:
        from csaw.engine.analytics.cpu.kernels import adjacency

        simple = all(all(self.over_rows(adjacency.is_simple, block)) for block in self.blocks())
        self.forget_blocks()  # what follows may need the memory
        return simple

    @cached_property
    def incoming(self) -> "HostNetwork":
        if not self.directed:
            return self
        if not self._can_derive:
            return self._stored("incoming", beside=True)
        return HostNetwork.of_arrays(*self._backward(self.whole(False)), directed=True, like=self)

    @property
    def _can_derive(self) -> bool:
        rows = self.edges * self.id_dtype.itemsize
        return self.resident and self.rows_bytes + (DERIVED_SHARES[self.directed] - 1) * rows <= self.budget

    def _backward(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Make ``indptr`` and ``indices`` of the rows that hold the vertices that edges come from.

        Each thread does a range of the rows, so none writes where another does.
        """
        from csaw.engine.analytics.cpu.kernels import adjacency

        counts, spans = np.zeros(self.vertices + 1, np.int64), self.spans(self.vertices)
        self.each(adjacency.count_targets, spans, block.indices, counts[1:])
        indptr = np.cumsum(counts)
        at, out = indptr[:-1].copy(), np.empty(self.edges, self.id_dtype)
        self.each(adjacency.fill_sources, spans, block.indptr, block.indices, at, out)
        return indptr, out

    def _stored(self, kind: str, *, beside: bool) -> "HostNetwork":
        """Make a store of this ``kind`` of the graph in bounded memory, keep it on disk, and open its network.

        ``beside``: as of ``admit``.
        """
        from csaw.engine.analytics.derived import derived_store

        self.take_turn()
        self.withdraw()
        store = derived_store(self.store, kind, self.derived, memory=self.budget, threads=self.threads)
        other = HostNetwork(
            store,
            memory=self.memory,
            threads=self.threads,
            derived=self.derived,
            residency=self.residency,
            kept=NOTHING,
        )
        other.unfinished = self.unfinished
        other.keep(self.kept, self.suffices)
        self.admit(other, beside=beside)
        return other

    def close(self) -> None:
        super().close()
        self.pool.shutdown(cancel_futures=True)
        self.reader.shutdown(cancel_futures=True)
