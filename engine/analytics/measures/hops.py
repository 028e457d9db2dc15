"""Hop plot: the number of vertex pairs within each distance, and their distances."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from csaw.engine.analytics.evaluation.start import ERRORS, random_vertices, unseen_share
from csaw.engine.analytics.measure import FIXED, Curve, Distribution, Findings, Measure, Number, seed_option
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.analytics.passes import stacked
from csaw.engine.api.option import option
from csaw.engine.plan.footprint import Footprint

# Entries of rows that searches from all sources may read, 64 at a time, before some sources must do: a second or so.
EXACT_WORK = 1 << 29
AT_ONCE = 4096  # sources of a call
PAIRS = "connected pairs"
SOURCE_BYTES = 1024  # of a source: vertices at each of some thirty distances, and what a jackknife makes of them
ROUNDING = 1e-12
FEW = 2.5  # of a kind, which may as well have been missed
SKETCH_ERROR = 1.04 / 16**0.5  # of an estimate by 16 registers
SHARE = 0.9  # of the pairs that are within the effective diameter


class Hops(Measure):
    """The number of vertex pairs (u, v) at each distance from u to v.

    A pair of a vertex with itself is at distance 0, as in SNAP's hop plots (Leskovec, Kleinberg and Faloutsos, KDD
    2005). The effective diameter is the distance within which 90 % of those pairs are: with N(h) pairs within h edges
    and h the first for which N(h) > 0.9 N, it is h - 1 + (0.9 N - N(h - 1)) / (N(h) - N(h - 1)), SNAP's formula; 0
    where N(0) > 0.9 N. The mean distance is that of pairs of different vertices.

    From random sources, standard errors are those of a jackknife, and the longest distance is a lower bound of the
    diameter. Where all sources say the same, or all but one or two, a jackknife knows of little or no error: then it is
    at least that of a share of other vertices which so many sources miss with a chance of 5 %
    (analytics/evaluation/start.py), should these reach nothing, or all of the largest component at the least or the
    longest distance that was met. Of the connected pairs of a directed graph the error is never less than that. Those
    of an undirected graph are exact, by its components. Sketches are HyperANF's, of 16 registers: about 26 % an
    estimate (Flajolet et al., AofA 2007), less the square root of their number, which the stated error measures.
    """

    directions = ("undirected",)
    KEEPS: ClassVar = {"cpu": Footprint(50, fixed=FIXED), "cuda": Footprint(70, fixed=FIXED)}
    KEEPS_DIRECTED: ClassVar = {"cpu": 16, "cuda": 16}
    finds_columns = False
    paper = (
        "Leskovec, Kleinberg and Faloutsos, KDD 2005; Then et al., PVLDB 8(4), 2014; Boldi, Rosa and Vigna, WWW 2011"
    )

    hops: str = option(
        "auto",
        help="how to find distances: from all vertices (exact), from random vertices (sources), or from sketches "
        "of the vertices that each one reaches (sketches); auto is exact if that takes about a second, "
        "otherwise sources",
        choices=("auto", "exact", "sources", "sketches"),
    )
    hop_sources: int = option(256, help="number of random source vertices for distances", low=2, high=1 << 20)
    hop_sketches: int = option(
        8, help="number of independent sketches; their spread gives the error", low=2, high=1 << 16
    )
    seed: int = seed_option()
    undirected_hops: bool = option(False, help="ignore the directions of edges when measuring distances")

    def keeps(self, device: str, directed: bool) -> Footprint:
        return super().keeps(device, directed) + Footprint(fixed=SOURCE_BYTES * self.hop_sources)

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("sketches",) if self.hops == "sketches" else ("hops",)

    def findings(self, network: Network) -> Findings:
        graph = network.undirected if self.undirected_hops and network.directed else network
        if self.hops == "sketches":
            runs = _sketched(graph, self.seed, self.hop_sketches)
            found = _findings(runs.mean(0), f"{self.hop_sketches} sketches")
            return _with_errors(found, {name: _spread(_each(runs, name)) for name in NUMBERS}) | _exact_pairs(graph)
        if self._exact(graph):
            return _findings(_all(graph), "exact")
        counts = _table(graph, random_vertices(graph, self.hop_sources, self.seed))
        found = _findings(counts.sum(0) * (graph.vertices / self.hop_sources), f"{self.hop_sources} random sources")
        sizes = _component_sizes(graph)
        rest = (counts.sum(0) - counts) * graph.vertices / (self.hop_sources - 1)  # without each source in turn
        errors = {name: _jackknife(_each(rest, name), graph.vertices) for name in NUMBERS}
        for name in NUMBERS:
            if name == PAIRS or _nearly_agree(_each(rest, name)):
                errors[name] = max(errors[name], _left_open(name, counts, graph.vertices, int(sizes.max())))
        return _with_errors(found, errors) | _exact_pairs(graph, sizes)

    def _exact(self, graph: Network) -> bool:
        small = graph.vertices <= self.hop_sources or graph.vertices * graph.edges // 64 <= EXACT_WORK
        return self.hops == "exact" or (self.hops == "auto" and small) or graph.vertices <= self.hop_sources


def _with_errors(found: Findings, errors: dict[str, float]) -> Findings:
    """Findings of an estimate with the errors of its numbers."""
    numbers = {
        name: Number(one.value, one.method, errors[name])
        for name, one in found.items()
        if name in errors and isinstance(one, Number)
    }
    return found | numbers


def _each(estimates: np.ndarray, name: str) -> np.ndarray:
    """The number ``name`` by each of some estimates [n, levels]."""
    return np.array([NUMBERS[name](one) for one in estimates])


def _component_sizes(graph: Network) -> np.ndarray:
    """int64: vertices of each component, without directions."""
    counts = np.bincount(on_host(graph.compute("components")))
    return counts[counts > 0]


def _exact_pairs(graph: Network, sizes: np.ndarray | None = None) -> Findings:
    """Count the connected pairs of an undirected graph, where every vertex of a component reaches all of it.

    Nothing of a directed one.
    """
    if graph.directed:
        return {}
    sizes = _component_sizes(graph) if sizes is None else sizes
    return {PAIRS: Number(float(sum(size * size for size in sizes.tolist())), "exact, by components")}


def _left_open(name: str, counts: np.ndarray, vertices: int, largest: int) -> float:
    """Standard error of a number of which nearly all sources say the same.

    It is the distance that the number would move if as many vertices as the sources can have missed said the most
    extreme things. ``counts`` [sources, levels]; ``largest``: vertices of the largest component, which no source can
    leave.
    """
    share, levels = unseen_share(len(counts)), max(counts.shape[1], 2)
    mean = np.pad(counts.mean(0), (0, levels - counts.shape[1]))
    nothing, near, far = np.zeros((3, levels))
    nothing[0] = near[0] = far[0] = 1
    near[1] = far[-1] = largest - 1
    moved = [NUMBERS[name](vertices * ((1 - share) * mean + share * other)) for other in (nothing, near, far)]
    return float(np.abs(np.array(moved) - NUMBERS[name](vertices * mean)).max() / ERRORS)


def _agree(estimates: np.ndarray) -> bool:
    """Whether estimates are the same, but for the rounding of sums."""
    return bool(np.ptp(estimates) <= ROUNDING * np.abs(estimates).max())


def _nearly_agree(estimates: np.ndarray) -> bool:
    """Whether estimates are the same but for fewer than FEW of them.

    (sum of squared deviations)^2 / sum of their squares is the number of those that differ, where these differ alike.
    """
    squares = (estimates - estimates.mean()) ** 2
    return _agree(estimates) or bool(squares.sum() ** 2 < FEW * (squares**2).sum())


def _all(graph: Network) -> np.ndarray:
    """float64 [levels]: pairs at each distance."""
    work = graph.unfinished.work("all-hops")
    pairs, begin = work.done.get("pairs", np.zeros(1)), int(work.done.get("first", 0))
    for first in range(begin, graph.vertices, AT_ONCE):
        some = graph.compute("hops", sources=np.arange(first, min(first + AT_ONCE, graph.vertices))).sum(0)
        longer, shorter = (pairs, some) if pairs.size > some.size else (some.astype(np.float64), pairs)
        longer[: shorter.size] += shorter
        pairs = longer
        work.note(pairs=pairs, first=first + AT_ONCE)
        work.tell(min(first + AT_ONCE, graph.vertices), graph.vertices, "sources of hops")
    return pairs


def _table(graph: Network, sources: np.ndarray) -> np.ndarray:
    """int64 [sources, levels]: vertices at each distance from each source."""
    work = graph.unfinished.work("some-hops", sources)
    parts = work.parts()
    for first in range(len(parts) * AT_ONCE, sources.size, AT_ONCE):
        parts.append(graph.compute("hops", sources=sources[first : first + AT_ONCE]))
        work.note_parts(parts)
        work.tell(min(first + AT_ONCE, sources.size), sources.size, "sources of hops")
    return stacked(parts)


def _sketched(graph: Network, seed: int, runs: int) -> np.ndarray:
    """float64 [runs, levels]: pairs at each distance by each sketch."""
    work = graph.unfinished.work("sketches", seed)
    within = work.parts()
    for run in range(len(within), runs):
        within.append(graph.compute("sketches", seed=seed, run=run))
        work.note_parts(within)
        work.tell(run + 1, runs, "sketches of hops")
    levels = max(one.size for one in within)
    return np.diff(np.array([np.pad(one, (0, levels - one.size), mode="edge") for one in within]), prepend=0.0)


def _findings(pairs: np.ndarray, method: str) -> Findings:
    hops = np.arange(pairs.size)
    total = pairs.sum()
    share = np.cumsum(pairs) / total if total else np.ones(pairs.size)
    numbers = {name: Number(number(pairs), method) for name, number in NUMBERS.items()}
    return {
        **numbers,
        "longest distance": Number(pairs.size - 1, method if method == "exact" else f"{method}, a lower bound"),
        "hop plot": Curve(hops, share, ("hops", "share of connected pairs"), method),
        "distance": Distribution(hops, pairs, "hops", method),
    }


def effective_diameter(pairs: np.ndarray) -> float:
    """Distance within which 90 % of the pairs are, interpolated; ``pairs`` [levels] at each distance.

    NaN where there is none.
    """
    within = np.cumsum(pairs)
    if not within[-1]:
        return float("nan")
    wanted = SHARE * within[-1]
    hop = int((within > wanted).argmax())
    return float(hop - 1 + (wanted - within[hop - 1]) / (within[hop] - within[hop - 1])) if hop else 0.0


def mean_distance(pairs: np.ndarray) -> float:
    """Mean distance of connected pairs of different vertices; NaN where there is none."""
    others = pairs[1:].sum()
    return float(pairs @ np.arange(pairs.size) / others) if others else float("nan")


NUMBERS: dict[str, Callable[[np.ndarray], float]] = {
    PAIRS: lambda pairs: float(pairs.sum()),
    "effective diameter": effective_diameter,
    "mean distance": mean_distance,
}


def _jackknife(estimates: np.ndarray, vertices: int) -> float:
    """Standard error from the estimates without each source in turn, of sources that are drawn without repeats.

    Efron and Tibshirani, An Introduction to the Bootstrap, 11.5.
    """
    count = estimates.size
    return float(np.sqrt((1 - count / vertices) * (count - 1) * estimates.var()))


def _spread(estimates: np.ndarray) -> float:
    """Standard error of the mean of independent estimates by sketches.

    Where all are the same, it is the one that HyperLogLog has on any graph.
    """
    if _agree(estimates):
        return float(SKETCH_ERROR * np.abs(estimates).max() / np.sqrt(estimates.size))
    return float(estimates.std(ddof=1) / np.sqrt(estimates.size))
