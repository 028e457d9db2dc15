"""One to N worker processes on this machine, with one thread each, beside one process with one thread.

No paper has this. The costs of a task, a death and a retry are measured, too. Each turn draws the sample once by each
of those that are compared, whole runs up to the sealed store. ``efficiency`` is the rate as a share of that of one
process in the same turn times the number of workers; ``of_processors`` the seconds of processors of one process as a
share of those of all processes of the cluster, which hold where other work shares the machine. ``expected_seconds`` is
what ``--dry-run --cluster`` says.
"""

import statistics
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from csaw.engine.bench.bench_row import Row, Verdict, figure, gap, measured
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import Graph
from csaw.engine.bench.suites.scaling import counts
from csaw.engine.bench.suites.walks import NODE2VEC
from csaw.engine.bench.work import Work
from csaw.engine.bench.worker_turns import Turn, Workers, started
from csaw.partition.errors import ClusterError, MissingDependencyError

CLAIM = (
    "two workers with one thread each have 0.95 of twice the speed of one process with one thread, and a task "
    "takes less than 5 % of a second"
)
EFFICIENT, SHARE = 0.95, 0.05
INSTANCES, FEW = 2_000_000, 2000
ALONE, TASK, DEATH, RETRY = "one process", "a task without work", "a worker is killed", "a task fails and is retried"


def rows(context: Context) -> Iterator[Row]:
    most = min(context.most, INSTANCES) if context.instances or context.quick else INSTANCES
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
