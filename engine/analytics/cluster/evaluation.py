"""An evaluation by the workers of a Dask cluster.

This process hands out measures, or parts of them, and puts the findings together in the order of the tasks.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Self, cast

from csaw.engine.analytics.cluster.measurer import (
    Given,
    Measurer,
    SpreadNetwork,
    find,
    find_in_sample,
    refuse_without_file,
    sent,
)
from csaw.engine.analytics.computations import DIVIDED
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.evaluation import profiles, sampled
from csaw.engine.analytics.evaluation.evaluate import Evaluation, evaluate
from csaw.engine.analytics.evaluation.measuring import Piece, Progress
from csaw.engine.analytics.evaluation.options import EvaluateOptions
from csaw.engine.analytics.measure import Findings, Measure
from csaw.engine.analytics.network import Network
from csaw.engine.cluster.clusters import Cluster, opened
from csaw.engine.cluster.executor import Spread
from csaw.engine.cluster.recipe import check_device
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.rates import available_bytes
from csaw.engine.samples import Samples
from csaw.partition import GraphStore, open_graph
from csaw.partition.base.parallel import processors
from csaw.partition.base.plain_data import OptionValue
from csaw.partition.base.python_names import with_names
from csaw.partition.base.stages import step
from csaw.partition.errors import OptionError

SAFE = "what whole measures have found of the graph is kept; run it again"
TASKS_OF_SAMPLE = 64  # into which the instances of a sample are put, where each is evaluated by itself


def evaluate_on_cluster(
    graph: str | Path | GraphStore,
    samples: Sequence[str | Path | Samples] = (),
    *,
    cluster: str,
    progress: Progress = lambda doing: None,
    **options: OptionValue,
) -> Evaluation:
    """Do what :func:`evaluate` does by the workers of a Dask cluster, which see all stores under the same paths.

    The findings have the same bits.

    Triangles, hops and betweenness are divided among the workers; of other measures, each is a task, of the graph and
    of each sample, and so are some instances where each is evaluated by itself. Visits of samples are counted in this
    process. ``device``, ``memory`` and ``threads`` are those of each worker.

    cluster: a scheduler's address or file, ``local:N``, ``slurm:N``, ``lsf:N`` or ``mpi``.

    Errors: those of ``evaluate``; OptionError for a graph or samples in memory; ClusterError where the cluster cannot
    be used or is lost; StoreError where a worker has another graph.
    """
    where = Cluster.of(cluster)
    store = graph if isinstance(graph, GraphStore) else open_graph(graph)
    check_device(options.get("device"), where.is_local)
    for what, given in [("graph", store), *(("sample", one) for one in samples)]:
        if getattr(given, "in_memory", False) or (isinstance(given, Samples) and not Path(given.path).exists()):
            raise OptionError(
                f"--cluster: workers cannot read a {what} in this process's memory; write it to a store first"
            )
    wish = EvaluateOptions.of(options)[0]
    if wish.exchange or wish.residency is Residency.POOLED:
        option = f"exchange {wish.exchange}" if wish.exchange else f"residency {wish.residency}"
        raise OptionError(
            f"--cluster: a worker measures on at most one GPU, but --{option} is for several; leave out --cluster "
            "or this option"
        )
    for one in wish.measures or ():
        refuse_without_file(one)
    with ExitStack() as stack:

        def measuring(store: GraphStore, wish: EvaluateOptions) -> "SpreadMeasuring":
            return stack.enter_context(spread_measuring(where, store, wish))

        return evaluate(store, samples, progress=progress, measuring=measuring, **options)


@contextmanager
def spread_measuring(where: Cluster, store: GraphStore, wish: EvaluateOptions) -> Iterator["SpreadMeasuring"]:
    """Measures by the workers of a cluster."""

    given = Given(str(store.path.absolute()), store.fingerprint, _of_worker(wish, where))
    with opened(where, SAFE) as executor, executor.joined(Measurer(given)) as name:
        yield SpreadMeasuring(store, wish, Spread(executor), name)


def _of_worker(wish: EvaluateOptions, where: Cluster) -> EvaluateOptions:
    """The options of a worker, whose tasks say what to measure. Those of a local cluster share this machine."""
    wish = replace(wish, measures=None)
    if not where.is_local:
        return wish
    return replace(
        wish,
        threads=wish.threads or max(1, processors() // where.workers),
        memory=wish.memory if wish.memory is not None else max(1, available_bytes() // where.workers),
    )


class SpreadMeasuring:
    """Measures a graph and its samples by tasks of the run ``name``: the twin of Measuring for clusters."""

    def __init__(self, store: GraphStore, wish: EvaluateOptions, spread: Spread, name: str) -> None:
        self.store, self.wish, self.spread, self.name = store, wish, spread, name

    @cached_property
    def host(self) -> HostNetwork:
        """The graph in the memory of this process, for visits."""
        return HostNetwork(self.store, memory=self.wish.memory, threads=self.wish.threads)

    def profile(self, measures: Sequence[Measure], progress: Progress) -> dict[str, Findings]:
        """Return the findings of each measure by its name: as they are kept, or measured now, all at the same time."""
        kept = partial(profiles.findings_of, self.store.identity, find=self._findings, refresh=self.wish.refresh)
        found: dict[str, Findings] = {}
        threads = ThreadPoolExecutor(max(1, len(measures)))
        try:
            coming = [threads.submit(kept, one) for one in measures]
            for number, (one, findings) in enumerate(zip(measures, coming, strict=True), 1):
                step(number)
                progress(with_names(f"{one.name()} of {self.store.path}"))
                found[one.name()] = findings.result()
        except BaseException:
            self.spread.stop()
            raise
        finally:
            threads.shutdown(cancel_futures=True)
        return found

    def _findings(self, one: Measure) -> Findings:

        if one.needs_only(DIVIDED, self.store.directed):
            return one.findings(cast(Network, SpreadNetwork(self.store, self.spread, self.name, sent(one))))
        return next(self.spread(find, [(self.name, sent(one))]))

    def of_sample(self, samples: Samples, measures: Sequence[Measure], progress: Progress) -> list[Piece]:
        """Return the findings of a sample.

        All its instances together are a task for each measure; of each by itself, some instances are a task.
        """

        pieces = list(sampled.pieces(samples, each=self.wish.per_instance))
        task = partial(_task, self.name, str(samples.path.absolute()), samples.algo, self.wish.as_)
        progress(f"{samples.path}, {len(pieces):,} instances" if len(pieces) > 1 else f"{samples.path}")
        if len(pieces) > 1:
            size = -(-len(pieces) // TASKS_OF_SAMPLE)
            tasks = [task(pieces[k : k + size], measures) for k in range(0, len(pieces), size)]
            return [one for found in self.spread(find_in_sample, tasks) for one in found]
        each = [found for [found] in self.spread(find_in_sample, [task(pieces, [one]) for one in measures])]
        return [({name: one for findings, _ in each for name, one in findings.items()}, each[0][1])]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if "host" in vars(self):
            self.host.close()


def _task(
    name: str, path: str, algo: str | None, as_: str, pieces: Sequence[tuple[int, int]], measures: Sequence[Measure]
) -> tuple[object, ...]:
    """The arguments of ``find_in_sample``."""
    return name, path, algo, pieces, list(map(sent, measures)), as_
