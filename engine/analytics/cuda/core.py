"""Core numbers on a GPU."""

from functools import partial

import cupy
import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.single_thread_gpus import Counters, Seat, copy_range, seated
from csaw.engine.analytics.cuda.threaded_gpus import rows_of
from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.plan.contracts import Array

LARGE = 500_000_000  # entries of rows from where on several GPUs are quicker: those of the smallest graph on which two were measured


def shared(network: DeviceNetwork) -> bool:
    """Whether several GPUs share it: the passes take far longer than copying the rows. Of a directed network, as far as is known before its undirected one is made."""
    network = vars(network).get("undirected", network)
    return bool(network.others) and network.resident and network.edges >= LARGE


def compute(network: DeviceNetwork) -> Array:
    """int64 [V]: the core number of each vertex of a simple undirected network, by estimates that fall from the degrees on, in passes over its rows.

    Of several GPUs, each lowers the estimates of a range of vertices, and tells the others after each pass.
    """
    if shared(network):
        return _of_shares(network)
    cores, kernels = network.degrees.copy(), network.kernels("core")
    active = (cores > 0).view(np.uint8)
    while bool(active.any()):
        following = cupy.zeros(network.vertices, np.uint8)
        for block in network.blocks(wanted=partial(_any, active)):
            given = (block.first, block.indptr, block.indices, cores, active, following)
            network.classes(block).launch(kernels, "lower", *given)
        active = following
    return cores


def _any(active: Array, first: int, last: int) -> bool:
    return bool(active[first:last].any())


def _of_shares(network: DeviceNetwork) -> Array:
    """The same by all GPUs."""
    cores, ranges = network.degrees.copy(), network.shares
    with seated(network.among(len(ranges)), ranges) as seats:
        shares = [_Share(seat, cores if seat is seats[0] else None) for seat in seats]
        while max([share.is_active() for share in shares]):
            for share in shares:
                share.lower()
            for share in shares:
                for other in shares:
                    if other is not share:
                        share.hear(other)
            for share in shares:
                share.end()
    return cores


class _Share:
    """What one GPU does: it lowers the estimates of its own vertices, and knows those of all as of the last pass."""

    def __init__(self, seat: Seat, cores: Array | None) -> None:
        seat.use()
        self.seat, self.cores = seat, seat.network.degrees.copy() if cores is None else cores
        self.rows = next(rows_of(seat.network, seat.first, seat.last))
        self.active, self.following = (self.cores > 0).view(np.uint8), cupy.empty(self.cores.size, np.uint8)
        self.heard, self.own = cupy.empty(seat.last - seat.first, np.uint8), slice(seat.first, seat.last)
        self.counted = Counters(1)
        self._count()

    def _count(self) -> None:
        self.counted.there[0] = cupy.count_nonzero(self.active[self.own])
        self.counted.ask()

    def is_active(self) -> bool:
        self.seat.use()
        return bool(self.counted.read()[0])

    def lower(self) -> None:
        self.seat.use()
        self.following.fill(0)
        given = (self.seat.first, self.rows.indptr, self.rows.indices, self.cores, self.active, self.following)
        self.seat.network.classes(self.rows).launch(self.seat.network.kernels("core"), "lower", *given)

    def hear(self, other: "_Share") -> None:
        """Have the estimates of another GPU's vertices, and add the vertices that it has marked among the own ones."""
        self.seat.wait_for(other.seat)
        copy_range(other.cores, self.cores, other.seat.first, other.seat.last)
        if self.heard.size:
            fetch(other.following[self.own], self.heard)
            cupy.maximum(self.following[self.own], self.heard, out=self.following[self.own])

    def end(self) -> None:
        self.seat.use()
        self.active, self.following = self.following, self.active
        self._count()
