"""Betweenness from some sources on a GPU: twin of engine/analytics/cpu/betweenness.py, with the same bits."""

import logging

import cupy
import numpy as np

from csaw.engine.analytics.cuda.bfs import alone
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.pooled_network import PooledNetwork
from csaw.engine.analytics.cuda.threaded_gpus import here, in_order
from csaw.engine.analytics.passes import level_blocks
from csaw.engine.cuda.constants import SUM_PIECE
from csaw.engine.cuda.structs import struct
from csaw.engine.plan.contracts import Array

log = logging.getLogger(__name__)


def compute(network: DeviceNetwork, sources: np.ndarray) -> Array:
    """Sum betweenness over the sources in order: for each vertex, the share of shortest ways that lead over it.

    State: 48 bytes a vertex while vertices are sorted by distance, else 40, and 8 more where edges have directions. A
    graph that does not fit is read once forward and once backward, a level's blocks at a time. Of several GPUs, each
    takes the next source when it is done with one; the numbers of each source, 8 bytes a vertex, come to the first GPU,
    where they are added in the order of the sources.

    Where each GPU has its own rows alone, others' pass by. Those of both directions are read while a source is at work,
    so where they do not fit together, all rows are read in blocks.

    Returns:
        float64 [V].
    """
    if isinstance(network, PooledNetwork) and not network.keep_both_directions():
        return _in_blocks(network, sources)
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
    stream = network.in_blocks(network.store, network.gpu_memory)
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
    distance = alone(network, source)
    levels = _Levels(network, distance)
    ways, passed = cupy.zeros(network.vertices), cupy.zeros(network.vertices)
    ways[source] = 1.0
    for level in range(1, levels.count):
        levels.over("count_ways", network.incoming, level, level - 1, ways)
    for level in range(levels.count - 1, -1, -1):
        levels.over("depend", network, level, level + 1, passed, ways, total)


class _Levels:
    """The vertices that were reached, by distance and then by number, and the pieces of their long rows.

    The pieces are those of the rows forward and backward.
    """

    def __init__(self, network: DeviceNetwork, distance: Array) -> None:
        self.distance, self.count = distance, 1 + int(distance.max())
        reached = cupy.flatnonzero(distance >= 0)
        of_reached = distance[reached]
        order = cupy.argsort(of_reached, kind="stable")
        begins = cupy.searchsorted(of_reached[order], cupy.arange(self.count + 1, dtype=np.int32))
        self.begins, self.order = begins.get().tolist(), reached[order].astype(network.id_dtype)
        self.on_host = None if network.resident and network.incoming.resident else self.order.get()
        self.pieces = {one: _Pieces(one, self.order, begins) for one in {network, network.incoming}}

    def over(self, kernel: str, network: DeviceNetwork, level: int, nearby: int, values: Array, *state: Array) -> None:
        """Run a kernel on the vertices of a level: each sums ``values`` of its neighbors at the level ``nearby``."""
        begin, end = self.begins[level : level + 2]
        if self.on_host is None:
            parts = iter([(next(network.blocks()), 0, end - begin)])
        else:
            parts = level_blocks(network, self.on_host[begin:end])
        pieces, kernels = self.pieces[network], network.kernels("betweenness")
        for block, low, high in parts:
            first, last = begin + low, begin + high
            before, after = pieces.before(level, first, last)
            rows = struct(
                "LevelRows",
                order=self.order[first:],
                at=pieces.at[first:],
                indptr=block.indptr,
                indices=block.indices,
                first=block.first,
                before=before,
            )
            sums, given = cupy.empty(after - before), (rows, self.distance)
            kernels.over("sum_pieces", 32 * sums.size, sums.size, high - low, *given, nearby, values, sums)
            kernels.over(kernel, 32 * (high - low), high - low, *given, level, sums, values, *state)


class _Pieces:
    """The numbers of the pieces of long rows.

    ``at`` int64 [vertices of an order + 1]: how many come before each vertex; ``begins``: where levels begin in the
    order.
    """

    def __init__(self, network: DeviceNetwork, order: Array, begins: Array) -> None:
        degrees = network.degrees[order]
        self.at = cupy.zeros(order.size + 1, np.int64)
        cupy.cumsum(cupy.where(degrees > SUM_PIECE, (degrees + SUM_PIECE - 1) // SUM_PIECE, 0), out=self.at[1:])
        self.of_levels = None if not network.resident else self.at[begins].get().tolist()

    def before(self, level: int, first: int, last: int) -> tuple[int, int]:
        """Count the pieces before the vertices at two places of the order, in a level.

        Those of a network in memory are the ends of the level.
        """
        if self.of_levels is not None:
            return self.of_levels[level], self.of_levels[level + 1]
        return int(self.at[first]), int(self.at[last])
