"""Rounds of a custom measure on GPUs, in memory or streamed: twin of engine/analytics/cpu/rounds.py.

Several GPUs have the values of all vertices each, and go through the rows of their own vertices, which are a range.
What is pulled to them a GPU finds alone, and the others learn it. What is pushed reaches vertices of any GPU: their
owner gathers the best of all that came, and then the others learn that. Kernels read it where it is, in the memory of
the GPU that has it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from csaw.engine.analytics.cuda import directions
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.pooled_network import PooledNetwork
from csaw.engine.analytics.cuda.round_state import COUNTED, Best, Combined, State, refuse_faults
from csaw.engine.analytics.cuda.several_gpus import (
    Seat,
    address_of,
    reach_all,
    rows_of,
    seated,
    step,
    then_step,
    told_how,
)
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.rounds import Asked, BestRounds, CombinedRounds, Hooked, Rounds, Settled
from csaw.engine.analytics.rows_in_memory import Block, Wanted
from csaw.engine.analytics.spread import Range
from csaw.engine.cuda.graphs.node import fetch
from csaw.partition.errors import BudgetError

# Entries of rows of a graph from where on several GPUs are taken to be quicker, as for core numbers: of 1.05 G, two go
# through in .6 to .7 of the time of one (docs/contributing/tuning.md).
LARGE = 500_000_000
WEIGHED_BYTES = 64  # for each edge while rows with weights are made by sorting


def rounds_pays(network: DeviceNetwork, measure: Hooked) -> bool:
    """Whether several GPUs share rounds: they are quicker than one, or the graph is spread, or the user says how.

    Rounds whose rows are left early take no longer than what GPUs would tell each other.
    """
    if network.pooled or told_how(network):
        return True
    if measure.keeps_best and measure.sends_by_value:
        return False
    return bool(network.others) and network.resident and network.edges >= LARGE and reach_all(network)


def rounds(network: DeviceNetwork, *, asked: Asked, backward: Callable[[], DeviceNetwork]) -> Rounds:
    """Run the rounds of a measure over a network; ``backward()`` is the one with the rows of the other direction.

    State: 16 bytes a vertex for values, 8 for what each passes along, and some flags. A graph that does not fit is
    streamed: a round reads the blocks that it needs. Several GPUs share the rounds of a large graph in memory, and of
    one that is pooled.
    """
    measure, shared = asked.measure, rounds_pays(network, asked.measure)
    if measure.keeps_best:
        if shared:
            return best(network, asked, backward)
        return _run(Best(network, asked, backward))
    with _rows_backward(network, measure, backward) as rows:
        if shared and can_share(network, rows):
            return combined(network, asked, rows)
        return _run(Combined(network, asked, rows))


def _run(rounds: Best | Combined) -> Rounds:
    rounds.read("start")
    return rounds.run()


@contextmanager
def _rows_backward(
    network: DeviceNetwork, measure: Hooked, backward: Callable[[], DeviceNetwork]
) -> Iterator[DeviceNetwork]:
    """Yield the network whose rows hold the vertices that values come from, with weights if the measure reads them.

    Those of a directed graph are made for it where they have weights, and closed at the end.
    """
    if not (measure.reads_weights and network.directed):
        yield backward()
        return
    back = _with_weights(network)
    try:
        _require_least(network, back)
        yield back
    finally:
        if back.store is not network.store:  # it has memory and kernels of its own
            if back in network.relatives:
                network.relatives.remove(back)
            back.close()


def _with_weights(network: DeviceNetwork) -> DeviceNetwork:
    """The network of a directed graph with its edges reversed, which keep their weights.

    Where the GPU has no memory to make it, the host makes it, and it is streamed from there, or kept in what is left.
    """
    if network.resident and WEIGHED_BYTES * network.edges <= network.spare + network.edges * network.edge_bytes:
        return network.of_rows(directions.incoming_with_weights(network.whole(True)), directed=True)
    from csaw.engine.analytics.cpu.rounds import incoming_with_weights

    return network.of_store(incoming_with_weights(network.host).store, network.memory - _own_bytes(network))


def _own_bytes(network: DeviceNetwork) -> int:
    """Bytes of rows that stay in memory beside others."""
    return network.rows_bytes if network.resident else 0


def _require_least(network: DeviceNetwork, back: DeviceNetwork) -> None:
    """Raise BudgetError unless two rows backward fit beside those of the network that stay."""
    try:
        back.require_least()
    except BudgetError as error:
        if not (own := _own_bytes(network)) or back.store is network.store:
            raise
        raise BudgetError(
            f"{network.store.path}: a measure that reads e.weight and has a hook vertex, or a sum, also needs the rows "
            f"of a directed graph with reversed edges, for which only {back.memory:,} bytes are allowed; pass "
            f"--residency streamed, or {network.advice(own + back.least_bytes)}"
        ) from error


# On several GPUs.


def best(network: DeviceNetwork, asked: Asked, backward: Callable[[], DeviceNetwork]) -> Rounds:
    """Run the rounds of a measure whose values are the best of all that has come; arguments as of ``Best``."""
    ranges, pulls = network.shares, not network.directed or network.has_incoming
    networks = network.among(len(ranges), weights=asked.measure.reads_weights)
    backs = backward().among(len(ranges)) if pulls else networks
    with seated(networks, network.level_ranges) as seats:
        shares = step(seats, lambda seat: _BestShare(seat, asked, backs[seat.number], ranges[seat.number]))
        return _BestOfAll(network, shares, pulls).run()


def combined(network: DeviceNetwork, asked: Asked, rows: DeviceNetwork) -> Rounds:
    """Run the rounds of a measure that combines what comes along ``rows``; arguments as of ``Combined``."""
    ranges = rows.shares
    marks = _keep_both(network, rows)
    along = rows.among(len(ranges), weights=asked.measure.reads_weights)
    networks = network.everywhere if isinstance(network, PooledNetwork) else network.among(len(ranges))
    with seated(networks, ranges) as seats:
        shares = step(seats, lambda seat: _CombinedShare(seat, asked, along[seat.number]))
        return _CombinedOfAll(network, rows, shares, marks).run()


def can_share(network: DeviceNetwork, rows: DeviceNetwork) -> bool:
    """Whether several GPUs can have the ``rows`` that values come along.

    Not where these pass by the first GPU in blocks, or take turns in its memory with those of the network.
    """
    if network.pooled or rows.pooled:
        return network.pooled and rows.pooled
    return rows.resident and (rows is network or rows not in network.relatives)


def _keep_both(network: DeviceNetwork, rows: DeviceNetwork) -> bool:
    """Have the rows of a network stay in memory beside ``rows``, if they can, so that vertices are marked along them.

    Returns whether they do.
    """
    if not isinstance(network, PooledNetwork) or rows is network:
        return True
    return rows is vars(network).get("incoming") and network.keep_both_directions()


AnyShare = TypeVar("AnyShare", bound="_Share")


class _Share(State):
    """One GPU's part: it goes through the rows of its own vertices, and learns the values of the others after it.

    It is made on its GPU, where its arrays are to be.
    """

    seat: Seat

    @cached_property
    def blocks(self) -> dict[tuple[DeviceNetwork, Range, bool], Block]:
        """The rows that it has gone through."""
        return {}

    def blocks_of(self, rows: DeviceNetwork, *, weights: bool = False, wanted: Wanted | None = None) -> Iterator[Block]:
        """Yield the rows of own vertices, all of them, ``wanted`` or not."""
        own = rows.own if isinstance(rows, PooledNetwork) else (self.seat.first, self.seat.last)
        yield self.block_of(rows, own, weights)

    def block_of(self, rows: DeviceNetwork, own: Range, weights: bool) -> Block:
        """The rows of a range of vertices, which are in the memory of the GPU."""
        if (rows, own, weights) not in self.blocks:
            self.blocks[rows, own, weights] = next(rows_of(rows, *own, weights=weights))
        return self.blocks[rows, own, weights]

    def skips_blocks(self, rows: DeviceNetwork) -> bool:
        return False

    def others(self, shares: "Sequence[AnyShare]") -> "list[AnyShare]":
        """The parts of the other GPUs."""
        return [one for one in shares if one is not self]


class _BestShare(_Share, Best):
    """A part of rounds of ``Best``.

    ``back``: the network along whose rows it pulls to its own vertices, which are as much work as those of others.
    ``pushes``: the range of vertices along whose rows it pushes, with as many entries as those of others.
    """

    def __init__(self, seat: Seat, asked: Asked, back: DeviceNetwork, pushes: Range) -> None:
        super().__init__(seat.network, asked, lambda: back)
        self.seat, self.pushes = seat, pushes

    def blocks_to_push(self) -> Iterator[Block]:
        yield self.block_of(self.network, self.pushes, self.weighted)

    def settle_with(self, shares: "Sequence[_BestShare]", everything: bool) -> None:
        """Let own vertices that were reached have their new values, and learn those of the others' vertices.

        Of those that were reached, or of ``everything``.
        """
        self.begin_to_settle((self.seat.first, self.seat.last))
        for other in self.others(shares):
            first, last = other.seat.first, other.seat.last
            given = (first, last, everything, address_of(other.reached), address_of(other.following))
            self.kernels.over("learn", last - first, *given, self.reached, self.active, self.values, self.following)

    def gather(self, shares: "Sequence[_BestShare]", everything: bool) -> None:
        """Improve own vertices by what the other GPUs have passed to them."""
        first, last = self.seat.first, self.seat.last
        for other in self.others(shares):
            given = (first, last, everything, address_of(other.reached), address_of(other.following))
            self.kernels.over("gather", last - first, *given, self.following, self.reached)


class _CombinedShare(_Share, Combined):
    """A part of rounds of ``Combined`` along ``rows``, of the same GPU."""

    def __init__(self, seat: Seat, asked: Asked, rows: DeviceNetwork) -> None:
        super().__init__(seat.network, asked, rows)
        self.seat = seat

    def learn(self, shares: "Sequence[_CombinedShare]", everything: bool) -> None:
        """Learn the values after the round of the others' vertices: of those that changed, or of ``everything``."""
        for other in self.others(shares):
            first, last = other.seat.first, other.seat.last
            given = (first, last, everything, address_of(other.changed), address_of(other.following))
            self.kernels.over("learn", last - first, *given, self.values, self.following, self.changed)

    def gather_marks(self, shares: "Sequence[_CombinedShare]") -> None:
        """Mark those of the own vertices that other GPUs have marked."""
        first, last = self.seat.first, self.seat.last
        for other in self.others(shares):
            self.kernels.over("gather_marks", last - first, first, last, address_of(other.active), self.active)


class _OfAll(Generic[AnyShare]):
    """Rounds by all GPUs. One thread drives them, since most rounds are short."""

    shares: Sequence[AnyShare]
    everything: bool

    def on_first(self) -> AnyShare:
        """Make the first GPU the current one, and return its part."""
        self.shares[0].seat.use()
        return self.shares[0]

    def counted(self, at_vertices: str = "vertex") -> list[np.ndarray]:
        """Wait for all GPUs, and return what each has counted; errors as of ``State.read``."""
        found = step(self.shares, lambda share: share.found.get())
        refuse_faults(self.shares[0], at_vertices, found)
        return [one[:COUNTED] for one in found]


class _BestOfAll(_OfAll[_BestShare], BestRounds[DeviceNetwork]):
    """Rounds of a measure whose values are the best of all that has come."""

    def __init__(self, network: DeviceNetwork, shares: list[_BestShare], pulls: bool) -> None:
        self.network, self.shares, self.measure, self.values = network, shares, shares[0].measure, shares[0].values
        self.everything = network.exchange is Exchange.BROADCAST
        self.counted("start")
        self.pulls = pulls
        self.few, self.pull_share, self.alone = shares[0].few, shares[0].pull_share, False

    @property
    def has_backward(self) -> bool:
        return self.pulls

    def settle(self) -> Settled:
        then_step(self.shares, lambda share: share.settle_with(self.shares, self.everything))
        for share in self.shares:
            share.turn_flags()
        found = [share.settled(own) for share, own in zip(self.shares, self.counted(), strict=True)]
        changed, entries, least, most = zip(*found, strict=True)
        return Settled(sum(changed), sum(entries), min(least), max(most))

    def push(self, number: int) -> None:
        self._come_together()
        step(self.shares, lambda share: share.push(number))
        then_step(self.shares, lambda share: share.gather(self.shares, self.everything))

    def pull(self, number: int, bound: float) -> None:
        self._come_together()
        step(self.shares, lambda share: share.pull(number, bound))

    def push_few(self, number: int, last: int) -> tuple[int, Settled]:
        self.alone = True
        return self.on_first().push_few(number, last)

    def passed_along(self, value: float) -> float:
        return self.on_first().passed_along(value)

    def _come_together(self) -> None:
        """Let all GPUs know what the first has found alone."""
        if not self.alone:
            return
        first, self.alone = self.shares[0], False
        for share in self.shares[1:]:
            share.seat.wait_for(first.seat)
            fetch(first.values, share.values)
            fetch(first.values, share.following)
            fetch(first.active, share.active)


class _CombinedOfAll(_OfAll[_CombinedShare], CombinedRounds[DeviceNetwork]):
    """Rounds in which vertices combine all that comes to them along ``rows``, and make a value of it.

    ``marks``: whether the rows of the network stay in memory, so that vertices can be marked along them.
    """

    def __init__(self, network: DeviceNetwork, rows: DeviceNetwork, shares: list[_CombinedShare], marks: bool) -> None:
        self.network, self.rows, self.shares, self.marks = network, rows, shares, marks
        self.measure, self.values = shares[0].measure, shares[0].values
        self.everything = network.exchange is Exchange.BROADCAST
        self.counted("start")

    @property
    def _marks_in_turn(self) -> bool:
        return not self.marks

    def take_over(self) -> None:
        for share in self.shares:
            share.take_over()
        self.values = self.shares[0].values

    def total(self, number: int) -> float:
        return self.on_first().total(number)

    def moved(self) -> float:
        return self.on_first().moved()

    def pull(self, number: int, total: float, some: bool) -> tuple[int, int]:
        step(self.shares, lambda share: share.begin_to_pull(number, total, some))
        then_step(self.shares, lambda share: share.learn(self.shares, self.everything))
        changed, entries, *_ = np.sum(self.counted(), 0).tolist()
        return changed, entries

    def mark(self) -> None:
        step(self.shares, Combined.mark)
        then_step(self.shares, lambda share: share.gather_marks(self.shares))
