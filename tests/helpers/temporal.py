"""Graphs whose edges have times, and laws of walks in time as sums over lists of events."""

import math
from collections import Counter, defaultdict

import numpy as np
from scipy.stats import chi2

from csaw.partition import write_graph
from csaw.partition.graph.in_memory import rows_of_edges
from helpers.stats import SUITE_ALPHA, TESTS

TIED = [
    (0, 1, 1),
    (0, 2, 1),
    (0, 1, 3),
    (0, 3, 3),
    (0, 2, 4),
    (0, 0, 5),
    (1, 0, 2),
    (1, 2, 2),
    (1, 3, 2),
    (1, 0, 6),
    (1, 0, 3),
    (2, 1, 4),
    (2, 0, 4),
    (2, 3, 9),
    (2, 4, 5),
    (3, 0, 0),
    (3, 1, 7),
    (3, 2, 3),
    (3, 2, 3),
]
"""Events (source, target, time): ties at a vertex, an edge at other times and twice at one, a loop, a dead end."""

RECENT = """
import math
from csaw.engine.algorithm import TemporalWalk, option

class Recent(TemporalWalk):
    half: float = option(4.0, help="time in which the bias of an edge halves", low=0, open_low=True)

    def edge_bias(self, e):
        if e.time <= e.previous_time or (e.depth > 0 and e.time - e.start_time > 8):
            return 0.0
        return 0.5 ** ((e.time - e.previous_time) / self.half) if e.depth > 0 else 1.0
"""
"""A walk in time of one's own, which no option of ``temporal`` gives."""

TURNS_BACK = """
from csaw.engine.algorithms.temporal import Temporal

class TurnsBack(Temporal):
    def update(self, e):
        return e.src if e.depth == 1 else e.dst
"""
"""A walk whose second step leads nowhere, so that what may follow its edge is not what may follow the step."""

JUMPS = """
class Jumps(Temporal):
    def dead_end(self, e):
        return e.random_vertex() if e.depth < 4 else -1
"""
"""Behind TURNS_BACK: a walk that goes on where no edge may follow, from where its last edge does not lead."""


def events_store(path, events, vertices, **how):
    """A directed graph of these events."""
    source, target, time = (np.array(column, np.int64) for column in zip(*events, strict=True))
    indptr, indices, order = rows_of_edges(source, target, vertices)
    return write_graph(path, indptr, indices, directed=True, edge_columns={"time": time[order]}, **how)


def random_events(vertices, edges, seed, span=50):
    """Events at random, of which many share a time, and one vertex has many."""
    rng = np.random.default_rng(seed)
    source = np.where(rng.random(edges) < 0.3, 0, rng.integers(0, vertices, edges))
    return list(zip(source, rng.integers(0, vertices, edges), rng.integers(-span, span, edges), strict=True))


def events_far_apart(vertices, edges):
    """Events at random, at times anywhere in 64 bits."""
    rng = np.random.default_rng(6)
    ends = rng.integers(0, vertices, (2, edges))
    return list(zip(*ends, rng.integers(-(2**63) + 1, 2**63 - 1, edges), strict=True))


def may_follow(time, now, options):
    """Whether an edge of this time may follow one of ``now`` (None: any may)."""
    back = options.get("direction") == "backward"
    ahead = None if now is None else (now - time if back else time - now)
    last, window = options.get("last_time"), options.get("time_window")
    if last is not None and (time < last if back else time > last):
        return False
    if ahead is None:
        return True
    strict = options.get("time_order", "strict") == "strict"
    return (ahead > 0 if strict else ahead >= 0) and (window is None or ahead <= window)


def by_rank(bias, rank, count, scale):
    """The bias of a rank from 0 on among ``count``."""
    return {"linear": count - rank, "exponential-rank": math.exp(-rank / scale)}.get(bias, 1.0)


def step_law(row, now, options, *, first=False):
    """The chance of each (target, time) among the events ``row`` of a vertex, of which some may follow."""
    possible = [(target, time) for target, time in row if may_follow(time, now, options)]
    bias = options.get("time_bias", "uniform")
    from_end = (options.get("direction") == "backward") != (options.get("prefer") == "far")
    if first and options.get("start") == "edge":
        weights = [1.0] * len(possible)
    elif options.get("per") == "time":
        times = sorted({time for _, time in possible}, reverse=from_end)
        many = Counter(time for _, time in possible)
        rank = {
            time: by_rank(bias, place, len(times), options.get("time_scale", 1.0)) for place, time in enumerate(times)
        }
        weights = [rank[time] / many[time] for _, time in possible]
    elif bias in ("linear", "exponential-rank"):  # ties count in the order of the row
        order = sorted(range(len(possible)), key=lambda k: (possible[k][1], k), reverse=from_end)
        weights = [0.0] * len(possible)
        for place, k in enumerate(order):
            weights[k] = by_rank(bias, place, len(possible), options.get("time_scale", 1.0))
    elif bias == "exponential":
        nearest = (max if from_end else min)((time for _, time in possible), default=0)
        weights = [math.exp(-abs(time - nearest) / options.get("time_scale", 1.0)) for _, time in possible]
    else:
        weights = [1.0] * len(possible)
    law = defaultdict(float)
    for outcome, weight in zip(possible, weights, strict=True):
        law[outcome] += weight / sum(weights)
    return dict(law)


def rows_by_time(events, vertices):
    """For each vertex (target, time) of its events, in the order in which a store has them."""
    return [
        [(t, when) for _, t, when in sorted((e for e in events if e[0] == v), key=lambda e: e[1])]
        for v in range(vertices)
    ]


def assert_follows_in_time(drawn, events, vertices, options, *, first_is_free=False):
    """Each step of each walk is drawn by the law, all situations in one test; a walk ends where no edge may follow.

    ``first_is_free``: first steps have another law, and are left out.
    """
    rows, seen = rows_by_time(events, vertices), defaultdict(Counter)
    for walk, times, length in zip(
        drawn["walks"].tolist(), drawn["times"].tolist(), drawn["lengths"].tolist(), strict=True
    ):
        now = options.get("start_time")
        for step in range(length + (length < len(times))):
            done = step == length
            if step > 0 or not first_is_free:
                seen[walk[step], now, step == 0][None if done else (walk[step + 1], times[step])] += 1
            now = now if done else times[step]
    square, freedom = 0.0, 0
    for (v, now, first), counts in seen.items():
        law = step_law(rows[v], now, options, first=first) or {None: 1.0}
        assert set(counts) <= set(law), (v, now, set(counts) - set(law))
        cells = [(counts[outcome], chance * counts.total()) for outcome, chance in law.items()]
        kept = [cell for cell in cells if cell[1] >= 5]
        few, expected = (sum(cell[side] for cell in cells if cell[1] < 5) for side in (0, 1))
        kept += [(few, expected)] if expected >= 5 else []
        if expected >= 5 or not expected:  # otherwise what is left has no share of the total to be held to
            square += sum((count - wanted) ** 2 / wanted for count, wanted in kept)
            freedom += len(kept) - 1
    p_value = chi2.sf(square, freedom) if freedom else 1.0
    assert p_value > SUITE_ALPHA / TESTS, (p_value, square, freedom)
    return seen


def start_law(events, options):
    """The chance of each (source, time) to be that of the first edge, by ranks of single events.

    Events of one time share the mean bias of theirs.
    """
    bias, scale = options.get("start_bias", "uniform"), options.get("start_scale", 1.0)
    late = options.get("start_prefer", "late") == "late"
    ordered = sorted((event[2] for event in events), reverse=late)
    times = sorted(set(ordered), reverse=late)
    if bias == "exponential":
        of_time = {time: math.exp(-abs(time - times[0]) / scale) * ordered.count(time) for time in times}
    elif options.get("start_per") == "time":
        of_time = {time: by_rank(bias, k, len(times), scale) for k, time in enumerate(times)}
    else:
        of_time = Counter()
        for k, time in enumerate(ordered):
            of_time[time] += by_rank(bias, k, len(ordered), scale)
    law = Counter()
    for source, _, time in events:
        law[source, time] += of_time[time] / ordered.count(time) / sum(of_time.values())
    return law
