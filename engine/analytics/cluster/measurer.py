"""A worker's part of an evaluation: it opens the graph once, keeps it in memory, and does one task after the other."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from csaw.engine.analytics.cluster.measure_recipe import Sent, made
from csaw.engine.analytics.evaluation import sampled
from csaw.engine.analytics.evaluation.in_window import in_window
from csaw.engine.analytics.evaluation.measuring import Piece, measured
from csaw.engine.analytics.evaluation.networks import Networks
from csaw.engine.analytics.evaluation.options import EvaluateOptions
from csaw.engine.analytics.measure import Findings
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.cluster.executor import Member, Seat, member_of
from csaw.engine.cluster.recipe import device_of
from csaw.engine.plan.rates import available_bytes
from csaw.engine.stores import open_samples
from csaw.partition import open_graph
from csaw.partition.errors import StoreError

Result = TypeVar("Result")
Count = tuple[int, np.ndarray | None]
"""Triangles of a graph, and of each vertex, int64 [V], or None."""


@dataclass(frozen=True)
class Given:
    """A request for an evaluation: the graph at ``path``, which has this ``fingerprint``, with the options ``wish``."""

    path: str
    fingerprint: str
    wish: EvaluateOptions


class Measurer(Member):
    """A worker's graph and its devices, which the tasks of an evaluation use: the member of its run.

    All work is done in one thread, since a GPU's memory belongs to the thread that has opened it.
    """

    def __init__(self, given: Given) -> None:
        self.given = given

    def setup(self, seat: Seat) -> None:
        self.worker, wish = seat.worker, self.given.wish
        memory = None if seat.memory is None else min(available_bytes(), seat.memory)
        self.wish = replace(
            wish,
            device=device_of(wish.device, seat.number),
            threads=wish.threads or seat.threads,
            memory=memory if wish.memory is None else wish.memory,
        )
        self.thread = ThreadPoolExecutor(1)
        self.networks: Networks | None = None

    def teardown(self) -> None:
        self.thread.submit(self._close)
        self.thread.shutdown(wait=False)

    def _close(self) -> None:
        if self.networks is not None:
            self.networks.__exit__()

    def on(self, work: Callable[[Networks], Result]) -> Result:
        """Return the result of ``work`` on the graph. Raises StoreError where another graph is at its path."""
        return self.thread.submit(lambda: work(self._opened())).result()

    def _opened(self) -> Networks:
        if self.networks is None:
            store = in_window(open_graph(self.given.path), self.wish)
            if store.fingerprint != self.given.fingerprint:
                raise StoreError(
                    f"worker {self.worker}: {self.given.path} has the fingerprint {store.fingerprint}, expected "
                    f"{self.given.fingerprint}, as on the machine that started the evaluation; copy the same "
                    "graph there"
                )
            self.networks = Networks(store, self.wish, alone=False)
        return self.networks


def _on(name: str, work: Callable[[Networks], Result]) -> Result:
    found = member_of(name)
    assert isinstance(found, Measurer)
    return found.on(work)


def graph_of(networks: Networks, one: Sent, kind: str) -> Network:
    """The graph that a measure reads: as it is, or ``undirected``."""
    network = networks.of(made(one))
    return network.undirected if kind == "undirected" else network


def find(name: str, one: Sent) -> Findings:
    """The task of a whole measure of the graph."""

    def work(networks: Networks) -> Findings:
        measure = made(one)
        return measure.findings(networks.of(measure))

    return _on(name, work)


def find_in_sample(
    name: str, path: str, algo: str | None, instances: Sequence[tuple[int, int]], measures: Sequence[Sent], as_: str
) -> list[Piece]:
    """The task of some measures of some instances of a sample, by ranges."""

    def work(networks: Networks) -> list[Piece]:
        samples = open_samples(path, networks.store.path, algo)
        sampled.check(samples, networks.store)
        wanted = list(map(made, measures))
        return [measured(samples, networks.host, some, wanted, as_) for some in instances]

    return _on(name, work)


def count_edges(name: str, one: Sent, kind: str) -> int:
    """The task of counting the entries of all rows."""
    return _on(name, lambda networks: graph_of(networks, one, kind).edges)


def degrees_of(name: str, one: Sent, kind: str) -> np.ndarray:
    """The task of counting the entries of each row: int64 [V]."""
    return _on(name, lambda networks: on_host(graph_of(networks, one, kind).degrees))


def computed(name: str, one: Sent, kind: str, what: str, options: dict[str, np.ndarray]) -> np.ndarray:
    """The task of computing ``what`` of the graph with these options."""
    return _on(name, lambda networks: on_host(graph_of(networks, one, kind).compute(what, **options)))


def betweenness_of_each(name: str, one: Sent, kind: str, sources: np.ndarray) -> np.ndarray:
    """The task of betweenness from each of some sources: float64 [sources, V].

    They are not added here, since the order of a sum decides its bits.
    """

    def work(networks: Networks) -> np.ndarray:
        network = graph_of(networks, one, kind)
        return np.array(
            [on_host(network.compute("betweenness", sources=sources[k : k + 1])) for k in range(sources.size)]
        )

    return _on(name, work)


def triangles_of_share(name: str, one: Sent, kind: str, each: bool, share: tuple[int, int]) -> Count | None:
    """The task of counting a share of the triangles; None on a GPU, which counts all of them at once."""

    def work(networks: Networks) -> Count | None:
        network = graph_of(networks, one, kind)
        return network.compute("triangles", each=each, share=share) if network.device == "cpu" else None

    return _on(name, work)


def all_triangles(name: str, one: Sent, kind: str, each: bool) -> Count:
    """The task of counting all triangles on one device."""

    def work(networks: Networks) -> Count:
        total, counts = graph_of(networks, one, kind).compute("triangles", each=each)
        return total, None if counts is None else on_host(counts)

    return _on(name, work)
