"""Shortest paths by weight from one vertex on a GPU, or on several: twin of those in engine/analytics/cpu/searches.py.

Several GPUs have all rows in memory, or their own ones, and go in the rounds of one. Each goes through the rows of its
own vertices, and hears of the distances that others have lowered after each round. GPUs that have all rows own chunks
of vertices in turn: of ranges, one GPU would have most of what is to be done in a round where hubs have small ids, as a
round is that of hubs, or of the vertices around them.
"""

from functools import partial

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics.cuda.levels import WORD
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.several_gpus import (
    TAKE_BLOCKS,
    Counters,
    Seat,
    SharedArray,
    address_of,
    reach_all,
    seated,
    step,
    then_step,
    told_how,
)
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.passes import CHUNK, any_active, first_step, settle_ranges
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.cuda import arrays
from csaw.engine.cuda.declarations import BLOCK

LARGE = 1 << 30  # entries of rows of a graph from where on several GPUs are quicker (docs/contributing/tuning.md)


def sssp_pays(network: DeviceNetwork) -> bool:
    """Whether several GPUs search: because they are quicker than one, or the graph is spread, or the user says how.

    A search takes less than copying the rows, so the others must have them, and their weights.
    """
    if network.pooled or told_how(network):
        return True
    large = bool(network.others) and network.edges >= LARGE
    return large and network.is_elsewhere and _have_weights(network) and reach_all(network)


def _have_weights(network: DeviceNetwork) -> bool:
    """Whether all GPUs, which have the rows, have the weights in memory, too."""
    return all(True in one.held for one in network.among(1 + len(network.others)))


def sssp(network: DeviceNetwork, source: int) -> Array:
    """Find the least sum of weights along a path from ``source`` to each vertex, along directions.

    The same bits as on the host. State: 12 bytes a vertex. A graph that does not fit is read once a round, without the
    blocks that have no vertex to go on from. Several GPUs share a large graph that all of them have in memory already;
    or any, where it is pooled, or the user has said how they tell each other what is lowered.

    Returns:
        float64 [V], infinite where there is no path.
    """
    distance = cupy.full(network.vertices, np.inf)
    distance[source] = 0.0
    length = first_step(network)
    if sssp_pays(network):
        search(network, distance, length)
    else:
        _search(network, distance, length)
    return distance


def _search(network: DeviceNetwork, distance: Array, length: float) -> None:
    round_of, kernels = arrays.full(network.vertices, -1, np.int32), network.kernels("sssp")
    active = cupy.zeros(-(-network.vertices // CHUNK), np.uint8)

    def choose(number: int, floor: float, limit: float) -> tuple[int, float]:
        active.fill(0)
        found = cupy.asarray(np.array([0, INFINITE], np.uint64))
        given = (distance, round_of, number, active, floor, limit, found)
        kernels.over("choose", network.vertices, 0, network.vertices, *EVERY_CHUNK, *given)
        chosen, least = found.get()
        return int(chosen), float(least.view(np.float64))

    def settle(number: int, limit: float) -> int:
        return _settle(network, distance, round_of, number, active, limit)

    settle_ranges(network.vertices, length, choose, settle)


def _settle(network: DeviceNetwork, distance: Array, round_of: Array, number: int, active: Array, limit: float) -> int:
    """Go through rows round after round, until no distance below ``limit`` changes.

    Returns the number of the next round.
    """
    while (flags := active.get()).any():
        following = cupy.zeros_like(active)
        state = (distance, round_of, number, active, following, float(limit))
        for block in network.blocks(weights=True, wanted=any_active(flags, CHUNK)):
            rows = (block.indptr, block.indices, block.weights)
            kernels = network.kernels("sssp")
            kernels.over("relax", block.last - block.first, block.first, block.last, *rows, *state)
            network.long_rows.launch(kernels, "relax_long", block, *rows, *state)
        number, active = number + 1, following
    return number


# On several GPUs.

INFINITE = np.float64(np.inf).view(np.uint64)
EVERY_CHUNK = 0, 1  # as ``choose`` in engine/analytics/cuda/kernels/sssp.cu says which chunks it looks at


def search(network: DeviceNetwork, distance: Array, length: float) -> None:
    """Lower ``distance``, 0 at the source and infinite elsewhere, to the least sums.

    ``length``: of the first range of distances. GPUs tell owners alone unless the user says otherwise: it was quicker
    in all measurements.
    """
    gpus, exchange = 1 + len(network.others), network.exchange or Exchange.SELECTIVE
    ranges = network.shares if network.pooled else [(0, network.vertices)] * gpus
    with seated(network.among(gpus, weights=True), ranges) as seats:
        bounds, distances = _bounds(network, gpus), SharedArray.copied(seats, distance)
        shares = step(seats, lambda seat: _Share(seat, bounds, distances, exchange))

        def choose(number: int, floor: float, limit: float) -> tuple[int, float]:
            step(shares, lambda share: share.choose(number, floor, limit))
            found = step(shares, _Share.chosen)
            return sum(count for count, _ in found), min(far for _, far in found)

        settle_ranges(network.vertices, length, choose, lambda number, limit: _settle_shares(shares, number, limit))
        if network.pooled:
            distances.gathered()
        else:
            for other in shares[1:]:
                shares[0].merge(other)


def _bounds(network: DeviceNetwork, gpus: int) -> list[int]:
    """Where the ranges of vertices of the GPUs begin, and the end; of chunks, places for as many vertices."""
    if network.pooled:
        return [0, *(last for _, last in network.shares)]
    of_gpu = -(-network.vertices // (CHUNK * gpus)) * CHUNK
    return [n * of_gpu for n in range(gpus + 1)]


def _settle_shares(shares: "list[_Share]", number: int, limit: float) -> int:
    """Go through rows round after round, until no distance below ``limit`` changes.

    Returns the number of the next round.
    """
    going = True
    while going:
        step(shares, partial(_Share.relax, number=number, limit=limit))
        then_step(shares, partial(_Share.take, shares=shares, number=number, limit=limit))
        going, number = max(step(shares, _Share.goes_on)), number + 1
    return number


class _Noted(Counters):
    """The counts of a round, and the chunks with vertices of the next, a byte each: both are read together."""

    def __init__(self, gpus: int, chunks: int) -> None:
        super().__init__(gpus + -(-chunks // 8))
        self.gpus, self.chunks = gpus, self.there[gpus:].view(np.uint8)


class _Share:
    """One GPU's part: it knows the distances of its own vertices, and those of others that it has found or heard of."""

    def __init__(self, seat: Seat, bounds: list[int], distances: SharedArray, exchange: Exchange) -> None:
        network, number, gpus = seat.network, seat.number, len(bounds) - 1
        vertices, in_turn = network.vertices, not network.pooled
        self.seat, self.gpus, self.distance = seat, gpus, distances.on(seat)
        self.kernels, self.one = network.kernels("sssp_shares"), network.kernels("sssp")
        whole = network.whole(True)
        self.rows = Block(seat.first, seat.last, whole.indptr[seat.first : seat.last + 1], whole.indices, whole.weights)
        self.round_of = arrays.full(vertices, -1, np.int32)
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
        self.noted.clear()
        self.found.there[:] = self.none
        given = (self.distance, self.round_of, number, self.noted.chunks, float(floor), float(limit), self.found.there)
        span = (self.seat.first, self.seat.last)
        self.one.over("choose", self.seat.last - self.seat.first, *span, *self.chunks, *given)
        self.found.ask()

    def chosen(self) -> tuple[int, float]:
        """Return how many vertices ``choose`` has found, and the least distance from ``limit`` on."""
        count, least = self.found.read()
        return count, float(np.uint64(least).view(np.float64))

    def relax(self, number: int, limit: float) -> None:
        """Go through the rows of the vertices that were noted; those of the next round are noted in turn."""
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
        return any(self.noted.read()[self.gpus :])

    def merge(self, other: "_Share") -> None:
        """Take the distances of another GPU that are lower."""
        self.seat.wait_for(other.seat)
        vertices = self.distance.size
        self.kernels.over("merge", vertices, vertices, address_of(other.distance), self.distance)
