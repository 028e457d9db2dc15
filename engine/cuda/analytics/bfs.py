"""Breadth-first search on a GPU: twin of engine/cpu/analytics/bfs.py."""

from typing import Any, NamedTuple

import cupy
import numpy as np

from csaw.engine.contracts import Array
from csaw.engine.cpu.analytics.bfs import CHUNK, any_active
from csaw.engine.cuda.constants import BLOCK
from csaw.engine.cuda.network import DeviceNetwork

PULL_SHARE, PUSH_SHARE = 16, 32  # of the entries left, and of the vertices: from where on a GPU pulls, and pushes again
PIECE = 1024  # entries that a block pushes along at a time: PIECE of bfs.cu
WORD = 32  # vertices of a word of a bitmap


def compute(network: DeviceNetwork, source: int) -> Array:
    """int32 [V]: edges on a shortest way from ``source`` to each vertex, along directions; -1 where there is none.

    State: 12 bytes a vertex and three bitmaps. A graph that does not fit is read once a level, without the blocks that have no vertex of its frontier.
    """
    distance = cupy.full(network.vertices, -1, np.int32)
    distance[source] = 0
    if network.resident:
        _Search(network, distance).run(source)
    else:
        _in_blocks(network, source, distance)
    return distance


class _Level(NamedTuple):
    """A frontier: vertices, and entries of their rows."""

    size: int
    entries: int


class _Search:
    """A search of a resident graph: along rows, and along those backward where they are in memory already."""

    def __init__(self, network: DeviceNetwork, distance: Array) -> None:
        self.network, self.distance, self.kernels = network, distance, network.kernels("bfs")
        self.words = -(-network.vertices // WORD)
        self.visited = cupy.zeros(self.words, np.uint32)
        self.queue, self.following = (cupy.empty(network.vertices, np.uint32) for _ in range(2))
        self.counters = cupy.zeros(2, np.uint64)

    def run(self, source: int) -> None:
        self.queue[0] = source
        self.kernels.over("mark", 1, 1, self.queue, self.visited)
        now, left, level = _Level(1, int(self.network.degrees[source])), self.network.edges, 0
        while now.size:
            if now.entries > left // PULL_SHARE and self.network.has_incoming:
                now, level, met = self._pull(now, level)
            else:
                level += 1
                now = self._push(now, level)
                met = now.entries
            left -= met

    def _push(self, now: _Level, level: int) -> _Level:
        block = next(self.network.blocks())
        ends = cupy.cumsum(self.network.degrees[self.queue[: now.size]])
        given = (self.queue, ends, block.indptr, block.indices, level, self.visited, self.distance, self.following)
        found = self._counted("push", -(-now.entries // PIECE) * BLOCK, now.entries, now.size, *given)
        self.queue, self.following = self.following, self.queue
        return found

    def _pull(self, now: _Level, level: int) -> tuple[_Level, int, int]:
        """Pull levels until the frontier is small again; that frontier, the level, and the entries of rows of all that were reached."""
        block = next(self.network.incoming.blocks())
        front, following = (cupy.zeros(self.words, np.uint32) for _ in range(2))
        self.kernels.over("mark", now.size, now.size, self.queue, front)
        before, met = 0, 0
        while now.size and (now.size >= before or now.size > self.network.vertices // PUSH_SHARE):
            before, level = now.size, level + 1
            given = (block.indptr, block.indices, front, level, self.visited, self.distance, following)
            now = self._counted("pull", self.words * WORD, self.network.vertices, self.network.degrees, *given)
            met += now.entries
            front, following = following, front
        self._counted("collect", self.words, self.words, front, self.queue)
        return now, level, met

    def _counted(self, kernel: str, threads: int, *arguments: Any) -> _Level:
        """Run a kernel that counts vertices and entries."""
        self.counters.fill(0)
        self.kernels.over(kernel, threads, *arguments, self.counters)
        size, entries = self.counters.get().tolist()
        return _Level(int(size), int(entries))


def _in_blocks(network: DeviceNetwork, source: int, distance: Array) -> None:
    kernels, level = network.kernels("bfs"), 0
    active = np.zeros(-(-network.vertices // CHUNK), np.uint8)
    active[source // CHUNK] = 1
    while active.any():
        level, reached = level + 1, cupy.zeros(active.size, np.uint8)
        for block in network.blocks(wanted=any_active(active, CHUNK)):
            rows = (block.first, block.last, block.indptr, block.indices)
            kernels.over("push_rows", block.last - block.first, *rows, distance, level, reached)
        active = reached.get()
