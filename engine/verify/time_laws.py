"""The law of a step in time, written from the definitions: over all edges of a row, one by one."""

from collections import Counter
from typing import NamedTuple, Self

import numpy as np

from csaw.engine.algorithms.temporal import Temporal
from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.bases import TemporalWalk
from csaw.engine.api.law import GraphView, Place, edge_biases
from csaw.engine.api.starts import EdgeStarts
from csaw.engine.verify.checks import Checks
from csaw.engine.verify.statistics import BINS, certain, even
from csaw.partition.base.compile import njit
from csaw.partition.graph.edge_columns import NO_TIME, TIME

# The rows of a graph by time, and passes over walks along them.

ENDED = -1  # instead of a place, where a walk ended early


class TimeRows(NamedTuple):
    """The edges of each row by time, and at one time by their targets: equal edges stand side by side."""

    indptr: np.ndarray
    times: np.ndarray
    targets: np.ndarray
    order: np.ndarray
    """The edge, among all of the graph, at each place."""

    @classmethod
    def of(cls, view: GraphView) -> Self:
        """The rows of a graph, sorted anew: nothing is taken from the order that its store has."""
        owners = np.repeat(np.arange(view.vertices), np.diff(view.indptr))
        times = view.columns[TIME.name]
        order = np.lexsort((view.indices, times, owners))
        return cls(view.indptr, times[order], view.indices[order].astype(np.int64), order)

    def row(self, v: int) -> slice:
        """The places of the edges of v."""
        return slice(int(self.indptr[v]), int(self.indptr[v + 1]))


class Rule(NamedTuple):
    """Which edges may follow, by the options of ``temporal``; a window or a last time of None is none."""

    backward: bool
    strict: bool
    window: int
    has_window: bool
    last: int
    has_last: bool
    start: int
    has_start: bool


@njit(nogil=True)
def may_follow(time, now, known, rule):
    """Whether an edge of this time may follow one of time ``now``, if any is ``known``."""
    if rule.has_last and (time < rule.last if rule.backward else time > rule.last):
        return False
    if not known:
        return True
    if time == now:
        return not rule.strict
    if (time < now) != rule.backward:
        return False
    apart = np.uint64(max(time, now)) - np.uint64(min(time, now))
    return not rule.has_window or apart <= np.uint64(rule.window)


@njit(nogil=True)
def place_of(rows, v, target, time):
    """The first place, in the row of v, of an edge to ``target`` at ``time``; -2 where there is none."""
    begin, end = rows.indptr[v], rows.indptr[v + 1]
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        before = rows.times[middle] < time or (rows.times[middle] == time and rows.targets[middle] < target)
        low, high = (middle + 1, high) if before else (low, middle)
    there = low < end and rows.times[low] == time and rows.targets[low] == target
    return low - begin if there else -2


@njit(nogil=True)
def follow(rows, walks, times, lengths, rule, by_time, places, faults):
    """Find the place of each step of each walk: ``places`` [n, L], ENDED where it ended early and -2 where it is none.

    ``faults`` counts walks whose vertices or times do not match their length, steps along no edge of that time, steps
    that may not follow, and walks that end where they could go on; the last two where ``by_time``.
    """
    width = times.shape[1]
    for i in range(walks.shape[0]):
        steps, fits = lengths[i], 0 <= lengths[i] <= width
        for k in range(width + 1):
            fits &= walks[i, k] >= 0 if k <= steps else walks[i, k] == -1
        for k in range(max(steps, 0), width):
            fits &= times[i, k] == NO_TIME
        faults[0] += not fits
        places[i, :] = -2
        if not fits:
            continue
        now, known = rule.start, rule.has_start
        for k in range(steps):
            places[i, k] = place_of(rows, walks[i, k], walks[i, k + 1], times[i, k])
            faults[1] += places[i, k] < 0
            faults[2] += by_time and not may_follow(times[i, k], now, known, rule)
            now, known = times[i, k], True
        if steps < width:
            places[i, steps] = ENDED
            v = walks[i, steps]
            for place in range(rows.indptr[v], rows.indptr[v + 1] if by_time else 0):
                if may_follow(rows.times[place], now, known, rule):
                    faults[3] += 1
                    break


@njit(nogil=True)
def standing(rows, vertices, nows):
    """Where a time stands in a row: 0 before all its edges, 1 among them, 2 at the time of one, 3 behind all; and
    whether two of its edges share a time, 4 more.
    """
    out = np.empty(vertices.size, np.int64)
    for i in range(vertices.size):
        begin, end = rows.indptr[vertices[i]], rows.indptr[vertices[i] + 1]
        low, high = begin, end
        while low < high:
            middle = (low + high) >> 1
            low, high = (middle + 1, high) if rows.times[middle] < nows[i] else (low, middle)
        at = low < end and rows.times[low] == nows[i]
        out[i] = 2 if at else 0 if low == begin else 3 if low == end else 1
        for place in range(begin + 1, end):
            if rows.times[place] == rows.times[place - 1]:
                out[i] += 4
                break
    return out


# The law of a step in time, written from the definitions.

Law = dict[int, float]


class TimeLaws:
    """Laws of the steps of ``walk`` on a graph, by situations of these ``columns``; outcomes are places of edges by
    time, of equal edges the first.
    """

    def __init__(self, view: GraphView, walk: Algorithm, rows: TimeRows, rule: Rule, columns: tuple[str, ...]) -> None:
        self.view, self.rows, self.rule, self.columns = view, rows, rule, columns
        assert isinstance(walk, TemporalWalk)
        self.walk = walk
        self.start_weights: np.ndarray | None = None
        if isinstance(walk, EdgeStarts) and walk.starts_by_time:
            self.start_weights = start_weights(view, walk)[rows.order]

    def __call__(self, *situation: int) -> Law:
        """The chance of each place to be next; ENDED where no edge can be."""
        named = dict(zip(self.columns, situation, strict=True))
        row = self.rows.row(named["at"])
        times = self.rows.times[row].tolist()
        if self.start_weights is not None and named["first"]:
            weights = self.start_weights[row].tolist()
        else:
            weights = self._by_time(times, named) if self.walk.by_time else self._by_hook(row, named)
        total = sum(weights)
        if not total > 0.0:
            return {ENDED: 1.0}
        law: Law = {}
        targets, first = self.rows.targets[row].tolist(), 0
        for place, weight in enumerate(weights):
            first = first if (times[first], targets[first]) == (times[place], targets[place]) else place
            if weight > 0.0:
                law[first] = law.get(first, 0.0) + weight / total
        return law

    def _by_hook(self, row: slice, named: dict[str, int]) -> list[float]:
        """The biases that the hook of one's own gives, in the order by time."""
        others = {name: named[name] for name in ("prev", "source", "instance") if name in named}
        place = Place(**others, depth=named.get("depth", 1 - named["first"]))
        clock = named["previous_time"], named.get("start_time", named["previous_time"])
        biases = edge_biases(self.view, self.walk, named["at"], *place, clock=clock)
        largest = max((bias for _, bias in biases), default=0.0) or 1.0  # of which shares have a finite sum
        return [biases[edge - row.start][1] / largest for edge in self.rows.order[row].tolist()]

    def _by_time(self, times: list[int], named: dict[str, int]) -> list[float]:
        """The biases that options give, in the order by time."""
        walk, now, first = self.walk, named["previous_time"], bool(named["first"])
        assert isinstance(walk, Temporal)
        known = not first or self.rule.has_start
        places = [place for place, time in enumerate(times) if may_follow(time, now, known, self.rule)]
        from_end = (walk.direction == "backward") != (walk.prefer == "far")
        nearest_first = places[::-1] if from_end else places
        weights = np.zeros(len(times))
        if not places:
            return weights.tolist()
        if (first and walk.start == "edge") or (walk.time_bias == "uniform" and walk.per == "edge"):
            weights[places] = 1.0
        elif walk.per == "time":
            many = Counter(times[place] for place in places)
            ranks = {time: k for k, time in enumerate(dict.fromkeys(times[p] for p in nearest_first))}
            weights[places] = [_by_rank(walk, ranks[times[p]], len(many)) / many[times[p]] for p in places]
        elif walk.time_bias in ("linear", "exponential-rank"):
            weights[nearest_first] = [_by_rank(walk, k, len(places)) for k in range(len(places))]
        else:
            near = times[nearest_first[0]]
            weights[places] = [np.exp(-(abs(times[place] - near) / walk.time_scale)) for place in places]
        return weights.tolist()


def _by_rank(walk: Temporal, rank: int, count: int) -> float:
    """The bias of a rank among ``count``, 0 for the one that is preferred."""
    if walk.time_bias == "exponential-rank":
        return float(np.exp(-rank / walk.time_scale))
    return count - rank if walk.time_bias == "linear" else 1.0


# The law of start edges that are drawn by their times, written from the definitions, and its test.

DRAW = 20261126  # seed, fixed: the verdict on a sample never changes
MOVED = "start edges moved to one of some ranges of {}"


def start_weights(view: GraphView, walk: EdgeStarts) -> np.ndarray:
    """float64 [E]: the bias of each edge to be the first of a walk.

    Edges are numbered k = 0, 1, ... from the preferred end of time; those of one time have the mean bias of theirs.
    """
    times, number, counts = np.unique(view.columns[TIME.name], return_inverse=True, return_counts=True)
    if walk.start_prefer == "late":
        times, number, counts = times[::-1], times.size - 1 - number, counts[::-1]
    total, scale = view.indices.size, walk.start_scale
    before, ranks = np.cumsum(counts) - counts, np.arange(times.size)
    if walk.start_bias == "exponential":
        apart = [abs(int(time) - int(times[0])) for time in times]
        return np.exp(-(np.array(apart, np.float64) / scale))[number]
    if walk.start_per == "time":
        each = {"uniform": np.ones(ranks.size), "linear": ranks.size - ranks}
        weights = np.exp(-ranks / scale) if walk.start_bias == "exponential-rank" else each[walk.start_bias]
        return (weights / counts)[number]
    if walk.start_bias == "linear":
        return (total - before - (counts - 1) / 2)[number]
    return (np.exp(-before / scale) * -np.expm1(-counts / scale) / counts)[number]


class StartLaw:
    """Collects where walks start, and compares it with the law."""

    def __init__(self, view: GraphView, walk: EdgeStarts) -> None:
        self.weights, self.indptr = start_weights(view, walk), view.indptr
        self.times = view.columns[TIME.name]
        self.vertices: list[np.ndarray] = []
        self.first_times: list[np.ndarray] = []

    def add(self, vertices: np.ndarray, times: np.ndarray) -> None:
        """Add walks that start at ``vertices`` [n] and whose edges have ``times`` [n, L]."""
        self.vertices.append(vertices.copy())  # of its group, which is not kept
        self.first_times += [times[:, 0].copy()] if times.shape[1] else []

    def judge(self, checks: Checks) -> None:
        """Add the tests of vertices and of times; that of a time given its vertex is that of the first step."""
        owners = np.repeat(np.arange(self.indptr.size - 1), np.diff(self.indptr))
        parts = [("vertices", owners, self.vertices), ("times", self.times, self.first_times)]
        results = []
        for what, labels, chosen in parts:
            if not chosen:
                continue
            drawn = np.concatenate(chosen)
            if np.isin(drawn, labels[self.weights > 0]).all():
                results += even(self._places(labels, drawn), BINS, MOVED.format(what))
            else:
                results.append(certain(MOVED.format(what)))
        checks.results("sources", results, "start edges by their times", "too few start edges")

    def _places(self, labels: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Where each of ``chosen`` labels is in [0, 1), in which each label has a range as wide as its chance."""
        known, number = np.unique(labels, return_inverse=True)
        chances = np.bincount(number, self.weights)
        ends, at = np.cumsum(chances), np.searchsorted(known, chosen)
        draws = np.random.default_rng(DRAW).random(chosen.size)
        places = (ends[at] - chances[at] * draws) / ends[-1]
        return np.clip(places, 0.0, np.nextafter(1.0, 0.0))
