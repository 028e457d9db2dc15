"""Shortest paths by weight on several GPUs that have all rows in memory, or their own ones, in the rounds of one.

Each GPU goes through the rows of its own vertices, and hears of the distances that others have lowered after each
round. GPUs that have all rows own chunks of vertices in turn: of ranges, one GPU would have most of what is to be done
in a round where hubs have small ids, as a round is that of hubs, or of the vertices around them.
"""

import cupy
import numpy as np

from csaw.engine.analytics.cuda.levels import WORD
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.several_gpus import (
    TAKE_BLOCKS,
    Counters,
    Seat,
    address_of,
    copy_range,
    meet,
    seated,
)
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.passes import CHUNK, settle_ranges
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.cuda import arrays
from csaw.engine.cuda.constants import BLOCK
from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.plan.contracts import Array

INFINITE = np.float64(np.inf).view(np.uint64)
EVERY_CHUNK = 0, 1  # as ``choose`` in sssp.cu says which chunks it looks at


def search(network: DeviceNetwork, distance: Array, step: float) -> None:
    """Lower ``distance``, 0 at the source and infinite elsewhere, to the least sums.

    ``step``: the first range of distances. GPUs tell owners alone unless the user says otherwise: it was quicker in all
    measurements.
    """
    gpus, exchange = 1 + len(network.others), network.exchange or Exchange.SELECTIVE
    ranges = network.shares if network.pooled else [(0, network.vertices)] * gpus
    with seated(network.among(gpus, weights=True), ranges) as seats:
        bounds = _bounds(network, gpus)
        shares = [_Share(seat, n, bounds, distance, exchange) for n, seat in enumerate(seats)]

        def choose(number: int, floor: float, limit: float) -> tuple[int, float]:
            for share in shares:
                share.choose(number, floor, limit)
            found = [share.chosen() for share in shares]
            return sum(count for count, _ in found), min(far for _, far in found)

        settle_ranges(network.vertices, step, choose, lambda number, limit: _settle(shares, number, limit))
        for other in shares[1:]:
            shares[0].hear_at_the_end(other)


def _bounds(network: DeviceNetwork, gpus: int) -> list[int]:
    """Where the ranges of vertices of the GPUs begin, and the end; of chunks, places for as many vertices."""
    if network.pooled:
        return [0, *(last for _, last in network.shares)]
    of_gpu = -(-network.vertices // (CHUNK * gpus)) * CHUNK
    return [n * of_gpu for n in range(gpus + 1)]


def _settle(shares: "list[_Share]", number: int, limit: float) -> int:
    """Go through rows round after round, until no distance below ``limit`` changes.

    Returns the number of the next round.
    """
    going = True
    while going:
        for share in shares:
            share.relax(number, limit)
        meet([share.seat for share in shares])
        for share in shares:
            share.take(shares, number, limit)
        going, number = max([share.goes_on() for share in shares]), number + 1
    return number


class _Noted(Counters):
    """The counts of a round, and the chunks with vertices of the next, a byte each: both are read together."""

    def __init__(self, gpus: int, chunks: int) -> None:
        super().__init__(gpus + -(-chunks // 8))
        self.gpus, self.chunks = gpus, self.there[gpus:].view(np.uint8)


class _Share:
    """One GPU's part: it knows the distances of its own vertices, and those of others that it has found or heard of."""

    def __init__(self, seat: Seat, number: int, bounds: list[int], distance: Array, exchange: Exchange) -> None:
        seat.use()
        network, gpus, vertices, in_turn = seat.network, len(bounds) - 1, seat.network.vertices, not seat.network.pooled
        self.seat, self.number, self.gpus = seat, number, gpus
        self.kernels, self.one = network.kernels("sssp_shares"), network.kernels("sssp")
        whole = network.whole(True)
        self.rows = Block(seat.first, seat.last, whole.indptr[seat.first : seat.last + 1], whole.indices, whole.weights)
        if number:
            there, distance = distance, cupy.empty(vertices, np.float64)
            fetch(there, distance)
        self.distance, self.round_of = distance, arrays.full(vertices, -1, np.int32)
        self.found, self.none = Counters(2), cupy.asarray(np.array([0, INFINITE], np.uint64))
        self.active, self.noted = (_Noted(gpus, -(-vertices // CHUNK)) for _ in range(2))
        self.listed = cupy.zeros(-(-vertices // WORD), np.uint32)
        self.lists = cupy.empty(bounds[-1], network.id_dtype)
        self.owners = (number, gpus, cupy.asarray(np.array(bounds, np.int64)), in_turn)
        self.chunks = (number, gpus) if in_turn else EVERY_CHUNK
        self.all = exchange is Exchange.BROADCAST
        self.heard = (0, gpus) if self.all else (number, number + 1)

    def choose(self, number: int, floor: float, limit: float) -> None:
        """Let own vertices of distances from ``floor`` to before ``limit`` be of this round."""
        self.seat.use()
        self.noted.clear()
        self.found.there[:] = self.none
        given = (self.distance, self.round_of, number, self.noted.chunks, float(floor), float(limit), self.found.there)
        span = (self.seat.first, self.seat.last)
        self.one.over("choose", self.seat.last - self.seat.first, *span, *self.chunks, *given)
        self.found.ask()

    def chosen(self) -> tuple[int, float]:
        """Return how many vertices ``choose`` has found, and the least distance from ``limit`` on."""
        self.seat.use()
        count, least = self.found.read()
        return count, float(np.uint64(least).view(np.float64))

    def relax(self, number: int, limit: float) -> None:
        """Go through the rows of the vertices that were noted; those of the next round are noted in turn."""
        self.seat.use()
        self.active, self.noted = self.noted, self.active
        self.noted.clear()
        self.listed.fill(0)
        rows, seat = (self.rows.indptr, self.rows.indices, self.rows.weights), self.seat
        state = (self.distance, self.round_of, number, self.active.chunks, self.noted.chunks, float(limit))
        given = (*rows, *state, *self.owners, self.listed, self.lists, self.noted.there, self.all)
        self.kernels.over("relax_share", seat.last - seat.first, seat.first, seat.last, *given)
        seat.network.long_rows.launch(self.kernels, "relax_share_long", self.rows, *given)

    def take(self, shares: "list[_Share]", number: int, limit: float) -> None:
        """Lower distances to those that the others have listed, where they have them, and ask for what was noted."""
        self.seat.use()
        own = (self.distance, self.round_of, number, self.noted.chunks, float(limit))
        for other in shares:
            if other is not self:
                places = (other.lists, other.noted.there, other.distance)
                there = map(address_of, places)
                blocks = TAKE_BLOCKS * self.kernels.device.processors
                self.kernels.launch("take_lowered", blocks, BLOCK, *self.heard, *self.owners, *there, *own)
        self.noted.ask()

    def goes_on(self) -> bool:
        """Whether there are vertices of a next round."""
        self.seat.use()
        return any(self.noted.read()[self.gpus :])

    def hear_at_the_end(self, other: "_Share") -> None:
        """Take the distances of the vertices that another GPU owns."""
        self.seat.wait_for(other.seat)
        if self.seat.network.pooled:
            copy_range(other.distance, self.distance, other.seat.first, other.seat.last)
        else:
            vertices = self.distance.size
            self.kernels.over("merge", vertices, vertices, address_of(other.distance), self.distance)
