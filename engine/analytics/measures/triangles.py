"""Triangles and clustering: how often two neighbors of a vertex are neighbors of each other."""

from math import fsum, nan, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from csaw.engine.analytics.changes import Changes, MeasuredAnew
from csaw.engine.analytics.clusterings import Clusterings
from csaw.engine.analytics.evaluation.start import ERRORS, share_error, unseen_share
from csaw.engine.analytics.measure import (
    FIXED,
    Column,
    Curve,
    Distribution,
    Findings,
    Measure,
    Number,
    seed_option,
)
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.api.option import option
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.footprint import Footprint

if TYPE_CHECKING:
    from csaw.engine.analytics.cpu.triangles import Closed, Seen

AUTO, FASTEST, WEDGES, EDGES = "auto", "intersect", "wedges", "edges"
MATCHING = Footprint(50, ids=2, edge_ids=1, fixed=1 << 19)
DRAWING = Footprint(46, fixed=FIXED)
SAMPLED = {WEDGES: "wedge sampling", EDGES: "edge sampling"}
METHODS = {AUTO: "triangles", FASTEST: "triangles", "matrix": "masked_product", "match": "matched_triangles"}
"""What computes each choice of ``--triangles``."""


class Triangles(Measure):
    """Exact triangle counts of the simple undirected graph: directions, self loops and repeated edges are ignored.

    The clustering of a vertex is the share of the pairs of its neighbors that are neighbors of each other (Watts and
    Strogatz, Nature 393, 1998); of a degree below 2, it is none. ``mean clustering`` takes none as 0, as SNAP's own
    function and igraph's ``zero`` mode do; ``mean clustering, degree >= 2`` leaves these vertices out, as SNAP's table
    does for some graphs. ``transitivity`` is the share of all wedges that are closed: three times the triangles by the
    wedges.
    """

    directions = ("undirected",)
    KEEPS: ClassVar = {"cpu": Footprint(48, fixed=1 << 19), "cuda": Footprint(48, fixed=5 << 20)}
    paper = "Wang, Wang, Yang and Owens, IA3 2016"
    triangles: str = option(
        AUTO,
        help="how to count triangles: by sets of neighbors (intersect), a masked product (matrix) or subgraphs "
        "(match), all with the same result; auto is intersect, the fastest",
        choices=tuple(METHODS),
    )
    approximate: int = option(
        0,
        help="number of random wedges or edges from which to estimate, on the CPU, with the standard error; 0 "
        "counts exactly",
        low=0,
        high=2**40,
    )
    approximate_by: str = option(
        WEDGES,
        help="draw wedges or edges for --approximate: wedges also estimate clustering; edges have the smaller "
        "error if few wedges are closed",
        choices=tuple(SAMPLED),
    )
    seed: int = seed_option()

    def __init__(self, **values: object) -> None:
        super().__init__(**values)
        self.finds_columns = not self.approximate

    def keeps(self, device: str, directed: bool) -> Footprint:
        if self.approximate:
            return DRAWING
        return MATCHING if self.triangles == "match" and device == "cpu" else super().keeps(device, directed)

    def computes(self, directed: bool) -> tuple[str, ...]:
        if not self.approximate:
            return (METHODS[self.triangles],)
        return ("wedges",) if self.approximate_by == WEDGES else ("edge_triangles",)

    def findings(self, network: Network) -> Findings:
        simple = network.undirected
        if self.approximate:
            [what] = self.computes(network.directed)
            drawn = simple.compute(what, count=self.approximate, seed=self.seed)
            if self.approximate_by == EDGES:
                return estimated_by_edges(drawn, self.approximate, simple.degrees)
            return estimated(drawn, self.approximate, network.vertices)
        return self._counted(simple, *simple.compute(METHODS[self.triangles], each=True))

    def _counted(self, simple: Network, total: int, counts: Array) -> Findings:
        method = FASTEST if self.triangles == AUTO else self.triangles
        found = simple.compute("clustering", triangles=counts)
        return {"triangles": Number(total, method)} | clustering(found, on_host(counts), total)

    def updated(self, network: Network, kept: Findings, changes: Changes) -> Findings:
        if self.approximate:
            raise MeasuredAnew("its random draws depend on all edges")
        more, counts = changes.triangles()
        before, total = kept["triangles of vertices"], kept["triangles"]
        assert isinstance(before, Column)
        assert isinstance(total, Number)
        counts[: before.values.size] += before.values
        return self._counted(network.undirected, int(total.value) + more, counts)


def estimated(drawn: "Closed", count: int, vertices: int) -> Findings:
    """Estimate from ``count`` random wedges: of all wedges alike, and of vertices alike with one of their wedges.

    Standard errors are those of the shares that are closed, which are not 0 where all are or none is. No wedges, no
    triangles.
    """

    def share(closed: int, scale: float) -> Number:
        part = closed / count
        return Number(scale * part, SAMPLED[WEDGES], scale * share_error(closed, count))

    none = Number(nan, SAMPLED[WEDGES])
    return {
        "triangles": share(drawn.of_wedges, drawn.wedges / 3),
        "transitivity": share(drawn.of_wedges, 1.0) if drawn.wedges else none,
        "mean clustering": share(drawn.of_vertices, drawn.vertices / vertices) if vertices else none,
        "mean clustering, degree >= 2": share(drawn.of_vertices, 1.0) if drawn.vertices else none,
    }


def estimated_by_edges(seen: "Seen", count: int, degrees: Array) -> Findings:
    """Estimate from the numbers of triangles that ``count`` random edges say: their mean, times a third of the edges.

    Where all say the same, the error is that of a share of edges which so many draws miss with a chance of 5 %, should
    these have as many as ``degrees`` [V] allow: the second largest one.
    """
    mean = seen.triangles / count
    error = sqrt(max(seen.squares / count - mean * mean, 0.0) / count)
    if seen.wedges and seen.squares * count == seen.triangles**2:
        most = int(np.partition(degrees, -2)[-2])
        error = unseen_share(count) * max(most - mean, mean) / ERRORS

    def scaled(scale: float) -> Number:
        return Number(scale * mean, SAMPLED[EDGES], scale * error)

    closed = scaled(seen.edges / seen.wedges) if seen.wedges else Number(nan, SAMPLED[EDGES])
    return {"triangles": scaled(seen.edges / 3), "transitivity": closed}


def clustering(found: Clusterings, counts: np.ndarray, total: int) -> Findings:
    """Return all findings that follow from clusterings, and from the triangles of each vertex, int64 [V].

    Sums are of integers, so they are the same in any order.
    """
    present, of_degree, triangles = found[:3]
    pairs = present * (present - 1) // 2
    wedges, vertices = int(pairs @ of_degree), counts.size
    able = present >= 2
    means = triangles[able] / (of_degree[able] * pairs[able])
    together, some = fsum(triangles[able] / pairs[able]), int(of_degree[able].sum())
    return {
        "transitivity": Number(3 * total / wedges if wedges else nan),
        "mean clustering": Number(together / vertices if vertices else nan),
        "mean clustering, degree >= 2": Number(together / some if some else nan),
        "clustering": Distribution(found.values, found.counts, "clustering of vertices of degree 2 and more"),
        "clustering by degree": Curve(present[able], means, ("degree", "mean clustering")),
        "triangles of vertices": Column(counts),
        "clustering of vertices": Column(found.local),
    }
