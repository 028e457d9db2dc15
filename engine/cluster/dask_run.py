"""A sample by the workers of a cluster: this process begins the store, hands out units of groups, and seals the
store.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from csaw.engine.api.registry import Algo
from csaw.engine.cluster.clusters import Cluster
from csaw.engine.cluster.drawer import Drawing, Unable, groups_at_once, plan
from csaw.engine.cluster.executor import Executor, ResultLost, WorkerDied
from csaw.engine.cluster.opening import opened
from csaw.engine.cluster.recipe import SPARED, Recipe, check_device
from csaw.engine.cluster.tasks import SAFE, Tasks
from csaw.engine.cluster.under_way import UnderWay
from csaw.engine.cluster.unstarted import is_unstarted, plans_here
from csaw.engine.plan.machine import available_bytes
from csaw.engine.plan.plan import Plan
from csaw.engine.runs.job import Job, manifest, stored_as
from csaw.engine.runs.summary import Times, summed_up
from csaw.engine.samples import open_stored
from csaw.engine.samples.draft import marker_path
from csaw.engine.samples.writer import SampleWriter
from csaw.engine.schedule.workers import Totals
from csaw.partition import GraphStore
from csaw.partition.base.kernel_time import Stopwatch, compiled
from csaw.partition.base.parallel import processors
from csaw.partition.base.plain_data import OptionValue, Record
from csaw.partition.base.stages import SAMPLING, WRITING, course
from csaw.partition.errors import ClusterError, CsawError, StoreError

log = logging.getLogger(__name__)
SECONDS_TO_PLAN = 600
# until groups that others have written are seen here: file systems of networks may keep old lists of names for a minute
SECONDS_TO_SEE = 120


def sample_on_cluster(
    graph: str | Path | GraphStore,
    out: str | Path,
    algo: Algo = "deepwalk",
    *,
    cluster: str,
    resume: bool = False,
    overwrite: bool = False,
    virtual: bool = False,
    progress: Callable[[int], None] | None = None,
    began: Callable[[int], None] = lambda instances: None,
    **given: OptionValue,
) -> Record:
    """Draw a sample into the store ``out`` by the workers of a Dask cluster.

    Device, threads and memory are those of each worker, which sees the graph and ``out`` under the same paths. The
    store has the bytes of one that a single machine writes, except ``results``.

    Args:
        graph: the graph store to sample, or its path.
        out: path of the sample store to write.
        algo: the name of an algorithm, or ``FILE.py:CLASS``.
        cluster: a scheduler's address or file, ``local:N``, ``slurm:N``, ``lsf:N`` or ``mpi``.
        virtual: ``graph`` is the path of a virtual sample, which says what to sample.
        resume: as of :func:`execute`.
        overwrite: as of :func:`execute`.
        progress: as of :func:`execute`.
        began: called with the number of instances of the sample before the first is drawn.
        **given: as of :func:`prepare`.

    Returns:
        The summary of the run, with what each of the ``workers`` did.

    Raises:
        ClusterError: the cluster cannot be used or is lost.
        StoreError: a worker has another csaw or another graph, and as of :func:`execute`.
        CsawError: as of :func:`execute`.
    """
    watch, before, where = Stopwatch(), compiled(), Cluster.of(cluster)
    recipe = recipe_of(where, graph, out, algo, given, virtual)
    job = recipe.here()
    with (
        course(SAMPLING, WRITING),
        SampleWriter(out, manifest(job), resume=resume, overwrite=overwrite, **stored_as(job)) as writer,
    ):
        if writer.finished:
            return open_stored(out).results | {"resumed": "nothing was missing"}
        earlier = len(writer.done)
        with _workers_of(where, recipe, writer) as (executor, name, plans):
            began(job.plan.request.instances)
            working = Stopwatch()
            tasks = _drawn(executor, name, writer, progress, plans)
            worked = working.read()
        sealing = Stopwatch()
        _see_all(writer)
        writer.seal()
        job = replace(job, plan=next(iter(plans.values()), job.plan))
        times = Times(watch.read(), worked, sealing.read(), compiled() - before)
        writer.bytes_written = sum(report.bytes_written for report in tasks.reports.values())
        results = summed_up(job, writer, _totals(tasks), times, earlier) | {"workers": _workers(tasks)}
        writer.finish(results)
    return results


@contextmanager
def _workers_of(
    where: Cluster, recipe: Recipe, writer: SampleWriter
) -> Iterator[tuple[Executor, str, dict[str, Plan]]]:
    """An executor of the cluster, the name of the run there, and the plans of its workers.

    What is begun without any of that does not stay, since it would be in the way of the next attempt.
    """
    with ExitStack() as stack:
        try:
            executor = stack.enter_context(opened(where, SAFE))
            name = stack.enter_context(executor.joined(Drawing(recipe)))
            plans = plans_on(executor, name)
        except CsawError:
            writer.abandon()
            raise
        yield executor, name, plans


def plan_on_cluster(
    graph: str | Path | GraphStore,
    out: str | Path,
    algo: Algo = "deepwalk",
    *,
    cluster: str,
    virtual: bool = False,
    **given: OptionValue,
) -> tuple[Job, dict[str, Plan | str]]:
    """Plan a run on a cluster without sampling.

    Returns the job as this process sees it, and the plan of each worker by its name, or why it has none.

    A cluster that the run itself would start is not started: its workers are planned here, jobs as on machines such as
    this one. Errors as :func:`sample_on_cluster`.
    """
    where = Cluster.of(cluster)
    recipe = recipe_of(where, graph, out, algo, given, virtual)
    job = recipe.here()
    if is_unstarted(where):
        return job, plans_here(where, recipe)
    with opened(where, SAFE) as executor, executor.joined(Drawing(recipe)) as name:
        return job, _planned(executor, name)


def recipe_of(
    where: Cluster,
    graph: str | Path | GraphStore,
    out: str | Path,
    algo: Algo,
    given: Mapping[str, OptionValue],
    virtual: bool,
) -> Recipe:
    """The recipe of a run on a cluster. The workers of a local one share this machine's processors and memory."""
    check_device(given.get("device"), where.is_local)
    recipe = Recipe.of(graph, out, algo, given, virtual)
    if not where.is_local:
        return recipe
    return recipe.with_given(
        threads=max(1, processors() // where.workers), memory=max(1, available_bytes() // where.workers)
    )


def plans_on(executor: Executor, name: str) -> dict[str, Plan]:
    """The plans of the workers, by their names.

    What keeps one from its work is logged with its name, and raised where it keeps all.
    """
    planned = _planned(executor, name, begun=True)
    found = {worker: one for worker, one in planned.items() if isinstance(one, Plan)}
    for one in planned.values():
        if not isinstance(one, Plan):
            log.warning("%s", one)
    return found


def _planned(executor: Executor, name: str, *, begun: bool = False) -> dict[str, Plan | str]:
    """The plan of each worker by its name, or why it has none."""
    outcomes = _asked(executor, name, begun)
    refused = [one for one in outcomes if isinstance(one, Unable)]
    fatal = [one for one in refused if not isinstance(one.error, SPARED)] if begun else []
    if fatal or (refused and begun and len(refused) == len(outcomes)):
        worst = (fatal or refused)[0]
        raise type(worst.error)(str(worst))
    return dict((one.worker, str(one)) if isinstance(one, Unable) else one for one in outcomes)


def _asked(executor: Executor, name: str, begun: bool) -> list[tuple[str, Plan] | Unable]:
    """Ask each worker for its plan, in the order of their addresses.

    Workers that have gone are left out.
    """
    tasks: UnderWay[str] = UnderWay(executor, SECONDS_TO_PLAN)
    addresses = list(executor.workers)
    said: Record = {}
    for address in addresses:
        tasks.submit(address, plan, name, begun, only=address)
    end = time.monotonic() + SECONDS_TO_PLAN
    while len(tasks):
        if (taken := tasks.take()) is not None:
            address, outcome = taken
            if isinstance(outcome, BaseException) and not isinstance(outcome, WorkerDied | ResultLost):
                raise outcome
            said[address] = outcome
        executor.look()
        for address in set(tasks.tasks.values()) - set(executor.workers):
            tasks.cancel(address)
        if time.monotonic() > end:
            slow = next(iter(tasks.tasks.values()))
            raise ClusterError(f"worker {slow} has not planned its run in {SECONDS_TO_PLAN} seconds; look what it does")
    return [said[address] for address in addresses if not isinstance(said.get(address), BaseException | None)]


def _drawn(
    executor: Executor,
    name: str,
    writer: SampleWriter,
    progress: Callable[[int], None] | None,
    plans: Mapping[str, Plan],
) -> Tasks:
    together = max((groups_at_once(plan) for plan in plans.values() if plan.residency.streams), default=1)
    tasks = Tasks(executor, name, writer, progress, together)
    tasks.run()
    return tasks


def _see_all(writer: SampleWriter) -> None:
    """Wait until this process sees the groups that others have committed.

    StoreError where it does not: then they were written elsewhere.
    """
    end = time.monotonic() + SECONDS_TO_SEE
    while missing := _unseen(writer):
        if time.monotonic() > end:
            raise StoreError(
                f"{writer.partial}: workers have written group {missing[0]}, and it is not there; all of "
                "them must see this folder under the same path, on a file system that they share"
            )
        time.sleep(0.5)


def _unseen(writer: SampleWriter) -> list[int]:
    names = set(os.listdir(writer.partial / "groups")) if (writer.partial / "groups").exists() else set()
    return [g for g in range(writer.groups) if marker_path(writer.partial, g).name not in names]


def _totals(tasks: Tasks) -> Totals:
    """The counts of all processes of workers, and the largest of their times."""
    totals = Totals()
    for report in tasks.reports.values():
        totals.add(report.totals)
    totals.edges, totals.dead_ends = tasks.edges, tasks.dead_ends
    return totals


def _workers(tasks: Tasks) -> dict[str, Record]:
    """Return the work that each worker did, those too that have died since."""
    found: dict[str, Record] = {}
    for report in tasks.reports.values():
        each = found.setdefault(report.worker, {"busy_seconds": 0.0, "sampling_seconds": 0.0, "bytes_written": 0})
        each["busy_seconds"] = round(each["busy_seconds"] + report.busy_seconds, 6)
        each["sampling_seconds"] = round(each["sampling_seconds"] + report.totals.seconds, 6)
        each["bytes_written"] += report.bytes_written
    return dict(sorted(found.items()))
