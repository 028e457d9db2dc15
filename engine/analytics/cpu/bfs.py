"""Breadth-first search in host memory or from disk."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from csaw.engine.analytics.cpu.kernels import bfs as kernels
from csaw.engine.analytics.cpu.network import EDGES_OF_TASK, HostNetwork
from csaw.engine.analytics.network import Wanted

PULL_SHARE, PUSH_SHARE = 15, 18  # Beamer's alpha and beta, as in the GAP benchmark suite
CHUNK = 4096  # vertices of a flag of those that a level reached


def compute(network: HostNetwork, source: int) -> np.ndarray:
    """int32 [V]: edges on a shortest way from ``source`` to each vertex, along directions; -1 where there is none.

    State: 12 bytes a vertex and two bitmaps. From disk, a level reads the blocks that have a vertex of its frontier.
    """
    distance = np.full(network.vertices, -1, np.int32)
    distance[source] = 0
    if network.resident:
        _in_memory(network, source, distance)
    else:
        _from_disk(network, source, distance)
    return distance


class _Rows(NamedTuple):
    indptr: np.ndarray
    indices: np.ndarray


def _in_memory(network: HostNetwork, source: int, distance: np.ndarray) -> None:
    """Push along rows; pull along those of the other direction, where they are in memory already: making them takes longer than a search."""
    forward = _rows(network)
    backward = _rows(network.incoming) if network.has_incoming else None
    queue, following = (np.empty(network.vertices, network.id_dtype) for _ in range(2))
    filled, left = np.ones(1, np.int64), network.edges
    queue[0], level = source, 0
    entries = int(forward.indptr[source + 1] - forward.indptr[source])
    while filled[0]:
        if entries < EDGES_OF_TASK:
            level, entries = kernels.push_alone(
                *forward, queue, following, filled, distance, level, entries, EDGES_OF_TASK
            )
        elif backward is not None and entries > left // PULL_SHARE:
            level, entries = _pull(network, forward, backward, queue, filled, distance, level)
        else:
            size, filled[0], level = int(filled[0]), 0, level + 1
            spans = network.spans(size)
            entries = shared(network, kernels.push, spans, *forward, queue, following, filled, distance, level)
            queue, following = following, queue
        left -= entries


def _pull(
    network: HostNetwork,
    forward: _Rows,
    backward: _Rows,
    queue: np.ndarray,
    filled: np.ndarray,
    distance: np.ndarray,
    level: int,
) -> tuple[int, int]:
    """Pull levels until the frontier is small again, and write it to the queue; the level reached, and the entries of the frontier's rows."""
    tasks = words_of(network)
    front, following = (np.zeros(-(-network.vertices // 64), np.uint64) for _ in range(2))
    kernels.mark(0, int(filled[0]), queue, front)
    size, before = int(filled[0]), 0
    while size and (size >= before or size > network.vertices // PUSH_SHARE):
        before, level = size, level + 1
        size = shared(network, kernels.pull, tasks, *backward, front, following, distance, level)
        front, following = following, front
    filled[0] = 0
    return level, shared(network, kernels.collect, tasks, forward.indptr, front, queue, filled)


def shared(network: HostNetwork, kernel: Callable, ranges: list[tuple[int, int]], *arguments: Any) -> Any:
    """``kernel(low, high, *arguments)`` on each range, by threads; the sum of what it returned."""
    return sum(network.over(lambda low, high: kernel(low, high, *arguments), ranges))


def words_of(network: HostNetwork) -> list[tuple[int, int]]:
    """The vertices in ranges for threads that begin at multiples of 64, so that no two write a word of a bitmap."""
    block = next(network.blocks())
    bounds = sorted({low - low % 64 for low, _ in network.tasks(block)} | {network.vertices})
    return list(pairwise(bounds))


def _rows(network: HostNetwork) -> _Rows:
    block = next(network.blocks())
    return _Rows(block.indptr, block.indices)


def _from_disk(network: HostNetwork, source: int, distance: np.ndarray) -> None:
    chunks = -(-network.vertices // CHUNK)
    active = np.zeros(chunks, np.uint8)
    active[source // CHUNK] = 1
    level = 0
    while active.any():
        level, reached = level + 1, np.zeros(chunks, np.uint8)
        for block in network.blocks(wanted=any_active(active, CHUNK)):
            network.over_rows(kernels.push_rows, block, distance, level, reached)
        active = reached


def any_active(active: np.ndarray, chunk: int) -> Wanted:
    """Whether a range of vertices has an active one, by the flags of chunks."""
    return lambda first, last: bool(active[first // chunk : -(-last // chunk)].any())
