"""Checks of selections in time, whatever their layout: edges and their times, sizes, repeats, and the law of every
choice. Rows are sorted anew, and each rule is written from its definition, edge by edge.
"""

from typing import Any, NamedTuple

import numpy as np

from csaw.engine.api.algorithm import NONE
from csaw.engine.verify.checks import Checks, Subject, statistics
from csaw.engine.verify.sets import Pool, set_tests
from csaw.engine.verify.statistics import Choices
from csaw.engine.verify.tables import Laws
from csaw.engine.verify.time_rows import Rule, TimeRows, may_follow, place_of
from csaw.engine.verify.trees import ENTRIES, add_sets, in_turn
from csaw.engine.verify.walk_pass import one_in
from csaw.partition.base.compile import njit

SAID = {
    "edges": "edges that are not in the graph at their time",
    "order": "edges at a time that may not be selected",
    "sizes": "frontier vertices with another number of neighbors than earlier edges and the fanout allow",
    "repeats": "edges selected twice without replacement",
    "latest": "frontier vertices with others than the last neighbors, or all, in the order of time",
}


class Selections(NamedTuple):
    """Vertices that have selected neighbors, and the edges that each has, in order.

    ``size``: neighbors asked for, -1 for all. ``number``: that by which some are kept for the statistics, one in
    ``every``. ``owner`` [edges]: the place of each edge's vertex, ascending.
    """

    vertex: np.ndarray
    now: np.ndarray
    size: np.ndarray
    depth: np.ndarray
    number: np.ndarray
    every: int
    owner: np.ndarray
    target: np.ndarray
    time: np.ndarray


def one_of(subject: Subject, entries: int, instances: int) -> int:
    """One of how many vertices the statistics use, of a sample whose group of so many ``instances`` has ``entries``."""
    return max(1, -(-subject.samples.instances * entries // (ENTRIES * max(instances, 1))))


def rule_of(algorithm: Any) -> Rule:
    """Which edges may be selected beside a time."""
    window = algorithm.time_window
    return Rule(True, algorithm.time_order == "strict", window or 0, window is not None, 0, False, 0, True)


class InTime:
    """The selections of a sample, group after group, and their faults."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.algorithm = subject, subject.traversal
        a: Any = self.algorithm
        self.rows, self.rule = TimeRows.of(subject.view), rule_of(a)
        self.replace, self.latest = bool(a.replace), a.time_strategy == "last"
        self.wrong = dict.fromkeys(SAID, 0)
        self.kept: list[tuple[np.ndarray, ...]] = []

    def expected(self, vertex: np.ndarray, now: np.ndarray, size: int | np.ndarray) -> np.ndarray:
        """The number of neighbors that each vertex selects, by the edges that it has then."""
        low, high = self._ranges(vertex, now)
        count, asked = high - low, np.broadcast_to(size, vertex.shape)
        limited = np.where(count > 0, asked, 0) if self.replace else np.minimum(asked, count)
        return np.where(asked < 0, count, limited)

    def _ranges(self, vertex: np.ndarray, now: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low, high = np.empty(vertex.size, np.int64), np.empty(vertex.size, np.int64)
        ranges(self.rows, self.rule, np.ascontiguousarray(vertex), np.ascontiguousarray(now), low, high)
        return low, high

    def add(self, s: Selections) -> None:
        """Check the selections of a group, and keep some of them for the statistics."""
        low, high = self._ranges(s.vertex, s.now)
        asked, begin = self.expected(s.vertex, s.now, s.size), np.searchsorted(s.owner, np.arange(s.vertex.size + 1))
        found = np.diff(begin)
        self.wrong["sizes"] += int((found != asked).sum())
        places, faults = np.empty(s.owner.size, np.int64), np.zeros(2, np.int64)
        of_edges = (np.ascontiguousarray(one) for one in (s.owner, s.target, s.time))
        find_places(self.rows, self.rule, s.vertex, s.now, *of_edges, places, faults)
        self.wrong["edges"] += int(faults[0])
        self.wrong["order"] += int(faults[1])
        if not self.replace:
            self.wrong["repeats"] += self._repeats(s, places)
        sure = (found == asked) & (found > 0) & (self.latest | ((found == high - low) & (not self.replace)))
        self.wrong["latest"] += int(not_the_last(self.rows, s.vertex, begin, sure, high, places))
        drawn = (found == asked) & (found > 0) & ~sure
        self._keep(s, low, high, begin, drawn, places)

    def _repeats(self, s: Selections, places: np.ndarray) -> int:
        """Number of selections of an edge beyond the number of its equals."""
        order = np.lexsort((places, s.owner))
        pair = np.column_stack([s.owner, places])[order]
        pair = pair[pair[:, 1] >= 0]
        fresh = np.flatnonzero(np.r_[True, (pair[1:] != pair[:-1]).any(axis=1)]) if len(pair) else np.zeros(0, int)
        times = np.diff(np.append(fresh, len(pair)))
        twice = fresh[times > 1]
        many = equals(self.rows, s.vertex[pair[twice, 0]], pair[twice, 1])
        return int(np.maximum(times[times > 1] - many, 0).sum())

    def _keep(
        self, s: Selections, low: np.ndarray, high: np.ndarray, begin: np.ndarray, drawn: np.ndarray, places: np.ndarray
    ) -> None:
        """Keep the choices of some of the vertices that have ``drawn`` any."""
        here = np.flatnonzero(drawn & one_in(s.every, s.number))
        if not here.size:
            return
        found = begin[here + 1] - begin[here]
        cells = begin[here][:, None] + np.arange(found.max())
        there = np.arange(found.max()) < found[:, None]
        chosen = np.where(there, places[np.where(there, cells, 0)], NONE)
        self.kept.append((np.column_stack([s.vertex, low, high])[here], chosen, s.depth[here]))

    def judge(self, checks: Checks) -> None:
        for name, count in self.wrong.items():
            checks.count(name, count, SAID[name])
        if not self.kept:
            why = "the last ones are sure" if self.latest else "each vertex selects all of its earlier edges or none"
            checks.not_tested("neighbors", f"no neighbor was drawn by chance: {why}")
            return
        picks = max(kept[1].shape[1] for kept in self.kept)
        situations, depth = (np.concatenate([kept[k] for kept in self.kept]) for k in (0, 2))
        padded = (np.pad(one, ((0, 0), (0, picks - one.shape[1])), constant_values=NONE) for _, one, _ in self.kept)
        (self._one_by_one if self.replace else self._as_sets)(checks, situations, np.concatenate(list(padded)), depth)

    def _one_by_one(self, checks: Checks, situations: np.ndarray, chosen: np.ndarray, depth: np.ndarray) -> None:
        subject = self.subject
        row, pick = in_turn(chosen >= 0)
        laws = Laws(self._law, lambda rows: rows[:, 2] - rows[:, 1] + 1, subject.budget)
        choices = Choices(situations[row], chosen[row, pick], ("v", "low", "high"), depth[row])
        statistics(checks, choices, laws, subject.degree, "neighbors")

    def _law(self, v: int, low: int, high: int) -> dict[int, float]:
        """The chance of each place to be drawn, of equal edges the first: all edges of a range are equally likely."""
        law: dict[int, float] = {}
        for place in self._firsts(v, low, high).tolist():
            law[place] = law.get(place, 0.0) + 1.0 / (high - low)
        return law

    def _firsts(self, v: int, low: int, high: int) -> np.ndarray:
        return first_equals(self.rows, np.full(high - low, v), np.arange(low, high))

    def _as_sets(self, checks: Checks, situations: np.ndarray, chosen: np.ndarray, depth: np.ndarray) -> None:
        sets = Choices(np.column_stack([situations, (chosen >= 0).sum(axis=1)]), chosen)
        rows, counts, start, order = sets.grouped

        def pool(number: int) -> Pool:
            v, low, high, found = rows[number].tolist()
            here = order[start[number] : start[number] + counts[number]]
            biases = [(place, 1.0) for place in self._firsts(v, low, high).tolist()]
            return Pool(f"v = {v}, {high - low} earlier edges", biases, chosen[here, :found], here)

        add_sets(checks, set_tests(sets, rows[:, 2] - rows[:, 1], pool, self.subject.budget // 2))


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
