"""Checks of samples in time whose frontiers select together: the copies of each frontier, vertices with the times that
they know; the edges that these may select; and the law by which an instance keeps some of all of them.
"""

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import numpy as np

from csaw.engine.api.option import LARGEST
from csaw.engine.samples.layouts.declared import OF_COPIES, SEED_TIME, TIME
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.neighbors_in_time import SAID, find_places, first_equals, ranges, rule_of
from csaw.engine.verify.shared_draws import PLACES, QUICKER, THRESHOLDS, judge_numbers, shown
from csaw.engine.verify.situations import Situations
from csaw.engine.verify.time_rows import TimeRows

DEPTHS = "edges that start at a copy of a vertex, with a time, that is not in the frontier of their depth"
SIZES = "depths of instances with another number of edges than their frontiers may select, or with others"


class Copies(NamedTuple):
    """Vertices with times."""

    vertex: np.ndarray
    time: np.ndarray

    @property
    def size(self) -> int:
        return int(self.vertex.size)

    def different(self) -> "Copies":
        """These without repeats, in order of vertex and time."""
        number, first = np.unique(ranked(*self), return_index=True)
        return self.at(first) if number.size < self.size else self.at(np.lexsort((self.time, self.vertex)))

    def at(self, places: np.ndarray) -> "Copies":
        return Copies(self.vertex[places], self.time[places])

    def places_of(self, others: "Copies") -> np.ndarray:
        """The place of each of ``others`` among these, which differ; -1 where it is none of them."""
        both = self.with_others(others)
        number = ranked(*both)
        place = np.full(number.max(initial=0) + 1, -1)
        place[number[: self.size]] = np.arange(self.size)
        return place[number[self.size :]]

    def with_others(self, others: "Copies") -> "Copies":
        return Copies(*(np.concatenate(both) for both in zip(self, others, strict=True)))


class Edges(NamedTuple):
    """Edges of copies of a frontier, of which each begins at number ``entry``: with its target and time, and its place
    in the row, of equal edges the first.
    """

    entry: np.ndarray
    target: np.ndarray
    time: np.ndarray
    place: np.ndarray

    def at(self, places: np.ndarray) -> "Edges":
        return Edges(*(column[places] for column in self))


class Together:
    """The selections of a sample, group after group, and their faults."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.algorithm = subject, subject.traversal
        self.previous = bool(getattr(subject.algorithm, "against_previous", False))
        self.rows, self.rule = TimeRows.of(subject.view), rule_of(self.algorithm)
        self.wrong = dict.fromkeys(("edges", "order", "depths", "sizes"), 0)

    def add(self, arrays: dict[str, np.ndarray], first: int) -> int:
        """Check a group, from instance ``first`` on, of which the budget decides how many instances are followed.

        Returns the number of edges without a vertex, with other times of their ends, or out of order.
        """
        src, dst = (self.subject.dense(arrays[name]) for name in ("src", "dst"))
        depth, local = arrays["depth"].astype(np.int64), np.repeat(np.arange(arrays["counts"].size), arrays["counts"])
        most = LARGEST if self.algorithm.is_unlimited else len(self.algorithm.sizes())
        strange = int(((src < 0) | (dst < 0) | (depth < 0) | (depth >= most)).sum())
        strange += int(((depth[1:] < depth[:-1]) & (local[1:] == local[:-1])).sum())
        known, then = (arrays[name] for name in OF_COPIES)
        strange += int((then != (arrays[TIME] if self.previous else known)).sum())
        if strange:
            return strange
        place, faults, own = np.empty(src.size, np.int64), np.zeros(2, np.int64), np.arange(src.size)
        find_places(self.rows, self.rule, src, known, own, dst, arrays[TIME], place, faults)
        self.wrong["edges"] += int(faults[0])
        self.wrong["order"] += int(faults[1])
        self._follow(arrays, Copies(src, known), Edges(own, dst, arrays[TIME], place), depth)
        return 0

    def _follow(self, arrays: dict[str, np.ndarray], begins: Copies, edges: Edges, depth: np.ndarray) -> None:
        """Follow the first instances of a group, until its share of the budget is spent."""
        instances = len(arrays["counts"])
        share = self.subject.budget * QUICKER * instances / max(1, self.subject.samples.instances)
        ends, sources = (np.cumsum([0, *arrays[counts]]).tolist() for counts in ("counts", "source_counts"))
        begun = Copies(self.subject.dense(arrays["sources"]), arrays[SEED_TIME])
        for i in range(instances):
            own = slice(ends[i], ends[i + 1])
            here = Copies(*(column[own] for column in begins)), Edges(*(column[own] for column in edges)), depth[own]
            share -= self._instance(begun.at(np.arange(sources[i], sources[i + 1])), *here)
            if share < 0:
                break

    def _instance(self, sources: Copies, begins: Copies, edges: Edges, depth: np.ndarray) -> int:
        """Check an instance depth by depth; returns the number of copies and edges that were looked at."""
        a, cost, followed = self.algorithm, 0, 0
        frontier = met = sources.different()
        most = LARGEST if a.total is None else a.total
        for level, size in self._levels():
            here = np.arange(*np.searchsorted(depth, (level, level + 1)))
            entry = frontier.places_of(begins.at(here))
            followed += here.size
            kept = Edges(entry, *(column[here] for column in edges[1:]))
            fine = bool((entry >= 0).all())
            self.wrong["depths"] += int((entry < 0).sum())
            may = self._may(frontier)
            cost += frontier.size + may.entry.size
            if not fine or kept.place.min(initial=0) < 0:
                return cost
            self._judge(frontier, met, may, kept, size)
            frontier = self._after(frontier, kept).different()
            if a.visited_once:
                frontier = frontier.at(np.flatnonzero(met.places_of(frontier) < 0))
                met = met.with_others(frontier)
            if not frontier.size or met.size >= most:
                break
        self.wrong["depths"] += depth.size - followed
        return cost

    def _levels(self) -> Iterator[tuple[int, int]]:
        sizes = self.algorithm.sizes()
        return zip(count(), iter(lambda: sizes[-1], None)) if self.algorithm.is_unlimited else enumerate(sizes)

    def _may(self, frontier: Copies) -> Edges:
        """The edges that the copies of a frontier may select, copy after copy, in the order of time."""
        low, high = np.empty(frontier.size, np.int64), np.empty(frontier.size, np.int64)
        ranges(self.rows, self.rule, *(np.ascontiguousarray(column) for column in frontier), low, high)
        many = np.maximum(high - low, 0)
        entry = np.repeat(np.arange(frontier.size), many)
        place = np.arange(entry.size) + np.repeat(low - np.cumsum(many) + many, many)
        at = self.rows.indptr[frontier.vertex][entry] + place
        same = first_equals(self.rows, frontier.vertex[entry], place)
        return Edges(entry, self.rows.targets[at], self.rows.times[at], same)

    def _after(self, frontier: Copies, edges: Edges) -> Copies:
        """The copies that edges lead to."""
        return Copies(edges.target, edges.time if self.previous else frontier.time[edges.entry])

    def _judge(self, frontier: Copies, met: Copies, may: Edges, kept: Edges, size: int) -> None:
        """Compare the edges that a frontier kept with those that it may select, and note what tells of the law."""
        raise NotImplementedError

    def judge(self, checks: Checks) -> None:
        checks.count("edges", self.wrong["edges"], SAID["edges"])
        checks.count("order", self.wrong["order"], SAID["order"])
        checks.count("depths", self.wrong["depths"], DEPTHS)


class SharedDraws(Together):
    """Copies that keep edges by the numbers of the vertices that these lead to."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self.draw, self.numbers = np.random.default_rng(PLACES), list[np.ndarray]()

    def _judge(self, frontier: Copies, met: Copies, may: Edges, kept: Edges, size: int) -> None:
        vertices, many = self.subject.view.vertices, np.bincount(may.entry, minlength=frontier.size)
        inside = np.isin(may.entry * vertices + may.target, kept.entry * vertices + kept.target)
        wanted = may.at(np.flatnonzero(inside))  # of several edges to a vertex all or none
        if any(not np.array_equal(a, b) for a, b in zip(wanted, kept, strict=True)):
            self.wrong["sizes"] += 1
            return
        chance = np.where(many > size, size / np.maximum(many, 1), 1.0) if size >= 0 else np.ones(many.size)
        places, wrong = shown(may.target, chance[may.entry], inside, self.draw)
        self.wrong["sizes"] += wrong
        self.numbers.append(places)

    def judge(self, checks: Checks) -> None:
        super().judge(checks)
        checks.count("thresholds", self.wrong["sizes"], THRESHOLDS)
        judge_numbers(checks, self.numbers)


class Pools(Together):
    """Copies whose edges are one pool, from which sets are drawn."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self.sets, self.left = Situations(subject, "neighbors"), subject.budget

    def _judge(self, frontier: Copies, met: Copies, may: Edges, kept: Edges, size: int) -> None:
        if self.algorithm.only_new:
            may = may.at(np.flatnonzero(met.places_of(self._after(frontier, may)) < 0))
        pool, picks = (self._labels(frontier, edges) for edges in (may, kept))
        known, many = np.unique(pool, return_counts=True)
        found, times = np.unique(picks, return_counts=True)
        at = np.minimum(np.searchsorted(known, found), max(known.size - 1, 0))
        inside = not found.size or (known.size and (known[at] == found).all() and (times <= many[at]).all())
        asked = pool.size if size < 0 else min(size, pool.size)
        self.wrong["sizes"] += not (inside and picks.size == asked)
        self.left -= pool.size
        if inside and 0 < picks.size < pool.size and self.left >= 0:
            biases = [(label, 1.0) for label in pool.tolist()]
            self.sets.note_pool(tuple(frontier.vertex.tolist()), biases, picks.tolist())

    def _labels(self, frontier: Copies, edges: Edges) -> np.ndarray:
        """int64: a number for each edge of a frontier, which equal ones of a copy share."""
        return edges.entry * self.subject.store.edges + self.rows.indptr[frontier.vertex[edges.entry]] + edges.place

    def judge(self, checks: Checks) -> None:
        super().judge(checks)
        checks.count("sizes", self.wrong["sizes"], SIZES)
        if self.sets.drawn:
            self.sets.sets(checks)
        else:
            checks.not_tested("neighbors", "no edge was drawn by chance: each pool is selected as a whole, or is empty")


def ranked(*columns: np.ndarray) -> np.ndarray:
    """int64 [n]: the number of each row of ``columns`` among the different ones, in order."""
    order = np.lexsort(columns[::-1])
    fresh = np.zeros(order.size, bool)
    for column in columns:
        fresh[1:] |= column[order][1:] != column[order][:-1]
    out = np.empty(order.size, np.int64)
    out[order] = np.cumsum(fresh)
    return out
