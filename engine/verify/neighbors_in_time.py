"""Checks of selections in time, whatever their layout: edges and their times, sizes, repeats, and the law of every
choice. Rows are sorted again, and each rule is written from its definition, edge by edge.
"""

from collections.abc import Iterator
from itertools import count
from typing import ClassVar, NamedTuple

import numpy as np

from csaw.engine.api import bases
from csaw.engine.api.option import LARGEST
from csaw.engine.samples.layouts.layout import OF_COPIES, SEED_TIME, TIME
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.selections import Neighbors, Selections, runs
from csaw.engine.verify.sets import Pool, Situations
from csaw.engine.verify.shared_draws import PLACES, QUICKER, THRESHOLDS, judge_numbers, shown
from csaw.engine.verify.statistics import Laws
from csaw.engine.verify.time_laws import Rule, TimeRows, may_follow, place_of
from csaw.partition.base.compile import njit
from csaw.partition.graph.types import RELATION


def rule_of(algorithm: bases.InTime) -> Rule:
    """Which edges may be selected beside a time."""
    window = algorithm.time_window
    return Rule(True, algorithm.time_order == "strict", window or 0, window is not None, 0, False, 0, True)


def in_time(subject: Subject) -> bases.InTime:
    """The algorithm of a sample whose vertices select in time."""
    assert isinstance(subject.algorithm, bases.InTime)
    return subject.algorithm


class InTime(Neighbors):
    """Neighbors that are selected from the part of a row that is early enough: all its edges are equally likely, and a
    label is the place of the first of equal edges in its row.
    """

    columns = ("v", "low", "high")
    said: ClassVar[dict[str, str]] = {
        "edges": "edges that are not in the graph at their time",
        "order": "edges at a time that may not be selected",
        "sizes": "frontier vertices with another number of neighbors than earlier edges and the fanout allow",
        "repeats": "edges selected twice without replacement",
        "latest": "frontier vertices with others than the last neighbors, or all, in the order of time",
    }

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        a = in_time(subject)
        self.rows, self.rule, self.latest = TimeRows.of(subject.view), rule_of(a), a.time_strategy == "last"

    def expected(self, vertex: np.ndarray, now: np.ndarray, size: int | np.ndarray) -> np.ndarray:
        """The number of neighbors that each vertex selects, by the edges that it has then."""
        low, high = self._ranges(vertex, now)
        return self.limited(high - low, np.broadcast_to(size, vertex.shape))

    def _ranges(self, vertex: np.ndarray, now: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low, high = np.empty(vertex.size, np.int64), np.empty(vertex.size, np.int64)
        ranges(self.rows, self.rule, np.ascontiguousarray(vertex), np.ascontiguousarray(now), low, high)
        return low, high

    def add(self, s: Selections) -> None:
        low, high = self._ranges(s.vertex, s.now)
        asked, begin = self.limited(high - low, s.size), s.begin
        found = np.diff(begin)
        self.wrong["sizes"] += int((found != asked).sum())
        places, faults = np.empty(s.owner.size, np.int64), np.zeros(2, np.int64)
        owner, target, time = (np.ascontiguousarray(one) for one in (s.owner, s.target, s.time))
        find_places(self.rows, self.rule, s.vertex, s.now, owner, target, time, places, faults)
        self.wrong["edges"] += int(faults[0])
        self.wrong["order"] += int(faults[1])
        if not self.replace:
            self.wrong["repeats"] += self._repeats(s, places)
        sure = (found == asked) & (found > 0) & (self.latest | ((found == high - low) & (not self.replace)))
        self.wrong["latest"] += int(not_the_last(self.rows, s.vertex, begin, sure, high, places))
        drawn = (found == asked) & (found > 0) & ~sure
        self.keep(s, begin, np.column_stack([s.vertex, low, high]), places, drawn)

    def _repeats(self, s: Selections, places: np.ndarray) -> int:
        """Number of selections of an edge beyond the number of its equals."""
        order = np.lexsort((places, s.owner))
        order = order[places[order] >= 0]
        owner, place = s.owner[order], places[order]
        first, times = runs(owner, place)
        twice = first[times > 1]
        many = equals(self.rows, s.vertex[owner[twice]], place[twice])
        return int(np.maximum(times[times > 1] - many, 0).sum())

    def why_none(self) -> str:
        return "the last ones are sure" if self.latest else "each vertex selects all of its earlier edges or none"

    def counts(self, situation: np.ndarray) -> np.ndarray:
        return situation[:, 2] - situation[:, 1]

    def laws(self) -> Laws:
        return Laws(self._law, lambda rows: self.counts(rows) + 1, self.subject.budget)

    def _law(self, v: int, low: int, high: int) -> dict[int, float]:
        law: dict[int, float] = {}
        for place in self._labels(v, low, high):
            law[place] = law.get(place, 0.0) + 1.0 / (high - low)
        return law

    def _labels(self, v: int, low: int, high: int) -> list[int]:
        return first_equals(self.rows, np.full(high - low, v), np.arange(low, high)).tolist()

    def pool(self, situation: list[int], picks: np.ndarray, numbers: np.ndarray) -> Pool:
        v, low, high = situation
        biases = [(place, 1.0) for place in self._labels(v, low, high)]
        return Pool(f"v = {v}, {high - low} earlier edges", biases, picks, numbers)


@njit(nogil=True)
def ranges(rows, rule, vertices, nows, lows, highs):
    """The places of the edges that may be selected beside each time: from ``lows`` up to ``highs``."""
    for p in range(vertices.size):
        begin, end, now = rows.indptr[vertices[p]], rows.indptr[vertices[p] + 1], nows[p]
        low, high = begin, end
        while low < high:  # the first that is too late
            middle = (low + high) >> 1
            late = rows.times[middle] > now or (rule.strict and rows.times[middle] == now)
            low, high = (low, middle) if late else (middle + 1, high)
        highs[p] = low - begin
        high, low = low, begin
        while low < high:  # the first that is not too old
            middle = (low + high) >> 1
            apart = np.uint64(now) - np.uint64(rows.times[middle])
            old = rule.has_window and apart > np.uint64(rule.window)
            low, high = (middle + 1, high) if old else (low, middle)
        lows[p] = low - begin


@njit(nogil=True)
def find_places(rows, rule, vertices, nows, owner, target, time, places, faults):
    """The place of each edge in the row of its owner, of equal edges the first; -2 where there is none.

    ``faults`` counts those, and edges that may not be selected.
    """
    for c in range(owner.size):
        places[c] = place_of(rows, vertices[owner[c]], target[c], time[c])
        faults[0] += places[c] < 0
        faults[1] += not may_follow(time[c], nows[owner[c]], True, rule)


@njit(nogil=True)
def not_the_last(rows, vertices, begin, sure, highs, places):
    """Number of the vertices that are ``sure`` to select the last places before ``highs`` and have others."""
    wrong = 0
    for p in range(vertices.size):
        found = begin[p + 1] - begin[p] if sure[p] else 0
        for j in range(found):
            if places[begin[p] + j] != first_equal(rows, vertices[p], highs[p] - found + j):
                wrong += 1
                break
    return wrong


@njit(nogil=True)
def first_equal(rows, v, place):
    """The first place of a row whose edge has the target and the time of the one at ``place``."""
    at = rows.indptr[v] + place
    return place_of(rows, v, rows.targets[at], rows.times[at])


@njit(nogil=True)
def first_equals(rows, vertices, places):
    """``first_equal`` of each place."""
    out = np.empty(places.size, np.int64)
    for k in range(places.size):
        out[k] = first_equal(rows, vertices[k], places[k])
    return out


@njit(nogil=True)
def equals(rows, vertices, places):
    """How many edges equal that at each place, from there on."""
    out = np.zeros(places.size, np.int64)
    for k in range(places.size):
        at, end = rows.indptr[vertices[k]] + places[k], rows.indptr[vertices[k] + 1]
        same = at
        while same < end and rows.targets[same] == rows.targets[at] and rows.times[same] == rows.times[at]:
            same += 1
        out[k] = same - at
    return out


# Checks of samples in time whose frontiers select together: the copies of each frontier, vertices with the times that
# they know; the edges that these may select; and the law by which an instance keeps some of all of them.

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
        self.by = subject.by_relation
        self.relations = 1 if self.by is None else self.by.relations  # rows of a vertex
        self.previous = bool(getattr(subject.algorithm, "against_previous", False))
        self.rows, self.rule = TimeRows.of(subject.of_rows.view), rule_of(in_time(subject))
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
        relation = arrays[RELATION.name].astype(np.int64) if self.by is not None else np.zeros_like(src)
        strange += int((relation >= self.relations).sum())
        known, then = (arrays[name] for name in OF_COPIES)
        strange += int((then != (arrays[TIME] if self.previous else known)).sum())
        if strange:
            return strange
        src, dst = src * self.relations + relation, dst * self.relations
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
        begun = Copies(self.subject.dense(arrays["sources"]) * self.relations, arrays[SEED_TIME])
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
            rows, wanted = self._rows(frontier, level, size)
            entry = rows.places_of(begins.at(here))
            followed += here.size
            kept = Edges(entry, *(column[here] for column in edges[1:]))
            fine = bool((entry >= 0).all())
            self.wrong["depths"] += int((entry < 0).sum())
            may = self._may(rows)
            cost += rows.size + may.entry.size
            if not fine or kept.place.min(initial=0) < 0:
                return cost
            self._judge(rows, met, may, kept, wanted)
            frontier = self._after(rows, kept).different()
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

    def _rows(self, frontier: Copies, depth: int, size: int) -> tuple[Copies, np.ndarray]:
        """The rows that copies of a frontier select from, with their times, and how many edges of each."""
        if self.by is None:
            return frontier, np.full(frontier.size, size)
        node, relation = self.by.selecting(frontier.vertex // self.relations, np.full(frontier.size, depth))
        return Copies(frontier.vertex[node] + relation, frontier.time[node]), self.by.sizes[depth][relation]

    def _may(self, frontier: Copies) -> Edges:
        """The edges that the copies of a frontier may select, copy after copy, in the order of time."""
        low, high = np.empty(frontier.size, np.int64), np.empty(frontier.size, np.int64)
        vertex, time = (np.ascontiguousarray(column) for column in frontier)
        ranges(self.rows, self.rule, vertex, time, low, high)
        many = np.maximum(high - low, 0)
        entry = np.repeat(np.arange(frontier.size), many)
        place = np.arange(entry.size) + np.repeat(low - np.cumsum(many) + many, many)
        at = self.rows.indptr[frontier.vertex][entry] + place
        same = first_equals(self.rows, frontier.vertex[entry], place)
        return Edges(entry, self.rows.targets[at], self.rows.times[at], same)

    def _after(self, frontier: Copies, edges: Edges) -> Copies:
        """The copies that edges lead to."""
        return Copies(edges.target, edges.time if self.previous else frontier.time[edges.entry])

    def _judge(self, frontier: Copies, met: Copies, may: Edges, kept: Edges, size: np.ndarray) -> None:
        """Compare the edges that a frontier kept with those that it may select, and note what tells of the law."""
        raise NotImplementedError

    def judge(self, checks: Checks) -> None:
        checks.count("edges", self.wrong["edges"], InTime.said["edges"])
        checks.count("order", self.wrong["order"], InTime.said["order"])
        checks.count("depths", self.wrong["depths"], DEPTHS)


class SharedDraws(Together):
    """Copies that keep edges by the numbers of the vertices that these lead to."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self.draw, self.numbers = np.random.default_rng(PLACES), list[np.ndarray]()

    def _judge(self, frontier: Copies, met: Copies, may: Edges, kept: Edges, size: np.ndarray) -> None:
        vertices, many = self.subject.of_rows.view.vertices, np.bincount(may.entry, minlength=frontier.size)
        inside = np.isin(may.entry * vertices + may.target, kept.entry * vertices + kept.target)
        wanted = may.at(np.flatnonzero(inside))  # of several edges to a vertex all or none
        if any(not np.array_equal(a, b) for a, b in zip(wanted, kept, strict=True)):
            self.wrong["sizes"] += 1
            return
        chance = np.where((size >= 0) & (many > size), size / np.maximum(many, 1), 1.0)
        _, places, wrong = shown(may.target, chance[may.entry], inside, self.draw)
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

    def _judge(self, frontier: Copies, met: Copies, may: Edges, kept: Edges, size: np.ndarray) -> None:
        if self.algorithm.only_new:
            may = may.at(np.flatnonzero(met.places_of(self._after(frontier, may)) < 0))
        pool, picks = (self._labels(frontier, edges) for edges in (may, kept))
        known, many = np.unique(pool, return_counts=True)
        found, times = np.unique(picks, return_counts=True)
        at = np.minimum(np.searchsorted(known, found), max(known.size - 1, 0))
        inside = not found.size or (known.size and (known[at] == found).all() and (times <= many[at]).all())
        most = int(size[:1].sum())  # of all copies
        asked = pool.size if most < 0 else min(most, pool.size)
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
