"""The law of start edges that are drawn by their times, written from the definitions, and its test."""

import numpy as np

from csaw.engine.api.edge_starts import EdgeStarts
from csaw.engine.api.law import GraphView
from csaw.engine.verify.checks import Checks
from csaw.engine.verify.power import certain
from csaw.engine.verify.statistics import BINS, even
from csaw.partition.graph.edge_columns import TIME

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
