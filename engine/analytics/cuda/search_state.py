"""The state of a breadth-first search of a graph in memory on a GPU, and its steps: twin of cpu/bfs.py."""

from functools import cached_property

import cupy
import numpy as np

from csaw.engine.analytics.cuda.levels import WORD, Course, Found
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.pooled_network import PooledNetwork
from csaw.engine.analytics.cuda.several_gpus import Counters, addresses
from csaw.engine.cuda import arrays
from csaw.engine.cuda.constants import BLOCK, PUSH_PIECE
from csaw.engine.plan.contracts import Array

PULLED = 16  # entries that a GPU pulls along while it pushes along one (docs/contributing/tuning.md),
PULLED_OF_SPREAD = 4  # and where one GPU may have most of the vertices, and all wait for it
PUSH_SHARE = 32  # of the vertices, from where on it pushes again
# vertices of a frontier, and entries of their rows, that one block pushes along, level after level: a launch takes as
# long
FEW = 4096
FEW_OF_SPREAD = 1024  # where it waits for rows that come over a link
LEVELS, FEW_THREADS = 256, 1024  # that it goes on for at most, and its threads


def unreached(network: DeviceNetwork) -> Array:
    """Distances before a search on the current GPU: int32 [V], -1."""
    return arrays.full(network.vertices, -1, np.int32)


def few_of(network: DeviceNetwork) -> int:
    """Vertices of a frontier, and entries of their rows, that one block pushes along."""
    return FEW_OF_SPREAD if network.pooled else FEW


def course_of(network: DeviceNetwork, source: int) -> Course:
    return Course(
        network.vertices,
        network.edges,
        int(network.degrees[source]),
        can_pull=network.has_incoming or (network.pooled and not network.directed),
        pulled=PULLED_OF_SPREAD if network.pooled else PULLED,
        push_share=PUSH_SHARE,
    )


class SearchState:
    """Bitmaps of the vertices visited, of the frontier and of the one after it, and frontiers as queues.

    In a queue, the vertices of a range begin at the range's first place. ``distance``: int32 [V], -1 where a vertex is
    not reached, or where such an array is in another GPU's memory. ``counted``: numbers that kernels count, vertices
    and entries of their rows first.
    """

    def __init__(self, network: DeviceNetwork, distance: Array | np.uint64, counted: int = 2) -> None:
        self.network, self.distance, self.kernels = network, distance, network.kernels("bfs")
        self.rows = network.whole(False)  # of a pooled network, the own ones
        self.back = network.incoming.whole(False) if network.has_incoming else self.rows
        self.words = -(-network.vertices // WORD)
        self.visited = cupy.zeros(self.words, np.uint32)
        self.front, self.following = (cupy.empty(self.words, np.uint32) for _ in range(2))
        self.queue, self.next_queue = (cupy.empty(network.vertices, network.id_dtype) for _ in range(2))
        self.counters = Counters(counted)

    def start(self, source: int) -> None:
        self.kernels.launch("begin", 1, 1, source, self.queue, self.visited, self.distance)

    def mark(self, first: int, size: int) -> None:
        """Write the frontier's bitmap: the vertices of the queue from place ``first`` on."""
        self.front.fill(0)
        self.kernels.over("mark", size, size, self.queue[first:], self.front)

    def collect(self, first: int, last: int) -> None:
        """Write the vertices of first .. last - 1 in the frontier's bitmap to the queue, and count them."""
        begin, end = first // WORD, -(-last // WORD)
        given = (begin, end, self.network.degrees, self.front, self.queue[first:])
        self._count("collect", end - begin, *given)

    def push(self, now: Found, level: int) -> None:
        rows, ends = self.rows, self.ends(0, now.size)
        given = (self.queue, ends, rows.indptr, rows.indices, level, self.visited, self.distance, self.next_queue)
        self._count("push", -(-now.entries // PUSH_PIECE) * BLOCK, now.entries, now.size, *given)
        self.queue, self.next_queue = self.next_queue, self.queue

    @cached_property
    def of_levels(self) -> Counters:
        return Counters(1 + 2 * LEVELS)

    @cached_property
    def pieces(self) -> tuple[int, Array, Array]:
        """How many GPUs have rows, and on the first: where the vertices of each begin, and where its entries are.

        Addresses are those that entry 0 of all would have.
        """
        network = self.network
        if not isinstance(network, PooledNetwork):
            return 1, cupy.zeros(1, np.int64), addresses([self.rows.indices])
        bounds = np.array([first for first, _ in network.spread.ranges], np.int64)
        there = [one.whole(False).indices.data.ptr for one in network.everywhere]
        begins = np.array(there, np.uint64) - (network.offsets[bounds] * network.id_dtype.itemsize).astype(np.uint64)
        return len(there), cupy.asarray(bounds), cupy.asarray(begins)

    def push_few(self, now: Found, level: int) -> list[Found]:
        """Push along a few entries, as of ``few_of``, and at the levels after it as long as there are no more.

        Returns the vertices that each level has reached, and entries of their rows.
        """
        few = few_of(self.network)
        given = (now.size, *self.pieces, self.rows.indptr, level, LEVELS, few, self.queue, self.next_queue)
        self.kernels.launch("push_few", 1, FEW_THREADS, *given, self.visited, self.distance, self.of_levels.there)
        self.of_levels.ask()
        levels, *numbers = self.of_levels.read()
        if levels % 2:
            self.queue, self.next_queue = self.next_queue, self.queue
        return [Found(*numbers[2 * k : 2 * k + 2]) for k in range(levels)]

    def ends(self, first: int, size: int) -> Array:
        """Running sums of the lengths of the rows of ``size`` vertices of the queue."""
        return cupy.cumsum(self.network.degrees[self.queue[first : first + size]])

    def pull(self, first: int, last: int, level: int) -> None:
        given = (self.back.indptr, self.back.indices, self.front, level, self.visited, self.distance, self.following)
        self._count("pull", last - first, first, last, self.network.degrees, *given)
        self.front, self.following = self.following, self.front

    def found(self) -> list[int]:
        """The numbers that the last step counted."""
        return self.counters.read()

    def _count(self, kernel: str, threads: int, *arguments: object) -> None:
        self.counters.clear()
        self.kernels.over(kernel, threads, *arguments, self.counters.there)
        self.counters.ask()
