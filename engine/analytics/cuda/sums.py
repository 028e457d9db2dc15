"""Sums over the neighbors of each vertex on GPUs, and what is iterated of them: twin of engine/analytics/cpu/sums.py.

PageRank on several GPUs: each ranks the vertices of a range, and tells the others what these pass on. GPUs have the
numbers that are passed of all vertices, and ranks and sums of their own ones. The kernel that finds what a vertex
passes writes it to the memory of all GPUs that hear of it, so that it crosses the link meanwhile. There are two arrays
for it, which take turns: one is written while slower GPUs still read the other.
"""

from collections.abc import Sequence
from functools import cached_property, partial
from itertools import pairwise, zip_longest

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.several_gpus import (
    Counters,
    Seat,
    SharedArray,
    addresses,
    copy_range,
    exchange,
    here,
    meet,
    on_each,
    reach_all,
    rows_of,
    seated,
    step,
)
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.iterations import UNITS, Ranks, converged, iterated, leading
from csaw.engine.cuda.declarations import BLOCK, SETTLED
from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.cuda.launch import Kernels
from csaw.engine.plan.choices import Residency


def is_pulled(network: DeviceNetwork) -> bool:
    """Whether the GPU or the host has memory for the rows of the other direction, or they were made before."""
    made = not network.directed or network.can_have_incoming or "incoming" in vars(network)
    return made or network.host.can_have_incoming


def arriving_sums(network: DeviceNetwork, values: Array, out: Array | None = None) -> Array:
    """Sum ``values``, int64 [V], over the vertices that edges come from, for each vertex that they lead to.

    Sums are pulled over the rows of the other direction where the GPU or the host has memory for them, or they were
    made before; else pushed along the graph's own, by atomic additions: they are integers, the same either way.

    Returns:
        int64 [V], in ``out`` if it is given.
    """
    if is_pulled(network):
        return network.incoming.compute("neighbor_sums", values=values, out=out)
    sums = cupy.empty(network.vertices, np.int64) if out is None else out
    sums.fill(0)

    def push(one: DeviceNetwork, number: int) -> Array:
        own, kernels = here(values), one.kernels("ranking")
        found = sums if one is network else cupy.zeros(network.vertices, np.int64)
        for block in rows_of(one, *network.shares[number]):
            of_rows = own[block.first : block.last]
            one.classes(block).launch(kernels, "push_rows", block.indptr, block.indices, of_rows, found)
        return found

    for found in on_each(network.among(len(network.shares)), push)[1:]:
        sums += here(found)
    return sums


def neighbor_sums(network: DeviceNetwork, values: Array, out: Array | None = None) -> Array:
    """Sum ``values``, int64 [V], over the entries of each row: int64 [V], in ``out`` if it is given.

    Several GPUs take a range of the rows each.
    """
    sums = cupy.empty(network.vertices, np.int64) if out is None else out
    shares = network.shares

    def add_up(one: DeviceNetwork, number: int) -> Array:
        first, last = shares[number]
        own, kernels = here(values), one.kernels("ranking")
        found = sums[first:last] if one is network else cupy.empty(last - first, np.int64)
        for block in rows_of(one, first, last):
            there = found[block.first - first : block.last - first]
            one.classes(block).launch(kernels, "sum_rows", block.indptr, block.indices, own, there)
        return found

    parts = on_each(network.among(len(shares)), add_up)
    for (first, last), found in zip(shares[1:], parts[1:], strict=True):
        with exchange():
            fetch(found, sums[first:last])
    return sums


def ordered_sums(network: DeviceNetwork, values: Array) -> Array:
    """Sum ``values``, float64 [V], over the entries of each row: float64 [V], the same bits as on the host."""
    out, kernels = cupy.empty(network.vertices), network.kernels("ordered_sums")
    for block in network.blocks():
        rows = (block.indptr, block.indices, values, out[block.first : block.last])
        network.classes(block).launch(kernels, "ordered_sums", *rows)
    return out


# Leading singular values of a graph's matrix.


def spectrum(network: DeviceNetwork, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Find leading values and a vector on the host, the same as there; a graph that does not fit is read each time."""
    back = _beside(network)
    try:
        return leading(network, count, back)
    finally:
        if back is not None:
            back.close()


def _beside(network: DeviceNetwork) -> DeviceNetwork | None:
    """The rows of the other direction in blocks, where all rows of both would take turns; None: as they are.

    The rows of the network stay in memory, so that each of many products copies one direction in place of two. Where
    all rows are to be resident, blocks are not: directions take turns.
    """
    if not network.would_be_in_turn or network.residency is Residency.RESIDENT:
        return None
    back = network.of_store(network.host.incoming.store, network.memory - network.rows_bytes)
    if back.least_bytes <= back.memory:
        return back
    back.close()
    return None


# PageRank.


def pagerank(network: DeviceNetwork, *, damping: float, tolerance: float, sources: Array) -> Ranks:
    """Rank all vertices; arguments and result as of ``converged``.

    Several GPUs that have rows of where edges come from in memory, and reach each other's, rank the vertices of a range
    each.
    """
    if network.others and network.vertices and is_pulled(network) and reach_all(network):
        arriving = network.incoming
        if arriving.pooled or arriving.resident:
            return ranked(network, damping=damping, tolerance=tolerance, sources=sources)
    kernels, totals = network.kernels("ranking"), cupy.empty(2, np.uint64)

    def settle(base: int, *arguments: object) -> tuple[int, int]:
        totals.fill(0)
        launched(kernels, "settle", network.vertices, sources.size, base, *arguments, totals)
        changed, passed = totals.get().tolist()
        return changed, passed

    return converged(network, settle, damping=damping, tolerance=tolerance, sources=sources)


# PageRank on several GPUs.

NOTING = 1 << 20  # threads that note the vertices of all entries
FIRST_NOTED = 64  # of a GPU's entries one in so many are noted before those of others are counted
SPARSE = 2  # of a range's vertices one in so many, or fewer, are told by themselves


def launched(kernels: Kernels, name: str, vertices: int, *arguments: object) -> None:
    """Launch a kernel that gives ``vertices`` their new ranks, with ``(vertices, *arguments)``."""
    kernels.launch(name, -(-vertices // (BLOCK * SETTLED)), BLOCK, vertices, *arguments)


def ranked(network: DeviceNetwork, *, damping: float, tolerance: float, sources: Array) -> Ranks:
    """Rank all vertices of a network with several GPUs; arguments and result as of ``ranks.converged``."""
    arriving, degrees = network.incoming, network.degrees
    ranges, jumps_to = arriving.shares, sources.size or network.vertices
    with seated(arriving.among(len(ranges)), ranges) as seats:
        both = [SharedArray.made(seats, lambda _: cupy.empty(network.vertices, np.int64)) for _ in range(2)]
        shares = step(seats, lambda seat: _Share(seat, degrees, sources, damping, both))
        _choose_vertices(shares, network.exchange)
        step(shares, lambda share: share.connect(shares))
        meet(seats)

        def settle(base: int) -> tuple[int, int]:
            step(shares, lambda share: share.settle(base))
            meet(seats)
            found = step(shares, lambda share: share.counters.read())
            return sum(changed for changed, _ in found), sum(passed for _, passed in found)

        def advance(base: int, _: int) -> tuple[int, int]:
            step(shares, _Share.add_up)
            return settle(base)

        _, passed = settle(UNITS // jumps_to)
        change, iterations = iterated(advance, UNITS, passed, 0, jumps_to, damping, tolerance)
        ranks = _ranks_of_all(network, shares)
    return Ranks.of(network, ranks, iterations, change, damping)


def _choose_vertices(shares: "list[_Share]", exchange: Exchange | None) -> None:
    """Choose what each GPU hears of the others: of the vertices in its rows (selective), or of all (broadcast).

    Going through the rows for it takes longer than an iteration, so it ends when it is clear that it is of all.
    """
    if exchange is Exchange.BROADCAST:
        return
    step(shares, lambda share: share.begin_to_note(shares))
    for pieces in zip_longest(*(_doubling(share.entries.size) for share in shares)):
        step(shares, partial(_Share.note, pieces=pieces))
        if exchange is None:
            step(shares, _Share.give_up)
    for share in shares:
        for other in share.wants:
            other.tell(share)


def _ranks_of_all(network: DeviceNetwork, shares: "list[_Share]") -> Array:
    """Put the ranks of all GPUs together, on the first: int64 [V]."""
    first = shares[0].seat
    first.use()
    ranks = cupy.empty(network.vertices, np.int64)
    for share in shares:
        first.wait_for(share.seat)
        copy_range(share.ranks, ranks[share.seat.first : share.seat.last], 0, share.ranks.size)
    return ranks


def _doubling(count: int) -> list[tuple[int, int]]:
    """Cut 0 .. count - 1 into ranges (low, high), each as long as all before it."""
    ends = [0, *(-(-count // part) for part in (FIRST_NOTED >> k for k in range(FIRST_NOTED.bit_length())))]
    return list(pairwise(ends))


class _Share:
    """One GPU's part. ``both``: what each vertex passes along its edges, int64 [V], as it is written and as it is read.

    ``sums``, ``ranks``, ``degrees`` int64 [own vertices]. ``sources``: the sources' places among own vertices; some lie
    outside. ``met`` bool [V]: the vertices in own rows. ``wants``: the GPUs of which this one hears of these alone.
    ``wanted``: by the GPU that hears of them, which own vertices, bool; without an entry, all.
    """

    def __init__(self, seat: Seat, degrees: Array, sources: Array, damping: float, both: Sequence[SharedArray]) -> None:
        self.seat, self.damping, self.both, own = seat, damping, list(both), seat.last - seat.first
        self.kernels = seat.network.kernels("ranking")
        self.rows = seat.rows()
        self.sums, self.ranks = (cupy.zeros(own, np.int64) for _ in range(2))
        self.degrees, self.sources = cupy.empty(own, np.int64), cupy.empty(sources.size, np.int64)
        copy_range(degrees[seat.first : seat.last], self.degrees, 0, own)
        copy_range(sources, self.sources, 0, sources.size)
        self.sources -= seat.first
        self.counters = Counters(2)
        self.wants: list[_Share] = []
        self.wanted: dict[_Share, Array] = {}

    # What it hears of the others

    @cached_property
    def entries(self) -> Array:
        """The vertices in own rows, one for each entry."""
        self.seat.use()
        return self.rows.indices[int(self.rows.indptr[0]) : int(self.rows.indptr[-1])]

    def begin_to_note(self, shares: "list[_Share]") -> None:
        self.wants = [one for one in shares if one is not self]
        self.met = cupy.zeros(self.seat.network.vertices, np.bool_)

    def note(self, pieces: Sequence[tuple[int, int] | None]) -> None:
        """Note the vertices of a piece of the entries, if there is one more for this GPU, and if it matters."""
        piece = pieces[self.seat.number]
        if piece and self.wants:
            low, high = piece
            given = (high - low, self.entries[low:high], self.met)
            self.kernels.over("note_entries", min(high - low, NOTING), *given)

    def give_up(self) -> None:
        """Hear of all vertices of a GPU where there are so many of them in own rows that it is no use to choose."""
        self.wants = [one for one in self.wants if SPARSE * self._met_of(one.seat) <= one.seat.last - one.seat.first]

    def _met_of(self, other: Seat) -> int:
        return int(cupy.count_nonzero(self.met[other.first : other.last]))

    def tell(self, receiver: "_Share") -> None:
        """From now on, tell a GPU of those vertices alone that it has met."""
        self.seat.wait_for(receiver.seat)
        self.wanted[receiver] = cupy.empty(self.ranks.size, np.bool_)
        copy_range(receiver.met[self.seat.first : self.seat.last], self.wanted[receiver], 0, self.ranks.size)

    def connect(self, shares: "list[_Share]") -> None:
        """Note where all GPUs, this one too, have what is passed, and which of its vertices each hears of."""
        self.there = [one.addresses() for one in self.both]
        self.heard = addresses([self.wanted.get(one) for one in shares])

    # Iterations

    def add_up(self) -> None:
        """Sum what is passed along the edges that lead to own vertices."""
        given = (self.rows.indptr, self.rows.indices, self.both[1].on(self.seat), self.sums)
        self.seat.network.classes(self.rows).launch(self.kernels, "sum_rows", *given)

    def settle(self, base: int) -> None:
        """Give own vertices their new ranks, and ask for the change of ranks and for the units that they pass on.

        These are read in the next iteration, once all GPUs have written theirs.
        """
        self.counters.clear()
        given = (self.sources.size, base, self.sources, self.damping, self.degrees, self.sums, self.ranks)
        told = (self.seat.first, self.heard.size, self.there[0], self.heard)
        launched(self.kernels, "settle_share", self.ranks.size, *given, *told, self.counters.there)
        self.counters.ask()
        self.both.reverse()
        self.there.reverse()
