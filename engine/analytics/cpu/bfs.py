"""Breadth-first search in host memory or from disk."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from csaw.engine.analytics.cpu.kernels import bfs as kernels
from csaw.engine.analytics.cpu.network import EDGES_OF_TASK, HostNetwork
from csaw.engine.analytics.passes import CHUNK, search_by_blocks

PULL_SHARE, PUSH_SHARE = 15, 18  # Beamer's alpha and beta, as in the GAP benchmark suite


def compute(network: HostNetwork, source: int) -> np.ndarray:
    """Find the number of edges on a shortest path from ``source`` to each vertex, along directions.

    State: 12 bytes a vertex and two bitmaps. From disk, a level reads the blocks that have a vertex of its frontier.

    Returns:
        int32 [V], -1 where there is no path.
    """
    distance = np.full(network.vertices, -1, np.int32)
    distance[source] = 0
    if network.resident:
        _in_memory(network, source, distance)
    else:
        push = kernels.push_rows
        search_by_blocks(network, source, CHUNK, lambda block, *given: network.over_rows(push, block, distance, *given))
    return distance


class _Rows(NamedTuple):
    indptr: np.ndarray
    indices: np.ndarray


def _in_memory(network: HostNetwork, source: int, distance: np.ndarray) -> None:
    """Push along rows, and pull along those of the other direction where they are in memory already.

    Making them would take longer than a search.
    """
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
            entries = sum(network.each(kernels.push, spans, *forward, queue, following, filled, distance, level))
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
    """Pull levels until the frontier is small again, and write it to the queue.

    Returns the level reached, and the entries of the frontier's rows.
    """
    tasks = words_of(network)
    front, following = (np.zeros(-(-network.vertices // 64), np.uint64) for _ in range(2))
    kernels.mark(0, int(filled[0]), queue, front)
    size, before = int(filled[0]), 0
    while size and (size >= before or size > network.vertices // PUSH_SHARE):
        before, level = size, level + 1
        size = sum(network.each(kernels.pull, tasks, *backward, front, following, distance, level))
        front, following = following, front
    filled[0] = 0
    return level, sum(network.each(kernels.collect, tasks, forward.indptr, front, queue, filled))


def words_of(network: HostNetwork) -> list[tuple[int, int]]:
    """Cut the vertices into ranges for threads that begin at multiples of 64: no two write a word of a bitmap."""
    block = next(network.blocks())
    bounds = sorted({low - low % 64 for low, _ in network.tasks(block)} | {network.vertices})
    return list(pairwise(bounds))


def _rows(network: HostNetwork) -> _Rows:
    block = next(network.blocks())
    return _Rows(block.indptr, block.indices)
