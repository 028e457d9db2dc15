"""Betweenness from some sources, in host memory or from disk."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from csaw.engine.analytics.cpu.bfs import shared
from csaw.engine.analytics.cpu.kernels import betweenness as kernels
from csaw.engine.analytics.cpu.network import EDGES_OF_TASK, TASKS_OF_THREAD, HostNetwork
from csaw.engine.analytics.network import Block


def compute(network: HostNetwork, sources: np.ndarray) -> np.ndarray:
    """float64 [V]: how much of the shortest ways from each source to all vertices leads over each vertex, summed over the sources in order.

    Sums have an order of their own, so that the result has the same bits on every device; see engine/analytics/cpu/kernels/betweenness.py. State: 32 bytes a vertex. From
    disk, a level reads the blocks that have a vertex of it, once forward and once backward.
    """
    work = network.unfinished.work("betweenness", sources)
    total, first = work.done.pop("total", np.zeros(network.vertices)), int(work.done.pop("sources", 0))
    for number, source in enumerate(sources[first:].tolist(), first + 1):
        _add(network, source, total)
        work.note(total=total, sources=number)
    return total


def _add(network: HostNetwork, source: int, total: np.ndarray) -> None:
    """Add one source."""
    distance = network.compute("bfs", source=source)
    levels = 1 + int(distance.max())
    order, begins = np.empty(network.vertices, network.id_dtype), np.zeros(levels + 1, np.int64)
    kernels.by_level(distance, order, begins)
    ways = np.zeros(network.vertices)
    ways[source] = 1.0
    for level in range(1, levels):
        _over_level(
            network.incoming, kernels.count_ways, order[begins[level] : begins[level + 1]], distance, level, ways
        )
    passed = np.zeros(network.vertices)
    for level in range(levels - 1, -1, -1):
        found = order[begins[level] : begins[level + 1]]
        _over_level(network, kernels.depend, found, distance, level, ways, passed, total)


def _over_level(network: HostNetwork, kernel: Callable, found: np.ndarray, *state: Any) -> None:
    """Run a kernel on the vertices of a level, which are ``found``."""
    for block, low, high in level_blocks(network, found):
        edges = int(network.degrees[found[low:high]].sum())
        pieces = max(1, min(network.threads * TASKS_OF_THREAD, edges // EDGES_OF_TASK))
        cuts = np.linspace(low, high, pieces + 1).astype(int).tolist()
        ranges = list(pairwise(cuts))
        rows = (found, block.first, block.indptr, block.indices)
        shared(network, kernel, ranges, *rows, *state)


def level_blocks(network: Any, found: np.ndarray) -> Iterator[tuple[Block, int, int]]:
    """The blocks that have any of the rising vertices ``found``, each with the range of its own among them."""

    def own(first: int, last: int) -> tuple[int, int]:
        low, high = np.searchsorted(found, [first, last]).tolist()
        return low, high

    def has_own(first: int, last: int) -> bool:
        low, high = own(first, last)
        return low < high

    for block in network.blocks(wanted=has_own):
        yield (block, *own(block.first, block.last))
