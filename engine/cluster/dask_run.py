"""A sample by the workers of a cluster: this process begins the store, hands out units of groups, and seals the
store.
"""

import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from csaw.engine.api.registry import Algo
from csaw.engine.cluster.clusters import JOBS, Cluster, opened
from csaw.engine.cluster.drawer import Drawing, Report, Unable, draw, groups_at_once, plan
from csaw.engine.cluster.executor import Executor, ResultLost, UnderWay, WorkerDied
from csaw.engine.cluster.recipe import SPARED, Recipe, check_device, device_of, memory_of
from csaw.engine.devices import choice
from csaw.engine.plan.plan import Plan
from csaw.engine.plan.rates import GPU, available_bytes
from csaw.engine.runs.job import Job, manifest, stored_as
from csaw.engine.runs.summary import Times, summed_up
from csaw.engine.samples import open_stored
from csaw.engine.samples.group_writer import GroupWriter
from csaw.engine.samples.place import marker_path
from csaw.engine.samples.writer import SampleWriter
from csaw.engine.schedule.workers import Totals
from csaw.partition import GraphStore
from csaw.partition.base.kernel_time import Stopwatch, compiled
from csaw.partition.base.parallel import processors
from csaw.partition.base.plain_data import OptionValue, Record
from csaw.partition.base.stages import SAMPLING, WRITING, course
from csaw.partition.errors import ClusterError, CsawError, StoreError

# Units of groups as tasks of a cluster: a few for each worker ahead, until all groups are committed, whatever becomes
# of the workers.

log = logging.getLogger(__name__)
UNIT_SECONDS = 1.0  # of work in a task
AHEAD = 2  # tasks of a worker: one that it draws, one that it goes on with
SLOW, SLOW_SECONDS = 4.0, 3.0  # times a usual unit, and seconds, after which an idle worker is given the same one
MOST_DEATHS = 3  # of a group alone in its task; each stands for several workers that died with it, as Dask counts
RESULT_SECONDS = 10.0  # to bring a report, a few hundred bytes; then its worker has died with it
SAFE = "finished groups are safe; --resume completes the rest, on a cluster or on one machine"


@dataclass(eq=False)
class Unit:
    """Groups that are drawn together, by one task, or by two if the first one's worker is slow."""

    groups: Sequence[int]
    deaths: int = 0
    began: float = 0.0


class Tasks:
    """Has the workers of an executor draw the missing groups of ``writer`` in the run ``name``.

    ``reports`` has the last report of each process.

    ``together``: groups that a worker should be given at a time, however long they take, because it reads its graph
    from disk again for each unit.
    """

    def __init__(
        self,
        executor: Executor,
        name: str,
        writer: GroupWriter,
        progress: Callable[[int], None] | None,
        together: int = 1,
    ) -> None:
        self.executor, self.name, self.writer, self.progress, self.together = executor, name, writer, progress, together
        self.left = deque(g for g in range(writer.groups) if g not in writer.done)
        self.again: deque[Unit] = deque()
        self.out: UnderWay[Unit] = UnderWay(executor, RESULT_SECONDS)
        self.aside: dict[str, Unable] = {}
        self.pace = 0.0  # seconds of a group
        self.instances = sum(map(writer.rows, writer.done))
        self.edges = self.dead_ends = 0
        self.reports: dict[str, Report] = {}

    def run(self) -> None:
        """Return when all groups are committed.

        Raises what a worker raised that no other could help; ClusterError where the cluster is lost.
        """
        try:
            while self.left or self.again or self.out:
                self._look()
                self._hand_out()
                if (taken := self.out.take()) is not None:
                    self._take_in(*taken)
        finally:
            self.out.cancel()

    def _look(self) -> None:
        """See which workers there are, and whether one of them can draw."""
        if self.executor.look() and self.workers and not self.workers - self.aside.keys():
            raise self._none_able()

    @property
    def workers(self) -> set[str]:
        """The addresses of those that are there."""
        return set(self.executor.workers)

    def _none_able(self) -> CsawError:
        """The error of all workers: that of the first one, with its name."""
        said = [unable for address, unable in self.aside.items() if address in self.workers]
        error = said[0].error
        others = f"; {len(said) - 1} more failed, too" * (len(said) > 1)
        kind = type(error) if isinstance(error, CsawError) else ClusterError
        return kind(f"{said[0]}{others}" + f"; {SAFE}" * ("--resume" not in str(error)))

    def _hand_out(self) -> None:
        able = self.workers - self.aside.keys()
        while (self.again or self.left) and len(self.out) < AHEAD * len(able):
            self._submit(self.again.popleft() if self.again else Unit(self._next_groups(len(able))))
        if not (self.again or self.left) and len(self.out) < len(able):
            self._overtake()

    def _next_groups(self, workers: int) -> list[int]:
        """The next groups, of about a second; fewer towards the end, so that all workers end together."""
        most = int(UNIT_SECONDS / self.pace) if self.pace else 1
        size = max(1, min(most, len(self.left) // (AHEAD * workers)), min(self.together, -(-len(self.left) // workers)))
        return [self.left.popleft() for _ in range(min(size, len(self.left)))]

    def _submit(self, unit: Unit) -> None:
        able = self.workers - self.aside.keys() if self.aside else ()
        unit.began = time.monotonic()
        self.out.submit(unit, draw, self.name, unit.groups, rather=able)

    def _overtake(self) -> None:
        """Give the unit that takes longest to an idle worker, too.

        Both write the same bytes, and the first report counts.
        """
        units = list(self.out.tasks.values())
        limit = max(SLOW_SECONDS, SLOW * self.pace * max((len(unit.groups) for unit in units), default=1))
        late = [unit for unit in units if self.out.number_of(unit) == 1 and time.monotonic() - unit.began > limit]
        if late:
            self._submit(min(late, key=lambda unit: unit.began))

    def _take_in(self, unit: Unit, outcome: object) -> None:
        if isinstance(outcome, Report):
            self._done(unit, outcome)
        elif isinstance(outcome, Unable):
            self._set_aside(outcome)
            self._once_more(unit)
        elif isinstance(outcome, WorkerDied):
            self._died(unit, outcome)
        elif isinstance(outcome, ResultLost):
            if not self.executor.is_reached:
                raise self.executor.lost()
            self._once_more(unit)
        elif self.out.may_try_again(unit, outcome, f"groups {unit.groups[0]} to {unit.groups[-1]} are drawn"):
            self._once_more(unit)
        else:
            assert isinstance(outcome, BaseException)
            raise outcome

    def _done(self, unit: Unit, report: Report) -> None:
        self.out.cancel(unit)
        seconds = report.seconds / len(unit.groups)
        self.pace = (self.pace + seconds) / 2 if self.pace else seconds
        self.reports[report.process] = report
        self.edges, self.dead_ends = self.edges + report.edges, self.dead_ends + report.dead_ends
        self.writer.note(unit.groups)
        self.instances += sum(map(self.writer.rows, unit.groups))
        if self.progress:
            self.progress(self.instances)

    def _once_more(self, unit: Unit) -> None:
        if not self.out.number_of(unit):
            self.again.append(unit)

    def _set_aside(self, unable: Unable) -> None:
        if not unable.alone:
            raise unable.error
        if unable.address not in self.aside:
            self.aside[unable.address] = unable
            if self.workers - self.aside.keys():  # otherwise the error that ends the run says it
                log.warning("%s; other workers take over its work", unable)
        self.executor.look_soon()

    def _died(self, unit: Unit, error: WorkerDied) -> None:
        """Submit a unit again whose workers died, in halves: should it be what kills them, a single group is found."""
        unit.deaths += 1
        if len(unit.groups) > 1:
            half = len(unit.groups) // 2
            self.again += (Unit(unit.groups[:half]), Unit(unit.groups[half:]))
        elif unit.deaths >= MOST_DEATHS:
            raise ClusterError(
                f"group {unit.groups[0]}: the workers that draw it die, the last one at {error.address}; they may "
                f"have too little memory: give them more, or lower --memory or --in-flight; {SAFE}"
            ) from error
        else:
            self._once_more(unit)


# The plans of workers that have not been started: of processes on this machine, or of jobs that would run on machines
# such as this one.


def is_unstarted(where: Cluster) -> bool:
    """Whether the cluster would be started by the run, with a number of workers that its name says."""
    return where.is_local or where.kind in JOBS


def plans_here(where: Cluster, recipe: Recipe) -> dict[str, Plan | str]:
    """The plan of each worker by its name, or why it has none.

    The rates of this machine are measured if they are not known yet.
    """
    workers, place = of_jobs(where.kind, where.workers) if where.kind in JOBS else (where.workers, {})
    choice.measured()
    found: dict[str | None, Plan | str] = {}
    plans: dict[str, Plan | str] = {}
    for number in range(workers):
        device = device_of(recipe.given.get("device"), number if where.is_local else None)
        if device not in found:
            found[device] = _unstarted(recipe, place if device is None else place | {"device": device})
        plans[str(number)] = found[device]
    return plans


def _unstarted(recipe: Recipe, place: Mapping[str, OptionValue]) -> Plan | str:
    try:
        job = recipe.there(**place)
        if job.devices and any(name in job.plan.rates.assumed for name in GPU):
            choice.measured(job.devices)
            job = recipe.there(**place)
    except SPARED as error:
        return str(error)
    return job.plan


def of_jobs(kind: str, jobs: int) -> tuple[int, Record]:
    """Return the number of workers that so many jobs start, and the threads and memory of each.

    dask-jobqueue's configuration says them; what it does not say is left out.
    """
    held: Mapping[str, OptionValue] = {}
    with suppress(ImportError):
        from dask import config

        held = config.get(f"jobqueue.{kind}", None) or {}
    cores, processes = held.get("cores"), held.get("processes")
    if cores and not processes:
        from distributed.deploy.utils import nprocesses_nthreads

        processes = nprocesses_nthreads(int(cores))[0]  # as dask-jobqueue does
    each, place = int(processes or 1), Record()
    if cores:
        place["threads"] = max(1, int(cores) // each)
    if memory := held.get("memory"):
        from dask.utils import parse_bytes

        place["memory"] = memory_of(parse_bytes(memory) / each)
    return jobs * each, place


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
        resume: as for :func:`execute`.
        overwrite: as for :func:`execute`.
        progress: as for :func:`execute`.
        began: called with the number of instances of the sample before the first is drawn.
        **given: as for :func:`prepare`.

    Returns:
        The summary of the run, with what each of the ``workers`` did.

    Raises:
        ClusterError: the cluster cannot be used or is lost.
        StoreError: a worker has another csaw or another graph, and as for :func:`execute`.
        CsawError: as for :func:`execute`.
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
            raise ClusterError(
                f"worker {slow} has not planned its run in {SECONDS_TO_PLAN} seconds; check what it is doing"
            )
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
                f"{writer.partial}: workers have written group {missing[0]}, but it is missing; all workers must "
                "see this folder under the same path, on a shared file system"
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
