"""Breadth-first search on a GPU, or on several: twin of the one in engine/analytics/cpu/searches.py.

Several GPUs search a graph that each of them has in memory, or that is spread over them; levels.py drives them.
"""

from collections.abc import Sequence
from functools import cached_property

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics.cuda.levels import WORD, Course, Found, Search
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.pooled_network import PooledNetwork
from csaw.engine.analytics.cuda.several_gpus import (
    TAKE_BLOCKS,
    Counters,
    Seat,
    SharedArray,
    address_of,
    addresses,
    copy_range,
    seated,
    told_how,
)
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.passes import CHUNK, search_by_blocks
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.analytics.spread import Range
from csaw.engine.cuda import arrays
from csaw.engine.cuda.declarations import BLOCK, PUSH_PIECE


def bfs(network: DeviceNetwork, source: int) -> Array:
    """Find the number of edges on a shortest path from ``source`` to each vertex, along directions.

    State: 12 bytes a vertex and three bitmaps, and 16 for each vertex of a level that is pushed. A graph that does not
    fit is read once a level, without the blocks that have no vertex of its frontier. Several GPUs share the large
    levels of a graph that all of them have in memory already; or all but those of a few vertices, where the graph is
    pooled, or the user has said how they tell each other what they have reached.

    Returns:
        int32 [V], -1 where there is no path.
    """
    if not bfs_pays(network):
        return alone(network, source)
    distance = unreached(network)
    search(network, source, distance)
    return distance


def alone(network: DeviceNetwork, source: int) -> Array:
    """Search as ``bfs`` does with the GPU of the network alone: others may have searches of their own to do."""
    distance = unreached(network)
    if network.resident:
        _search(network, source, distance)
        return distance
    distance[source] = 0

    def push(block: Block, *given: Array) -> None:
        rows = (block.first, block.last, block.indptr, block.indices)
        network.kernels("bfs").over("push_rows", block.last - block.first, *rows, distance, *given)

    search_by_blocks(network, source, CHUNK, push)
    return distance


def predecessors(network: DeviceNetwork, source: int, distance: np.ndarray) -> np.ndarray:
    """Find a tree of shortest paths from distances, int64 [V], on the host, as analytics/cpu/searches.py does."""
    return network.host.compute("predecessors", source=source, distance=distance)


def _search(network: DeviceNetwork, source: int, distance: Array) -> None:
    """Push along rows, and pull along those backward where they are in memory already."""
    state, course, as_bits = SearchState(network, distance), course_of(network, source), False
    few = few_of(network)
    state.start(source)
    while course.now.size:
        pulls = course.begin()
        if pulls and not as_bits:
            state.mark(0, course.now.size)
        elif as_bits and not pulls:
            state.collect(0, network.vertices)
        as_bits = pulls
        if not pulls and max(course.now) <= few:
            course.went_on(state.push_few(course.now, course.level))
            continue
        if pulls:
            state.pull(0, network.vertices, course.level)
        else:
            state.push(course.now, course.level)
        course.reached(Found(*state.found()))


# The state of a search of a graph in memory, and its steps.

PULLED = 16  # entries that a GPU pulls along while it pushes along one (docs/contributing/tuning.md),
PULLED_OF_SPREAD = 4  # and where one GPU may have most of the vertices, and all wait for it
PUSH_SHARE = 32  # of the vertices, from where on it pushes again
# vertices of a frontier, and entries of their rows, that one block pushes along, level after level: a launch takes as
# long
FEW = 4096
FEW_OF_SPREAD = 1024  # where it waits for rows that come over a link
LEVELS, FEW_THREADS = 256, 1024  # that it goes on for at most, and its threads


def unreached(network: DeviceNetwork) -> Array:
    """Distances before a search on the current GPU: int32 [V], -1."""
    return arrays.full(network.vertices, -1, np.int32)


def few_of(network: DeviceNetwork) -> int:
    """Vertices of a frontier, and entries of their rows, that one block pushes along."""
    return FEW_OF_SPREAD if network.pooled else FEW


def course_of(network: DeviceNetwork, source: int) -> Course:
    return Course(
        network.vertices,
        network.edges,
        int(network.degrees[source]),
        can_pull=network.has_incoming or (network.pooled and not network.directed),
        pulled=PULLED_OF_SPREAD if network.pooled else PULLED,
        push_share=PUSH_SHARE,
    )


class SearchState:
    """Bitmaps of the vertices visited, of the frontier and of the one after it, and frontiers as queues.

    In a queue, the vertices of a range begin at the range's first place. ``distance``: int32 [V], -1 where a vertex is
    not reached, or where such an array is in another GPU's memory. ``counted``: numbers that kernels count, vertices
    and entries of their rows first.
    """

    def __init__(self, network: DeviceNetwork, distance: Array | np.uint64, counted: int = 2) -> None:
        self.network, self.distance, self.kernels = network, distance, network.kernels("bfs")
        self.rows = network.whole(False)  # of a pooled network, the own ones
        self.back = network.incoming.whole(False) if network.has_incoming else self.rows
        self.words = -(-network.vertices // WORD)
        self.visited = cupy.zeros(self.words, np.uint32)
        self.front, self.following = (cupy.empty(self.words, np.uint32) for _ in range(2))
        self.queue, self.next_queue = (cupy.empty(network.vertices, network.id_dtype) for _ in range(2))
        self.counters = Counters(counted)

    def start(self, source: int) -> None:
        self.kernels.launch("begin", 1, 1, source, self.queue, self.visited, self.distance)

    def mark(self, first: int, size: int) -> None:
        """Write the frontier's bitmap: the vertices of the queue from place ``first`` on."""
        self.front.fill(0)
        self.kernels.over("mark", size, size, self.queue[first:], self.front)

    def collect(self, first: int, last: int) -> None:
        """Write the vertices of first .. last - 1 in the frontier's bitmap to the queue, and count them."""
        begin, end = first // WORD, -(-last // WORD)
        given = (begin, end, self.network.degrees, self.front, self.queue[first:])
        self._count("collect", end - begin, *given)

    def push(self, now: Found, level: int) -> None:
        rows, ends = self.rows, self.ends(0, now.size)
        given = (self.queue, ends, rows.indptr, rows.indices, level, self.visited, self.distance, self.next_queue)
        self._count("push", -(-now.entries // PUSH_PIECE) * BLOCK, now.entries, now.size, *given)
        self.queue, self.next_queue = self.next_queue, self.queue

    @cached_property
    def of_levels(self) -> Counters:
        return Counters(1 + 2 * LEVELS)

    @cached_property
    def pieces(self) -> tuple[int, Array, Array]:
        """How many GPUs have rows, and on the first: where the vertices of each begin, and where its entries are.

        Addresses are those that entry 0 of all would have.
        """
        network = self.network
        if not isinstance(network, PooledNetwork):
            return 1, cupy.zeros(1, np.int64), addresses([self.rows.indices])
        bounds = np.array([first for first, _ in network.spread.ranges], np.int64)
        there: list[Array] = [one.whole(False).indices for one in network.everywhere]
        begins = np.array([one.data.ptr for one in there], np.uint64) - (
            network.offsets[bounds] * network.id_dtype.itemsize
        ).astype(np.uint64)
        return len(there), cupy.asarray(bounds), cupy.asarray(begins)

    def push_few(self, now: Found, level: int) -> list[Found]:
        """Push along a few entries, as of ``few_of``, and at the levels after it as long as there are no more.

        Returns the vertices that each level has reached, and entries of their rows.
        """
        few = few_of(self.network)
        given = (now.size, *self.pieces, self.rows.indptr, level, LEVELS, few, self.queue, self.next_queue)
        self.kernels.launch("push_few", 1, FEW_THREADS, *given, self.visited, self.distance, self.of_levels.there)
        self.of_levels.ask()
        levels, *numbers = self.of_levels.read()
        if levels % 2:
            self.queue, self.next_queue = self.next_queue, self.queue
        return [Found(*numbers[2 * k : 2 * k + 2]) for k in range(levels)]

    def ends(self, first: int, size: int) -> Array:
        """Running sums of the lengths of the rows of ``size`` vertices of the queue."""
        return cupy.cumsum(self.network.degrees[self.queue[first : first + size]])

    def pull(self, first: int, last: int, level: int) -> None:
        given = (self.back.indptr, self.back.indices, self.front, level, self.visited, self.distance, self.following)
        self._count("pull", last - first, first, last, self.network.degrees, *given)
        self.front, self.following = self.following, self.front

    def found(self) -> list[int]:
        """The numbers that the last step counted."""
        return self.counters.read()

    def _count(self, kernel: str, threads: int, *arguments: object) -> None:
        self.counters.clear()
        self.kernels.over(kernel, threads, *arguments, self.counters.there)
        self.counters.ask()


# On several GPUs.

LARGE = 1 << 30  # entries of rows of a graph from where on several GPUs are quicker,
LEAST = 1 << 24  # and of a level from where on it is divided (docs/contributing/tuning.md)


def bfs_pays(network: DeviceNetwork) -> bool:
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


def distances(network: DeviceNetwork, seats: Sequence[Seat], source: int) -> SharedArray:
    """Find the distances from ``source`` in a pooled graph: int32 [V] on each GPU, -1 where there is no path."""
    seats[0].use()
    found = unreached(network)
    _searched(network, seats, course_of(network, source), source, found)
    return SharedArray.copied(seats, found)


def _searched(network: DeviceNetwork, seats: Sequence[Seat], course: Course, source: int, distance: Array) -> None:
    """Write the distances to ``distance``, an array of the first GPU, to which all write by an exchange."""
    exchange = network.exchange if network.pooled or told_how(network) else None  # others are told where they are read
    if network.pooled:
        exchange = exchange or Exchange.SELECTIVE
    there = address_of(distance) if exchange else None
    shares = [_Share(seat, network.level_ranges, there if seat.number else distance) for seat in seats]
    shares[0].prepare()
    Search(shares, course, exchange, least=LEAST, few=few_of(network)).run(source)


class _Share:
    """One GPU's part of a search, as levels.Share describes it.

    ``distance``: int32 [V], -1 where a vertex is not reached, or its address on another GPU, or None: what is found is
    told as a bitmap alone.
    """

    state: SearchState

    def __init__(self, seat: Seat, ranges: list[Range], distance: Array | np.uint64 | None) -> None:
        self.seat, self.number, self.ranges, self.gpus = seat, seat.number, ranges, len(ranges)
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
