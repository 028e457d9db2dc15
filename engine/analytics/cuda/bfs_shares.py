"""Breadth-first search on several GPUs, of a graph that each of them has in memory, or that is spread over them.

levels.py drives it.
"""

from collections.abc import Sequence
from functools import cached_property

import cupy
import numpy as np

from csaw.engine.analytics.cuda.levels import WORD, Course, Found, Search
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.search_state import SearchState, course_of
from csaw.engine.analytics.cuda.single_thread_gpus import Seat, copy_range, seated
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.cuda.constants import BLOCK, PUSH_PIECE
from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.plan.contracts import Array

LARGE = 1 << 30  # entries of rows of a graph from where on several GPUs are quicker,
LEAST = 1 << 24  # and of a level from where on it is divided (docs/contributing/tuning.md)
NEAR = 127  # levels that a byte holds


def pays(network: DeviceNetwork) -> bool:
    """Whether several GPUs search: because they are quicker than one, or the graph is spread, or the user says how.

    A search takes less than copying the rows, so the others must have them, and those backward, along which they pull.
    """
    if network.pooled or (network.exchange and network.others and network.resident):
        return True
    large = bool(network.others) and network.edges >= LARGE
    return large and network.is_elsewhere and network.has_incoming and network.incoming.is_elsewhere


def search(network: DeviceNetwork, source: int, distance: Array) -> None:
    """Write the distances from ``source`` to ``distance``, which has -1 elsewhere.

    A pooled graph is searched by all GPUs at every level; what is told to owners alone was quicker in all measurements.
    """
    networks = network.among(1 + len(network.others), backward=network.has_incoming)
    course = course_of(network, source)
    with seated(networks, network.level_ranges) as seats:
        _searched(network, seats, course, source, distance)


def distances(network: DeviceNetwork, seats: Sequence[Seat], source: int) -> list[Array]:
    """Find the distances from ``source`` in a pooled graph: int32 [V] on each GPU, -1 where there is no way."""
    seats[0].use()
    distance = cupy.full(network.vertices, -1, np.int32)
    distance[source] = 0
    first, *others = _searched(network, seats, course_of(network, source), source, distance)
    for other in others:
        other.wait_for(first)
        fetch(distance, other.state.distance)
    return [distance, *(other.state.distance for other in others)]


def _searched(
    network: DeviceNetwork, seats: Sequence[Seat], course: Course, source: int, distance: Array
) -> "list[_Share]":
    """Search, and return the parts of the GPUs; ``distance``, on the first, has all distances then."""
    exchange = network.exchange or (Exchange.SELECTIVE if network.pooled else None)
    shares = [_Share(seat, number, network.level_ranges) for number, seat in enumerate(seats)]
    shares[0].prepare(distance)
    Search(shares, course, exchange, LEAST).run(source)
    if exchange:
        for other in shares[1:]:
            shares[0].take_distances(other, course.level)
    return shares


class _Share:
    """One GPU's part of a search, as levels.Share describes it."""

    state: SearchState
    """Its distances are those of all vertices on the first GPU; on others, those of its own vertices that it has
    reached.
    """

    def __init__(self, seat: Seat, number: int, ranges: list[tuple[int, int]]) -> None:
        self.seat, self.number, self.ranges, self.gpus = seat, number, ranges, len(ranges)
        self.first, self.last = seat.first, seat.last

    def prepare(self, distance: Array | None = None) -> None:
        """Make the arrays of the search. ``distance``: int32 [V], -1 where a vertex is not reached (default: new)."""
        self.seat.use()
        if distance is None:
            distance = cupy.empty(self.seat.network.vertices, np.int32)
            distance[self.first : self.last].fill(-1)
        self.kernels = self.seat.network.kernels("bfs_shares")
        self.state = SearchState(self.seat.network, distance, 1 + self.gpus)

    @cached_property
    def bounds(self) -> Array:
        """int64 [GPUs + 1]: where the ranges begin and end."""
        return cupy.asarray(np.array([0, *(last for _, last in self.ranges)], np.int64))

    @cached_property
    def inbox(self) -> Array:
        """Room for the vertices of a range."""
        return cupy.empty(max(last - first for first, last in self.ranges), self.seat.network.id_dtype)

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

    def push_share(self, part: Found, level: int) -> None:
        self.seat.use()
        state, rows = self.state, self.state.rows
        state.counters.clear()
        if part.entries:
            ends, queue = state.ends(self.first, part.size), state.queue[self.first :]
            given = (part.entries, part.size, queue, ends, rows.indptr, rows.indices, level, self.number, self.gpus)
            found = (self.bounds, state.visited, state.distance, state.next_queue, state.counters.there)
            self.kernels.over("push_share", -(-part.entries // PUSH_PIECE) * BLOCK, *given, *found)
        state.counters.ask()
        state.queue, state.next_queue = state.next_queue, state.queue

    def found(self) -> list[int]:
        return self.found_for_all()[:2]

    def found_for_all(self) -> list[int]:
        self.seat.use()
        return self.state.found()

    # Forms of the frontier

    def to_bits(self, size: int, *, whole: bool) -> None:
        self.seat.use()
        self.state.mark(self._span(whole)[0], size)

    def to_queue(self, *, whole: bool) -> None:
        self.seat.use()
        self.state.collect(*self._span(whole))

    def lists_to_bits(self, counts: list[int]) -> None:
        self.seat.use()
        state = self.state
        state.following.fill(0)
        for (first, _), count in zip(self.ranges, counts, strict=True):
            state.kernels.over("mark", count, count, state.queue[first:], state.following)

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

    def take_list(self, sender: "_Share", owner: int, count: int, level: int) -> None:
        self.seat.use()
        first, _ = self.ranges[owner]
        fetch(sender.state.queue[first : first + count], self.inbox[:count])
        self._take("take_list", count, (count, self.inbox), level)

    def take_bits(self, sender: "_Share", level: int, *, whole: bool) -> None:
        self.seat.use()
        first, last = self._span(whole)
        begin, end = first // WORD, -(-last // WORD)
        copy_range(sender.state.following, self.state.front, begin, end)
        self._take("take_bits", last - first, (begin, end, self.state.front), level)

    def _take(self, kernel: str, threads: int, sent: tuple[object, ...], level: int) -> None:
        state, counters = self.state, self.state.counters
        given = (self.first, self.last, state.network.degrees, level, state.visited, state.distance)
        found = (state.queue[self.first :], counters.there[self.number :], counters.there[self.gpus :])
        self.kernels.over(kernel, threads, *sent, *given, *found)
        counters.ask()

    def take_distances(self, other: "_Share", levels: int) -> None:
        """Copy the distances that another GPU has of its own vertices, as bytes where they fit."""
        other.seat.use()
        own = slice(other.first, other.last)
        found = other.state.distance[own].astype(np.int8 if levels <= NEAR else np.int32)
        self.wait_for(other)
        there = cupy.empty(found.shape, found.dtype)
        if found.size:
            fetch(found, there)
        cupy.maximum(self.state.distance[own], there, out=self.state.distance[own])
