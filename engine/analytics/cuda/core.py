"""Core numbers on a GPU."""

import cupy
import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.several_gpus import Counters, Seat, copy_range, rows_of, seated
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.passes import until_none_is_active
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.cuda.graphs.node import copied, fetch
from csaw.engine.plan.contracts import Array

# entries of rows from where on several GPUs are quicker: those of the smallest graph on which two were measured
LARGE = 500_000_000
PAIR = 2  # numbers of a vertex that is told by itself; of one among all, one


def pays(network: DeviceNetwork) -> bool:
    """Whether several GPUs are quicker than one: the passes over a large graph take far longer than copying the rows.

    Of a directed network, as far as is known before its undirected one is made. A pooled one is always shared.
    """
    if network.pooled:
        return True
    network = vars(network).get("undirected", network)
    return bool(network.others) and network.resident and network.edges >= LARGE


def compute(network: DeviceNetwork) -> Array:
    """Find the core number of each vertex of a simple undirected network, int64 [V].

    Estimates fall from the degrees on, in passes over the rows. Of several GPUs, each lowers the estimates of a range
    of vertices, and tells the others after each pass: those that it has lowered (selective) or all (broadcast),
    whichever are fewer bytes.
    """
    if pays(network):
        return _of_shares(network)
    cores, kernels = network.degrees.copy(), network.kernels("core")

    def lower(block: Block, *active: Array) -> None:
        network.classes(block).launch(kernels, "lower", block.first, block.indptr, block.indices, cores, *active)

    until_none_is_active(network, (cores > 0).view(np.uint8), lower)
    return cores


def _of_shares(network: DeviceNetwork) -> Array:
    """Find core numbers with all GPUs."""
    cores, ranges = network.degrees.copy(), network.shares
    with seated(network.among(len(ranges)), ranges) as seats:
        shares = [_Share(seat, cores if seat is seats[0] else None) for seat in seats]
        while max([share.is_active() for share in shares]):
            for share in shares:
                share.lower()
            for share in shares:
                share.choose_vertices(network.exchange)
            for share in shares:
                for other in shares:
                    if other is not share:
                        share.hear(other)
            for share in shares:
                share.end()
    return cores


class _Share:
    """One GPU's part: it lowers the estimates of its own vertices, and knows those of all as of the last pass."""

    def __init__(self, seat: Seat, cores: Array | None) -> None:
        seat.use()
        self.seat, self.cores = seat, seat.network.degrees.copy() if cores is None else cores
        self.rows = next(rows_of(seat.network, seat.first, seat.last))
        self.active, self.following = (self.cores > 0).view(np.uint8), cupy.empty(self.cores.size, np.uint8)
        self.heard, self.own = cupy.empty(seat.last - seat.first, np.uint8), slice(seat.first, seat.last)
        self.before = cupy.empty(seat.last - seat.first, np.int64)
        self.told: tuple[Array, Array] | None = None  # own vertices with estimates that were lowered; None: all
        self.counted = Counters(1)
        self._count()

    def _count(self) -> None:
        if self.heard.size:
            self.counted.there[0] = self.active[self.own].max()
        self.counted.ask()

    def is_active(self) -> bool:
        self.seat.use()
        return bool(self.counted.read()[0])

    def lower(self) -> None:
        self.seat.use()
        self.following.fill(0)
        self.before[:] = self.cores[self.own]
        given = (self.seat.first, self.rows.indptr, self.rows.indices, self.cores, self.active, self.following)
        self.seat.network.classes(self.rows).launch(self.seat.network.kernels("core"), "lower", *given)

    def choose_vertices(self, exchange: Exchange | None) -> None:
        """Choose the vertices whose estimates others hear of."""
        self.seat.use()
        lowered, self.told = self.cores[self.own] != self.before, None
        if exchange is not Exchange.BROADCAST:
            vertices = cupy.flatnonzero(lowered) + self.seat.first
            if exchange is Exchange.SELECTIVE or PAIR * vertices.size < lowered.size:
                self.told = vertices, self.cores[vertices]

    def hear(self, other: "_Share") -> None:
        """Copy the estimates of another GPU's vertices, and add the vertices that it has marked among the own ones."""
        self.seat.wait_for(other.seat)
        if other.told is None:
            copy_range(other.cores, self.cores, other.seat.first, other.seat.last)
        elif other.told[0].size:
            vertices, estimates = map(copied, other.told)
            self.cores[vertices] = estimates
        if self.heard.size:
            fetch(other.following[self.own], self.heard)
            cupy.maximum(self.following[self.own], self.heard, out=self.following[self.own])

    def end(self) -> None:
        self.seat.use()
        self.active, self.following = self.following, self.active
        self._count()
