"""The diameter and the radius of a component, exact, by few searches: in host memory or from disk.

The distances from one vertex bound the eccentricities of all others: from below and from above (Takes and Kosters,
Algorithms 6(1), 2013), of a directed graph in both directions (SumSweep: Borassi et al., Theoretical Computer Science
586, 2015). Searches begin where the bounds leave most hope of a larger diameter or a smaller radius, until they leave
none. Of two vertices that are d apart, one is farther than (d - 1) / 2 from any third, so that the others need not be
looked at (iFUB: Crescenzi et al., Theoretical Computer Science 514, 2013). Where single searches rule out few vertices,
as in random graphs, the eccentricities of many are found by searches that share rows.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from csaw.engine.analytics.cpu.kernels import diameter as kernels
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cpu.searches import bfs, hops

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
    """The findings of ``likeliest`` of engine/analytics/cpu/kernels/diameter.py."""

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
            self.network.each(kernels.tighten, self.spans, *given)
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
        found = self.network.each(kernels.farthest, self.spans, self.inside, distance)
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
        found = [_Candidates(*one) for one in self.network.each(kernels.likeliest, self.spans, *given)]
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
