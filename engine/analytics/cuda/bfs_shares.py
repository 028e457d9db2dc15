"""Breadth-first search on several GPUs, of a graph that each of them has in memory, or that is spread over them.

levels.py drives it.
"""

from collections.abc import Sequence
from functools import cached_property

import cupy
import numpy as np

from csaw.engine.analytics.cuda.levels import WORD, Course, Found, Search
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.search_state import SearchState, course_of, few_of, unreached
from csaw.engine.analytics.cuda.several_gpus import TAKE_BLOCKS, Seat, address_of, copy_range, seated, told_how
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.cuda.constants import BLOCK, PUSH_PIECE
from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.plan.contracts import Array

LARGE = 1 << 30  # entries of rows of a graph from where on several GPUs are quicker,
LEAST = 1 << 24  # and of a level from where on it is divided (docs/contributing/tuning.md)


def pays(network: DeviceNetwork) -> bool:
    """Whether several GPUs search: because they are quicker than one, or the graph is spread, or the user says how.

    A search takes less than copying the rows, so the others must have them, and those backward, along which they pull.
    """
    if network.pooled or told_how(network):
        return True
    large = bool(network.others) and network.edges >= LARGE
    return large and network.is_elsewhere and network.has_incoming and network.incoming.is_elsewhere


def search(network: DeviceNetwork, source: int, distance: Array) -> None:
    """Write the distances from ``source`` to ``distance``, which has -1 of all vertices.

    A pooled graph is searched by all GPUs. They tell owners alone unless the user says otherwise: which of the two is
    quicker differs from graph to graph.
    """
    networks = network.among(1 + len(network.others), backward=network.has_incoming)
    course = course_of(network, source)
    with seated(networks, network.level_ranges) as seats:
        _searched(network, seats, course, source, distance)


def distances(network: DeviceNetwork, seats: Sequence[Seat], source: int) -> list[Array]:
    """Find the distances from ``source`` in a pooled graph: int32 [V] on each GPU, -1 where there is no path."""
    first, *others = seats
    first.use()
    found = [unreached(network)]
    _searched(network, seats, course_of(network, source), source, found[0])
    for other in others:
        other.wait_for(first)
        found.append(cupy.empty(network.vertices, np.int32))
        fetch(found[0], found[-1])
    return found


def _searched(network: DeviceNetwork, seats: Sequence[Seat], course: Course, source: int, distance: Array) -> None:
    """Write the distances to ``distance``, an array of the first GPU, to which all write by an exchange."""
    exchange = network.exchange if network.pooled or told_how(network) else None  # others are told where they are read
    if network.pooled:
        exchange = exchange or Exchange.SELECTIVE
    there = address_of(distance) if exchange else None
    shares = [_Share(seat, n, network.level_ranges, there if n else distance) for n, seat in enumerate(seats)]
    shares[0].prepare()
    Search(shares, course, exchange, least=LEAST, few=few_of(network)).run(source)


class _Share:
    """One GPU's part of a search, as levels.Share describes it.

    ``distance``: int32 [V], -1 where a vertex is not reached, or its address on another GPU, or None: what is found is
    told as a bitmap alone.
    """

    state: SearchState

    def __init__(
        self, seat: Seat, number: int, ranges: list[tuple[int, int]], distance: Array | np.uint64 | None
    ) -> None:
        self.seat, self.number, self.ranges, self.gpus = seat, number, ranges, len(ranges)
        self.first, self.last, self.distance = seat.first, seat.last, distance

    def prepare(self) -> None:
        self.seat.use()
        if self.distance is None:
            self.distance = cupy.empty(self.seat.network.vertices, np.int32)
        self.kernels = self.seat.network.kernels("bfs_shares")
        self.state = SearchState(self.seat.network, self.distance, 2 + self.gpus)

    @cached_property
    def bounds(self) -> Array:
        """int64 [GPUs + 1]: where the ranges begin and end."""
        return cupy.asarray(np.array([0, *(last for _, last in self.ranges)], np.int64))

    def _span(self, whole: bool) -> tuple[int, int]:
        return (0, self.seat.network.vertices) if whole else (self.first, self.last)

    # Levels

    def start(self, source: int) -> None:
        self.seat.use()
        self.state.start(source)

    def push(self, now: Found, level: int) -> None:
        self.seat.use()
        self.state.push(now, level)

    def pull(self, level: int, *, whole: bool) -> None:
        self.seat.use()
        self.state.pull(*self._span(whole), level)

    def push_few(self, now: Found, level: int) -> list[Found]:
        self.seat.use()
        return self.state.push_few(now, level)

    def push_share(self, part: Found, level: int) -> None:
        self.seat.use()
        state, rows = self.state, self.state.rows
        state.counters.clear()
        if part.entries:
            ends, queue = state.ends(self.first, part.size), state.queue[self.first :]
            given = (part.entries, part.size, queue, ends, rows.indptr, rows.indices, level, self.number, self.gpus)
            found = (self.bounds, state.visited, state.distance, state.next_queue, state.counters.there)
            self.kernels.over("push_share", -(-part.entries // PUSH_PIECE) * BLOCK, *given, *found)
        state.queue, state.next_queue = state.next_queue, state.queue

    def take(self, sender: "_Share", level: int, *, whole: bool) -> None:
        self.seat.use()
        state, there = self.state, sender.state
        owners = (0, self.gpus) if whole else (self.number, self.number + 1)
        lists = (self.bounds, address_of(there.queue), address_of(there.counters.there))
        own = (self.number, state.network.degrees, level, state.visited, state.distance, state.queue)
        blocks = TAKE_BLOCKS * self.kernels.device.processors
        self.kernels.launch("take_lists", blocks, BLOCK, *owners, *lists, *own, state.counters.there)
        state.counters.ask()

    def found(self) -> list[int]:
        self.seat.use()
        taken, entries, *pushed = self.state.found()
        return [taken + pushed[self.number], entries]

    # Forms of the frontier

    def to_bits(self, size: int, *, whole: bool) -> None:
        self.seat.use()
        self.state.mark(self._span(whole)[0], size)

    def to_queue(self, *, whole: bool) -> None:
        self.seat.use()
        self.state.collect(*self._span(whole))

    # Exchanges

    def wait_for(self, other: "_Share") -> None:
        self.seat.wait_for(other.seat)

    def fetch(self, other: "_Share", what: str, *, whole: bool) -> None:
        self.seat.use()
        first, last = other._span(whole)
        copy_range(getattr(other.state, what), getattr(self.state, what), first // WORD, -(-last // WORD))

    def absorb(self, level: int) -> None:
        """Reach at ``level`` the vertices of the frontier's bitmap that other GPUs own.

        For the first GPU, whose range is before all others.
        """
        self.seat.use()
        state, begin = self.state, -(-self.last // WORD)
        given = (state.front, level, state.visited, state.distance)
        self.kernels.over("absorb", WORD * (state.words - begin), begin, state.words, *given)
