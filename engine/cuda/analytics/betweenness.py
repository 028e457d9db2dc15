"""Betweenness from some sources on a GPU: twin of engine/cpu/analytics/betweenness.py, with the same bits."""

from typing import Any

import cupy
import numpy as np

from csaw.engine.contracts import Array
from csaw.engine.cpu.analytics.betweenness import level_blocks
from csaw.engine.cuda.network import DeviceNetwork
from csaw.engine.cuda.several import here, in_order


def compute(network: DeviceNetwork, sources: np.ndarray) -> Array:
    """float64 [V]: how much of the shortest ways from each source to all vertices leads over each vertex, summed over the sources in order.

    State: 48 bytes a vertex while vertices are sorted by distance, else 32. A graph that does not fit is read once forward and once backward, a level's blocks at a time.
    Of several GPUs, each takes the next source when it is done with one; what each source gives, 8 bytes a vertex, comes to the first GPU, where it is added in the order of
    the sources.
    """
    networks, total = network.among(sources.size, backward=True), cupy.zeros(network.vertices)
    if len(networks) == 1:
        for source in sources.tolist():
            _add(network, source, total)
        return total
    for found in in_order(networks, sources.tolist(), _of_source):
        total += here(found)
    return total


def _of_source(network: DeviceNetwork, source: int) -> Array:
    """float64 [V]: what one source gives."""
    total = cupy.zeros(network.vertices)
    _add(network, source, total)
    return total


def _add(network: DeviceNetwork, source: int, total: Array) -> None:
    """Add one source."""
    distance = network.compute("bfs", source=source)
    levels = 1 + int(distance.max())
    order, begins = _by_level(distance, levels)
    on_host = None if network.resident and network.incoming.resident else order.get()
    ways, passed = cupy.zeros(network.vertices), cupy.zeros(network.vertices)
    ways[source] = 1.0
    for level in range(1, levels):
        _over_level(network.incoming, "count_ways", (order, on_host), begins[level : level + 2], distance, level, ways)
    for level in range(levels - 1, -1, -1):
        state = (distance, level, ways, passed, total)
        _over_level(network, "depend", (order, on_host), begins[level : level + 2], *state)


def _by_level(distance: Array, levels: int) -> tuple[Array, list[int]]:
    """The vertices that were reached, by distance and then by number; and where each level begins."""
    reached = cupy.flatnonzero(distance >= 0)
    keys = cupy.sort(distance[reached].astype(np.int64) << 32 | reached)
    begins = cupy.searchsorted(keys, cupy.arange(levels + 1) << 32)
    return (keys & 0xFFFFFFFF).astype(np.uint32), begins.get().tolist()


def _over_level(
    network: DeviceNetwork, kernel: str, orders: tuple[Array, np.ndarray | None], span: list[int], *state: Any
) -> None:
    """Run a kernel on the vertices of a level, which stand in ``span`` of the order; the order on the host is for a graph in blocks."""
    found, found_on_host = orders[0][slice(*span)], orders[1]
    if found_on_host is None:
        block = next(network.blocks())
        parts = iter([(block, 0, int(found.size))])
    else:
        parts = level_blocks(network, found_on_host[slice(*span)])
    for block, low, high in parts:
        rows = (block.first, block.indptr, block.indices)
        network.kernels("betweenness").over(kernel, 32 * (high - low), high - low, found[low:high], *rows, *state)
