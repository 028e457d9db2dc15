"""Patterns: small connected graphs to look for in a large one, and plans to match them vertex by vertex.

A match is a set of edges of the graph that forms the pattern; more edges among its vertices do no harm (subgraphs, not
induced ones). Each is found once: of the vertices that a symmetry of the pattern exchanges, the first has the lowest
number (Grochow and Kellis, RECOMB 2007). Vertices of a pattern may ask for labels, which symmetries then keep.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations, permutations
from math import comb, prod
from typing import NamedTuple

import numpy as np

from csaw.engine.analytics.network import Network, on_host

Edges = tuple[tuple[int, int], ...]
ANY, NOWHERE = -1, -2
"""A vertex of a pattern may ask for these in place of a label: for any, or for one that no vertex has."""


def _path(size: int) -> Edges:
    return tuple((v, v + 1) for v in range(size - 1))


def _star(size: int) -> Edges:
    return tuple((0, v) for v in range(1, size))


def _cycle(size: int) -> Edges:
    return (*_path(size), (0, size - 1))


PATTERNS: dict[str, Edges] = {
    "wedge": _path(3),
    "triangle": _cycle(3),
    "path4": _path(4),
    "star4": _star(4),
    "square": _cycle(4),
    "paw": (*_cycle(3), (0, 3)),
    "diamond": (*_cycle(4), (0, 2)),
    "clique4": tuple(combinations(range(4), 2)),
    "path5": _path(5),
    "star5": _star(5),
    "cycle5": _cycle(5),
    "bowtie": (*_cycle(3), (0, 3), (3, 4), (0, 4)),
    "house": (*_cycle(5), (1, 4)),
    "clique5": tuple(combinations(range(5), 2)),
}
"""Edges of each pattern by name; the number in a name is that of its vertices."""


class Asked(NamedTuple):
    """A pattern by its name, with the number of the label that each of its vertices asks for.

    ``labels``: one for each vertex, numbers from 0 on, ANY or NOWHERE; empty where none asks for any.
    """

    name: str
    labels: tuple[int, ...] = ()

    @property
    def wanted(self) -> tuple[int, ...]:
        """The label that each vertex asks for."""
        return self.labels or (ANY,) * size_of(self.name)


class Plan(NamedTuple):
    """The order in which a pattern of k vertices is matched: one vertex after the other, each beside one before.

    joined: bool [k, k], whether two have an edge; after: bool [k, k], whether the second has a higher number than the
    first; needs: int64 [k], degrees; wanted: int64 [k], numbers of labels, or ANY.
    """

    joined: np.ndarray
    after: np.ndarray
    needs: np.ndarray
    wanted: np.ndarray


def size_of(name: str) -> int:
    """Number of vertices of a pattern."""
    return 1 + max(max(edge) for edge in PATTERNS[name])


def star_center(name: str) -> int | None:
    """The vertex of a star or a wedge that all its edges have; None for other patterns."""
    edges = PATTERNS[name]
    return next((v for v in edges[0] if all(v in edge for edge in edges)), None)


@cache
def plan(asked: Asked) -> Plan:
    """The plan of a pattern."""
    edges, size = PATTERNS[asked.name], size_of(asked.name)
    given = np.zeros((size, size), bool)
    for u, v in edges:
        given[u, v] = given[v, u] = True
    order = [int(given.sum(0).argmax())]
    while len(order) < size:
        left = [v for v in range(size) if v not in order]
        order.append(max(left, key=lambda v: (given[v, order].sum(), given[v].sum())))
    joined = given[np.ix_(order, order)]
    wanted = np.array(asked.wanted, np.int64)[order]
    symmetries = [
        p
        for p in permutations(range(size))
        if np.array_equal(joined[np.ix_(p, p)], joined) and np.array_equal(wanted[list(p)], wanted)
    ]
    after = np.zeros((size, size), bool)
    for v in range(size):
        after[v, list({p[v] for p in symmetries} - {v})] = True
        symmetries = [p for p in symmetries if p[v] == v]
    return Plan(joined, after, joined.sum(0), wanted)


# Counts of patterns, the same on every device: stars by the neighbors of each vertex, others one by one.


def count_each(
    network: Network, asked: Sequence[Asked], labels: np.ndarray | None, matches: Callable[[Asked], int]
) -> list[int]:
    """Count each pattern, those that are no stars with ``matches``.

    ``labels``: int32 [V], the number of the label of each vertex, where patterns ask for labels.
    """
    found = []
    for one in asked:
        if NOWHERE in one.labels:
            found.append(0)
        elif (center := star_center(one.name)) is None:
            found.append(matches(one))
        else:
            found.append(_stars(network, one, center, labels))
    return found


def _stars(network: Network, asked: Asked, center: int, labels: np.ndarray | None) -> int:
    """Count stars: the ways to choose the leaves among the neighbors of each vertex.

    Leaves that ask for the same label are chosen among the neighbors that have it, and at last those that ask for none
    among all others.
    """
    wanted = Counter(label for v, label in enumerate(asked.wanted) if v != center)
    free, taken = wanted.pop(ANY, 0), sum(wanted.values())
    held, often = _alike(network, sorted(wanted), asked.wanted[center], labels)
    return sum(
        n * comb(max(degree - taken, 0), free) * prod(map(comb, of_label, (wanted[one] for one in sorted(wanted))))
        for (degree, *of_label), n in zip(held.tolist(), often.tolist(), strict=True)
    )


def _alike(
    network: Network, leaves: list[int], center: int, labels: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Say which degrees, and numbers of neighbors with each of the labels ``leaves``, vertices have, and how often.

    Of the vertices with the label ``center``, if it is one. Returns int64 [kinds, 1 + leaves] and [kinds].
    """
    degrees = network.degrees
    if labels is None:
        values, often = network.xp.unique(degrees, return_counts=True)
        return on_host(values)[:, None], on_host(often)
    columns = [on_host(degrees)]
    for label in leaves:
        marked = network.xp.asarray((labels == label).astype(np.int64))
        columns.append(on_host(network.compute("neighbor_sums", values=marked)))
    held = np.column_stack(columns)
    return np.unique(held if center == ANY else held[labels == center], axis=0, return_counts=True)
