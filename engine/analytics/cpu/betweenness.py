"""Betweenness from some sources, in host memory or from disk."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from csaw.engine.analytics.cpu.kernels import betweenness as kernels
from csaw.engine.analytics.cpu.network import EDGES_OF_TASK, TASKS_OF_THREAD, HostNetwork
from csaw.engine.analytics.passes import level_blocks


def compute(network: HostNetwork, sources: np.ndarray) -> np.ndarray:
    """Sum betweenness over the sources in order: for each vertex, the share of shortest paths that lead over it.

    The paths go from each source to all vertices. Sums have an order of their own, so that the result has the same bits
    on every device; see engine/analytics/cpu/kernels/lanes.py. State: 32 bytes a vertex. From disk, a level
    reads the blocks that have a vertex of it, once forward and once backward.

    Returns:
        float64 [V].
    """
    work = network.unfinished.work("betweenness", sources)
    total, first = work.done.pop("total", np.zeros(network.vertices)), int(work.done.pop("sources", 0))
    for number, source in enumerate(sources[first:].tolist(), first + 1):
        _add(network, source, total)
        work.note(total=total, sources=number)
        work.tell(number, sources.size, "sources of betweenness")
    return total


def _add(network: HostNetwork, source: int, total: np.ndarray) -> None:
    """Add the betweenness of one source to ``total``."""
    distance = network.compute("bfs", source=source)
    levels = 1 + int(distance.max())
    order, begins = np.empty(network.vertices, network.id_dtype), np.zeros(levels + 1, np.int64)
    kernels.by_level(distance, order, begins)
    ways, passed = np.zeros(network.vertices), np.zeros(network.vertices)
    ways[source] = 1.0
    found = np.split(order[: begins[-1]], begins[1:-1])  # the vertices of each level
    for level in range(1, levels):
        _over_level(network.incoming, kernels.count_ways, found[level], ways, passed)
        network.each(kernels.hand_over, network.spans(found[level].size), found[level], passed, ways)
    for level in range(levels - 1, 0, -1):
        _over_level(network, kernels.depend, found[level], passed, ways, total)
        network.each(kernels.hand_over, network.spans(found[level].size), found[level], ways, passed)


def _over_level(network: HostNetwork, kernel: Callable, found: np.ndarray, *state: object) -> None:
    """Run a kernel on the vertices of a level, which are ``found``."""
    for block, low, high in level_blocks(network, found):
        edges = int(network.degrees[found[low:high]].sum())
        pieces = max(1, min(network.threads * TASKS_OF_THREAD, edges // EDGES_OF_TASK))
        ranges = list(pairwise(np.linspace(low, high, pieces + 1).astype(int).tolist()))
        network.each(kernel, ranges, found, block.first, block.indptr, block.indices, *state)
