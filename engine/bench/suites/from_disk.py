"""Graphs that no memory holds: whole runs from a disk, partition by partition, against their partition reads alone.

Files are dropped from the page cache. Runs of few instances, for which rows are read one by one, stand against one that
brings whole partitions.

Then walks, second order and weights too, 25 x 10 and forest fires, with half, a quarter and a tenth of the graph in
memory, or with the budgets that are given, beside what they are expected to move: see bench/shares.py. The link's rate
is that of reading all partitions from the same disk. Alias tables that a weighted run has made are in a file of its
own, which the system may hold in its memory.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from csaw.engine.bench import shares
from csaw.engine.bench.bench_row import Row, Verdict, beside, by_row, figure, gap, measured, named
from csaw.engine.bench.context import Context, Suite
from csaw.engine.bench.graphs import PARTITION_BYTES, Graph, copied
from csaw.engine.bench.machine import forget
from csaw.engine.bench.measure import Options, Work
from csaw.engine.plan.options import Policy
from csaw.engine.runs.execute import execute
from csaw.engine.runs.job import Job, prepare
from csaw.partition import GraphStore
from csaw.partition.errors import CsawError, OptionError

MOST_TIMES = 1.3
# Least number of partitions. One in SHARE of them fits in host memory, and as many in a GPU's, unless budgets are
# given.
PARTITIONS, SHARE = 32, 8
WORKS = (
    Work("uniform walk of 4 steps", "deepwalk", 1_000_000, {"walk_length": 4, "weighted": False}),
    Work("10 x 5, without replacement", "neighbor", 300_000, {"fanout": (10, 5), "bias": "none"}),
    Work(
        "node2vec walk of 2 steps, p=0.5 q=2",
        "node2vec",
        1_000_000,
        {"walk_length": 2, "p": 0.5, "q": 2.0, "weighted": False},
    ),
)
AGAIN_BYTES = 16 << 30  # of a run's reads that are read again alone, about as many; all of them can take minutes

FEW = Work(
    "100 walks of 40 steps",
    "deepwalk",
    100,
    {"walk_length": 40, "weighted": False},
    sized="{instances} walks of {walk_length} steps",
)
WHOLE = "partition by partition"
READING = "partitions read in order, from the disk"
GIVEN = "in the given memory"
WAYS = {WHOLE: Policy(in_place=False), "row by row": Policy()}


class ColdStore(GraphStore):
    """A store that drops partitions from the page cache, and notes what is read: (partition, first edge, edges)."""

    def __init__(self, store: GraphStore) -> None:
        super().__init__(store.path, store.attributes)
        self.reads: list[tuple[int, int, int]] = []
        forget(self.path)

    def read_edges(self, number: int, arrays: Mapping[str, np.ndarray], first: int = 0) -> None:
        super().read_edges(number, arrays, first)
        self.reads.append((number, first, arrays["indices"].size))
        forget(self.opened(number, "indices").path.parent)

    def seconds_of(self, reads: list[tuple[int, int, int]]) -> float:
        """Seconds to read these parts of partitions again, one after the other."""
        forget(self.path)
        room = np.empty(self.largest_partition, self.id_dtype)
        began = time.perf_counter()
        for number, first, edges in reads:
            self.read_edges(number, {"indices": room[:edges]}, first)
        return time.perf_counter() - began


def rows(context: Context) -> Iterator[Row]:
    for graph in context.graphs():
        with tempfile.TemporaryDirectory(dir=context.out) as folder:
            store = _on_disk(graph.store, Path(folder))
            cold = Graph(graph.label, store)
            for work in context.wanted(WORKS):
                try:
                    yield _row(context, cold, store, work, Path(folder, "samples.zarr"))
                except (CsawError, MemoryError) as error:
                    yield context.on(cold) | gap(work.name, error)
            for work in context.wanted([FEW]):
                yield from _compared(context, cold, work, Path(folder, "samples.zarr"))
            yield from _in_parts(context, cold, store, Path(folder, "samples.zarr"))


def _in_parts(context: Context, graph: Graph, store: ColdStore, out: Path) -> Iterator[Row]:
    """Measure works with a part of the graph in memory, after the rate at which the disk gives all of it."""
    titles = [GIVEN] if context.memory or context.gpu_memory else list(shares.shares(context))
    names = [f"{work.name}, {title}" for work in shares.works(context, store) for title in titles]
    if not any(context.only in name for name in (READING, *names)):
        return
    whole = [(part.number, 0, part.edges) for part in store.partitions]
    rates = [store.edges * store.id_dtype.itemsize / store.seconds_of(whole) for _ in range(context.repeats)]
    if context.only in READING:
        yield context.on(graph) | {"work": READING, **figure(rates, "bytes/s")}
    for work in shares.works(context, store):
        for title, options in _parts(context, store, work).items():
            # The first vertices of a graph are in a few partitions, and may be its hubs.
            one = work.having(f"{work.name}, {title}", sources=f"random:{work.instances}", **options)
            if context.only in one.name:
                yield context.on(graph) | _part(context, graph, one, out, max(rates))


def _parts(context: Context, store: ColdStore, work: Work) -> dict[str, Options]:
    """The options that let a part of the graph be in memory, by name."""
    if context.memory or context.gpu_memory:
        return {GIVEN: {"residency": "disk", **_budgets(context, store, work)}}
    found = {}
    for title, share in shares.shares(context).items():
        found[title] = shares.share_options(context, store, work, share, "disk")
        if context.on_gpu:  # half of the host's memory is for partitions
            stored = shares.job_of(context, store, work).plan.needs.edge.stored
            found[title]["memory"] = int(2 * share * store.edges * stored)
    return found


def _part(context: Context, graph: Graph, work: Work, out: Path, link: float) -> Row:
    """The row of a work whose options have its budgets. ``link``: bytes/s of the disk."""
    fresh = partial(forget, graph.store.path)
    runs = list(_runs(shares.REPEATS, work.instances, partial(shares.job_of, context, graph.store, work), out, fresh))
    row = {
        "work": work.name,
        **figure([run["seps_run"] for run in runs]),
        "seconds": median(run["run_seconds"] for run in runs),
        "instances": work.instances,
        "transfers": median(run["transfers"] for run in runs),
        "transfer_bytes": median(run["transfer_bytes"] for run in runs),
    }
    return row | shares.beside_expected(shares.job_of(context, graph.store, work), row, link, begins_empty=True)


def _compared(context: Context, graph: Graph, work: Work, out: Path) -> Iterator[Row]:
    """Few instances, once by loading whole partitions and once by reading rows one by one."""
    base: float | None = None
    for way, policy in WAYS.items():
        runs = list(
            _runs(
                context.repeats,
                work.instances,
                _planned(context, graph, work, policy),
                out,
                partial(forget, graph.store.path),
            )
        )
        row = {
            "work": f"{work.name}, {way}",
            **figure([run["seps_run"] for run in runs]),
            "seconds": median(run["run_seconds"] for run in runs),
            "instances": work.instances,
        }
        base = base or row["rate"]
        yield context.on(graph) | row | beside(row, base, WHOLE)


def _planned(context: Context, graph: Graph, work: Work, policy: Policy) -> Callable[..., Job]:
    """A function that plans the work with its seed and number of instances."""
    where = {"device": context.kind, "threads": context.threads, "residency": "disk"}
    options = work.options | where | _budgets(context, graph.store, work)
    return partial(prepare, graph.store, work.algo, policy=policy, **options)


def _runs(
    repeats: int, instances: int, planned: Callable[..., Job], out: Path, before: Callable[[], None]
) -> Iterator[Row]:
    """Results of each run, after one of a single instance that compiles the kernels.

    ``before`` is called when a run is planned.
    """
    for turn in range(repeats + 1):
        job = planned(instances=instances if turn else 1, seed=turn)
        before()
        results = execute(job, out, overwrite=True)
        if turn:
            yield results


def _on_disk(store: GraphStore, folder: Path) -> ColdStore:
    """The store on disk: as it is, or a copy in ``folder`` if it is only in memory or has too few partitions."""
    item = store.id_dtype.itemsize + (4 if store.weighted else 0)
    count = max(PARTITIONS, -(-store.edges * item // PARTITION_BYTES))
    if not store.path.is_dir() or len(store.partitions) < PARTITIONS:
        store = copied(store, count, folder)
        os.sync()  # only pages that are written can be dropped
    return ColdStore(store)


def _row(context: Context, graph: Graph, store: ColdStore, work: Work, out: Path) -> Row:
    rates, shares, took, reads = [], [], [], []
    for results in _runs(
        context.repeats, work.instances, _planned(context, graph, work, WAYS[WHOLE]), out, store.reads.clear
    ):
        reads = list(store.reads)
        read_bytes = _bytes_of(store, reads)
        some = reads[:: 1 + read_bytes // AGAIN_BYTES]
        before = _bytes_from_disk()
        alone = store.seconds_of(some) * read_bytes / max(_bytes_of(store, some), 1)
        if _bytes_from_disk() - before < _bytes_of(store, some) // 2:
            raise OptionError(
                f"{store.path} is not on a disk, or stays in the disk's cache; choose a folder on a disk with --out"
            )
        took.append(results["run_seconds"])
        rates.append(results["seps_run"])
        shares.append(alone / took[-1])
    return context.on(graph) | {
        "work": work.name,
        **figure(rates),
        "seconds": median(took),
        "instances": work.instances,
        "transfers": len(reads),
        "transfer_bytes": read_bytes,
        "times": median(shares),
        "times_of": "reading alone",
    }


def _bytes_of(store: ColdStore, reads: list[tuple[int, int, int]]) -> int:
    return sum(edges for *_, edges in reads) * store.id_dtype.itemsize


def _bytes_from_disk() -> int:
    """Bytes that this process has read from block devices."""
    try:
        lines = Path("/proc/self/io").read_text().splitlines()
    except OSError as error:
        raise OptionError(f"this system does not count the bytes that are read from disks: {error}") from error
    return int(next(line for line in lines if line.startswith("read_bytes")).split()[1])


def _budgets(context: Context, store: GraphStore, work: Work) -> Options:
    """Budgets such that a share of the partitions can be in host memory, and on a GPU; or the given ones."""
    if context.gpu_memory and not context.on_gpu:
        raise OptionError("--gpu-memory: this run uses no GPU; give the budget of the CPU with --memory")
    if context.memory and (context.gpu_memory or not context.on_gpu):
        return {"memory": context.memory} | ({"gpu_memory": context.gpu_memory} if context.gpu_memory else {})
    plan = shares.job_of(context, store, work, residency="disk").plan
    found = shares.share_options(context, store, work, 1 / SHARE, "disk", plan.batch)
    if not context.on_gpu:
        return found
    given = {"gpu_memory": context.gpu_memory} if context.gpu_memory else {}
    host = 2 * store.edges * plan.needs.edge.stored // SHARE  # half of it is for partitions
    return found | given | {"memory": context.memory or host}


def verdict(rows: list[Row]) -> Verdict:
    found = measured(rows, times_of="reading alone")
    if not found:
        return Verdict(None, "nothing was measured")
    times = {name: 1 / row["times"] for name, row in named(found).items()}
    return by_row(times, lambda ratio: ratio <= MOST_TIMES, "times what reading alone takes")


SUITES = {
    "from-disk": Suite(
        "a graph larger than memory is sampled in at most 1.3 times the time that its partition reads take from "
        "the same disk, one after the other",
        rows,
        verdict,
    ),
}
