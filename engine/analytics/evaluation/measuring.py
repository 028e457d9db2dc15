"""Measures of a graph and of its samples, in this process; a cluster has a class with the same abilities."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.evaluation import profiles, sampled
from csaw.engine.analytics.evaluation.networks import Networks
from csaw.engine.analytics.evaluation.options import EvaluateOptions
from csaw.engine.analytics.measure import Findings, Measure
from csaw.partition import GraphStore
from csaw.partition.graph.attributes import identity

Progress = Callable[[str], object]
Piece = tuple[Findings, np.ndarray]
"""Findings of a graph that was sampled, and the dense ids of its vertices in the graph, ascending."""


class Measuring:
    """Measures the graph ``store`` as ``wish`` says, one measure after the other."""

    def __init__(self, store: GraphStore, wish: EvaluateOptions) -> None:
        self.store, self.wish, self.networks = store, wish, Networks(store, wish)

    @property
    def host(self) -> HostNetwork:
        """The graph in the memory of this process."""
        return self.networks.host

    def profile(self, measures: Sequence[Measure], progress: Progress) -> dict[str, Findings]:
        """What each measure finds of the graph, by its name: as it is kept, or measured now."""
        found: dict[str, Findings] = {}
        for one in measures:
            progress(f"{one.name()} of {self.store.path}{self.networks.aside(one)}")
            found[one.name()] = profiles.findings_of(
                identity(self.store.attributes), one, self.networks.findings, refresh=self.wish.refresh
            )
        return found

    def of_sample(self, samples: Any, measures: Sequence[Measure], progress: Progress) -> list[Piece]:
        """What the measures find of a sample: of all its instances together, or of each."""
        each, found = self.wish.instances == "each", []
        for first, last in sampled.pieces(samples, each=each):
            progress(f"{samples.path}{f', instance {first}' if each else ''}")
            found.append(measured(samples, self.host, (first, last), measures, self.wish.as_))
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.networks.__exit__()


def measured(samples: Any, host: HostNetwork, instances: tuple[int, int], measures: Sequence[Measure], as_: str) -> Piece:  # fmt: skip
    """What the measures find of the graph of some instances, from the first to before the second."""
    held = sampled.held(samples, host, *instances)
    graph = sampled.drawn(held, host) if as_ == "drawn" else sampled.induced(held, host)
    found: Findings = {}
    for one in measures:
        found |= {} if one.reads_weights else one.findings(graph.network)
    graph.network.close()
    return found, graph.vertices
