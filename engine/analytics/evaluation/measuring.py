"""Measuring a graph and its samples in this process; analytics/cluster/evaluation.py has the twin for clusters."""

from collections.abc import Callable, Sequence
from typing import Protocol, Self

import numpy as np

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.evaluation import profiles, sampled
from csaw.engine.analytics.evaluation.networks import Networks
from csaw.engine.analytics.evaluation.options import EvaluateOptions
from csaw.engine.analytics.evaluation.updates import Updates
from csaw.engine.analytics.measure import Findings, Measure
from csaw.engine.samples import Samples
from csaw.partition import GraphStore
from csaw.partition.base.python_names import with_names
from csaw.partition.base.stages import step, tell

Progress = Callable[[str], object]
Piece = tuple[Findings, np.ndarray]
"""Findings of a graph that was sampled, and the dense ids of its vertices in the graph, ascending."""


class Measures(Protocol):
    """Measures a graph and samples of it, in this process or on a cluster."""

    @property
    def host(self) -> HostNetwork:
        """The graph in the memory of this process."""

    def profile(self, measures: Sequence[Measure], progress: Progress) -> dict[str, Findings]:
        """The findings of each measure of the graph, by its name: as they are kept, or measured now."""

    def of_sample(self, samples: Samples, measures: Sequence[Measure], progress: Progress) -> list[Piece]:
        """The findings of the measures of a sample: of all its instances together, or of each."""


class Measuring:
    """Measures the graph ``store`` as ``wish`` says, one measure after the other.

    ``columns``: whether findings of the graph have the values of their columns, or their ends alone.
    """

    def __init__(self, store: GraphStore, wish: EvaluateOptions, *, columns: bool = True) -> None:
        self.store, self.wish, self.networks, self.columns = store, wish, Networks(store, wish), columns
        self.updates = Updates(self.networks)

    @property
    def host(self) -> HostNetwork:
        return self.networks.host

    def profile(self, measures: Sequence[Measure], progress: Progress) -> dict[str, Findings]:
        numbers = {one.name(): number for number, one in enumerate(measures, 1)}

        def find(one: Measure) -> Findings:  # what is kept needs no network, and so no GPU that has its rows
            step(numbers[one.name()])
            progress(with_names(f"{one.name()} of {self.store.path}{self.networks.aside(one)}"))
            found = None if self.wish.refresh else self.updates.findings(one)
            return self.networks.findings(one) if found is None else found

        how = {"refresh": self.wish.refresh, "columns": self.columns}
        return {one.name(): profiles.findings_of(self.store.identity, one, find, **how) for one in measures}

    def of_sample(self, samples: Samples, measures: Sequence[Measure], progress: Progress) -> list[Piece]:
        each, found = self.wish.per_instance, []
        for first, last in sampled.pieces(samples, each=each):
            progress(f"{samples.path}{f', instance {first}' if each else ''}")
            found.append(measured(samples, self.host, (first, last), measures, self.wish.as_))
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.networks.__exit__()


def measured(
    samples: Samples, host: HostNetwork, instances: tuple[int, int], measures: Sequence[Measure], as_: str
) -> Piece:
    """Return the findings of the graph of some instances, from the first of ``instances`` to before the second."""
    held = sampled.held(samples, host, *instances)
    graph = sampled.drawn(held, host) if as_ == "drawn" else sampled.induced(held, host)
    found: Findings = {}
    for done, one in enumerate(measures):
        tell(done, len(measures), "measures")
        found |= {} if one.reads_weights else one.findings(graph.network)
    graph.network.close()
    return found, graph.vertices
