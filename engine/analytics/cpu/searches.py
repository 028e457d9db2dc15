"""Searches from vertices, in host memory or from disk.

Breadth-first search, shortest paths by weight, hop counts from many sources or from sketches, betweenness, and the
diameter and the radius of a component, exact, by few searches.

The distances from one vertex bound the eccentricities of all others: from below and from above (Takes and Kosters,
Algorithms 6(1), 2013), of a directed graph in both directions (SumSweep: Borassi et al., Theoretical Computer Science
586, 2015). Searches begin where the bounds leave most hope of a larger diameter or a smaller radius, until they leave
none. Of two vertices that are d apart, one is farther than (d - 1) / 2 from any third, so that the others need not be
looked at (iFUB: Crescenzi et al., Theoretical Computer Science 514, 2013). Where single searches rule out few vertices,
as in random graphs, the eccentricities of many are found by searches that share rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from csaw.engine.analytics.cpu.kernels import bfs as bfs_kernels
from csaw.engine.analytics.cpu.kernels import reach
from csaw.engine.analytics.cpu.kernels import sssp as sssp_kernels
from csaw.engine.analytics.cpu.kernels.predecessors import NONE
from csaw.engine.analytics.cpu.kernels.predecessors import predecessors as find_predecessors
from csaw.engine.analytics.cpu.network import EDGES_OF_TASK, TASKS_OF_THREAD, HostNetwork
from csaw.engine.analytics.passes import (
    CHUNK,
    CHUNK_OF_WORDS,
    WORD,
    any_active,
    first_step,
    level_blocks,
    one_table,
    search_by_blocks,
    search_levels,
    settle_ranges,
)
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.analytics.sketches import pairs_within

# Breadth-first search.

NO_WEIGHTS = np.empty(0, np.float32)
PULL_SHARE, PUSH_SHARE = 15, 18  # Beamer's alpha and beta, as in the GAP benchmark suite


def bfs(network: HostNetwork, source: int, *, top_down: bool = False) -> np.ndarray:
    """Find the number of edges on a shortest path from ``source`` to each vertex, along directions.

    ``top_down``: push at all levels, instead of pulling to large ones; the distances are the same. State: 12 bytes a
    vertex and two bitmaps. From disk, a level reads the blocks that have a vertex of its frontier.

    Returns:
        int32 [V], -1 where there is no path.
    """
    distance = np.full(network.vertices, -1, np.int32)
    distance[source] = 0
    if network.resident:
        _search_in_memory(network, source, distance, top_down)
    else:
        push = bfs_kernels.push_rows
        search_by_blocks(network, source, CHUNK, lambda block, *given: network.over_rows(push, block, distance, *given))
    return distance


class _Rows(NamedTuple):
    indptr: np.ndarray
    indices: np.ndarray


def _search_in_memory(network: HostNetwork, source: int, distance: np.ndarray, top_down: bool) -> None:
    """Push along rows, and pull along those of the other direction where they are in memory already.

    Making them would take longer than a search.
    """
    forward = _rows(network)
    backward = _rows(network.incoming) if network.has_incoming and not top_down else None
    queue, following = (np.empty(network.vertices, network.id_dtype) for _ in range(2))
    filled, left = np.ones(1, np.int64), network.edges
    queue[0], level = source, 0
    entries = int(forward.indptr[source + 1] - forward.indptr[source])
    while filled[0]:
        if entries < EDGES_OF_TASK:
            level, entries = bfs_kernels.push_alone(
                *forward, queue, following, filled, distance, level, entries, EDGES_OF_TASK
            )
        elif backward is not None and entries > left // PULL_SHARE:
            level, entries = _pull(network, forward, backward, queue, filled, distance, level)
        else:
            size, filled[0], level = int(filled[0]), 0, level + 1
            spans = network.spans(size)
            entries = sum(network.each(bfs_kernels.push, spans, *forward, queue, following, filled, distance, level))
            queue, following = following, queue
        left -= entries


def _pull(
    network: HostNetwork,
    forward: _Rows,
    backward: _Rows,
    queue: np.ndarray,
    filled: np.ndarray,
    distance: np.ndarray,
    level: int,
) -> tuple[int, int]:
    """Pull levels until the frontier is small again, and write it to the queue.

    Returns the level reached, and the entries of the frontier's rows.
    """
    tasks = words_of(network)
    front, following = (np.zeros(-(-network.vertices // 64), np.uint64) for _ in range(2))
    bfs_kernels.mark(0, int(filled[0]), queue, front)
    size, before = int(filled[0]), 0
    while size and (size >= before or size > network.vertices // PUSH_SHARE):
        before, level = size, level + 1
        size = sum(network.each(bfs_kernels.pull, tasks, *backward, front, following, distance, level))
        front, following = following, front
    filled[0] = 0
    return level, sum(network.each(bfs_kernels.collect, tasks, forward.indptr, front, queue, filled))


def words_of(network: HostNetwork) -> list[tuple[int, int]]:
    """Cut the vertices into ranges for threads that begin at multiples of 64: no two write a word of a bitmap."""
    block = next(network.blocks())
    bounds = sorted({low - low % 64 for low, _ in network.tasks(block)} | {network.vertices})
    return list(pairwise(bounds))


def _rows(network: HostNetwork) -> _Rows:
    block = next(network.blocks())
    return _Rows(block.indptr, block.indices)


# Shortest paths by weight from one vertex.


def sssp(network: HostNetwork, source: int) -> np.ndarray:
    """Find the least sum of weights along a path from ``source`` to each vertex, along directions.

    See engine/analytics/cpu/kernels/sssp.py for how sums are taken. State: 12 bytes a vertex. From disk, a round reads
    the blocks that have a vertex to go on from.

    Returns:
        float64 [V], infinite where there is no path.
    """
    distance, round_of = np.full(network.vertices, np.inf), np.full(network.vertices, -1, np.int32)
    distance[source] = 0.0
    spans = network.spans(-(-network.vertices // CHUNK))
    active = np.zeros(-(-network.vertices // CHUNK), np.uint8)

    def choose(number: int, floor: float, limit: float) -> tuple[int, float]:
        active.fill(0)
        found = network.each(sssp_kernels.choose, spans, distance, round_of, number, active, floor, limit)
        return sum(count for count, _ in found), min(beyond for _, beyond in found)

    def settle(number: int, limit: float) -> int:
        return _settle(network, (distance, distance.view(np.uint64), round_of), number, active, limit)

    settle_ranges(network.vertices, first_step(network), choose, settle)
    return distance


def _settle(network: HostNetwork, state: tuple[np.ndarray, ...], number: int, active: np.ndarray, limit: float) -> int:
    """Go through rows round after round, until no distance below ``limit`` changes.

    Returns the number of the next round.
    """
    while active.any():
        following = np.zeros_like(active)
        for block in network.blocks(weights=True, wanted=any_active(active, CHUNK)):
            network.over_rows(sssp_kernels.relax, block, block.weights, *state, number, active, following, limit)
        number, active = number + 1, following
    return number


# Predecessors.


def predecessors(network: HostNetwork, source: int, distance: np.ndarray) -> np.ndarray:
    """Find the predecessor of each vertex on a shortest path from ``source``, from their distances.

    It is the smallest neighbor that is nearer, if an edge from there gives the distance. An edge of weight 0, or of one
    that rounding swallows, joins vertices that are as far as each other, so a vertex that is only reached by such edges
    has the smallest neighbor that comes first on a path of fewest of them. So all predecessors are a tree, and the same
    whatever threads do. State: 20 bytes a vertex. Rows are read once, and again for each such edge on a path.

    Args:
        network: The graph.
        source: The vertex of distance 0.
        distance: Distances in edges, int32 [V], or by weight, float64 [V], as of ``bfs`` and ``sssp``.

    Returns:
        int64 [V], -1 where there is no path; the source has itself.
    """
    weights, best = distance.dtype.kind == "f", np.full(network.vertices, NONE)
    best[source] = source
    reached = (distance >= 0) & np.isfinite(distance)
    fresh, known, nearer = reached, best != NONE, True
    while fresh.any() and (reached & ~known).any():
        active = np.add.reduceat(fresh, np.arange(0, fresh.size, CHUNK), dtype=np.int64).astype(bool)
        for block in network.blocks(weights=weights, wanted=any_active(active, CHUNK)):
            heavy = block.weights if weights else NO_WEIGHTS
            network.over_rows(find_predecessors, block, heavy, distance, best, fresh, known, nearer)
        now = best != NONE
        fresh, known, nearer = now if nearer else now & ~known, now, False
    return best.view(np.int64)


# Hop counts from many sources: 64 searches share every row that is read.

WORD_BYTES = 24  # for each vertex, of the state of a word


def hops(network: HostNetwork, sources: np.ndarray) -> np.ndarray:
    """Count the vertices at each distance from each source, along directions: int64 [sources, levels].

    At distance 0 is the source itself. State: 24 bytes a vertex for each word of 64 sources that is searched at the
    same time. Where there is memory for it, each thread has a word of its own; otherwise all share one, and a graph
    that does not fit is read once a level, without the blocks that no source has reached at the level before.
    """
    words = [sources[i : i + WORD] for i in range(0, sources.size, WORD)]
    lanes = min(network.threads, len(words), 1 + _spare(network) // (WORD_BYTES * max(network.vertices, 1)))
    if network.resident and 2 * lanes >= network.threads:
        forward, backward = _both_rows(network)
        groups = network.over(
            lambda lane, _: _search_alone(forward, backward, words[lane::lanes]), [(i, i) for i in range(lanes)]
        )
        found = [groups[i % lanes][i // lanes] for i in range(len(words))]
    else:
        work = network.unfinished.work("hops", sources)
        found = work.parts()
        for word in words[len(found) :]:
            found.append(_search_together(network, word))
            work.note_parts(found)
            work.tell(len(found), len(words), f"words of {WORD} sources")
    return one_table(found, [word.size for word in words])


def _spare(network: HostNetwork) -> int:
    """Bytes of memory beside the rows and the state of one word."""
    return network.budget - 2 * network.edges * network.edge_bytes if network.resident else 0


def _both_rows(network: HostNetwork) -> tuple[Block, Block | None]:
    """The rows, and those backward, or None where there is no memory for them."""
    return next(network.blocks()), next(network.incoming.blocks()) if network.can_have_incoming else None


def _search_alone(forward: Block, backward: Block | None, words: list[np.ndarray]) -> list[np.ndarray]:
    back = (forward.indptr, forward.indices[:0]) if backward is None else (backward.indptr, backward.indices)
    state = _state(forward.last)
    return [reach.search(forward.indptr, forward.indices, *back, word, *state) for word in words]


def _state(vertices: int) -> tuple[np.ndarray, ...]:
    """Make ``seen``, ``front``, ``following``, ``active`` and ``touched`` of engine/analytics/cpu/kernels/reach.py."""
    chunks = -(-vertices // CHUNK_OF_WORDS)
    return (*(np.zeros(vertices, np.uint64) for _ in range(3)), *(np.zeros(chunks, np.uint8) for _ in range(2)))


def _search_together(network: HostNetwork, sources: np.ndarray) -> np.ndarray:
    """Search from one word of sources with all threads."""
    seen, front, following, active, touched = _state(network.vertices)
    full = np.uint64(reach.begin(sources, front, active, seen))
    backward = next(network.incoming.blocks()) if network.has_incoming else None
    degrees = network.degrees
    back_degrees = degrees if backward is None else network.incoming.degrees

    def advance(entries: int, rest: int) -> np.ndarray:
        if backward is not None and entries > rest:
            network.over_rows(reach.pull, backward, front, following, touched, seen, full)
        else:
            for block in network.blocks(wanted=any_active(active, CHUNK_OF_WORDS)):
                network.over_rows(reach.push, block, front, following, active, touched, True)
        given = (degrees, back_degrees, front, following, active, touched, seen, full)
        return sum(network.each(reach.settle, network.spans(active.size), *given))

    return search_levels(sources, int(degrees[sources].sum()), network.edges, advance)


# Pairs within each number of hops, estimated from sketches: a pass over all rows for each hop.


def sketches(network: HostNetwork, seed: int, run: int) -> np.ndarray:
    """Estimate how many pairs (u, v) have a path of so many edges or fewer from u to v: float64 [levels].

    ``run``: the number of an independent sketch. Along directions. State: 32 bytes a vertex. The first number is exact.
    """
    registers, following = (np.empty((network.vertices, 2), np.uint64) for _ in range(2))
    network.each(reach.begin_sketches, network.spans(network.vertices), np.uint64(seed), np.uint64(run), registers)

    def join() -> tuple[int, bool]:
        nonlocal registers, following
        parts = (network.over_rows(reach.join, block, registers, following) for block in network.blocks())
        found = list(chain.from_iterable(parts))
        registers, following = following, registers
        return sum(units for units, _ in found), any(different for _, different in found)

    return pairs_within(network, join)


# Betweenness from some sources.


def betweenness(network: HostNetwork, sources: np.ndarray) -> np.ndarray:
    """Sum betweenness over the sources in order: for each vertex, the share of shortest paths that lead over it.

    The paths go from each source to all vertices. Sums have an order of their own, so that the result has the same bits
    on every device; see engine/analytics/cpu/kernels/sums.py. State: 32 bytes a vertex. From disk, a level
    reads the blocks that have a vertex of it, once forward and once backward.

    Returns:
        float64 [V].
    """
    work = network.unfinished.work("betweenness", sources)
    total, first = work.done.pop("total", np.zeros(network.vertices)), int(work.done.pop("sources", 0))
    for number, source in enumerate(sources[first:].tolist(), first + 1):
        _add(network, source, total)
        work.note(total=total, sources=number)
        work.tell(number, sources.size, "sources of betweenness")
    return total


def _add(network: HostNetwork, source: int, total: np.ndarray) -> None:
    """Add the betweenness of one source to ``total``."""
    distance = network.compute("bfs", source=source)
    levels = 1 + int(distance.max())
    order, begins = np.empty(network.vertices, network.id_dtype), np.zeros(levels + 1, np.int64)
    bfs_kernels.by_level(distance, order, begins)
    ways, passed = np.zeros(network.vertices), np.zeros(network.vertices)
    ways[source] = 1.0
    found = np.split(order[: begins[-1]], begins[1:-1])  # the vertices of each level
    for level in range(1, levels):
        _over_level(network.incoming, bfs_kernels.count_ways, found[level], ways, passed)
        network.each(bfs_kernels.hand_over, network.spans(found[level].size), found[level], passed, ways)
    for level in range(levels - 1, 0, -1):
        _over_level(network, bfs_kernels.depend, found[level], passed, ways, total)
        network.each(bfs_kernels.hand_over, network.spans(found[level].size), found[level], ways, passed)


def _over_level(network: HostNetwork, kernel: Callable[..., object], found: np.ndarray, *state: object) -> None:
    """Run a kernel on the vertices of a level, which are ``found``."""
    for block, low, high in level_blocks(network, found):
        edges = int(network.degrees[found[low:high]].sum())
        pieces = max(1, min(network.threads * TASKS_OF_THREAD, edges // EDGES_OF_TASK))
        ranges = list(pairwise(np.linspace(low, high, pieces + 1).astype(int).tolist()))
        network.each(kernel, ranges, found, block.first, block.indptr, block.indices, *state)


FEW = 8  # searches that take the time of a word of ``hops``: one that rules out fewer candidates is no gain
AT_ONCE = 256  # sources of searches that share rows
UNKNOWN = 1 << 30  # more than any distance of which twice fits int32
OUTER, INNER = 1, -1  # signs: vertices of large eccentricity are wanted, or of small


class _Side(NamedTuple):
    """Bounds of the eccentricities along one direction, int32 [V] each.

    ``lower`` and ``upper``: bounds; ``total``: sums of distances; ``root``: distances to the most central vertex from
    which a search began.
    """

    lower: np.ndarray
    upper: np.ndarray
    total: np.ndarray
    root: np.ndarray


@dataclass
class _Goal:
    """Vertices that are wanted of one side: of a large eccentricity, or of a small one.

    ``left``: how many candidates there were at the last look.
    """

    side: _Side
    sign: int
    left: int = UNKNOWN


class _Candidates(NamedTuple):
    """The findings of ``likeliest`` of engine/analytics/cpu/kernels/bfs.py."""

    above: int
    candidates: int
    bound: int
    total: int
    vertex: int


def diameter(network: HostNetwork, inside: np.ndarray) -> tuple[int, int]:
    """Find the largest and the smallest eccentricity of the vertices ``inside``, along the directions of edges.

    Each of them must reach all others; distances are those of the whole graph. State: 37 bytes a vertex, 49 of a
    directed graph.

    Args:
        network: The graph.
        inside: Bool [V], at least one is True.

    Returns:
        The diameter and the radius.
    """
    search = _Search(network, inside)
    hub = int(np.where(inside, network.degrees, -1).argmax())
    search.sweep(search.sweep(hub))
    while goals := search.open_goals():
        for goal in goals:
            search.advance(goal)
    return search.longest, search.shortest


class _Search:
    def __init__(self, network: HostNetwork, inside: np.ndarray) -> None:
        self.network, self.inside, self.spans = network, inside, network.spans(network.vertices)
        self.longest, self.shortest = 0, UNKNOWN
        self.central = (UNKNOWN, 0)  # eccentricities and distances of the root
        self.sides = [self._new_side() for _ in range(1 + network.directed)]  # of paths away from vertices, and to them
        self.ends = [_Goal(side, OUTER) for side in self.sides]
        self.center = _Goal(self.sides[0], INNER)

    def _new_side(self) -> _Side:
        lower, total, root = np.zeros((3, self.network.vertices), np.int32)
        return _Side(lower, np.full(self.network.vertices, UNKNOWN, np.int32), total, root)

    def sweep(self, vertex: int) -> int:
        """Tighten all bounds by the distances to and from a vertex; returns the vertex farthest from it."""
        away, to = self._distances(vertex)
        ways = ((to, away), (away, to))[: len(self.sides)]
        found = [self._farthest(distance) for _, distance in ways]
        for side, (there, back), (eccentricity, _, _) in zip(self.sides, ways, found, strict=True):
            given = (self.inside, there, back, np.int32(eccentricity), side.lower, side.upper, side.total)
            self.network.each(bfs_kernels.tighten, self.spans, *given)
            side.lower[vertex] = side.upper[vertex] = eccentricity
        self._note([one[0] for one in found], found[0][0])
        central = (sum(one[0] for one in found), sum(one[2] for one in found))
        if central < self.central:
            self.central = central
            for side, (there, _) in zip(self.sides, ways, strict=True):
                side.root[:] = there
        return found[0][1]

    def _distances(self, vertex: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the distances from a vertex, and those to it; first those along rows that are in memory, if any are."""
        network, back = self.network, self.network.incoming
        if back.held and not network.held:
            to = bfs(back, vertex)
            return bfs(network, vertex), to
        away = bfs(network, vertex)
        return away, bfs(back, vertex) if network.directed else away

    def _farthest(self, distance: np.ndarray) -> tuple[int, int, int]:
        found = self.network.each(bfs_kernels.farthest, self.spans, self.inside, distance)
        most, vertex, _ = max(found, key=lambda one: (one[0], -one[1]))
        return most, vertex, sum(one[2] for one in found)

    def _note(self, eccentricities: list[int], least: int) -> None:
        self.longest, self.shortest = max(self.longest, *eccentricities), min(self.shortest, least)

    def open_goals(self) -> list[_Goal]:
        """The goals that have candidates; those of the diameter have none where either side rules out a larger one."""
        ends = [(goal, self._candidates(goal)) for goal in self.ends]
        open_ = [goal for goal, found in ends if found.candidates] if all(found.above for _, found in ends) else []
        return [*open_, *([self.center] if self._candidates(self.center).candidates else [])]

    def advance(self, goal: _Goal) -> None:
        """Search from the likeliest candidate of a goal, or from many where the last search has ruled out few."""
        found = self._candidates(goal)
        ruled_out, goal.left = goal.left - found.candidates, found.candidates
        if found.candidates >= FEW > ruled_out and not self.network.directed:
            self._search_from_many(goal)
        elif found.candidates:
            farthest = self.sweep(found.vertex)
            if goal is self.center:  # what is far from one central vertex is far from others, too
                self.sweep(farthest)

    def _candidates(self, goal: _Goal) -> _Candidates:
        bound, limit, near = self._limits(goal)
        given = (self.inside, bound, goal.side.total, goal.sign, limit, goal.side.root, near)
        found = [_Candidates(*one) for one in self.network.each(bfs_kernels.likeliest, self.spans, *given)]
        best = max(found, key=lambda one: (one.vertex >= 0, one.bound, one.total, -one.vertex))
        return best._replace(above=sum(one.above for one in found), candidates=sum(one.candidates for one in found))

    def _limits(self, goal: _Goal) -> tuple[np.ndarray, int, int]:
        """The bound of a goal, the limit that it is beyond times its sign, and twice the least distance of the root."""
        if goal.sign == OUTER:
            return goal.side.upper, self.longest, self.longest
        return goal.side.lower, -self.shortest, -1

    def _search_from_many(self, goal: _Goal) -> None:
        """Find the eccentricities of the likeliest candidates of an undirected graph: all that they reach counts."""
        bound, limit, near = self._limits(goal)
        wanted = self.inside & (goal.sign * bound > limit) & (2 * goal.side.root > near)
        vertices = np.flatnonzero(wanted)
        vertices = vertices[np.argsort(-goal.sign * bound[vertices], kind="stable")[:AT_ONCE]]
        table = hops(self.network, vertices)
        found = table.shape[1] - 1 - (table[:, ::-1] > 0).argmax(1)
        goal.side.lower[vertices] = goal.side.upper[vertices] = found
        self._note([int(found.max())], int(found.min()))
