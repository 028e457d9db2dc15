"""A worker's part of an evaluation: it opens the graph once, keeps it in memory, and does one task after the other; how
it gets a measure; and the network whose sources of searches and shares of triangles the workers divide.

A built-in measure is found by its name, a custom one in the file of its class. Pickle would look for that class in a
module, which a file that the user names is not. So plain data travels, and each worker reads the same file.

Integers are added as they come in the order of the tasks; floating-point numbers of each source by itself, in the order
of the sources, as one process adds them. So findings have the same bits, whatever the number of workers.
"""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np

from csaw.engine.analytics.clusterings import Clusterings, of_arrays
from csaw.engine.analytics.evaluation import sampled
from csaw.engine.analytics.evaluation.in_window import in_window
from csaw.engine.analytics.evaluation.measuring import Piece, measured
from csaw.engine.analytics.evaluation.networks import Networks
from csaw.engine.analytics.evaluation.options import FLAG, EvaluateOptions, class_of
from csaw.engine.analytics.measure import Findings, Measure, Wanted
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.analytics.passes import stacked
from csaw.engine.analytics.unfinished import Unfinished
from csaw.engine.cluster.executor import Member, Seat, Spread, member_of
from csaw.engine.cluster.recipe import device_of, digest_of, refuse_other_file
from csaw.engine.plan.rates import available_bytes
from csaw.engine.stores import open_samples
from csaw.partition import GraphStore, open_graph
from csaw.partition.base.plain_data import Values
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.versions import drawn_from


@dataclass(frozen=True)
class MeasureRecipe:
    """A measure of the user's own, as plain data.

    ``name``: FILE.py:CLASS, the path in full; ``digest``: the SHA-256 of the file; ``depends``: on what findings depend
    where the evaluation was started, beside the name of the measure, which may be that of a module.
    """

    name: str
    digest: str
    options: Values
    depends: list[object]

    @classmethod
    def of(cls, one: Measure) -> Self:
        """The recipe of a measure; OptionError where its class is in no file."""
        return cls(*_place_of(type(one)), one.parameters(), one.kept_by()[1:])

    def made(self) -> Measure:
        """The measure, of the file that is here.

        StoreError where that is another file, or its class another one, than where the evaluation was started.
        """
        refuse_other_file(Path(self.name.rpartition(":")[0]), self.digest, FLAG)
        one = class_of(self.name)(**self.options)
        if one.kept_by()[1:] != self.depends:  # by what its file imports, or what a program has set in the class
            raise StoreError(
                f"{self.name} differs here from the measure where the evaluation was started; install the same "
                "modules that its file imports, define all attributes in the class itself, and start again if "
                "the file has changed"
            )
        return one


Sent: TypeAlias = Measure | MeasureRecipe
"""A measure, as tasks have it."""


def sent(one: Measure) -> Sent:
    """The measure for a task; OptionError where its class is in no file."""
    return MeasureRecipe.of(one) if _is_own(type(one)) else one


def made(one: Sent) -> Measure:
    """The measure of a task; errors as for :meth:`MeasureRecipe.made`."""
    return one.made() if isinstance(one, MeasureRecipe) else one


def refuse_without_file(wanted: Wanted) -> None:
    """OptionError where a measure, as a caller has it, is a class of the user's own that is in no file."""
    kind = wanted if isinstance(wanted, type) else type(wanted)
    if issubclass(kind, Measure) and _is_own(kind):
        _place_of(kind)


def _is_own(kind: type[Measure]) -> bool:
    return not kind.__module__.startswith("csaw.")


def _place_of(kind: type[Measure]) -> tuple[str, str]:
    """The name FILE.py:CLASS of a class, the path in full, and the SHA-256 of the file.

    OptionError where it is in none that a worker could read: a program that runs would run again there.
    """
    if (known := vars(kind).get("csaw_file")) is not None:
        return known
    module, name = sys.modules.get(kind.__module__), kind.__name__
    file = Path(getattr(module, "__file__", None) or "").absolute()
    is_there = getattr(module, name, None) is kind and file.suffix == ".py" and file.is_file()
    if kind.__module__ == "__main__" or not is_there:
        raise OptionError(
            f"--cluster: workers read the class of a measure from a file, but {name} is in the running program or "
            f"in no file; write it to a separate file, and give measures='FILE.py:{name}'"
        )
    return f"{file}:{name}", digest_of(file, FLAG)


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
            store = in_window(open_graph(drawn_from(self.given.path, self.given.fingerprint)), self.wish)
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


SOURCES = 64  # of a task: a word of those that search together
RESULT_BYTES = 8 << 20  # of a task of betweenness


class SpreadNetwork:
    """A network, as measures read it, that is in the memory of workers: of the measure ``one`` in the run ``name``.

    ``kind``: "" for the graph as it is, or undirected.
    """

    xp, device = np, "cpu"
    unfinished = Unfinished()  # keeps nothing

    def __init__(self, store: GraphStore, spread: Spread, name: str, one: Sent, kind: str = "") -> None:
        self.store, self.spread, self.asked = store, spread, (name, one, kind)
        self.vertices, self.directed = store.vertices, store.directed and not kind

    @cached_property
    def edges(self) -> int:
        """Entries of all rows."""
        return next(self.spread(count_edges, [self.asked])) if self.asked[2] else self.store.edges

    @cached_property
    def degrees(self) -> np.ndarray:
        """int64 [V]: entries of each row."""
        return next(self.spread(degrees_of, [self.asked]))

    @cached_property
    def undirected(self) -> "SpreadNetwork":
        """The simple undirected graph."""
        return SpreadNetwork(self.store, self.spread, *self.asked[:2], "undirected")

    def compute(self, what: str, **options: Any) -> Any:
        """Compute ``what`` of the workers' parts."""
        return getattr(self, f"_{what}")(**options)

    def _components(self) -> np.ndarray:
        return next(self.spread(computed, [(*self.asked, "components", {})]))

    def _hops(self, sources: np.ndarray) -> np.ndarray:
        words = [sources[k : k + SOURCES] for k in range(0, sources.size, SOURCES)]
        tasks = [(*self.asked, "hops", {"sources": word}) for word in words]
        return stacked(list(self.spread(computed, tasks)))

    def _betweenness(self, sources: np.ndarray) -> np.ndarray:
        size = min(SOURCES, max(1, RESULT_BYTES // (8 * max(self.vertices, 1))))
        total = np.zeros(self.vertices)
        tasks = [(*self.asked, sources[k : k + size]) for k in range(0, sources.size, size)]
        for part in self.spread(betweenness_of_each, tasks):
            for one in part:
                total += one
        return total

    def _clustering(self, triangles: np.ndarray) -> Clusterings:
        return of_arrays(self.degrees, triangles)

    def _triangles(self, each: bool = True) -> tuple[int, np.ndarray | None]:
        shares = self.spread.workers
        tasks = [(*self.asked, each, (k, shares)) for k in range(shares)]
        parts = list(self.spread(triangles_of_share, tasks))
        counted = [part for part in parts if part is not None]
        if len(counted) < len(parts):
            return next(self.spread(all_triangles, [(*self.asked, each)]))
        of_vertices = [counts for _, counts in counted if counts is not None]
        return sum(total for total, _ in counted), reduce(np.add, of_vertices) if each else None
