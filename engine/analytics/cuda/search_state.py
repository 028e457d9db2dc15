"""The state of a breadth-first search of a graph in memory on a GPU, and its steps: twin of cpu/bfs.py."""

from functools import cached_property

import cupy
import numpy as np

from csaw.engine.analytics.cuda.levels import WORD, Course, Found
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.single_thread_gpus import Counters
from csaw.engine.cuda.constants import BLOCK, PUSH_PIECE
from csaw.engine.plan.contracts import Array

PULL_SHARE, PUSH_SHARE = 16, 32  # of the entries left, and of the vertices: from where on a GPU pulls, and pushes again
# vertices of a frontier, and entries of their rows, that one block pushes along, level after level: a launch takes as
# long
FEW = 4096
LEVELS, FEW_THREADS = 256, 1024  # that it goes on for at most, and its threads


def course_of(network: DeviceNetwork, source: int) -> Course:
    return Course(
        network.vertices,
        network.edges,
        int(network.degrees[source]),
        can_pull=network.has_incoming or (network.pooled and not network.directed),
        pull_share=PULL_SHARE,
        push_share=PUSH_SHARE,
    )


class SearchState:
    """Bitmaps of the vertices visited, of the frontier and of the one after it, and frontiers as queues.

    In a queue, the vertices of a range begin at the range's first place. ``distance``: int32 [V], -1 where a vertex is
    not reached. ``counted``: numbers that kernels count, vertices and entries of their rows first.
    """

    def __init__(self, network: DeviceNetwork, distance: Array, counted: int = 2) -> None:
        self.network, self.distance, self.kernels = network, distance, network.kernels("bfs")
        self.rows = network.whole(False)  # of a pooled network, the own ones
        self.back = network.incoming.whole(False) if network.has_incoming else self.rows
        self.words = -(-network.vertices // WORD)
        self.visited = cupy.zeros(self.words, np.uint32)
        self.front, self.following = (cupy.empty(self.words, np.uint32) for _ in range(2))
        self.queue, self.next_queue = (cupy.empty(network.vertices, network.id_dtype) for _ in range(2))
        self.counters = Counters(counted)

    def start(self, source: int) -> None:
        self.queue[0] = source
        self.kernels.over("mark", 1, 1, self.queue, self.visited)

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

    def push_few(self, now: Found, level: int) -> list[Found]:
        """Push along at most FEW entries, and at the levels after it as long as there are no more.

        Returns the vertices that each level has reached, and entries of their rows.
        """
        rows = self.rows
        given = (now.size, rows.indptr, rows.indices, level, LEVELS, FEW, self.queue, self.next_queue)
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
