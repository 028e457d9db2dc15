"""Betweenness: the share of all shortest paths that lead over each vertex."""

from typing import ClassVar

import numpy as np

from csaw.engine.analytics.evaluation.start import random_vertices
from csaw.engine.analytics.measure import FIXED, Column, Findings, Measure, Number, seed_option
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.api.option import option
from csaw.engine.plan.footprint import Footprint
from csaw.partition.errors import OptionError


class Betweenness(Measure):
    """The share of shortest paths from s to t that pass through v, summed over all pairs (s, t) of other vertices.

    Of an undirected graph each pair counts once. From random sources, it is the sum over those pairs times the number
    of vertices over that of the sources (Brandes and Pich, International Journal of Bifurcation and Chaos 17(7), 2007);
    exact where all vertices are sources. Along the directions of a directed graph. An edge that is there several times
    is several paths. The column ``betweenness`` has it.
    """

    directions = ("incoming",)
    KEEPS: ClassVar = {"cpu": Footprint(48, ids=2, fixed=FIXED), "cuda": Footprint(108, ids=1, fixed=FIXED)}
    KEEPS_DIRECTED: ClassVar = {"cpu": 16, "cuda": 16}
    paper = "Brandes, Journal of Mathematical Sociology 25(2), 2001"
    by_default = False

    betweenness_sources: int = option(64, help="number of random source vertices for shortest paths", low=1)
    seed: int = seed_option()

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("betweenness",)

    def findings(self, network: Network) -> Findings:
        count = min(self.betweenness_sources, network.vertices)
        exact = count == network.vertices
        sources = np.arange(count) if exact else random_vertices(network, count, self.seed)
        found = on_host(network.compute("betweenness", sources=sources))
        if not np.isfinite(found).all():
            raise OptionError(
                f"betweenness: {network.store.path} has more than 1.8e308 shortest paths between two vertices, "
                "more than float64 can count; leave this measure out"
            )
        found *= network.vertices / max(count, 1) / (1 if network.directed else 2)
        method = "exact" if exact else f"{count} random sources"
        return {
            "mean betweenness": Number(float(found.mean()) if found.size else float("nan"), method),
            "largest betweenness": Number(float(found.max(initial=0.0)), method),
            "betweenness": Column(found, method),
        }
