"""Hop plot: how many pairs of vertices are within so many edges of each other, and the distances that it shows."""

from collections.abc import Callable
from functools import partial

import numpy as np

from csaw.engine.evaluation.start import random_vertices
from csaw.engine.measure import Curve, Distribution, Findings, Measure, Number, seed_option
from csaw.engine.network import Network
from csaw.engine.option import option

EXACT_WORK = (
    1 << 29
)  # entries of rows that searches from all sources may read, 64 at a time, before some must do: a second or so
AT_ONCE = 4096  # sources of a call
SHARE = 0.9  # of the pairs that are within the effective diameter


class Hops(Measure):
    """Pairs (u, v) of vertices with a way from u to v, by the edges on a shortest one: Leskovec, Kleinberg and Faloutsos, KDD 2005.

    A pair of a vertex with itself is at distance 0, as in SNAP's hop plots. The effective diameter is the distance within which 90 % of those pairs are: with N(h) pairs within h
    edges and h the first for which N(h) > 0.9 N, it is h - 1 + (0.9 N - N(h - 1)) / (N(h) - N(h - 1)), SNAP's formula; 0 where N(0) > 0.9 N. The mean distance is that of pairs of
    different vertices. From random sources, standard errors are those of a jackknife, and the longest distance is a lower bound of the diameter. Sketches are HyperANF's, of 16 registers: about 26 %
    an estimate, less the square root of their number, which the stated error measures.
    """

    paper = (
        "Leskovec, Kleinberg and Faloutsos, KDD 2005; Then et al., PVLDB 8(4), 2014; Boldi, Rosa and Vigna, WWW 2011"
    )

    hops: str = option(
        "auto",
        help="how distances are found: from all vertices, from random ones, by the first where it takes a second, or from sketches of what every vertex reaches",
        choices=("auto", "exact", "sources", "sketches"),
    )
    hop_sources: int = option(
        256, help="random vertices from which distances are taken, drawn without repeats", low=2, high=1 << 20
    )
    hop_sketches: int = option(
        8, help="independent sketches, from whose spread the error is known", low=2, high=1 << 16
    )
    seed: int = seed_option()
    undirected_hops: bool = option(False, help="take distances without the directions of a directed graph")

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("sketches",) if self.hops == "sketches" else ("hops",)

    def findings(self, network: Network) -> Findings:
        graph = network.undirected if self.undirected_hops and network.directed else network
        if self.hops == "sketches":
            runs = _sketched(graph, self.seed, self.hop_sketches)
            return _with_errors(runs.mean(0), f"{self.hop_sketches} sketches", runs, _spread)
        if self._exact(graph):
            return _findings(_all(graph), "exact")
        counts = _table(graph, random_vertices(graph, self.hop_sources, self.seed))
        scale = graph.vertices / self.hop_sources
        rest = (counts.sum(0) - counts) * graph.vertices / (self.hop_sources - 1)  # without each source in turn
        method = f"{self.hop_sources} random sources"
        return _with_errors(counts.sum(0) * scale, method, rest, partial(_jackknife, vertices=graph.vertices))

    def _exact(self, graph: Network) -> bool:
        small = graph.vertices <= self.hop_sources or graph.vertices * graph.edges // 64 <= EXACT_WORK
        return self.hops == "exact" or (self.hops == "auto" and small) or graph.vertices <= self.hop_sources


def _with_errors(pairs: np.ndarray, method: str, others: np.ndarray, error: Callable[[np.ndarray], float]) -> Findings:
    """Findings of an estimate; ``error`` of what each of the estimates ``others`` [n, levels] says is that of a number."""
    found = _findings(pairs, method)
    for name, number in NUMBERS.items():
        found[name] = Number(number(pairs), method, error(np.array([number(other) for other in others])))
    return found


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
    return pairs


def _table(graph: Network, sources: np.ndarray) -> np.ndarray:
    """int64 [sources, levels]: vertices at each distance from each source."""
    work = graph.unfinished.work("some-hops", sources)
    parts = work.parts()
    for first in range(len(parts) * AT_ONCE, sources.size, AT_ONCE):
        parts.append(graph.compute("hops", sources=sources[first : first + AT_ONCE]))
        work.note_parts(parts)
    levels = max(part.shape[1] for part in parts)
    return np.concatenate([np.pad(part, ((0, 0), (0, levels - part.shape[1]))) for part in parts])


def _sketched(graph: Network, seed: int, runs: int) -> np.ndarray:
    """float64 [runs, levels]: pairs at each distance by each sketch."""
    work = graph.unfinished.work("sketches", seed)
    within = work.parts()
    for run in range(len(within), runs):
        within.append(graph.compute("sketches", seed=seed, run=run))
        work.note_parts(within)
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
    """Distance within which 90 % of the pairs are, interpolated; ``pairs`` [levels] at each distance. NaN where there is none."""
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
    "connected pairs": lambda pairs: float(pairs.sum()),
    "effective diameter": effective_diameter,
    "mean distance": mean_distance,
}


def _jackknife(estimates: np.ndarray, vertices: int) -> float:
    """Standard error from the estimates without each source in turn (Efron and Tibshirani, An Introduction to the Bootstrap, 11.5), with the correction for sources drawn without repeats."""
    count = estimates.size
    return float(np.sqrt((1 - count / vertices) * (count - 1) * estimates.var()))


def _spread(estimates: np.ndarray) -> float:
    """Standard error of the mean of independent estimates."""
    return float(estimates.std(ddof=1) / np.sqrt(estimates.size))
