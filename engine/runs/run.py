"""One run: a graph and an algorithm in, a finished sample store out."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from csaw.engine.api import registry
from csaw.engine.api.termination import may_end
from csaw.engine.devices.choice import choose
from csaw.engine.devices.devices import Devices
from csaw.engine.plan.options import Policy, RunOptions, described
from csaw.engine.plan.options import options as run_options
from csaw.engine.plan.plan import Plan, make_plan, transfer_units
from csaw.engine.plan.rates import Rates
from csaw.engine.plan.residency import Residency
from csaw.engine.plan.target import parameters_for, refuse_unfit, vertices_wanted
from csaw.engine.runs.summary import cut_walks, resumed, short_of_target
from csaw.engine.samples import Samples, open_samples
from csaw.engine.samples.group_writer import GroupWriter
from csaw.engine.samples.layout import Identifiers
from csaw.engine.samples.seal import draft_sizes
from csaw.engine.samples.writer import SampleWriter
from csaw.engine.schedule.backend import TALLY
from csaw.engine.schedule.workers import Totals, sample_groups
from csaw.engine.sources.given_columns import read_columns
from csaw.engine.sources.sources import Sources
from csaw.partition import GraphStore, open_graph
from csaw.partition.arrays.words import Words
from csaw.partition.base.kernel_time import Lapse, Stopwatch, compiled
from csaw.partition.base.quoting import quoted
from csaw.partition.base.version import VERSION
from csaw.partition.errors import BudgetError, DeviceError, OptionError
from csaw.partition.graph.coalesced import Coalesced
from csaw.partition.graph.split import Split

DRAWS = 1
"""Version of the draws: higher with every change by which a request gives another sample. Versions of csaw that have it in common resume each other's samples."""


@dataclass(frozen=True)
class Job:
    """A run that is ready to start: the graph, the algorithm, the sources and the plan; ``devices`` are the GPUs to use, none for the CPU."""

    store: GraphStore
    algorithm: Any
    sources: Sources
    plan: Plan
    devices: Devices = ()

    @property
    def written_ids(self) -> np.ndarray | Words | None:
        """The original ids by which samples are written; None where there are none, or they are not needed."""
        return None if self.plan.request.ids == "dense" else self.store.stored_ids()

    @property
    def identifiers(self) -> Identifiers:
        """The conversion of the dense ids of drawn samples to those that are written."""
        return Identifiers.choose(self.store.id_dtype, self.written_ids, self.plan.request.ids)


def prepare(
    graph: str | Path | GraphStore,
    algo: str = "deepwalk",
    *,
    policy: Policy | None = None,
    measure: bool = False,
    **given: Any,
) -> Job:
    """Check a request and plan its run; nothing is sampled.

    Arguments:

    graph: the graph store to sample, or its path (what ``csaw partition`` or ``csaw.partition.ingest`` has made).
    algo: the name of an algorithm (``csaw algorithms`` lists them), or ``FILE.py:CLASS`` (default: "deepwalk").
    policy: a Policy in place of the four options batching, workload_aware, balancing and in_place (default: all of them on).
    measure: measure the rates of this machine's memory, disk and GPU, in a fraction of a second, if the plan depends on them and they are not known yet
        (default: False, a plan then counts on those that were measured before, or on assumed ones; ``job.plan.rates`` says which).
    given: options of the algorithm, such as ``p=0.5, walk_length=80``, and options of any run, below. Text is read as on the command line. In Python,
        ``sources`` may also be an array of vertex ids of the input, or, for mini-batches, a dict of the arrays ``ids`` and ``y``, a label for each seed; ``columns`` a dict of arrays [V] (see :func:`csaw.engine.sources.given_columns.read_columns`), and ``device`` an opened GPU.

    Returns a Job: the opened graph, the algorithm, the sources, the plan, and the GPUs that the plan chose. Hand it to :func:`execute` or :func:`draw_batches`.
    ``job.plan.as_dict()`` says how the run will be carried out.

    Errors: OptionError for an option that is unknown, out of range or impossible with the others; UnknownNameError for ``algo``; FormatError for a
    file of sources; StoreError for a graph that is missing or damaged; BudgetError where the memory does not suffice; BiasError for a bias that is no
    finite number from 0 on; DeviceError and MissingDependencyError for a device that cannot be used.
    """
    if not isinstance(policy, Policy | None):
        raise OptionError(f"policy: expected a Policy, found {quoted(policy)}")
    options, parameters = RunOptions.of(given | ({} if policy is None else asdict(policy)))
    store = graph if isinstance(graph, GraphStore) else open_graph(graph, options.checksums)
    weighted = options.weighs(store)
    if options.target is not None:
        options, parameters = _with_target(options, parameters, store, algo)
    algorithm = registry.build(algo, parameters, options.edge_bias, read_columns(options.columns, store))
    joined = options.target is not None and not algorithm.sized_by
    sources = Sources(store, algorithm, options.sources, options.instances, options.seed, joined)
    if joined:
        refuse_unfit(algorithm, sources.instances)

    def planned(devices: Devices, rates: Rates, store: GraphStore) -> Plan:
        return make_plan(store, algorithm, sources, devices, name=algo, weighted=weighted, options=options, rates=rates)

    def cut(devices: Devices, rates: Rates) -> tuple[GraphStore, Plan]:
        return _cut(store, partial(planned, devices, rates))

    choice = choose(options.device, lambda devices, rates: cut(devices, rates)[1], measure)
    pieces, plan = cut(choice.devices, choice.rates)
    if sources.labels is not None and plan.sample_layout != "batches":
        raise OptionError(
            f"--sources: labels of seeds are kept in mini-batches, and this run draws {plan.sample_layout}; run without --induced, or give seeds without labels"
        )
    if not plan.keeps_ids(pieces.id_bytes):
        pieces.map_ids()
    return Job(pieces, algorithm, sources, replace(plan, ways=choice.ways), choice.devices)


def _with_target(
    options: RunOptions, parameters: dict[str, Any], store: GraphStore, algo: str
) -> tuple[RunOptions, dict[str, Any]]:
    """The options of a run and those of its algorithm, with the target as a number of vertices."""
    target = vertices_wanted(options.target, store.vertices)
    return replace(options, target=target), parameters_for(registry.find(algo), target, parameters)


def _cut(store: GraphStore, planned: Callable[[GraphStore], Plan]) -> tuple[GraphStore, Plan]:
    """The graph in pieces of a size that suits the memory, and the plan for it. ``planned`` makes the plan for a store."""
    plan = planned(store)
    if plan.pieces and plan.piece_edges < store.largest_partition:
        store = Split(store, plan.piece_edges)
        return store, planned(store)
    if (units := transfer_units(plan, store)) < len(store.partitions):
        merged = Coalesced(store, units)
        with suppress(BudgetError):  # a unit may be larger than the largest partition
            other = planned(merged)
            if other.piece_edges >= merged.largest_partition:
                return merged, other
    return store, plan


def sample(graph: str | Path | GraphStore, out: str | Path, algo: str = "deepwalk", *, resume: bool = False, overwrite: bool = False,
           **given: Any) -> Samples:  # fmt: skip
    """Draw a sample into the store ``out`` and open it.

    Arguments:

    graph, algo, given: as for :func:`prepare`.
    out: path of the sample store to write; it appears under this name when it is complete.
    resume: finish the sample that an interrupted run of the same request has left at ``out`` (default: False).
    overwrite: replace the sample store that is at ``out`` (default: False).

    Returns the finished Samples. Errors: those of :func:`prepare` and :func:`execute`.
    """
    execute(prepare(graph, algo, measure=True, **given), out, resume=resume, overwrite=overwrite)
    return open_samples(out)


for _function in (prepare, sample):
    _function.__doc__ = f"{_function.__doc__}\n    Options of any run:\n\n{described(run_options())}\n"


def execute(job: Job, out: str | Path, *, resume: bool = False, overwrite: bool = False,
            progress: Callable[[int], None] | None = None) -> dict[str, Any]:  # fmt: skip
    """Carry out a job: draw its instances, and write and commit them group by group.

    Arguments:

    job: what :func:`prepare` returned.
    out: path of the sample store to write.
    resume: draw only the groups of instances that an interrupted run of the same request has not committed (default: False).
    overwrite: replace the sample store that is at ``out`` (default: False).
    progress: called with the number of finished instances, each time that it grows (default: None).

    Returns the summary of the run, which the store keeps as ``results``: counts, bytes, seconds, edges per second, and the plan.

    Errors: OptionError for a name that ``out`` cannot have; StoreError where it cannot be written, is there already, or is a sample of another request, and where the graph has changed; BiasError for a bad
    bias; BudgetError where a single instance does not fit the memory; DeviceError where the last GPU fails. KeyboardInterrupt leaves committed groups for ``resume``.
    """
    watch, before, plan = Stopwatch(), compiled(), job.plan
    with SampleWriter(out, manifest(job), resume=resume, overwrite=overwrite, **stored_as(job)) as writer:
        if writer.finished:
            return open_samples(out).results | {"resumed": "nothing was missing"}
        size, earlier = max(1, plan.at_a_time // plan.request.group_size), len(writer.done)
        units = -(-(writer.groups - earlier) // size)
        with backends_of(job, units) as (backends, losses):
            working = Stopwatch()
            totals = sample_groups(backends, job.sources, writer, size, progress, losses)
            worked = working.read()
        sealing = Stopwatch()
        writer.seal()
        times = Times(watch.read(), worked, sealing.read(), compiled() - before)
        results = summed_up(job, writer, totals, times, earlier)
        writer.finish(results)
    return results


def summed_up(job: Job, writer: GroupWriter, totals: Totals, times: "Times", earlier: int = 0) -> dict[str, Any]:
    """The summary of a run whose store is sealed. ``earlier``: groups that were there before it."""
    sizes = draft_sizes(writer)
    results = _results(job, totals, writer.bytes_written, times) | cut_walks(job, sizes) | short_of_target(job, sizes)
    return results | (resumed(writer, earlier) if earlier else {})


def stored_as(job: Job) -> dict[str, Any]:
    """The options of a GroupWriter for the samples of a job."""
    request = job.plan.request
    return {
        "layout": job.plan.sample_layout, "instances": request.instances, "group_size": request.group_size,
        "dense_dtype": job.store.id_dtype, "vertex_ids": job.written_ids, "ids": request.ids,
    }  # fmt: skip


@dataclass(frozen=True)
class Times:
    """Times of a run: of all of it, of its workers and of sealing; and what it compiled, with numbers of times."""

    run: Lapse
    workers: Lapse
    sealing: Lapse
    compiled: Mapping[str, int]


def _results(job: Job, totals: Totals, writer_bytes: int, times: Times) -> dict[str, Any]:
    """Counts and timings of a run. Kernels that are found or compiled count apart from the work that needs them."""
    plan, ended = job.plan, "walks_ended" if may_end(job.algorithm) else "dead_ends"
    seconds, kernels = times.run.whole, totals.kernels_seconds + (times.run - times.workers).anywhere
    return {
        "version": VERSION, "instances": plan.request.instances, "sampled_edges": totals.edges, ended: totals.dead_ends,
        "bytes_written": writer_bytes, "sampling_seconds": round(totals.seconds, 6), "run_seconds": round(seconds, 6),
        "kernels_seconds": round(kernels, 6), "compiling_seconds": round(times.run.compiling, 6), "loading_seconds": round(totals.loading_seconds, 6),
        "waiting_seconds": round(totals.waiting_seconds, 6), "sealing_seconds": round(times.sealing.rest, 6), "compiled": dict(sorted(times.compiled.items())),
        "seps_sampling": rate(totals.edges, totals.seconds), "seps_run": rate(totals.edges, seconds),
        **{name: getattr(totals, name) for name in TALLY},
        "transfers": totals.transfers, "transfer_bytes": totals.transfer_bytes, "evictions": totals.evictions, "in_place": totals.in_place, "overlapped": totals.overlapped,
        "kernel_seconds": round(totals.kernel_seconds, 6), "kernel_deviation": round(totals.kernel_deviation, 4),
        **{f"expected_{name}": value for name, value in plan.expected.items()}, "ways": plan.ways, "plan": plan.as_dict(),
    }  # fmt: skip


@contextmanager
def backends_of(job: Job, units: int) -> Iterator[tuple[list[Callable[[], Any]], tuple[type[Exception], ...]]]:
    """For each device that gets any of the ``units``, a function that opens its backend; and the types of errors that one device may have alone."""
    if not job.devices:
        yield [partial(open_backend, job)], ()
        return
    from csaw.engine.cuda.backend import CudaBackend
    from csaw.engine.cuda.graphs.node import Node

    devices = job.devices if job.plan.residency is Residency.POOLED else job.devices[: max(1, units)]
    node = Node(len(devices))
    try:
        yield (
            [partial(open_backend, job, device, node) for device in devices],
            (DeviceError, MemoryError, *CudaBackend.failures),
        )
    finally:
        node.close()


def open_backend(job: Job, device: Any = None, node: Any = None) -> Any:
    """Open the backend of one of the plan's devices and load the graph as far as the plan says.

    ``device`` None: the first GPU, or the CPU. ``node`` holds what the backends of several devices share.
    """
    if not job.devices:
        from csaw.engine.cpu.backend import CpuBackend

        return CpuBackend(job.plan, job.store, job.algorithm)
    from csaw.engine.cuda.backend import CudaBackend
    from csaw.engine.cuda.graphs.node import Node

    node = node or Node(1)
    try:
        return CudaBackend(job.plan, job.store, job.algorithm, device or job.devices[0], node, job.devices)
    except BaseException:
        node.abort()
        raise


def manifest(job: Job) -> dict[str, Any]:
    """The manifest of a sample store: versions, request and graph, without timings. A graph in memory has no path."""
    store = job.store
    graph = {
        **({} if store.stored.in_memory else {"path": str(store.path.resolve())}), "fingerprint": store.fingerprint, "vertices": store.vertices, "edges": store.edges,
        "directed": store.directed, "id_kind": store.id_kind,
    }  # fmt: skip
    return {"version": VERSION, "draws": DRAWS, "request": job.plan.request.as_dict(), "graph": graph}


def rate(edges: float, seconds: float) -> float:
    """Sampled edges per second."""
    return round(edges / seconds, 1) if seconds > 0 else 0.0
