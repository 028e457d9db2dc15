"""Betweenness from some sources on a GPU: twin of engine/analytics/cpu/betweenness.py, with the same bits."""

import logging

import cupy
import numpy as np

from csaw.engine.analytics.cuda import betweenness_shares
from csaw.engine.analytics.cuda.bfs import alone
from csaw.engine.analytics.cuda.level_sums import ByLevel, LevelSums, Order
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.pooled_network import PooledNetwork
from csaw.engine.analytics.cuda.several_gpus import here, in_order
from csaw.engine.analytics.passes import level_blocks
from csaw.engine.plan.contracts import Array

log = logging.getLogger(__name__)


def compute(network: DeviceNetwork, sources: np.ndarray) -> Array:
    """Sum betweenness over the sources in order: for each vertex, the share of shortest paths that lead over it.

    State: 48 bytes a vertex while vertices are sorted by distance, else 52, and 8 more where edges have directions. A
    graph that does not fit is read once forward and once backward, a level's blocks at a time. Of several GPUs, each
    takes the next source when it is done with one; the numbers of each source, 8 bytes a vertex, come to the first GPU,
    where they are added in the order of the sources.

    GPUs over which a graph is spread share each source. They have rows of both directions meanwhile, so where these do
    not fit together, all rows are read in blocks.

    Returns:
        float64 [V].
    """
    if isinstance(network, PooledNetwork):
        share = betweenness_shares.summed if network.keep_both_directions() else _in_blocks
        return share(network, sources)
    networks, total = network.among(sources.size, backward=True), cupy.zeros(network.vertices)
    if len(networks) == 1:
        for source in sources.tolist():
            _add(network, source, total)
        return total
    for found in in_order(networks, sources.tolist(), _of_source):
        total += here(found)
    return total


def _in_blocks(network: PooledNetwork, sources: np.ndarray) -> Array:
    """Compute the same with all rows in blocks on each GPU."""
    log.info(
        "betweenness of %s goes by way of all rows: those of both directions do not fit together", network.store.path
    )
    stream = network.in_blocks(network.store, network.memory)
    stream.host = network.host
    try:
        return compute(stream, sources)
    finally:
        del stream.host  # the network's, which keeps it
        stream.close()


def _of_source(network: DeviceNetwork, source: int) -> Array:
    """Compute the betweenness of one source: float64 [V]."""
    total = cupy.zeros(network.vertices)
    _add(network, source, total)
    return total


def _add(network: DeviceNetwork, source: int, total: Array) -> None:
    """Add the betweenness of one source to ``total``."""
    levels = _Levels(network, alone(network, source))
    ways, passed = ByLevel(network.vertices), ByLevel(network.vertices)
    ways.clear()
    passed.clear()
    ways.of(0)[source] = 1.0
    for level in range(1, levels.count):
        levels.over("count_ways", network.incoming, level, ways.of(level - 1), ways.of(level))
    for level in range(levels.count - 1, 0, -1):
        levels.over("depend", network, level, passed.of(level + 1), passed.of(level), ways.of(level), total)


class _Levels:
    """The vertices that were reached, level after level, with their rows forward and backward."""

    def __init__(self, network: DeviceNetwork, distance: Array) -> None:
        self.count = 1 + int(distance.max())
        order = Order(distance, (0, network.vertices), self.count, network.id_dtype)
        self.on_host = None if network.resident and network.incoming.resident else order.vertices.get()
        both = {network, network.incoming}
        self.sums = {one: LevelSums(one, order, together=one.resident) for one in both}

    def over(self, kernel: str, network: DeviceNetwork, level: int, *state: Array) -> None:
        """Run a kernel on the vertices of a level: each sums a number of its neighbors, the first of ``state``."""
        sums = self.sums[network]
        begin, end = sums.level(level)
        if self.on_host is None:
            parts = iter([(next(network.blocks()), 0, end - begin)])
        else:
            parts = level_blocks(network, self.on_host[begin:end])
        for block, low, high in parts:
            no_others = 0, None  # which would be told
            sums.over(kernel, block, level, (begin + low, begin + high), *state, *no_others)
