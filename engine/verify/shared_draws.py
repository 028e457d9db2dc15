"""Checks of samples whose frontier vertices share random numbers: which edges are kept, and that these numbers are
uniform and independent.

Of the numbers themselves, a sample shows ranges: that of u is below k / d for each frontier vertex of degree d that
keeps its edge to u, and not below it for any other. So an edge that is kept must not have a higher degree than one to
the same vertex that is left out.
"""

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from csaw.engine.api.law import GraphView
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.groups import MOVED, Group, count, groups
from csaw.engine.verify.pooled import independence, repeated
from csaw.engine.verify.statistics import BINS, Result, even
from csaw.partition.base.sorting import distinct
from csaw.partition.graph.types import RELATION

QUICKER = 50  # times as fast as biases evaluated in Python
PLACES = 20240303  # seed, fixed: the verdict on a sample never changes
Numbers = tuple[np.ndarray, np.ndarray]  # vertices, ascending, and a number of each
NONE: list[Result] = []
THRESHOLDS = "vertices that some frontier vertices select and others, with as good a chance, do not"


def verify_shared_draws(subject: Subject, checks: Checks) -> None:
    """Check edges, frontiers and thresholds, and the law of the numbers that decide."""
    wrong = dict.fromkeys(("edges", "sources", "depths", "sizes"), 0)
    numbers: list[Numbers] = []
    draw = np.random.default_rng(PLACES)
    for group in groups(subject, checks, wrong):
        numbers += _numbers(subject, group, wrong, draw)
    count(checks, {name: wrong[name] for name in ("edges", "sources", "depths")})
    checks.count("thresholds", wrong["sizes"], THRESHOLDS)
    judge_numbers(checks, [number for _, number in numbers], _differences(numbers, len(subject.traversal.sizes())))


def _differences(numbers: list[Numbers], depths: int) -> list[Result]:
    """The results of the numbers of the same vertex at successive depths, and at the same depth of successive
    instances: their differences, modulo 1, are uniform if they are independent.
    """
    found = []
    for apart, of in ((1, "depth"), (depths, "instance")):
        pairs = [np.zeros(0)]
        for at in range(apart, len(numbers)):
            if apart == 1 and at % depths == 0:
                continue
            (vertices, places), (before, others) = numbers[at], numbers[at - apart]
            _, here, there = np.intersect1d(vertices, before, assume_unique=True, return_indices=True)
            pairs.append(places[here] - others[there])
        if depths > 1 or of == "instance":
            found += repeated(np.concatenate(pairs), f"vertices with the number of the {of} before")
    return found


def judge_numbers(checks: Checks, numbers: list[np.ndarray], others: list[Result] = NONE) -> None:
    """Add the tests that numbers of vertices are uniform and independent: random points of the ranges that show."""
    places = np.concatenate([np.zeros(0), *numbers])
    few = "too few vertices whose edges may be left out"
    results = even(places, BINS, MOVED.format("numbers of vertices", "[0, 1)")) if places.size else []
    checks.results("neighbors", results, f"the numbers of {places.size:,} vertices", few)
    checks.results("neighbors, independence", independence(places) + others, "each number with the next one", few)


def _numbers(subject: Subject, group: Group, wrong: dict[str, int], draw: np.random.Generator) -> list[Numbers]:
    """The vertices of each depth with random points of the ranges that show of their numbers, of the first instances of
    a group until its share of the budget is spent.
    """
    algorithm = subject.traversal
    share = subject.budget * QUICKER * len(group.counts) / max(1, subject.samples.instances)
    edges, sources = (np.cumsum([0, *counts]) for counts in (group.counts, group.source_counts))
    out = []
    for i in range(len(group.counts)):
        frontier = distinct(group.sources[sources[i] : sources[i + 1]])
        here = np.arange(edges[i], edges[i + 1])
        for depth in range(len(algorithm.sizes())):
            kept = here[group.depth[here] == depth]
            wrong["depths"] += int((~np.isin(group.src[kept], frontier)).sum())
            some = Rows.of(subject, frontier, depth)
            out.append(some.ranges(*some.kept(group, kept), wrong, draw))
            share -= some.degree.sum() + frontier.size
            frontier = distinct(group.dst[kept])
        if share < 0:
            break
    return out


class Rows(NamedTuple):
    """The rows of a frontier at a depth: of its vertices, or of each relation that leaves them.

    view: the graph that has these rows. rows: their numbers, ascending. degree: how many edges each has. size: how many
    of them it keeps on average, -1 for all. by: the relations of the graph; 0 where rows are of vertices.
    """

    view: GraphView
    rows: np.ndarray
    degree: np.ndarray
    size: np.ndarray
    by: int

    @classmethod
    def of(cls, subject: Subject, frontier: np.ndarray, depth: int) -> Self:
        by = subject.by_relation
        if by is None:
            sizes = np.full(frontier.size, subject.traversal.sizes()[depth])
            return cls(subject.view, frontier, subject.degree[frontier], sizes, 0)
        node, relation = by.selecting(frontier, np.full(frontier.size, depth))
        rows, held = frontier[node] * by.relations + relation, subject.of_rows
        return cls(held.view, rows, held.degree[rows], by.sizes[depth][relation], by.relations)

    def kept(self, group: Group, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows of some edges of a group, and the ends of these as rows have them."""
        src, dst = group.src[edges], group.dst[edges]
        if not self.by:
            return src, dst
        relation = group.arrays[RELATION.name][edges].astype(np.int64)
        return np.where(relation < self.by, src * self.by + relation, -1), dst * self.by

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of all edges of the rows the row, the end, and the chance that it is kept."""
        chance = np.where(self.degree > self.size, self.size / np.maximum(self.degree, 1), 1.0)
        chance = np.repeat(np.where(self.size < 0, 1.0, chance), self.degree)
        first = self.view.indptr[self.rows] - np.cumsum(self.degree) + self.degree
        at = np.arange(self.degree.sum()) + np.repeat(first, self.degree)
        return np.repeat(self.rows, self.degree), self.view.indices[at].astype(np.int64), chance

    def ranges(self, src: np.ndarray, dst: np.ndarray, wrong: dict[str, int], draw: np.random.Generator) -> Numbers:
        """The vertices whose numbers decide something, and a random point of the range of each.

        ``src``, ``dst``: of the edges that were kept, as :meth:`kept` returns them.
        """
        own, ends, chance = self.edges()
        vertices = self.view.vertices
        pairs, times = np.unique(own * vertices + ends, return_counts=True)
        found, seen = np.unique(src * vertices + dst, return_counts=True)
        place = np.minimum(np.searchsorted(pairs, found), max(pairs.size - 1, 0))
        if found.size and (not pairs.size or (pairs[place] != found).any() or (times[place] != seen).any()):
            wrong["sizes"] += 1
            return np.zeros(0, np.int64), np.zeros(0)
        shows, places, faults = shown(ends, chance, np.isin(own * vertices + ends, found), draw)
        wrong["sizes"] += faults
        return shows, places


def chances(subject: Subject, group: Group) -> Iterator[float]:
    """How likely the ranges are that the only instance of a group shows, depth after depth."""
    frontier = distinct(group.sources)
    for depth in range(len(subject.traversal.sizes())):
        here = np.flatnonzero(group.depth == depth)
        some = Rows.of(subject, frontier, depth)
        own, ends, chance = some.edges()
        src, dst = some.kept(group, here)
        vertices = some.view.vertices
        _, low, high = ranges_of(ends, chance, np.isin(own * vertices + ends, src * vertices + dst))
        yield float(np.exp(max(-700.0, np.log(np.maximum(high - low, 1e-300)).sum())))
        frontier = distinct(group.dst[here])


def shown(
    ends: np.ndarray, chance: np.ndarray, kept: np.ndarray, draw: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, int]:
    """The vertices whose numbers decide something, random points of the ranges in which these numbers are, and how many
    vertices can have no number.

    ``ends``, ``chance``, ``kept``: of each edge that may be kept, the vertex that it leads to, the chance that it is,
    and whether it was.
    """
    vertices, low, high = ranges_of(ends, chance, kept)
    choice = (high - low < 1.0) & (low < high)
    places = low[choice] + draw.random(int(choice.sum())) * (high - low)[choice]
    return vertices[choice], places, int((low >= high).sum())


def ranges_of(ends: np.ndarray, chance: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The vertices that edges lead to, and where the number of each begins and ends, by the arrays of :func:`shown`."""
    targets, number = np.unique(ends, return_inverse=True)
    low, high = np.zeros(targets.size), np.ones(targets.size)
    np.minimum.at(high, number[kept], chance[kept])
    np.maximum.at(low, number[~kept], chance[~kept])
    return targets, low, high
