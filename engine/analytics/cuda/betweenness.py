"""Betweenness from some sources on GPUs: twin of the one in engine/analytics/cpu/searches.py, with the same bits.

GPUs over which a graph is spread work on each source together. Each GPU sums over its own rows, and writes what it
finds of a vertex to the memory of all others, where the next level reads it. So a number crosses the link once for each
vertex, forward and backward, beside the distances of its search, and no row does but those of a few vertices of that
search. Each vertex's sums are those of one GPU, in the same order; and the owner of a vertex adds up what all sources
say, in their order.
"""

import logging
from collections.abc import Sequence
from functools import cached_property, partial

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics.cuda import bfs
from csaw.engine.analytics.cuda.bfs import alone
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.pooled_network import PooledNetwork
from csaw.engine.analytics.cuda.several_gpus import (
    Seat,
    SharedArray,
    here,
    in_order,
    meet,
    rows_of,
    seated,
    step,
    then_step,
)
from csaw.engine.analytics.passes import level_blocks
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.analytics.spread import Range
from csaw.engine.cuda.declarations import ROW_LANES, SUM_PIECE, struct

log = logging.getLogger(__name__)

# Sums over the neighbors of the vertices of a level, in an order of their own, by the kernels of
# analytics/cuda/kernels/betweenness.cu.


class Order:
    """The vertices of a range by distance and then by number; those that were not reached come first.

    ``vertices``: their ids.
    """

    def __init__(self, distance: Array, own: Range, levels: int, id_dtype: np.dtype) -> None:
        first, last = own
        of_own = distance[first:last]
        order = cupy.argsort(of_own, kind="stable") if last > first else cupy.zeros(0, np.int64)
        self.begins_there = cupy.searchsorted(of_own[order], cupy.arange(levels + 1, dtype=np.int32))
        self.vertices = order.astype(id_dtype)
        if first:
            self.vertices += id_dtype.type(first)

    @cached_property
    def begins(self) -> list[int]:
        """Where each level begins among the vertices, and the end."""
        found: list[int] = self.begins_there.get().tolist()
        return found


class ByLevel:
    """Two numbers of each vertex, float64 [V] both: that of a vertex at an even level is in the first, else the second.

    The other one has 0 of it. So the sum over all neighbors of the numbers that belong to the next level, or to the one
    before, is over those at that level, and no neighbor's distance is asked.
    """

    def __init__(self, vertices: int) -> None:
        self.arrays = [cupy.empty(vertices), cupy.empty(vertices)]

    def clear(self) -> None:
        for one in self.arrays:
            one.fill(0)

    def of(self, level: int) -> Array:
        return self.arrays[level % 2]


class LevelSums:
    """The rows of a network at the vertices of an order, and the pieces of the long ones.

    ``at`` int64 [vertices of the order + 1]: how many pieces come before each. ``together``: whether all vertices of a
    level are summed at a time.
    """

    def __init__(self, network: DeviceNetwork, order: Order, *, together: bool) -> None:
        self.kernels, self.order = network.kernels("betweenness"), order
        self.together, degrees = together, network.degrees[order.vertices]
        self.at = cupy.zeros(degrees.size + 1, np.int64)
        if degrees.size:
            cupy.cumsum(cupy.where(degrees > SUM_PIECE, (degrees + SUM_PIECE - 1) // SUM_PIECE, 0), out=self.at[1:])

    @cached_property
    def of_levels(self) -> list[int]:
        """How many pieces come before each level."""
        found: list[int] = self.at[self.order.begins_there].get().tolist()
        return found

    def over(self, kernel: str, block: Block, level: int, part: Range, values: Array, *rest: object) -> None:
        """Run a kernel on some vertices of a level, whose rows a block has.

        Each sums ``values`` of its neighbors. ``part``: the vertices' places in the order.
        """
        first, last = part
        before, after = self._before(level, first, last)
        rows = struct(
            "LevelRows",
            order=self.order.vertices[first:],
            at=self.at[first:],
            indptr=block.indptr,
            indices=block.indices,
            first=block.first,
            before=before,
        )
        count, sums = last - first, cupy.empty(after - before)
        self.kernels.over("sum_pieces", 32 * sums.size, sums.size, count, rows, values, sums)
        self.kernels.over(kernel, ROW_LANES * count, count, rows, sums, values, *rest)

    def level(self, level: int) -> Range:
        """The places of the vertices of a level in the order."""
        begin, end = self.order.begins[level : level + 2]
        return begin, end

    def _before(self, level: int, first: int, last: int) -> Range:
        """Count the pieces before two places of the order, in a level."""
        if self.together:
            return self.of_levels[level], self.of_levels[level + 1]
        return int(self.at[first]), int(self.at[last])


# Betweenness, of one GPU for a source.


def betweenness(network: DeviceNetwork, sources: np.ndarray) -> Array:
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
        share = _summed if network.keep_both_directions() else _in_blocks
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
        return betweenness(stream, sources)
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


# On several GPUs.


def _summed(network: PooledNetwork, sources: np.ndarray) -> Array:
    """Sum betweenness over the sources in order: float64 [V], on the first GPU. Rows of both directions are there."""
    ranges = network.shares
    with seated(network.among(len(ranges), backward=True), ranges) as seats:

        def numbers() -> SharedArray:
            return SharedArray.made(seats, lambda seat: cupy.empty(network.vertices))

        ways, passed, total = (numbers(), numbers()), (numbers(), numbers()), numbers()
        total.fill(0)
        shares = step(seats, lambda seat: _Share(seat, ways, passed, total))
        for source in sources.tolist():
            for one in (*ways, *passed):
                one.fill(0)
            _add_shared(network, seats, shares, source)
        return total.gathered()


def _add_shared(network: DeviceNetwork, seats: Sequence[Seat], shares: "Sequence[_Share]", source: int) -> None:
    """Add the betweenness of one source to the totals."""
    distances = bfs.distances(network, seats, source)
    seats[0].use()
    levels = 1 + int(distances.on(seats[0]).max())
    step(shares, lambda share: share.begin(distances.on(share.seat), levels, source))
    for level in range(1, levels):
        then_step(shares, partial(_Share.count_ways, level=level))
    for level in range(levels - 1, 0, -1):
        then_step(shares, partial(_Share.depend, level=level))
    meet(seats)  # before one clears what others write
    step(shares, _Share.end)


class _Share:
    """One GPU's part. ``ways``, ``passed``: the numbers of analytics/cuda/kernels/betweenness.cu, by the parity of
    levels.

    ``total``: of own vertices.
    """

    def __init__(
        self, seat: Seat, ways: Sequence[SharedArray], passed: Sequence[SharedArray], total: SharedArray
    ) -> None:
        back = seat.network.incoming
        assert isinstance(back, PooledNetwork)  # as keep_both_directions says
        self.seat, self.back, self.backward = seat, back, back.own  # whose rows backward are here
        self.rows, self.back_rows = seat.rows(), next(rows_of(back, *back.own))
        self.ways, self.passed, self.total = ways, passed, total.on(seat)
        others = len(ways[0].seats) - 1
        self.told = {one: (others, one.addresses(but=seat)) for one in (*ways, *passed)}  # where a sum is written, too

    def begin(self, distance: Array, levels: int, source: int) -> None:
        """Put the vertices in order whose rows are here."""
        network, own = self.seat.network, (self.seat.first, self.seat.last)
        self.ways[0].on(self.seat)[source] = 1.0
        order = Order(distance, own, levels, network.id_dtype)
        self.sums = self.back_sums = LevelSums(network, order, together=True)
        if self.back is not network:
            order = Order(distance, self.backward, levels, network.id_dtype)
            self.back_sums = LevelSums(self.back, order, together=True)

    def end(self) -> None:
        """Give back the order of vertices: the next search needs the room."""
        del self.sums, self.back_sums

    def count_ways(self, level: int) -> None:
        before, ways = self.ways[(level - 1) % 2], self.ways[level % 2]
        given = (before.on(self.seat), ways.on(self.seat), *self.told[ways])
        self.back_sums.over("count_ways", self.back_rows, level, self.back_sums.level(level), *given)

    def depend(self, level: int) -> None:
        after, passed = self.passed[(level + 1) % 2], self.passed[level % 2]
        given = (after.on(self.seat), passed.on(self.seat), self.ways[level % 2].on(self.seat), self.total)
        self.sums.over("depend", self.rows, level, self.sums.level(level), *given, *self.told[passed])
