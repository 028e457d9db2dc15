"""A request, checked and planned: what a run needs to begin; and the backends that draw it, one for each of its
devices.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from csaw.engine.api import registry
from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.bases import MatrixEntries
from csaw.engine.api.registry import Algo
from csaw.engine.api.rules import BUDGETS, SelectionRule
from csaw.engine.api.written_classes import CLASS, recorded_name
from csaw.engine.devices.choice import choose
from csaw.engine.devices.devices import Devices
from csaw.engine.plan.by_relation import (
    fanouts_of,
    in_full,
    needs_relations,
    numbers_in_full,
    numbers_of,
    refuse,
    refuse_beside_budgets,
)
from csaw.engine.plan.choices import Method, Residency
from csaw.engine.plan.options import Policy, RunOptions, described
from csaw.engine.plan.options import options as run_options
from csaw.engine.plan.plan import Plan
from csaw.engine.plan.planning import make_plan, transfer_units
from csaw.engine.plan.rates import Rates
from csaw.engine.plan.selection import proposes
from csaw.engine.plan.target import parameters_for, refuse_unfit, vertices_wanted
from csaw.engine.runs.by_depth import simplified
from csaw.engine.runs.factored import factored
from csaw.engine.samples.check import graph_facts
from csaw.engine.samples.identifiers import Identifiers
from csaw.engine.schedule.backend import Backend
from csaw.engine.sources.given_columns import read_columns
from csaw.engine.sources.link_ends import relation_of
from csaw.engine.sources.sources import Sources
from csaw.partition import open_graph
from csaw.partition.arrays.words import Words
from csaw.partition.base import arguments
from csaw.partition.base.plain_data import OptionValue, Record
from csaw.partition.base.python_names import reading
from csaw.partition.base.quoting import quoted
from csaw.partition.base.version import VERSION
from csaw.partition.errors import BudgetError, DeviceError, OptionError
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.versions import base_of
from csaw.partition.graph.views import Coalesced, Split, Windowed

if TYPE_CHECKING:
    from csaw.engine.cuda.device import Device
    from csaw.engine.cuda.graphs.node import Node
    from csaw.engine.plan.metapath import Metapath


DRAWS = 3
"""Version of the draws: higher with every change by which a request gives another sample.

Versions of csaw that have it in common resume each other's samples.
"""


@dataclass(frozen=True)
class Job:
    """A run that is ready to start: the graph, the algorithm, the sources and the plan; ``devices`` are the GPUs to
    use, none for the CPU.
    """

    store: GraphStore
    algorithm: Algorithm
    sources: Sources
    plan: Plan
    devices: Devices = ()
    rows: GraphStore | None = None
    """The graph from whose rows it draws, where that is not ``store``: of the stages of a metapath, or of relations."""
    like: Record | None = None
    """What the virtual sample says of itself that this job draws again, in its types; None: in those of a new one."""

    @property
    def written_ids(self) -> np.ndarray | Words | None:
        """The original ids by which samples are written; None where there are none, or they are not needed."""
        return None if self.plan.request.ids == "dense" else self.store.stored_ids()

    @property
    def identifiers(self) -> Identifiers:
        """The conversion of the dense ids of drawn samples to those that are written."""
        store = self.store
        return Identifiers.choose(store.id_dtype, self.written_ids, self.plan.request.ids, store.vertices, self.like)


@reading(
    {
        "measure": arguments.flag,
        **dict.fromkeys(("algo", "device"), arguments.simple),
        "target": arguments.maybe(arguments.amount),
    }
)
def prepare(
    graph: str | Path | GraphStore,
    algo: Algo = "deepwalk",
    *,
    policy: Policy | None = None,
    measure: bool = False,
    **given: OptionValue,
) -> Job:
    """Check a request and plan its run; nothing is sampled.

    Args:
        graph: the graph store to sample, or its path (what ``csaw partition`` or ``csaw.partition.ingest`` has made).
        algo: the name of an algorithm (``csaw algorithms`` lists them), ``FILE.py:CLASS``, or a class or an instance,
            custom or built-in.
        policy: a Policy instead of the four options batching, workload_aware, balancing and in_place; by default all of
            them are on.
        measure: measure the rates of this machine's memory, disk and GPU, in a fraction of a second, if the plan
            depends on them and they are not known yet. By default a plan uses rates that were measured before, or
            assumed ones; ``job.plan.rates`` shows which.
        **given: options of the algorithm, such as ``p=0.5, walk_length=80``, and options of any run, below. Text is
            read as on the command line. In Python, ``sources`` may also be an array of original vertex ids, or a dict
            with the array ``ids``, for mini-batches also ``y``, a label for each seed, and with ``time_strategy`` also
            ``time``, the time of each source. ``columns`` may be a dict of arrays [V] (see
            :func:`csaw.engine.sources.given_columns.read_columns`), and ``device`` an opened GPU.

    Returns:
        A Job: the opened graph, the algorithm, the sources, the plan, and the GPUs that the plan chose. Pass it to
        :func:`execute` or :func:`draw_batches`. ``job.plan.as_dict()`` describes how the run will be carried out.

    Raises:
        OptionError: an option is unknown, out of range or impossible with the others.
        UnknownNameError: there is no algorithm ``algo``.
        FormatError: a file of sources is malformed.
        StoreError: the graph is missing or damaged.
        BudgetError: there is too little memory.
        BiasError: a bias is neither 0 nor a finite number of at least 1e-300.
        DeviceError: a device cannot be used.
        MissingDependencyError: a package that a device needs is not installed.
    """
    if not isinstance(policy, Policy | None):
        raise OptionError(f"policy: expected a Policy, found {quoted(policy)}")
    asked, (algo, given) = given, registry.named(algo, given)
    options, parameters = RunOptions.of(given | ({} if policy is None else asdict(policy)))
    store = graph if isinstance(graph, GraphStore) else open_graph(graph, options.checksums)
    weighted = options.weighs(store)
    if options.target is not None:
        options, parameters = _with_target(options, parameters, store, algo)
    algorithm, options, along = _built(algo, parameters, options, store)
    if options.edge_bias is not None and isinstance(algorithm, MatrixEntries):
        _refuse_normalize(algorithm, "normalize" in asked)
    name = recorded_name(algo)
    joined = options.target is not None and not algorithm.sized_by
    sources = Sources(store, algorithm, options.sources, options.instances, options.seed, joined)
    if along is not None:
        along.metapath.require_first(sources, store)
    if joined:
        refuse_unfit(algorithm, sources.instances)
    rows, algorithm, weighs = _rows(store, algorithm, weighted, options, along)

    def planned(devices: Devices, rates: Rates, store: GraphStore) -> Plan:
        plan = make_plan(store, algorithm, sources, devices, name=name, weighted=weighs, options=options, rates=rates)
        return replace(plan, request=replace(plan.request, weighted=weighted))

    # The plan for the devices that are chosen has been made to choose them.
    cut = cache(lambda devices, rates: _in_pieces_that_fit(rows, partial(planned, devices, rates)))
    choice = choose(options.device, lambda devices, rates: cut(devices, rates)[1], measure)
    pieces, plan = cut(choice.devices, choice.rates)
    if sources.labels is not None and not plan.sample_layout.keeps_seeds:
        raise OptionError(
            f"--sources: only mini-batches store labels of seeds, but this run draws {plan.sample_layout}; leave "
            "out --induced, or give seeds without labels"
        )
    if not plan.keeps_ids(pieces.id_bytes):
        pieces.map_ids()
    plan = replace(plan, ways=choice.ways)
    if pieces.stages is not None or pieces.relation_rows is not None or relation_of(store, algorithm) is not None:
        return Job(store, algorithm, sources, plan, choice.devices, rows=pieces)
    return Job(pieces, algorithm, sources, plan, choice.devices)


class Along(NamedTuple):
    """A metapath, and the algorithm without it, where it draws on the graph of its stages."""

    metapath: "Metapath"
    algorithm: Algorithm | None


def _built(
    algo: str, parameters: Record, options: RunOptions, store: GraphStore
) -> tuple[Algorithm, RunOptions, Along | None]:
    """The algorithm of a run on a graph, and the options of the run, those of its metapath among them."""
    times, columns = store.stored.time, read_columns(options.columns, store)
    units = None if times is None else times.units

    def built(bias: str | None, parameters: Record = parameters) -> Algorithm:
        return registry.build(algo, parameters, bias, columns, run_options(), units)

    if getattr(registry.find(algo), "draws_from", None) == BUDGETS:
        first = built(None)
        refuse_beside_budgets(first, options)
        return built(None, parameters | {"num_samples": numbers_in_full(numbers_of(first), store)}), options, None
    first = built(options.edge_bias)
    if (fanouts := fanouts_of(first)) is not None:
        algorithm = built(options.edge_bias, parameters | {"fanout": in_full(fanouts, store)})
        refuse(algorithm, options)
        return algorithm, options, None
    if options.metapath is None:
        if (number := relation_of(store, first)) is not None and store.types is not None:
            full = str(store.types.relations[number])
            return built(options.edge_bias, parameters | {"relation": full}), options, None
        return first, options, None
    from csaw.engine.plan.metapath import along, can_be_staged

    options, metapath, bias = along(options.metapath, options, store, built(None))
    algorithm, blind = built(options.edge_bias), built(bias)
    if options.target is None and not options.induced and can_be_staged(blind):
        return algorithm, options, Along(metapath, blind)
    if options.select is None and proposes(algorithm, options.weighs(store), store):
        options = replace(options, select=Method.REJECTION)
    return algorithm, options, Along(metapath, None)


def _rows(
    store: GraphStore, algorithm: Algorithm, weighted: bool, options: RunOptions, along: Along | None
) -> tuple[GraphStore, Algorithm, bool]:
    """The graph whose rows a run draws from, the algorithm that draws from them, and whether weights count."""

    def with_rows(rows: GraphStore, algorithm: Algorithm) -> tuple[GraphStore, Algorithm, bool]:
        return rows, simplified(rows, algorithm, weighted, options.select), weighted

    if needs_relations(algorithm, store):
        from csaw.partition.graph.staged import RelationGraph

        return with_rows(RelationGraph(store), algorithm)
    if (number := relation_of(store, algorithm)) is not None:
        from csaw.partition.graph.views import OfRelation

        return OfRelation(store, number), algorithm, weighted
    if along is None or along.algorithm is None:
        return factored(store, simplified(store, algorithm, weighted, options.select), weighted, options.select)
    from csaw.partition.graph.staged import Staged

    return with_rows(Staged(store, along.metapath.relations, along.metapath.cyclic), along.algorithm)


def _refuse_normalize(algorithm: MatrixEntries, was_asked: bool) -> None:
    """OptionError if a matrix was to be normalized although a bias of the user's own is the square of its entries."""
    if was_asked or algorithm.normalize != algorithm.options()["normalize"].default:
        raise OptionError(
            f"--normalize: {algorithm.normalize} has no effect with --edge-bias, whose values are the squared entries "
            "of the matrix; leave out --normalize, and divide by degrees in the expression, as in "
            "e.weight ** 2 / (e.src_degree * e.dst_degree)"
        )


def _with_target(options: RunOptions, parameters: Record, store: GraphStore, algo: str) -> tuple[RunOptions, Record]:
    """The options of a run and those of its algorithm, with the target as a number of vertices."""
    target = vertices_wanted(options.target, store.vertices)
    return replace(options, target=target), parameters_for(registry.find(algo), target, parameters)


def _in_pieces_that_fit(store: GraphStore, planned: Callable[[GraphStore], Plan]) -> tuple[GraphStore, Plan]:
    """The graph in pieces of a size that suits the memory, and the plan for it.

    ``planned`` makes the plan for a store.
    """
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


def stored_as(job: Job) -> Record:
    """The options of a GroupWriter for the samples of a job."""
    request = job.plan.request
    return {
        "layout": job.plan.sample_layout,
        "instances": request.instances,
        "group_size": request.group_size,
        "dense_dtype": job.store.id_dtype,
        "vertex_ids": job.written_ids,
        "ids": request.ids,
    }


def refuse_window(store: GraphStore) -> None:
    """OptionError for a window of time, which has no path to find it again by, where a sample is to be stored."""
    if isinstance(store.stored, Windowed):
        raise OptionError(
            f"{store.path}: expected a whole graph, found a window of it, whose fingerprint could not check a "
            "stored sample; leave out the path of the sample, or make a graph store from these edges"
        )


def manifest(job: Job) -> Record:
    """The manifest of a sample store: versions, request and graph, without timings. A graph in memory has no path.

    The source of an algorithm that was given as a class is there, too, because no file of the user's has it.
    """
    path = {} if job.store.stored.in_memory else {"path": str(base_of(job.store.path.resolve()))}
    graph = {**path, **graph_facts(job.store)}
    request = job.plan.request
    source = {"source": job.algorithm.file_text} if request.algorithm.startswith(CLASS) else {}
    rule = job.algorithm.rule
    visited = {"visited": rule.visited} if rule.layout == SelectionRule.layout else {}
    return {"version": VERSION, "draws": DRAWS, "request": request.as_dict(), "graph": graph, **visited, **source}


prepare.__doc__ = f"{prepare.__doc__}\n    Options of any run:\n\n{described(run_options())}\n"


@contextmanager
def backends_of(job: Job, units: int) -> Iterator[tuple[list[Callable[[], Backend]], tuple[type[Exception], ...]]]:
    """Yield a function that opens the backend of each device that gets any of the ``units``.

    Yields also the types of errors that one device may have alone.
    """
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


def open_backend(job: Job, device: "Device | None" = None, node: "Node | None" = None) -> Backend:
    """Open the backend of one of the plan's devices and load the graph as far as the plan says.

    ``device`` None: the first GPU, or the CPU. ``node`` holds what the backends of several devices share.
    """
    store = job.store if job.rows is None else job.rows
    if not job.devices:
        from csaw.engine.cpu.backend import CpuBackend

        return CpuBackend(job.plan, store, job.algorithm)
    from csaw.engine.cuda.backend import CudaBackend
    from csaw.engine.cuda.graphs.node import Node

    node = node or Node(1)
    try:
        backend = CudaBackend(job.plan, store, job.algorithm, device or job.devices[0], node, job.devices)
        store.ids_store.compare_ids()  # unless the GPU has
        return backend
    except BaseException:
        node.abort()
        raise


@contextmanager
def ids_left_to_gpus(job: Job) -> Iterator[None]:
    """Let the GPU of a job compare the original ids with their checksums when its backend opens, before anything is
    drawn, rather than the host before anything else begins.
    """
    ids = job.store.ids_store
    if job.devices and job.plan.residency is Residency.RESIDENT and job.plan.request.ids != "dense":
        ids.leave_ids()
    try:
        yield
    finally:
        ids.forget_ids()
