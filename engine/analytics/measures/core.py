"""Core numbers: a vertex has the largest k for which it is in a subgraph of degrees k and more (Seidman 1983)."""

from typing import ClassVar

import numpy as np

from csaw.engine.analytics.measure import FIXED, Column, Distribution, Findings, Measure, Number
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.plan.footprint import Footprint


class Core(Measure):
    """Core numbers of the simple undirected graph, their distribution, and the degeneracy.

    The degeneracy is the largest core number; the number of vertices that have it is a finding, too.
    """

    directions = ("undirected",)
    KEEPS: ClassVar = {"cpu": Footprint(42, fixed=FIXED), "cuda": Footprint(72, fixed=FIXED)}
    paper = "Seidman 1983"

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("core",)

    def findings(self, network: Network) -> Findings:
        cores = on_host(network.undirected.compute("core"))
        counts = np.bincount(cores)
        values = np.flatnonzero(counts)
        largest = int(values.max(initial=0))
        return {
            "core": Column(cores),
            "distribution of core": Distribution(values, counts[values], "core number"),
            "largest core": Number(largest),
            "vertices of the largest core": Number(int(counts[largest]) if counts.size else 0),
        }
