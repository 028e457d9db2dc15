"""Making the plan of a run: method, needs, memory, kind of batch and expected time, each decided once; and whether
parents of a hop are grouped by the place of their rows (``--transit-parallel``).
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate
from math import ceil
from operator import mul

import numpy as np

from csaw.engine.api.algorithm import Algorithm, Traversal, Walk
from csaw.engine.api.rules import NonNeighbors
from csaw.engine.api.termination import follows_edges
from csaw.engine.plan.batch_kind import BatchKind, choose_kind, tree_edges
from csaw.engine.plan.choices import Residency, choose_detector
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.costs import expected, stored_bytes
from csaw.engine.plan.gpu_memory import beside_host_parts, host_budget, on_devices
from csaw.engine.plan.host_memory import on_host
from csaw.engine.plan.instance_bytes import instance_bytes, least_bytes, refuse_sizes
from csaw.engine.plan.limits import Gpu, Limits, MemoryPlan, Request, Shape
from csaw.engine.plan.needs import Needs, find_needs
from csaw.engine.plan.options import RunOptions
from csaw.engine.plan.plan import Plan
from csaw.engine.plan.rates import ASSUMED, Rates, available_bytes
from csaw.engine.plan.selection import choose_select, drawn_by
from csaw.engine.plan.streaming import LARGE_PIECE
from csaw.engine.plan.target import base_vertices, target_row
from csaw.engine.samples.layouts import drawn_layout
from csaw.engine.samples.layouts.hops import Hops
from csaw.engine.sources.sources import Sources
from csaw.partition.base.parallel import processors
from csaw.partition.base.plain_data import Record
from csaw.partition.base.quoting import format_size
from csaw.partition.errors import BudgetError, OptionError

GROUP_BYTES = 32 << 20  # of a group, the chunk of a sample store that is committed as a whole
# With several GPUs each draws this many batches, so that at the end it waits for a fraction of the work only.
TURNS_PER_GPU = 4
# Transfer units that should fit the memory at once, and the bytes of one that is large enough for a GPU.
UNITS_AT_ONCE, UNIT_BYTES = 8, 256 << 20
SIGNED = np.dtype(np.int32)  # of stored ids, in graphs that it can number


def make_plan(
    store: Store,
    algorithm: Algorithm,
    sources: Sources,
    devices: tuple[Gpu, ...] = (),
    *,
    name: str,
    weighted: bool,
    options: RunOptions,
    rates: Rates = ASSUMED,
) -> Plan:
    """Plan one run, on the CPU or on GPUs (``devices``), by the ``rates`` of the machine.

    OptionError, BiasError or BudgetError if the run cannot work; the message has the number, the limit and a way out.
    """
    limits = _limits(devices, options, rates)
    shape, row = _shape(store, algorithm, sources, len(devices), limits, name, weighted, options)
    request = replace(shape.request, instances=sources.instances)
    threads, output = options.threads or processors(), sources.instances * _stored_bytes(shape, row)

    def planned(limits: Limits) -> MemoryPlan:
        found = on_devices(shape, devices, limits) if devices else on_host(shape, limits)
        return replace(found, expected=expected(shape, found, rates, threads, len(devices), output))

    found = planned(limits)
    layout, kind = found.graph_layout, choose_kind(shape, found)
    plan = Plan(
        request,
        shape.needs,
        shape.drawn_layout,
        request.induced,
        bool(request.target) and isinstance(algorithm, Walk) and not follows_edges(algorithm),
        _sizes(algorithm),
        "cuda:" + ",".join(str(gpu.number) for gpu in devices) if devices else "cpu",
        threads=threads,
        transit=options.transit_parallel,
        kind=kind,
        tree_edges=tree_edges(shape, found) if kind is BatchKind.TREES else 0,
        bias=drawn_by(algorithm, weighted, request.select),
        detect=choose_detector(algorithm, request.select, request.collision, layout, bool(devices), options.detect),
        output_bytes=output,
        host_bytes=host_budget(beside_host_parts(shape, limits), found.batch * shape.sample * len(devices)),
        policy=options.policy,
        rates=rates,
        larger=with_more_memory(shape, found, limits, planned, _usable(devices)),
        **vars(found),
    )
    return grouped(plan, shape, sources.frontier_size)


def _shape(
    store: Store,
    algorithm: Algorithm,
    sources: Sources,
    devices: int,
    limits: Limits,
    name: str,
    weighted: bool,
    options: RunOptions,
) -> tuple[Shape, int]:
    """The shape of a run on so many GPUs, 0 for the CPU, and the bytes of an instance of its sample.

    BudgetError if an instance or the whole sample is too large.
    """
    sizes = _sizes(algorithm)
    layout = drawn_layout(algorithm, sizes)
    method = choose_select(algorithm, weighted, options.select, store.stored)
    needs = find_needs(store, algorithm, weighted=weighted, select=method, collision=options.collision)
    _refuse(algorithm, options, devices, needs)
    induced, target = options.induced or algorithm.ends_induced, int(options.target) if sources.at_random else 0
    row, in_flight = instance_bytes(store, algorithm, sizes, layout, sources, needs, induced and not target)
    sample = in_flight if target else min(row, in_flight)
    bases = sources.instances
    if target:
        bases *= -(-2 * target // base_vertices(algorithm, row, needs.edge.id))
        row = target_row(target, needs.edge.id)
    least, memory = least_bytes(store, algorithm, sizes, layout, sources), max(limits.memory, available_bytes())
    refuse_sizes(algorithm, least, sources.instances, memory // 4 if isinstance(layout, Hops) else memory)
    request = Request(
        store.fingerprint,
        name,
        algorithm.parameters(),
        options.edge_bias,
        weighted,
        options.seed,
        bases,
        str(sources.digest()),
        method,
        options.collision,
        max(1, min(sources.instances, GROUP_BYTES // row)),
        options.ids,
        induced,
        target,
        algorithm.vertex_columns.digests,
        algorithm.file_digest,
        options.metapath or "",
    )
    most = _share(bases, devices, 1 if target else request.group_size)
    shape = Shape(
        store, algorithm, request, needs, layout, in_flight, sample, most, devices > 0, options.detect, sources
    )
    return shape, row


def _refuse(algorithm: Algorithm, options: RunOptions, devices: int, needs: Needs) -> None:
    """OptionError for samples of links and in time that cannot be induced, or that no GPU draws."""
    if devices and needs.timed and isinstance(algorithm.rule, NonNeighbors):
        raise OptionError(
            "--negative-time: expected --device cpu or auto, found a GPU: negatives as of a time are drawn on the CPU"
        )
    if options.induced and isinstance(algorithm.rule, NonNeighbors):
        raise OptionError("--induced: links have no subgraph, because their negatives are no neighbors; leave it out")
    if options.induced and isinstance(algorithm, Traversal) and algorithm.time_strategy is not None:
        raise OptionError(
            "--induced and --time-strategy exclude each other, because an induced sample has all edges among its "
            "vertices, at any time; leave one out"
        )


def _stored_bytes(shape: Shape, row: int) -> int:
    """Bytes of an instance on disk, about, which takes ``row`` bytes with ids as they are drawn.

    Stored ids are signed: those of 32 bits become int64 in a graph of 2^31 vertices or more.
    """
    widened = shape.needs.edge.id == SIGNED.itemsize and shape.store.vertices > np.iinfo(SIGNED).max
    return 2 * row if widened else row


def _sizes(algorithm: Algorithm) -> tuple[int, ...]:
    return algorithm.sizes() if isinstance(algorithm, Traversal) else (1,)


def _limits(devices: tuple[Gpu, ...], options: RunOptions, rates: Rates) -> Limits:
    """The limits of a run. OptionError if scheduling options are given that change nothing on the CPU."""
    policy = options.policy
    if not devices and not (policy.batching and policy.balancing):
        raise OptionError(
            "--no-batching and --no-balancing compare launches on GPUs; leave them out, or pass --device cuda"
        )
    available = available_bytes()
    memory = options.memory or available
    return Limits(
        memory,
        options.gpu_memory or _usable(devices),
        options.in_flight,
        options.layout,
        options.residency,
        policy,
        rates,
        max(available - memory, 0),
    )


def _usable(devices: tuple[Gpu, ...]) -> int:
    """Bytes of each GPU's memory that a run may take if no limit is given."""
    return min((gpu.free_bytes for gpu in devices), default=0) * 9 // 10


def _share(instances: int, devices: int, group: int) -> int:
    """Most instances that a device should draw at a time: with several GPUs, each draws several batches of whole
    groups.
    """
    return instances if devices <= 1 else -(-instances // (TURNS_PER_GPU * devices * group)) * group


def transfer_units(plan: Plan, store: Store) -> int:
    """Number of units to move a streamed graph in: small enough that several fit at once, large enough to be worth a
    transfer.
    """
    if not plan.residency.streams:
        return len(store.partitions)
    large = LARGE_PIECE if plan.device == "cpu" else UNIT_BYTES
    units = max(1, -(-plan.graph_bytes * UNITS_AT_ONCE // max(plan.capacity, 1)), -(-plan.graph_bytes // large))
    if plan.device == "cpu" and 2 * units > len(store.partitions):
        return len(store.partitions)
    return units


# More memory: the seconds and the bytes that a streamed run would be expected to take with it.

MOST = 1 << 60  # bytes of memory that anyone has
TURNS = 6  # in which the least memory is found within a sixtieth
UNITS = (1 << 40, 1 << 30, 1 << 20, 1 << 10)  # in which memory is said

Planned = Callable[[Limits], MemoryPlan]


def with_more_memory(
    shape: Shape, found: MemoryPlan, limits: Limits, planned: Planned, gpu_memory: int
) -> dict[str, Record]:
    """Estimates of a streamed run with more memory, by the options that give it; none if nothing is streamed.

    Twice the memory of ``limits``, and about the least with which the graph need not be streamed so: in memory, or, for
    GPUs that stream from disk, in the host's. ``planned`` plans memory, with what is expected of it; ``gpu_memory``
    bytes of a GPU are there at most.
    """
    if not found.residency.streams:
        return {}
    on_device = found.residency is Residency.HOST
    option, most = ("--gpu-memory", gpu_memory) if on_device else ("--memory", MOST)
    now, free = limits.gpu_memory if on_device else limits.memory, replace(limits, residency=None)

    def having(memory: int) -> MemoryPlan | None:
        with suppress(BudgetError):  # a layout that was asked for may need still more
            return planned(replace(free, gpu_memory=memory) if on_device else replace(free, memory=memory))
        return None

    def enough(memory: int) -> bool:
        other = having(memory)
        return other is not None and other.residency is not found.residency

    if enough(now):  # the user asked for it, and the memory is there
        named = {f"without --residency {found.residency}": now}
    else:
        least = _least(enough, now, most)
        sizes = [size for size in (2 * now, least) if size and size <= min(least or most, most)]
        named = {f"{option} {format_size(size).replace(' ', '')}": size for size in map(_rounded, sizes)}
    plans = {name: (having(memory), memory) for name, memory in named.items()}
    return {name: _estimate(shape, plan, memory) for name, (plan, memory) in plans.items() if plan is not None}


def _estimate(shape: Shape, plan: MemoryPlan, memory: int) -> Record:
    moved = plan.expected.get("bytes", stored_bytes(shape.store, shape.needs))
    return {
        "budget_bytes": memory,
        "residency": plan.residency,
        "bytes": moved,
        "seconds": plan.expected["seconds"],
    }


def _least(enough: Callable[[int], bool], low: int, most: int) -> int | None:
    """About the least memory above ``low`` that is enough; None if not even ``most`` is."""
    high = low
    while not enough(high):
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    for _ in range(TURNS):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _rounded(memory: int) -> int:
    """Bytes of memory that are said in few digits, and are no fewer."""
    unit = next((unit for unit in UNITS if memory >= unit), 1)
    digit = unit / 10 if memory < 10 * unit else unit
    return ceil(ceil(memory / digit) * digit)


PARENTS = 2**32  # grouped parents are numbered in 32 bits
CACHED_EDGES = 1 << 24  # a GPU's cache holds this many, and random reads within it are cheap


def grouped(plan: Plan, shape: Shape, frontier_size: int) -> Plan:
    """The plan, without grouping of parents if this run cannot group them.

    OptionError, with the reason, if the user asked for grouping.
    """
    reason = _why_not(plan, shape, frontier_size)
    if reason and plan.transit == "on":
        raise OptionError(f"--transit-parallel on: {reason}; use auto or off")
    return replace(plan, transit="off") if reason else plan


def worth_grouping(plan: Plan, edges: int, parents: int, size: int) -> bool:
    """Whether to group the ``parents`` of a hop with ``size`` picks each: it pays if most memory lines of the graph are
    read more than once.
    """
    if plan.transit != "auto":
        return plan.transit == "on"
    return edges > CACHED_EDGES and parents * size >= plan.graph_layout.grouping_pays * edges


def _why_not(plan: Plan, shape: Shape, frontier_size: int) -> str | None:
    """The reason why parents cannot be grouped by the place of their rows; None if they can."""
    algorithm = shape.algorithm
    if not shape.on_gpu:
        return "only GPUs group parents, and this run is on the CPU"
    if isinstance(algorithm, Traversal) and plan.residency is Residency.POOLED:
        return "the graph is spread over several GPUs, and reading rows of other GPUs gains nothing by grouping"
    if isinstance(algorithm, Traversal) and plan.residency is not Residency.RESIDENT:
        return f"the graph is {plan.residency}, and its parents are already grouped by partition"
    if plan.kind not in (BatchKind.HOP_TABLES, BatchKind.HOP_TABLES_IN_TIME):
        return (
            "only neighbor samples of a few picks with a uniform or fixed bias can be grouped; "
            f"{algorithm.name()} with --select {plan.select} and these options cannot"
        )
    if (item := plan.needs.edge.id) > 4:
        return f"grouping needs vertex ids of 32 bits, and those of this graph have {8 * item}"
    widest = max(accumulate(plan.sizes[:-1], mul, initial=frontier_size))
    if plan.batch * widest >= PARENTS:
        return (
            f"a hop of {plan.batch:,} instances has {plan.batch * widest:,} parents, and at most "
            f"{PARENTS - 1:,} can be grouped; lower --in-flight to {(PARENTS - 1) // widest:,}"
        )
    return None
