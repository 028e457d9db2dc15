"""Betweenness from some sources on several GPUs over which a graph is spread: all of them work on each source.

Each GPU sums over its own rows, and writes what it finds of a vertex to the memory of all others, where the next level
reads it. So a number crosses the link once for each vertex, forward and backward, beside the distances of its search,
and no row does but those of a few vertices of that search. Each vertex's sums are those of one GPU, in the same order;
and the owner of a vertex adds up what all sources say, in their order.
"""

from collections.abc import Sequence

import cupy
import numpy as np

from csaw.engine.analytics.cuda import bfs_shares
from csaw.engine.analytics.cuda.level_sums import ByLevel, LevelSums, Order
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.pooled_network import PooledNetwork
from csaw.engine.analytics.cuda.several_gpus import Seat, addresses, copy_range, meet, rows_of, seated
from csaw.engine.plan.contracts import Array


def summed(network: PooledNetwork, sources: np.ndarray) -> Array:
    """Sum betweenness over the sources in order: float64 [V], on the first GPU. Rows of both directions are there."""
    ranges = network.shares
    with seated(network.among(len(ranges), backward=True), ranges) as seats:
        shares = [_Share(seat) for seat in seats]
        for share in shares:
            share.meet(shares)
        for source in sources.tolist():
            _add(network, seats, shares, source)
        first, *others = shares
        for other in others:
            first.seat.wait_for(other.seat)
            copy_range(other.total, first.total, other.seat.first, other.seat.last)
    return first.total


def _add(network: DeviceNetwork, seats: Sequence[Seat], shares: "Sequence[_Share]", source: int) -> None:
    """Add the betweenness of one source to the totals."""
    distances = bfs_shares.distances(network, seats, source)
    seats[0].use()
    levels = 1 + int(distances[0].max())
    for share, distance in zip(shares, distances, strict=True):
        share.begin(distance, levels, source)
    meet(seats)
    for level in range(1, levels):
        for share in shares:
            share.count_ways(level)
        meet(seats)
    for level in range(levels - 1, 0, -1):
        for share in shares:
            share.depend(level)
        meet(seats)
    for share in shares:
        share.end()


class _Share:
    """One GPU's part. ``ways``, ``passed``: the numbers of betweenness.cu, of all vertices.

    ``total`` float64 [V]: of own vertices.
    """

    def __init__(self, seat: Seat) -> None:
        seat.use()
        network, back = seat.network, seat.network.incoming
        assert isinstance(back, PooledNetwork)  # as keep_both_directions says
        self.seat, self.back = seat, back
        self.backward = back.own  # whose rows backward are here
        self.rows = next(rows_of(network, seat.first, seat.last))
        self.back_rows = self.rows if back is network else next(rows_of(back, *back.own))
        self.ways, self.passed = ByLevel(network.vertices), ByLevel(network.vertices)
        self.total = cupy.zeros(network.vertices)

    def meet(self, shares: "Sequence[_Share]") -> None:
        """Learn where the other GPUs have the numbers that are written there too."""
        self.seat.use()
        others = [one for one in shares if one is not self]
        self.others = len(others)
        self.their_ways, self.their_passed = (
            [addresses([one.of(parity) for one in theirs]) for parity in range(2)]
            for theirs in ([one.ways for one in others], [one.passed for one in others])
        )

    def begin(self, distance: Array, levels: int, source: int) -> None:
        """Put the vertices in order whose rows are here."""
        self.seat.use()
        network, own = self.seat.network, (self.seat.first, self.seat.last)
        self.ways.clear()
        self.passed.clear()
        self.ways.of(0)[source] = 1.0
        order = Order(distance, own, levels, network.id_dtype)
        self.sums = self.back_sums = LevelSums(network, order, together=True)
        if self.back is not network:
            order = Order(distance, self.backward, levels, network.id_dtype)
            self.back_sums = LevelSums(self.back, order, together=True)

    def end(self) -> None:
        """Give back the order of vertices: the next search needs the room."""
        del self.sums, self.back_sums

    def count_ways(self, level: int) -> None:
        self.seat.use()
        sums = self.back_sums
        ways = (self.ways.of(level - 1), self.ways.of(level))
        told = (self.others, self.their_ways[level % 2])
        sums.over("count_ways", self.back_rows, level, sums.level(level), *ways, *told)

    def depend(self, level: int) -> None:
        self.seat.use()
        sums, passed = self.sums, (self.passed.of(level + 1), self.passed.of(level))
        told = (self.others, self.their_passed[level % 2])
        sums.over("depend", self.rows, level, sums.level(level), *passed, self.ways.of(level), self.total, *told)
