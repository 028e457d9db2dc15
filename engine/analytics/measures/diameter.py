"""Diameter and radius: the largest and the smallest eccentricity of the vertices of the largest component."""

from typing import ClassVar

import numpy as np

from csaw.engine.analytics.measure import FIXED, Findings, Measure, Number
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.plan.footprint import Footprint

WEAK, STRONG = "exact, of the largest component", "exact, of the largest strongly connected component"


class Diameter(Measure):
    """The exact largest and smallest eccentricity in the largest component.

    The eccentricity of a vertex is the number of edges on a shortest path to the vertex that is farthest from it. The
    diameter and the radius are those of the largest component of the graph without directions, as SNAP's tables have
    it; of several largest components the one with the smallest dense id. A directed graph also has a directed diameter
    and radius: those of its largest strongly connected component, along the directions of edges. A graph of several
    components has no pair of largest distance, strictly: it is infinite.
    """

    directions = ("undirected", "incoming")
    KEEPS: ClassVar = {"cpu": Footprint(60, fixed=FIXED)}
    KEEPS_DIRECTED: ClassVar = {"cpu": 36}
    finds_columns = False
    paper = (
        "Crescenzi et al., Theoretical Computer Science 514, 2013; Takes and Kosters, Algorithms 6(1), 2013; Borassi "
        "et al., Theoretical Computer Science 586, 2015"
    )
    by_default = False

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("components", "diameter", "strong_components") if directed else ("components", "diameter")

    def findings(self, network: Network) -> Findings:
        # Without a name here: rows backward may need the memory of the undirected ones.
        found = _of(network.undirected if network.directed else network, "components", "", WEAK)
        return found | _of(network, "strong_components", "directed ", STRONG) if network.directed else found


def _of(network: Network, kind: str, word: str, method: str) -> Findings:
    """The findings of the largest component of a ``kind``; they are undefined for a graph without vertices."""
    label = on_host(network.compute(kind))
    most = np.bincount(label, minlength=1).argmax()
    found = network.compute("diameter", inside=label == most) if label.size else (float("nan"), float("nan"))
    return {f"{word}{name}": Number(value, method) for name, value in zip(("diameter", "radius"), found, strict=True)}
