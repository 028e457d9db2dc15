"""Distances between a sample and its graph: of numbers, distributions, curves, and the vertices that rank first."""

import numpy as np

from csaw.engine.analytics.measure import Column, Curve, Distribution, Finding, Number

TOP = 100
"""Vertices that rank first, whose overlap is taken."""
KINDS = {
    Number: "relative error",
    Distribution: "D-statistic",
    Curve: "largest difference",
    Column: f"overlap of the top {TOP}",
}


def d_statistic(one: Distribution, other: Distribution) -> float:
    """The largest difference between two cumulative distributions; NaN where one is empty.

    It is the statistic of Kolmogorov and Smirnov.
    """
    if not one.counts.sum() or not other.counts.sum():
        return float("nan")
    points = np.union1d(one.values, other.values)
    return float(np.abs(_cumulative(one, points) - _cumulative(other, points)).max())


def _cumulative(found: Distribution, points: np.ndarray) -> np.ndarray:
    sums = np.concatenate([[0.0], np.cumsum(found.counts, dtype=np.float64)])
    return sums[np.searchsorted(found.values, points, side="right")] / sums[-1]


def relative_error(graph: float, sample: float) -> float:
    """(sample - graph) / graph; 0 where both are 0, infinite where the graph's alone is."""
    if graph == sample:
        return 0.0
    return (sample - graph) / abs(graph) if graph else float("inf")


def curve_distance(one: Curve, other: Curve) -> float:
    """The largest difference at the points that both curves have; NaN where they share none."""
    shared, at, there = np.intersect1d(one.x, other.x, return_indices=True)
    return float(np.abs(one.y[at] - other.y[there]).max()) if shared.size else float("nan")


def overlap(graph: Column, sample: Column, vertices: np.ndarray) -> float:
    """The share of the vertices with the largest numbers of the graph that are among those of the sample, too.

    ``vertices`` [n]: the graph's numbers of the sample's vertices. Vertices without a number are left out; of equal
    numbers the vertex with the smaller id is first. NaN where no vertex of the graph has one.
    """
    everywhere = np.arange(graph.values.size)
    first = _largest(graph, everywhere, min(TOP, int(np.count_nonzero(graph.known))))
    mine = _largest(sample, vertices, first.size)
    return np.intersect1d(first, mine).size / first.size if first.size else float("nan")


def _largest(column: Column, vertices: np.ndarray, most: int) -> np.ndarray:
    """The ``most`` of these vertices with the largest numbers of a column, which is of them."""
    known, values = vertices[column.known], column.values[column.known]
    return known[np.lexsort((known, -values))[:most]]


def distance(graph: Finding, sample: Finding, vertices: np.ndarray) -> float:
    """The distance between two findings of one kind. ``vertices``: as of ``overlap``."""
    if isinstance(graph, Number) and isinstance(sample, Number):
        return relative_error(graph.value, sample.value)
    if isinstance(graph, Distribution) and isinstance(sample, Distribution):
        return d_statistic(graph, sample)
    if isinstance(graph, Curve) and isinstance(sample, Curve):
        return curve_distance(graph, sample)
    assert isinstance(graph, Column)
    assert isinstance(sample, Column)
    return overlap(graph, sample, vertices)
