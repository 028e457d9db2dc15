"""A request, checked and planned: what a run needs to begin."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from csaw.engine.api import hooks, registry
from csaw.engine.api.algorithm import Algorithm, Walk
from csaw.engine.api.registry import Algo
from csaw.engine.api.written_classes import CLASS, recorded_name
from csaw.engine.cpu.specialize import Kernels
from csaw.engine.devices.choice import choose
from csaw.engine.devices.devices import Devices
from csaw.engine.plan.factors import Factors, split
from csaw.engine.plan.methods import Method
from csaw.engine.plan.options import Policy, RunOptions, described
from csaw.engine.plan.options import options as run_options
from csaw.engine.plan.plan import Plan
from csaw.engine.plan.planning import make_plan, transfer_units
from csaw.engine.plan.rates import Rates
from csaw.engine.plan.target import parameters_for, refuse_unfit, vertices_wanted
from csaw.engine.samples.check import graph_facts
from csaw.engine.samples.identifiers import Identifiers
from csaw.engine.sources.given_columns import read_columns
from csaw.engine.sources.sources import Sources
from csaw.partition import open_graph
from csaw.partition.arrays.loader import AGAIN, StoredArray
from csaw.partition.arrays.words import Words
from csaw.partition.base import arguments
from csaw.partition.base.parallel import processors
from csaw.partition.base.plain_data import OptionValue, Record
from csaw.partition.base.python_names import reading
from csaw.partition.base.quoting import quoted
from csaw.partition.base.version import VERSION
from csaw.partition.errors import BiasError, BudgetError, OptionError, StoreError
from csaw.partition.graph.attributes import WEIGHT_RANGE, Attributes
from csaw.partition.graph.edge_columns import WEIGHT
from csaw.partition.graph.store import INDICES, GraphStore
from csaw.partition.graph.views import Coalesced, Split, View, Windowed

# A graph whose weights are the static factors of a bias, computed while they are read: plan/factors.py says which.

PIECE = 1 << 20  # edges whose factors a thread computes at a time
HEADER = """\
# Written by csaw; delete at will.
import math
import numpy as np
from csaw.engine.draws.portable import exponential as csaw_exponential, logarithm as csaw_logarithm, power as csaw_power
from csaw.partition.base.compile import inner, njit
"""


def factored(
    store: GraphStore, algorithm: Algorithm, weighted: bool, select: Method | None
) -> tuple[GraphStore, Algorithm, bool]:
    """The graph, the algorithm and whether weights count, by which a run is planned and drawn.

    Where the bias of a walk has a static factor beside its weight and a dynamic one with bounds, the static one takes
    the place of the weight; otherwise they are as given.
    """
    found = split(store, algorithm, weighted, select) if isinstance(algorithm, Walk) else None
    return (store, algorithm, weighted) if found is None else (Factored(store, found, weighted), found.walk, True)


class Factored(View):
    """``store`` with static factors as weights: float32, times a power of 2.

    It holds 8 bytes a vertex in memory where they depend on degrees.
    """

    is_plain = False  # files have other weights: no reader takes rows from them
    one_sided_weights = True

    def __init__(self, store: GraphStore, factors: Factors, weighted: bool) -> None:
        super().__init__(store, _attributes(store, factors))
        self.in_memory = store.in_memory
        self.static, self.scale = factors.static, factors.scale
        self.reads_weights = weighted and store.weighted

    @cached_property
    def _hook(self) -> hooks.Hook:
        return hooks.edge_bias(self.static, self.reads_weights)

    @cached_property
    def _kernels(self) -> Kernels:
        return Kernels({}, [self._hook], ("static_factors.py",), HEADER)

    @cached_property
    def degrees(self) -> np.ndarray:
        """int64 [V]; where nothing reads them, their number alone is right."""
        reads = {"src_degree", "dst_degree"} & self._hook.reads
        return np.diff(self.store.read_indptr()) if reads else np.broadcast_to(np.int64(0), self.vertices)

    def read_indptr(self) -> np.ndarray:
        return self.store.read_indptr()

    def read_offsets(self, number: int, out: np.ndarray | None = None) -> np.ndarray:
        return self.store.read_offsets(number, out)

    def read_edges(self, number: int, arrays: Mapping[str, np.ndarray], first: int = 0) -> None:
        out = arrays.get(WEIGHT.array)
        read = {name: array for name, array in arrays.items() if name != WEIGHT.array}
        if out is not None:
            if INDICES not in read:
                read[INDICES] = np.empty(out.size, self.id_dtype)
            if self.reads_weights:
                read[WEIGHT.array] = out  # which the factors take the place of
        self.store.read_edges(number, read, first)
        if out is not None and out.size:
            self._fill(number, first, read[INDICES], out)

    def _fill(self, number: int, first: int, indices: np.ndarray, out: np.ndarray) -> None:
        part, offsets = self.partitions[number], self.store.read_offsets(number)
        params, none = hooks.params(self.static), np.empty(0, np.float32)
        fill, degrees = self._kernels.fill_factors, self.degrees

        def piece(begin: int) -> int:
            span = slice(begin, begin + PIECE)
            weights = out[span] if self.reads_weights else none
            given = part.first_vertex, offsets, first + begin, indices[span], weights
            wrong = fill(params, degrees, *given, self.scale, out[span])
            return begin + wrong if wrong >= 0 else -1

        pieces = range(0, out.size, PIECE)
        if len(pieces) == 1:
            found = [piece(0)]
        else:
            with ThreadPoolExecutor(processors()) as threads:
                found = list(threads.map(piece, pieces))
        if (wrong := max(found)) >= 0:
            src = part.first_vertex + int(np.searchsorted(offsets, first + wrong, side="right")) - 1
            raise BiasError(
                f"{self.static.name()}.edge_bias is not a finite number of at least 0 for the edge {src} -> "
                f"{indices[wrong]} (dense ids)"
            )

    def opened(self, number: int, name: str) -> StoredArray:
        """Raise StoreError for weights: no file has static factors."""
        if name == WEIGHT.array:
            raise StoreError(f"{self.path}: no file has the factors of a bias; read them with read_edges; {AGAIN}")
        return self.store.opened(number, name)

    def read_ahead(self, number: int, names: Any, first: int = 0, count: int | None = None) -> None:
        wanted = {WEIGHT.array: self.reads_weights}
        self.store.read_ahead(number, [name for name in names if wanted.get(name, True)], first, count)


def _attributes(store: GraphStore, factors: Factors) -> Attributes:
    """The attributes of the graph, with weights and their bytes."""
    more = 0 if store.weighted else WEIGHT.dtype.itemsize
    rows = [[p.first_vertex, p.last_vertex, p.first_edge, p.edges, p.nbytes + more * p.edges] for p in store.partitions]
    kept = {name: value for name, value in store.attributes.items() if name != WEIGHT_RANGE}
    return kept | {"weighted": True, "partitions": rows, "factor": [factors.text, list(hooks.params(factors.static))]}


# A request, checked and planned.

DRAWS = 2
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
        BiasError: a bias is not a finite number of at least 0.
        DeviceError: a device cannot be used.
        MissingDependencyError: a package that a device needs is not installed.
    """
    if not isinstance(policy, Policy | None):
        raise OptionError(f"policy: expected a Policy, found {quoted(policy)}")
    algo, given = registry.named(algo, given)
    options, parameters = RunOptions.of(given | ({} if policy is None else asdict(policy)))
    store = graph if isinstance(graph, GraphStore) else open_graph(graph, options.checksums)
    weighted = options.weighs(store)
    if options.target is not None:
        options, parameters = _with_target(options, parameters, store, algo)
    times, columns = store.stored.time, read_columns(options.columns, store)
    units = None if times is None else times.units
    algorithm = registry.build(algo, parameters, options.edge_bias, columns, run_options(), units)
    name = recorded_name(algo)
    joined = options.target is not None and not algorithm.sized_by
    sources = Sources(store, algorithm, options.sources, options.instances, options.seed, joined)
    if joined:
        refuse_unfit(algorithm, sources.instances)
    store, algorithm, weighs = factored(store, algorithm, weighted, options.select)

    def planned(devices: Devices, rates: Rates, store: GraphStore) -> Plan:
        plan = make_plan(store, algorithm, sources, devices, name=name, weighted=weighs, options=options, rates=rates)
        return replace(plan, request=replace(plan.request, weighted=weighted))

    def cut(devices: Devices, rates: Rates) -> tuple[GraphStore, Plan]:
        return _cut(store, partial(planned, devices, rates))

    choice = choose(options.device, lambda devices, rates: cut(devices, rates)[1], measure)
    pieces, plan = cut(choice.devices, choice.rates)
    if sources.labels is not None and not plan.sample_layout.keeps_seeds:
        raise OptionError(
            f"--sources: only mini-batches store labels of seeds, but this run draws {plan.sample_layout}; leave "
            "out --induced, or give seeds without labels"
        )
    if not plan.keeps_ids(pieces.id_bytes):
        pieces.map_ids()
    return Job(pieces, algorithm, sources, replace(plan, ways=choice.ways), choice.devices)


def _with_target(options: RunOptions, parameters: Record, store: GraphStore, algo: str) -> tuple[RunOptions, Record]:
    """The options of a run and those of its algorithm, with the target as a number of vertices."""
    target = vertices_wanted(options.target, store.vertices)
    return replace(options, target=target), parameters_for(registry.find(algo), target, parameters)


def _cut(store: GraphStore, planned: Callable[[GraphStore], Plan]) -> tuple[GraphStore, Plan]:
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
    path = {} if job.store.stored.in_memory else {"path": str(job.store.path.resolve())}
    graph = {**path, **graph_facts(job.store)}
    request = job.plan.request
    source = {"source": job.algorithm.file_text} if request.algorithm.startswith(CLASS) else {}
    return {"version": VERSION, "draws": DRAWS, "request": request.as_dict(), "graph": graph, **source}


prepare.__doc__ = f"{prepare.__doc__}\n    Options of any run:\n\n{described(run_options())}\n"
