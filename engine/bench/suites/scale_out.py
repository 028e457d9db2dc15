"""One to N worker processes on this machine, with one thread each, compared with one process with one thread.

No paper has this. The costs of a task, a death and a retry are measured, too. Each turn draws the sample once by each
of those that are compared, whole runs up to the sealed store. ``efficiency`` is the rate as a share of that of one
process in the same turn times the number of workers; ``of_processors`` the seconds of processors of one process as a
share of those of all processes of the cluster, which hold where other work shares the machine. ``expected_seconds`` is
what ``--dry-run --cluster`` says.
"""

import logging
import os
import shutil
import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

from csaw.engine.bench.bench_row import Row, Verdict, figure, gap, measured
from csaw.engine.bench.context import Context, Suite
from csaw.engine.bench.graphs import Graph
from csaw.engine.bench.measure import Options, Work
from csaw.engine.bench.suites.papers import counts
from csaw.engine.bench.suites.sampling import NODE2VEC
from csaw.partition.errors import ClusterError, MissingDependencyError

if TYPE_CHECKING:
    from distributed import Client

TASKS = 200  # without work, handed out one after the other
SECONDS_TO_COME_BACK = 60


class Turn(NamedTuple):
    """One run: its seconds, those of the processors of all its processes, and the edges of the sample."""

    seconds: float
    processors: float
    edges: int


@dataclass
class Workers:
    """Worker processes on this machine with one thread each, and the sample that they draw into ``folder``."""

    client: "Client"
    graph: Path
    folder: Path
    work: Work

    @property
    def address(self) -> str:
        assert self.client.scheduler is not None
        return str(self.client.scheduler.address)

    @property
    def wanted(self) -> Options:
        """The options of the sample; one thread for each process."""
        options = {"instances": self.work.instances, "device": "cpu", "threads": 1}
        return options | self.work.options

    def alone(self) -> Turn:
        """The sample by this process, with one thread that draws."""
        from csaw.engine.runs.execute import execute
        from csaw.engine.runs.job import prepare

        return self._timed(
            lambda out: execute(prepare(self.graph, self.work.algo, **self.wanted), out), time.process_time
        )

    def together(self, half_way: Callable[[], None] = lambda: None) -> Turn:
        """The sample by the workers. ``half_way`` is called once, when half of it is drawn."""
        from csaw.engine.cluster.dask_run import sample_on_cluster

        moments = [self.work.instances // 2]

        def progress(done: int) -> None:
            if moments and done >= moments[0]:
                moments.clear()
                half_way()

        def draw(out: Path) -> Row:
            return sample_on_cluster(
                self.graph, out, self.work.algo, cluster=self.address, progress=progress, **self.wanted
            )

        return self._timed(draw, self._processors)

    def with_a_death(self) -> Turn:
        """Draw the sample while one of the workers is killed half-way; Dask starts another one in its place.

        Its seconds of processors leave out those of the dead.
        """
        count = len(self.client.nthreads())
        turn = self.together(lambda: os.kill(min(self.client.run(os.getpid).values()), signal.SIGKILL))
        self.client.wait_for_workers(count, timeout=SECONDS_TO_COME_BACK)
        return turn

    def with_a_failure(self) -> Turn:
        """Draw the sample while one task of one worker fails at its end, so that all of it is drawn again."""
        return self.together(lambda: self.client.run(fail_once, workers=[min(self.client.nthreads())]))

    def task_seconds(self) -> tuple[float, float]:
        """Mean seconds of a task without work, from its handing out to its report.

        Of the clock, and of the processors of all processes.
        """
        from csaw.engine.cluster.clusters import Cluster
        from csaw.engine.cluster.dask_executor import DaskExecutor
        from csaw.engine.cluster.dask_run import recipe_of
        from csaw.engine.cluster.drawer import Drawing, draw
        from csaw.engine.cluster.executor import Spread
        from csaw.engine.runs.job import manifest, stored_as
        from csaw.engine.samples.writer import SampleWriter

        where, out = Cluster.of(self.address), self.folder / "tasks.zarr"
        executor = DaskExecutor(self.client, "", local=False)
        recipe = recipe_of(where, self.graph, out, self.work.algo, self.wanted, False)
        job = recipe.here()
        with (
            SampleWriter(out, manifest(job), overwrite=True, **stored_as(job)),
            executor.joined(Drawing(recipe)) as name,
        ):
            next(Spread(executor)(draw, [(name, [0])]))  # opens the job
            processors, clock = self._processors(), time.perf_counter()
            for _ in range(TASKS):
                next(Spread(executor)(draw, [(name, [])]))
            seconds, spent = time.perf_counter() - clock, self._processors() - processors
        shutil.rmtree(f"{out}.partial", ignore_errors=True)
        return seconds / TASKS, spent / TASKS

    def _timed(self, draw: Callable[[Path], Row], processors: Callable[[], float]) -> Turn:
        out = self.folder / "walks.zarr"
        before, clock = processors(), time.perf_counter()
        results = draw(out)
        seconds = time.perf_counter() - clock
        spent = processors() - before
        shutil.rmtree(out)
        return Turn(seconds, spent, results["sampled_edges"])

    def _processors(self) -> float:
        """Seconds of processors that this process, which schedules and hands out, and the workers have taken."""
        return time.process_time() + sum(self.client.run(time.process_time).values())


def fail_once() -> None:
    """Make the next task of this process fail when it has drawn its groups."""
    from csaw.engine.cluster.drawer import Drawer

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # its traceback is no news
    draw = Drawer.draw

    def failing(self: Drawer, groups: Sequence[int], worker: str) -> None:
        patched.stop()
        draw(self, groups, worker)
        raise RuntimeError("the benchmark lets this task fail")

    patched = patch.object(Drawer, "draw", failing)
    patched.start()


@contextmanager
def started(count: int, graph: Path, folder: Path, work: Work) -> Iterator[Workers]:
    """``count`` workers, stopped at the end.

    MissingDependencyError without Dask, ClusterError where they do not start.
    """
    from csaw.engine.cluster.clusters import Cluster, connected

    with connected(Cluster.of(f"local:{count}")) as client:
        client.wait_for_workers(count)
        yield Workers(client, graph, folder, work)


EFFICIENT, SHARE = 0.95, 0.05
INSTANCES, FEW = 2_000_000, 2000
ALONE, TASK, DEATH, RETRY = "one process", "a task without work", "a worker is killed", "a task fails and is retried"


def rows(context: Context) -> Iterator[Row]:
    most = min(context.most, INSTANCES) if context.max_instances or context.quick else INSTANCES
    for graph in context.graphs():
        if context.on_gpu:
            reason = "workers with one thread are measured on the CPU; run with --device cpu"
            yield context.on(graph) | gap(ALONE, reason)
            continue
        work = replace(NODE2VEC, instances=most)
        with tempfile.TemporaryDirectory(dir=context.out) as folder:
            for row in _of_graph(context, graph, work, Path(folder)):
                if context.only in row["work"]:
                    yield context.on(graph) | row


def _of_graph(context: Context, graph: Graph, work: Work, folder: Path) -> Iterator[Row]:
    alone: list[Turn] = []
    for number in counts(context.threads):
        try:
            with started(number, graph.store.path, folder, work) as workers:
                found = _turns(context, workers, {ALONE: workers.alone, _name(number): workers.together})
                yield _together(found, number) | _expected(workers, number)
                alone += found[ALONE]
                if number == 1:
                    yield _tasks(context, workers)
                if number == 2:
                    yield from _faults(context, workers)
        except (ClusterError, MissingDependencyError) as error:
            yield gap(_name(number), error)
    if alone:
        yield _row(ALONE, alone) | _processors(alone) | {"series": ALONE, "workers": 1}


def _name(number: int) -> str:
    return f"{number} worker{'s' * (number > 1)}"


def _turns(context: Context, workers: Workers, runs: dict[str, Callable[[], Turn]]) -> dict[str, list[Turn]]:
    """Run each of ``runs`` in turns, after one of few instances that compiles and fills caches."""
    small = replace(workers, work=replace(workers.work, instances=min(FEW, workers.work.instances)))
    small.alone(), small.together()
    found: dict[str, list[Turn]] = {name: [] for name in runs}
    for _ in range(context.repeats):
        for name, run in runs.items():
            found[name].append(run())
    return found


def _row(work: str, turns: list[Turn]) -> Row:
    row = {"work": work, **figure([turn.edges / turn.seconds for turn in turns])}
    return row | {"seconds": statistics.median(turn.seconds for turn in turns)}


def _processors(turns: list[Turn]) -> Row:
    return {"processors": statistics.median(turn.processors for turn in turns)}


def _together(found: dict[str, list[Turn]], number: int) -> Row:
    """The row of so many workers beside one process, turn by turn."""
    name, pairs = _name(number), list(zip(found[ALONE], found[_name(number)], strict=True))
    return (
        _row(name, found[name])
        | _processors(found[name])
        | {
            "efficiency": statistics.median(one.seconds / (number * many.seconds) for one, many in pairs),
            "of_processors": statistics.median(one.processors / many.processors for one, many in pairs),
            "efficiencies": [one.seconds / (number * many.seconds) for one, many in pairs],
            "of_processors_each": [one.processors / many.processors for one, many in pairs],
            "series": "workers",
            "workers": number,
        }
    )


def _expected(workers: Workers, number: int) -> Row:
    """The seconds that a dry run expects of so many workers."""
    from csaw.engine.cluster.dask_run import plan_on_cluster
    from csaw.engine.cluster.forecast import of_all, shares
    from csaw.engine.plan.plan import Plan

    out = workers.folder / "never.zarr"
    job, plans = plan_on_cluster(workers.graph, out, workers.work.algo, cluster=f"local:{number}", **workers.wanted)
    able = {name: plan for name, plan in plans.items() if isinstance(plan, Plan)}
    return {"expected_seconds": of_all(shares(able, job.store, one_disk=True))["seconds"]}


def _tasks(context: Context, workers: Workers) -> Row:
    found = [workers.task_seconds() for _ in range(context.repeats)]
    row = {"work": TASK, **figure([1 / seconds for seconds, _ in found], "tasks/s")}
    processors = statistics.median(spent for _, spent in found)
    return row | {
        "seconds": statistics.median(seconds for seconds, _ in found),
        "processors": processors,
        "note": f"{1e3 * processors:.2g} ms of processors",
    }


def _faults(context: Context, workers: Workers) -> Iterator[Row]:
    """The cost of a death and of a retry beside the same run without, turn by turn."""
    whole = _name(2)
    found = _turns(
        context, workers, {whole: workers.together, DEATH: workers.with_a_death, RETRY: workers.with_a_failure}
    )
    for name in (DEATH, RETRY):
        more = [one.seconds - well.seconds for well, one in zip(found[whole], found[name], strict=True)]
        times = statistics.median(
            well.seconds / one.seconds for well, one in zip(found[whole], found[name], strict=True)
        )
        said = f"{statistics.median(more):+.2f} s, {min(more):+.2f} to {max(more):+.2f}"
        yield _row(f"{whole}, {name}", found[name]) | {
            "more_seconds": more,
            "times": times,
            "times_of": f"{whole} beside it",
            "note": said,
        }


def verdict(rows: list[Row]) -> Verdict:
    several = [row for row in measured(rows) if "efficiency" in row]
    said = [
        f"{_of(row)}: efficiency {row['efficiency']:.2f}, {row['of_processors']:.2f} by seconds of processors"
        for row in several
    ]
    tasks = measured(rows, work=TASK)
    said += [f"{_of(row)}: {1e3 * row['seconds']:.3g} ms" for row in tasks]
    said += [f"{_of(row)}: {row['note']}" for row in measured(rows) if "more_seconds" in row]
    two = [row for row in several if row["workers"] == 2]
    if not (two and tasks):
        return Verdict(None, "; ".join(said) or "no workers were measured")
    short = max(row["seconds"] for row in tasks) < SHARE
    return Verdict(short and min(row["efficiency"] for row in two) >= EFFICIENT, "; ".join(said))


def _of(row: Row) -> str:
    return f"{row['graph']}, {row['work']}"


SUITES = {
    "scale-out": Suite(
        "two workers with one thread each have 0.95 of twice the speed of one process with one thread, and a task "
        "takes less than 5 % of a second",
        rows,
        verdict,
    ),
}
