"""PageRank on several GPUs: each ranks the vertices of a range, and tells the others what these pass on.

GPUs have the numbers that are passed of all vertices, as they were told last, and ranks and sums of their own ones.
"""

import cupy
import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.single_thread_gpus import Counters, Seat, copy_range, meet, seated
from csaw.engine.analytics.cuda.threaded_gpus import rows_of
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.pieces import spans
from csaw.engine.analytics.ranks import UNITS, Ranks, iterated
from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.plan.contracts import Array

THREADS = 1 << 18  # of the kernel over own vertices: each block adds to the totals once
NOTING = 1 << 20  # threads that note the vertices of all entries
SPARSE = 2  # of a range's vertices one in so many, or fewer, are sent by themselves


def ranked(network: DeviceNetwork, *, damping: float, tolerance: float, sources: Array) -> Ranks:
    """Rank all vertices of a network with several GPUs; arguments and result as of ``ranks.converged``."""
    arriving, degrees = network.incoming, network.degrees
    ranges, jumps_to = arriving.shares, sources.size or network.vertices
    with seated(arriving.among(len(ranges)), ranges) as seats:
        shares = [_Share(seat, degrees, sources, damping) for seat in seats]
        for share in shares:
            share.choose_vertices(shares, network.exchange)

        def settle(base: int) -> tuple[int, int]:
            for share in shares:
                share.settle(base)
            _tell_all(shares)  # while the host waits for what was counted
            found = [share.totals() for share in shares]
            return sum(changed for changed, _ in found), sum(passed for _, passed in found)

        def advance(base: int, _: int) -> tuple[int, int]:
            for share in shares:
                share.add_up()
            return settle(base)

        _, passed = settle(UNITS // jumps_to)
        change, iterations = iterated(advance, UNITS, passed, 0, jumps_to, damping, tolerance)
        ranks = shares[0].ranks_of_all(shares)
    return Ranks.of(network, ranks, iterations, change, damping)


def _tell_all(shares: "list[_Share]") -> None:
    """Let all GPUs hear what vertices of the others pass on. No GPU changes it before all have heard."""
    for share in shares:
        for other in shares:
            if other is not share:
                share.hear(other)
    meet([share.seat for share in shares])


class _Share:
    """One GPU's part. ``passed`` int64 [V]: what each vertex passes along each of its edges.

    ``sums``, ``ranks``, ``degrees`` int64 [own vertices]. ``sources``: the sources' places among own vertices; some lie
    outside. ``wanted``: the vertices of other GPUs that own rows have, by the GPU's share, where these are told by
    themselves.
    """

    def __init__(self, seat: Seat, degrees: Array, sources: Array, damping: float) -> None:
        seat.use()
        self.seat, self.damping, own = seat, damping, seat.last - seat.first
        self.kernels = seat.network.kernels("ranking")
        self.rows = next(rows_of(seat.network, seat.first, seat.last))
        self.passed = cupy.zeros(seat.network.vertices, np.int64)
        self.sums, self.ranks = (cupy.zeros(own, np.int64) for _ in range(2))
        self.degrees, self.sources = cupy.empty(own, np.int64), cupy.empty(sources.size, np.int64)
        copy_range(degrees[seat.first : seat.last], self.degrees, 0, own)
        copy_range(sources, self.sources, 0, sources.size)
        self.sources -= seat.first
        self.counters = Counters(2)
        self.wanted: dict[_Share, Array] = {}
        self.sent: dict[_Share, Array] = {}  # own vertices that another GPU wants, and what they pass on
        self.packed: dict[_Share, Array] = {}

    def choose_vertices(self, shares: "list[_Share]", exchange: Exchange | None) -> None:
        """Choose what this GPU hears of the others: of the vertices in its rows (selective), or of all (broadcast).

        Going through the rows for it takes longer than an iteration, so it ends when it is clear that it is of all.
        """
        if exchange is Exchange.BROADCAST:
            return
        self.seat.use()
        met = cupy.zeros(self.passed.size, np.bool_)
        entries = self.rows.indices[int(self.rows.indptr[0]) : int(self.rows.indptr[-1])]
        others = [one for one in shares if one is not self]
        for low, high in spans(entries.size):
            self.kernels.over("note_entries", min(high - low, NOTING), high - low, entries[low:high], met)
            if exchange is None:
                others = [
                    one for one in others if SPARSE * self._count(met, one.seat) <= one.seat.last - one.seat.first
                ]
            if not others:
                return
        for other in others:
            self.wanted[other] = cupy.flatnonzero(met[other.seat.first : other.seat.last]) + other.seat.first
        for other, wanted in self.wanted.items():
            other.note(self, wanted)

    @staticmethod
    def _count(met: Array, of: Seat) -> int:
        return int(cupy.count_nonzero(met[of.first : of.last]))

    def note(self, receiver: "_Share", wanted: Array) -> None:
        """Keep the vertices that another GPU hears of."""
        self.seat.wait_for(receiver.seat)
        self.sent[receiver] = cupy.empty(wanted.size, np.int64)
        copy_range(wanted, self.sent[receiver], 0, wanted.size)

    def add_up(self) -> None:
        """Sum what is passed along the edges that lead to own vertices."""
        self.seat.use()
        given = (self.rows.indptr, self.rows.indices, self.passed, self.sums)
        self.seat.network.classes(self.rows).launch(self.kernels, "sum_rows", *given)

    def settle(self, base: int) -> None:
        """Give own vertices their new ranks, and ask for the change of ranks and for the units that they pass on."""
        self.seat.use()
        own, passed = self.ranks.size, self.passed[self.seat.first : self.seat.last]
        self.counters.clear()
        given = (own, self.sources.size, base, self.sources, self.damping, self.degrees, self.sums, self.ranks, passed)
        self.kernels.over("settle", min(own, THREADS), *given, self.counters.there)
        self.counters.ask()

    def totals(self) -> tuple[int, int]:
        self.seat.use()
        changed, passed = self.counters.read()
        return changed, passed

    def hear(self, other: "_Share") -> None:
        """Copy what another GPU's vertices pass on."""
        if other not in self.wanted:
            self.seat.wait_for(other.seat)
            copy_range(other.passed, self.passed, other.seat.first, other.seat.last)
        elif self.wanted[other].size:
            packed = other.pack(self)
            self.seat.wait_for(other.seat)
            arrived = cupy.empty(packed.size, np.int64)
            fetch(packed, arrived)
            self.passed[self.wanted[other]] = arrived

    def pack(self, receiver: "_Share") -> Array:
        """Put together what those vertices pass on that another GPU hears of."""
        self.seat.use()
        self.packed[receiver] = self.passed[self.sent[receiver]]
        return self.packed[receiver]

    def ranks_of_all(self, shares: "list[_Share]") -> Array:
        """Put the ranks of all GPUs together, on this one: int64 [V]."""
        self.seat.use()
        ranks = cupy.empty(self.passed.size, np.int64)
        for share in shares:
            self.seat.wait_for(share.seat)
            if share.ranks.size:
                fetch(share.ranks, ranks[share.seat.first : share.seat.last])
        return ranks
