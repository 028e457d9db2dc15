"""A sample by the workers of a Dask cluster: this process begins the store, hands out units of groups, and seals the store."""

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from csaw.engine.cluster.clusters import Cluster, connected
from csaw.engine.cluster.recipe import SPARED, Recipe, check_device
from csaw.engine.cluster.unstarted import is_unstarted, plans_here
from csaw.engine.plan.machine import available_bytes
from csaw.engine.plan.plan import Plan
from csaw.engine.runs.run import Job, Times, manifest, stored_as, summed_up
from csaw.engine.samples import open_samples
from csaw.engine.samples.draft import marker_path
from csaw.engine.samples.writer import SampleWriter
from csaw.engine.schedule.workers import Totals
from csaw.partition import GraphStore
from csaw.partition.base.kernel_time import Stopwatch, compiled
from csaw.partition.base.parallel import processors
from csaw.partition.errors import ClusterError, StoreError

log = logging.getLogger(__name__)
SECONDS_TO_PLAN = 600
SECONDS_TO_SEE = 120  # until groups that others have written are seen here: file systems of networks may keep old lists of names for a minute


def sample_on_cluster(graph: str | Path | GraphStore, out: str | Path, algo: str = "deepwalk", *, cluster: str, resume: bool = False, overwrite: bool = False,
                      virtual: bool = False, progress: Callable[[int], None] | None = None,
                      began: Callable[[int], None] = lambda instances: None, **given: Any) -> dict[str, Any]:  # fmt: skip
    """Draw a sample into the store ``out`` by the workers of a Dask cluster.

    Arguments:

    graph, algo, given: as for :func:`prepare`. Device, threads and memory are those of each worker, which sees the graph and ``out`` under the same paths.
    out, resume, overwrite, progress: as for :func:`execute`.
    cluster: a scheduler's address or file, ``local:N``, ``slurm:N``, ``lsf:N`` or ``mpi``.
    virtual: ``graph`` is the path of a virtual sample, which says what to sample (default: False).
    began: called with the number of instances of the sample before the first is drawn (default: nothing is).

    Returns the summary of the run, with what each of the ``workers`` did. The store has the bytes of one that a single machine writes, except ``results``.

    Errors: those of :func:`execute`; ClusterError where the cluster cannot be used or is lost, StoreError where a worker has another csaw or another graph.
    """
    watch, before, where = Stopwatch(), compiled(), Cluster.of(cluster)
    recipe = recipe_of(where, graph, out, algo, given, virtual)
    job = recipe.here()
    with SampleWriter(out, manifest(job), resume=resume, overwrite=overwrite, **stored_as(job)) as writer:
        if writer.finished:
            return open_samples(out).results | {"resumed": "nothing was missing"}
        earlier = len(writer.done)
        with connected(where) as client, run_on(client, recipe, where) as name:
            plans = plans_on(client, name)
            began(job.plan.request.instances)
            working = Stopwatch()
            tasks = _drawn(client, name, writer, progress, plans)
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


def plan_on_cluster(graph: str | Path | GraphStore, out: str | Path, algo: str = "deepwalk", *, cluster: str, virtual: bool = False,
                    **given: Any) -> tuple[Job, dict[str, Plan | str]]:  # fmt: skip
    """The job as this process sees it, and the plan of each worker of a cluster by its name, or why it has none; nothing is sampled.

    A cluster that the run itself would start is not started: its workers are planned here, jobs as on machines such as this one. Errors as :func:`sample_on_cluster`.
    """
    where = Cluster.of(cluster)
    recipe = recipe_of(where, graph, out, algo, given, virtual)
    job = recipe.here()
    if is_unstarted(where):
        return job, plans_here(where, recipe)
    with connected(where) as client, run_on(client, recipe, where) as name:
        return job, _planned(client, name)


def recipe_of(where: Cluster, graph: str | Path | GraphStore, out: str | Path, algo: str, given: Mapping[str, Any], virtual: bool) -> Recipe:  # fmt: skip
    """The recipe of a run on a cluster. The workers of a local one share this machine's processors and memory."""
    check_device(given.get("device"), where.is_local)
    recipe = Recipe.of(graph, out, algo, given, virtual)
    if not where.is_local:
        return recipe
    return recipe.with_given(
        threads=max(1, processors() // where.workers), memory=max(1, available_bytes() // where.workers)
    )


@contextmanager
def run_on(client: Any, recipe: Recipe, where: Cluster) -> Iterator[str]:
    """Register a run with all workers, those that come later too, and yield its name. At the end, also after Ctrl-C, workers drop it.

    ClusterError where a worker has another csaw; it names the first one.
    """
    from csaw.engine.cluster.drawer import Drawing
    from csaw.engine.cluster.joined import joined

    with joined(client, lambda name: Drawing(recipe, name, where.is_local)) as name:
        yield name


def plans_on(client: Any, name: str) -> dict[str, Plan]:
    """The plans of the workers, by their names. What keeps one from its work is logged with its name, and raised where it keeps all."""
    planned = _planned(client, name, begun=True)
    found = {worker: one for worker, one in planned.items() if isinstance(one, Plan)}
    for one in planned.values():
        if not isinstance(one, Plan):
            log.warning("%s", one)
    return found


def _planned(client: Any, name: str, *, begun: bool = False) -> dict[str, Any]:
    from csaw.engine.cluster.drawer import Unable, plan

    futures = {
        address: client.submit(plan, name, begun, workers=[address], pure=False) for address in client.nthreads()
    }
    found: dict[str, Any] = {}
    refused: list[Unable] = []
    for address, future in futures.items():
        one = _result(client, address, future)
        if isinstance(one, Unable):
            refused.append(one)
            found[one.worker] = str(one)
        elif one is not None:
            found[one[0]] = one[1]
    fatal = [one for one in refused if not isinstance(one.error, SPARED)] if begun else []
    if fatal or (refused and begun and len(refused) == len(found)):
        worst = (fatal or refused)[0]
        raise type(worst.error)(str(worst))
    return found


def _result(client: Any, address: str, future: Any) -> Any:
    """The result of a task that is bound to one worker; None where that has gone."""
    end = time.monotonic() + SECONDS_TO_PLAN
    while time.monotonic() < end:
        with suppress(TimeoutError):
            return future.result(timeout=0.5)
        if address not in client.nthreads():
            future.cancel()
            return None
    raise ClusterError(f"worker {address} has not planned its run in {SECONDS_TO_PLAN} seconds; look what it does")


def _drawn(client: Any, name: str, writer: SampleWriter, progress: Callable[[int], None] | None, plans: Mapping[str, Plan]) -> Any:  # fmt: skip
    from csaw.engine.cluster.drawer import groups_at_once
    from csaw.engine.cluster.tasks import Tasks

    together = max((groups_at_once(plan) for plan in plans.values() if plan.residency.streams), default=1)
    tasks = Tasks(client, name, writer, progress, together)
    tasks.run()
    return tasks


def _see_all(writer: SampleWriter) -> None:
    """Wait until this process sees the groups that others have committed. StoreError where it does not: then they were written elsewhere."""
    end = time.monotonic() + SECONDS_TO_SEE
    while missing := _unseen(writer):
        if time.monotonic() > end:
            raise StoreError(
                f"{writer.partial}: workers have written group {missing[0]}, and it is not there; all of them must see this folder under the same path, on a file system that they share"
            )
        time.sleep(0.5)


def _unseen(writer: SampleWriter) -> list[int]:
    names = set(os.listdir(writer.partial / "groups")) if (writer.partial / "groups").exists() else set()
    return [g for g in range(writer.groups) if marker_path(writer.partial, g).name not in names]


def _totals(tasks: Any) -> Totals:
    """The counts of all processes of workers, and the largest of their times."""
    totals = Totals()
    for report in tasks.reports.values():
        totals.add(report.totals)
    totals.edges, totals.dead_ends = tasks.edges, tasks.dead_ends
    return totals


def _workers(tasks: Any) -> dict[str, dict[str, Any]]:
    """What each worker did, those too that have died since."""
    found: dict[str, dict[str, Any]] = {}
    for report in tasks.reports.values():
        each = found.setdefault(report.worker, {"busy_seconds": 0.0, "sampling_seconds": 0.0, "bytes_written": 0})
        each["busy_seconds"] = round(each["busy_seconds"] + report.busy_seconds, 6)
        each["sampling_seconds"] = round(each["sampling_seconds"] + report.totals.seconds, 6)
        each["bytes_written"] += report.bytes_written
    return dict(sorted(found.items()))
