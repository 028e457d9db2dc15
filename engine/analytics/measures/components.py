"""Connected components: their number and sizes; of a directed graph also the strongly connected ones."""

from typing import ClassVar

import numpy as np

from csaw.engine.analytics.changes import Changes, MeasuredAnew
from csaw.engine.analytics.measure import FIXED, Column, Distribution, Findings, Measure, Number
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.plan.footprint import Footprint


class Components(Measure):
    """Weakly connected components, and in a directed graph also strongly connected ones.

    Weakly connected are vertices with a path between them in the graph without directions, strongly connected those
    that reach each other. The column ``component`` has the smallest dense id of each vertex's component, ``strong
    component`` that of its strongly connected one.
    """

    KEEPS: ClassVar = {"cpu": Footprint(40, ids=2, fixed=FIXED), "cuda": Footprint(36, ids=1, fixed=FIXED)}
    KEEPS_DIRECTED: ClassVar = {"cpu": 4, "cuda": 4}
    paper = (
        "Sutton, Ben-Nun and Barak, IPDPS 2018 (Afforest); Pearce, Information Processing Letters 116(1), "
        "2016; Slota, Rajamanickam and Madduri, IPDPS 2014"
    )

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("components", "strong_components") if directed else ("components",)

    def findings(self, network: Network) -> Findings:
        found = _of("component", on_host(network.compute("components")))
        if network.directed:
            found |= _of("strong component", on_host(network.compute("strong_components")))
        return found

    def updated(self, network: Network, kept: Findings, changes: Changes) -> Findings:
        if network.directed:
            raise MeasuredAnew("new edges may join any number of strongly connected components")
        if (changes.entries.turned < 0).any():
            raise MeasuredAnew("edges were removed")
        labels = kept["component"]
        assert isinstance(labels, Column)
        return _of("component", changes.components(labels.values))


def _of(name: str, smallest: np.ndarray) -> Findings:
    counts = np.bincount(smallest, minlength=1)
    sizes, times = np.unique(counts[counts > 0], return_counts=True)
    largest = int(sizes.max(initial=0))
    return {
        f"{name}s": Number(int(times.sum())),
        f"largest {name}": Number(largest),
        f"share in largest {name}": Number(largest / smallest.size if smallest.size else float("nan")),
        f"{name} size": Distribution(sizes, times, f"vertices of a {name}"),
        name: Column(smallest, kind="label"),
    }
