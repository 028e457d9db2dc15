"""Works with a part of the graph in memory, compared with the bytes that they are expected to move.

The part is a half, a quarter and a tenth, or what given budgets hold. Expected are the bytes that are moved if only the
partition with the most waiting instances is loaded each time, and instances spread evenly: L (1 - c)^2 graphs for walks
of L steps, c being the share of the graph that fits, and (1 - c) graphs at each depth of a traversal. That is no bound:
walkers of real graphs gather in few partitions, and rows that few instances wait for are read in place. A graph counts
as many bytes as it takes once it is in memory. ``of_expected`` is the multiple of these bytes that a run moved;
``limits`` has the seconds that the link takes for what the run moved.
"""

import time
from collections.abc import Iterator

import numpy as np

from csaw.engine.api.algorithm import Walk
from csaw.engine.api.termination import planned_steps
from csaw.engine.bench.bench_row import Row, beside, rate_of
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import Graph, room_for
from csaw.engine.bench.measure import Options, Work
from csaw.engine.runs.job import Job, prepare
from csaw.partition import GraphStore
from csaw.partition.base.plain_data import OptionValue, Values
from csaw.partition.base.quoting import format_size

REPEATS = 1  # of each work, after one that warms up: there are many, and they are long
TURNS = 4  # in which a budget comes near to the one that has room for a share of the graph
PARTITIONS = 20  # of which a half, a quarter and a tenth are whole numbers
SHARES = {"half in memory": 0.5, "a quarter in memory": 0.25, "a tenth in memory": 0.1}
WHOLE = "all in memory"
MOVING = "copying its transfers alone"
GPU_WALKS, CPU_WALKS, CPU_TREES = 400_000, 100_000, 20_000
SHORT, WEIGHTED = {"walk_length": 20, "weighted": False}, {"walk_length": 20, "weighted": True}
NODE2VEC = tuple((f"node2vec p={p:g} q={q:g}", {"p": p, "q": q}) for p, q in ((2.0, 0.5), (0.5, 2.0), (0.25, 4.0)))
WORKS = (
    Work("walk of 20", "deepwalk", GPU_WALKS, SHORT),
    Work("weighted walk of 20", "deepwalk", GPU_WALKS, WEIGHTED),
    *(Work(name, "node2vec", GPU_WALKS, SHORT | of) for name, of in NODE2VEC),
    *(Work(f"{name}, weighted", "node2vec", GPU_WALKS, WEIGHTED | of) for name, of in NODE2VEC),
    Work("25 x 10", "neighbor", 200_000, {"fanout": (25, 10), "weighted": False}),
    Work("forest fire .7", "forest-fire", 20_000, {"burn_prob": 0.7, "depth": 2, "weighted": False}),
)
LONG = Work("node2vec walk of 80, p=0.5 q=2", "node2vec", 1 << 40, SHORT | {"walk_length": 80, "p": 0.5, "q": 2.0})


def budget(context: Context) -> int | None:
    """The memory that was given for the device; None: shares of the graph."""
    return context.gpu_memory if context.on_gpu else context.memory


def works(context: Context, store: GraphStore) -> list[Work]:
    """The works for this device and graph, with LONG if a budget was given; --quick takes every fourth."""
    more = (*WORKS, LONG) if budget(context) else WORKS
    able = [work for work in more[:: 4 if context.quick else 1] if store.weighted or not work.options["weighted"]]
    return [sized(context, store, work) for work in able]


def shares(context: Context) -> dict[str, float]:
    """The shares of the graph that fit in memory, by name; --quick takes the smallest."""
    return dict(list(SHARES.items())[-1:]) if context.quick else SHARES


def sized(context: Context, store: GraphStore, work: Work) -> Work:
    """The work in a size for this device and graph.

    LONG has a walk from each vertex, if --max-instances allows as many.
    """
    if not context.on_gpu and work is not LONG:
        work = work.shrunk(CPU_WALKS if "walk_length" in work.options else CPU_TREES)
    return context.shrunk(work.shrunk(store.vertices))


def read_rates(store: GraphStore, repeats: int = 3) -> list[float]:
    """Rates at which the neighbors of a whole store are read, partition by partition, in bytes/s."""
    room, rates = np.empty(store.largest_partition, store.id_dtype), []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        for part in store.partitions:
            store.read_partition(part.number, room[: part.edges])
        rates.append(store.edges * room.itemsize / (time.perf_counter() - began))
    return rates[1:]


def compared(context: Context, graph: Graph, link: float) -> Iterator[Row]:
    """A row for each work and each part of the graph in memory, all of it first.

    ``link``: bytes/s at which partitions come.
    """
    given = budget(context)
    for work in works(context, graph.store):
        ways = _budgets(context, graph.store, work) if given else _shares(context, graph.store, work)
        named = {f"{work.name}, {title}": options for title, options in ways.items()}
        jobs = {name: work.having(name, **options) for name, options in named.items() if context.only in name}
        found = list(context.compare(graph, jobs.values(), REPEATS))
        base = rate_of(found, f"{work.name}, {WHOLE}")
        for row in found:
            if "rate" not in row or row["work"].endswith(WHOLE):
                yield row
                continue
            expected = beside_expected(job_of(context, graph.store, jobs[row["work"]]), row, link)
            yield row | beside(row, base, WHOLE) | expected


def _shares(context: Context, store: GraphStore, work: Work) -> dict[str, Options]:
    ways: dict[str, Options] = {WHOLE: {"residency": "resident"}}
    return ways | {title: share_options(context, store, work, share) for title, share in shares(context).items()}


def share_options(
    context: Context, store: GraphStore, work: Work, share: float, residency: str = "", in_flight: int | None = None
) -> Options:
    """Options whose budget lets a share of the partitions be loaded at once, on a GPU from host memory.

    All instances, or ``in_flight``, are in flight.
    """
    where, memory = ("streamed", "gpu_memory") if context.on_gpu else ("disk", "memory")
    given = {"residency": residency or where, "in_flight": in_flight or work.instances}
    plan = job_of(context, store, work, **given).plan
    count = max(plan.needs.partitions_at_once, round(share * len(store.partitions)))
    budget_bytes = room_for(plan, store, count)
    wanted = budget_bytes - plan.fixed_bytes - plan.batch_bytes
    for _ in range(TURNS):  # a smaller budget needs less beside partitions: tables are made in smaller pieces
        capacity = job_of(context, store, work, **given, **{memory: budget_bytes}).plan.capacity
        budget_bytes -= capacity - wanted
    return given | {memory: budget_bytes}


def _budgets(context: Context, store: GraphStore, work: Work) -> dict[str, Options]:
    """Options with the budgets that were given."""
    ways: dict[str, Options] = {WHOLE: {"residency": "resident"}}
    if not context.on_gpu:
        return ways | {f"--memory {_size(context.memory)}": {"residency": "disk", "memory": context.memory}}
    on_gpu = {"in_flight": None, "gpu_memory": context.gpu_memory}
    ways[f"--gpu-memory {_size(context.gpu_memory)}"] = on_gpu | {"residency": "streamed"}
    if context.memory:
        ways[f"and --memory {_size(context.memory)}"] = on_gpu | {"residency": "disk", "memory": context.memory}
    return ways


def _size(budget: int | None) -> str:
    return format_size(budget or 0).replace(" ", "")


def job_of(context: Context, store: GraphStore, work: Work, **given: OptionValue) -> Job:
    """The job of a work on this device; ``given`` replaces options."""
    options: Values = {"instances": work.instances} | work.options | given
    return prepare(store, work.algo, device=context.kind, threads=context.threads, **options)


def beside_expected(job: Job, row: Row, link: float, *, begins_empty: bool = False) -> Row:
    """Columns that set the bytes that a run moved beside those expected, and its time beside the link's for them.

    ``row`` has its transfer_bytes. ``begins_empty``: whether the run begins with nothing in memory, so that the share
    that fits is moved too.
    """
    graph, away = _graph_and_away(job)
    walk = isinstance(job.algorithm, Walk)
    graphs = planned_steps(job.algorithm) * away**2 if walk else len(job.plan.sizes) * away
    expected = round((graphs + (1 - away if begins_empty else 0)) * graph)
    limits = {"limits": {MOVING: row["transfer_bytes"] / link}} if row["transfer_bytes"] else {}
    if not expected:
        return limits
    return {"expected_bytes": expected, "of_expected": row["transfer_bytes"] / expected} | limits


def pass_bytes(job: Job) -> int | None:
    """The bytes that a traversal moves if each depth passes once over the partitions that are not in memory.

    That is the least where instances go from every partition to every other one. None of walks.
    """
    graph, away = _graph_and_away(job)
    return None if isinstance(job.algorithm, Walk) else round(len(job.plan.sizes) * away * graph)


def _graph_and_away(job: Job) -> tuple[int, float]:
    """The bytes of the graph once it is in memory, and the share of it for which there is no room."""
    edge, store, plan = job.plan.needs.edge, job.store, job.plan
    graph = store.edges * (edge.in_partition(plan.graph_layout) if plan.device == "cpu" else edge.kept)
    parts = len(store.partitions)
    return graph, 1 - min(plan.capacity * parts // max(graph, 1), parts) / parts
