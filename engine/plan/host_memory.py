"""Memory planning for the CPU: choose the residency of the graph, its layout, and how many instances to draw at a time.

gpu_memory.py does the same for GPUs.
"""

from dataclasses import replace
from itertools import accumulate
from operator import mul

from csaw.engine.api.algorithm import Walk
from csaw.engine.api.bases import TemporalWalk
from csaw.engine.api.rules import BudgetLayers, Clocks, MiniBatch, Steps
from csaw.engine.api.termination import planned_steps
from csaw.engine.plan.choices import GraphLayout, Method, Residency
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.costs import events_pay, met_row, row_cost
from csaw.engine.plan.footprint import fit, host_parts_of, parts_of
from csaw.engine.plan.instance_bytes import sampled_bytes
from csaw.engine.plan.limits import Limits, MemoryPlan, Request, Shape, refuse_far
from csaw.engine.plan.needs import SUM_BYTES, answer_bytes, question_bytes
from csaw.engine.plan.streaming import Cut, expected_strategies, taken
from csaw.partition.errors import BudgetError, OptionError

PATHS_SHARE, MOST_PATHS = 24, 64 << 20  # of the memory, for steps of walks on their way to disk
PATHS_PAY = 0.8  # of the time of loading that this leaves, at most, so that writing and sorting steps pays
BATCH_BYTES = 256 << 20  # of samples in flight
IDS_SHARE = 8  # of the memory beside offsets; original ids that take more than one stay on disk
HASHED_STEPS = 0.1  # of the number of edges: making hash tables takes as long as they save in half of these steps
NO_PLACE = (1 << 32) - 1  # of an edge in a row: noted where nothing may follow, so rows are shorter
# Of an edge in the order by time, of one with an envelope, and beside it where time is bounded: see
# cpu/kernels/access.py.
EVENT_BYTES, ENVELOPE_BYTES, FAR_BYTES = 16, 32, 4
SUMMED_EDGES = 0.4  # precompute running sums if the run will evaluate at least this fraction of all edge biases


def on_host(shape: Shape, limits: Limits) -> MemoryPlan:
    """Plan host memory: the whole graph if it fits, else partitions from disk.

    BudgetError, with the bytes needed, if neither fits.
    """
    _refuse_what_is_for_gpus(shape, limits)
    store, memory, ids = shape.store, limits.memory, _id_bytes(shape)
    at_once = min(BATCH_BYTES, memory // 4) // shape.row
    batch = limits.batch or max(1, min(shape.request.instances, max(shape.request.group_size, at_once)))
    rows, in_flight, parts = store.edges * shape.needs.edge.reserved, batch * shape.row, parts_of(shape)
    parts |= host_parts_of(shape)
    budget = memory - sum(parts.values()) - rows - in_flight - ids
    membership, answers = _membership(shape, budget)
    parts["members" if membership == "hash" else "filters"] = answers
    parts["events"] = _events(shape, budget - answers)
    streams = limits.residency is not None and limits.residency.streams
    layout = _layout(shape, limits, sum(parts.values()) + rows + in_flight, streams)
    graph = rows + (_sums(store) if layout.has_sums else 0)
    whole = sum(parts.values()) + graph + in_flight
    parts["ids"] = ids if whole + ids <= memory else 0  # otherwise they stay on disk
    if limits.residency is Residency.RESIDENT and whole > memory:
        raise BudgetError(
            f"{store.path}: the whole graph and the samples in flight need {whole:,} bytes, but only {memory:,} "
            f"are allowed; raise --memory to {whole:,}, or leave out --residency"
        )
    if streams or whole > memory:
        return _from_disk(shape, limits, layout, graph)
    return MemoryPlan(layout, membership, Residency.RESIDENT, batch, in_flight, graph, memory, parts)


def _membership(shape: Shape, budget: int) -> tuple[str, int]:
    """The way in which a graph that is all in memory answers whether an edge exists, and its bytes.

    Hash tables of rows serve walks by rejection of so many steps that building them pays. ``budget``: bytes that are
    left beside the graph.
    """
    store, needs, rule = shape.store, shape.needs, shape.algorithm.rule
    if not needs.second_order or isinstance(rule, Clocks):
        return "search", 0
    size = answer_bytes(store, needs)
    hashed = (
        isinstance(rule, Steps)
        and shape.request.select is Method.REJECTION
        and needs.edge.id == 4
        and size["hash"] <= budget
    )
    pays = hashed and shape.request.instances * planned_steps(shape.algorithm) >= HASHED_STEPS * store.edges
    return ("hash", size["hash"]) if pays else ("filter", size["filter"])


def _events(shape: Shape, budget: int) -> int:
    """Bytes of the edges in the order by time, of a graph that is all in memory; 0 where steps search in the order
    because they are few, or ``budget`` bytes do not hold them.
    """
    algorithm = shape.algorithm
    if isinstance(algorithm.rule, MiniBatch | BudgetLayers) or shape.needs.edge.id != 4 or not events_pay(shape):
        return 0  # the edges of mini-batches are numbered in the order of rows
    if shape.store.max_degree >= NO_PLACE:
        return 0
    each = EVENT_BYTES
    if isinstance(algorithm, TemporalWalk):
        each = ENVELOPE_BYTES if algorithm.exponential_in_time else EVENT_BYTES
        each += FAR_BYTES if algorithm.bounded_in_time else 0
    size = each * shape.store.edges
    return size if size <= budget else 0


def _refuse_what_is_for_gpus(shape: Shape, limits: Limits) -> None:
    possible = _host_layouts(shape)
    if limits.layout not in (None, *possible):
        raise OptionError(
            f"--layout {limits.layout}: on the CPU, this run can use {' or '.join(possible)}; other "
            "layouts are for GPUs"
        )
    if limits.residency is not None and not limits.residency.on_cpu:
        here = " or ".join(residency for residency in Residency if residency.on_cpu)
        raise OptionError(f"--residency {limits.residency} is for GPUs; on the CPU, use {here}")


def _sums(store: Store) -> int:
    """Bytes of the running sums of all rows, and of each row's number of biases above zero."""
    return SUM_BYTES * store.edges + 4 * store.vertices


def _layout(shape: Shape, limits: Limits, without_sums: int, streams: bool) -> GraphLayout:
    """The layout that the user asked for, or the best that fits. OptionError if the one asked for does not fit.

    ``without_sums``: bytes that the run takes beside running sums. ``streams``: whether the user asked for a residency
    that streams.
    """
    layout, sums = limits.layout or _host_layouts(shape)[0], _sums(shape.store)
    if not layout.has_sums or (without_sums + sums <= limits.memory and not streams):
        return layout
    if limits.layout:
        raise OptionError(
            f"--layout {layout} needs {sums:,} bytes in addition to the graph, which must be in memory as a "
            "whole; raise --memory, or leave out --layout and --residency"
        )
    return GraphLayout.CSR


def _id_bytes(shape: Shape) -> int:
    """Bytes of the original ids, if samples are written with them."""
    return 0 if shape.request.ids == "dense" else shape.store.id_bytes


def _from_disk(shape: Shape, limits: Limits, layout: GraphLayout, graph: int) -> MemoryPlan:
    """Plan to stream the graph from disk in pieces.

    BudgetError if the pieces that one step needs do not fit beside a batch, however small they are.
    """
    refuse_far(shape, "--memory")
    store, needs, memory, edge = shape.store, shape.needs, limits.memory, shape.needs.edge
    row = shape.row + (question_bytes(edge.id) if needs.asks_later else 0)
    parts = parts_of(shape) | {"places": store.vertices // 5, "chunks": store.unpack_bytes} | host_parts_of(shape)
    scratch = edge.stored if needs.alias_tables else 0
    cut = Cut(store, edge.reserved, scratch, needs.partitions_at_once, uniform=False)
    ids, one = _id_bytes(shape), (limits.batch or 1) * row
    left = memory - sum(parts.values()) - cut.least_bytes - one
    parts["ids"] = ids if ids <= left // IDS_SHARE else 0
    fit({**cut.least, **parts, "samples in flight": one}, memory, store.path, "--memory")
    budget = memory - sum(parts.values())
    most = max(1, min(memory // 4, budget // 2, budget - cut.least_bytes) // row)
    batch = limits.batch or _even(shape.request, most)
    plan = _in_pieces(shape, limits, layout, cut, parts, batch, row, graph)
    if (
        limits.batch
        or not isinstance(shape.algorithm, Walk)
        or needs.reads_path
        or needs.timed
        or batch == shape.request.instances
    ):
        return plan
    paths = min(MOST_PATHS, memory // PATHS_SHARE)
    # Of a walk whose steps are on disk; and where it waits.
    state = row - sampled_bytes(shape.algorithm, edge.id) + 3 * 8
    # For steps as they come, those of the batch before, and those that are read; and for a group of walks that is
    # written.
    parts["paths"] = 3 * paths + min(shape.request.group_size, shape.request.instances) * shape.row
    budget -= parts["paths"]
    more = min(shape.request.instances, min(budget // 2, budget - cut.least_bytes) // state)
    if more < 2 * most or max(more, 64 * planned_steps(shape.algorithm)) >= 2**32:  # numbers of the type of a vertex id
        return plan
    other = _in_pieces(shape, limits, layout, cut, parts, more, state, graph)
    sooner = other.expected["loading_seconds"] < PATHS_PAY * plan.expected["loading_seconds"]
    return replace(other, paths_bytes=paths) if sooner else plan


def _even(request: Request, most: int) -> int:
    """Instances of a batch, at most ``most``.

    A group that does not fit is drawn in equal parts: a large one and a small one would leave less memory for pieces.
    """
    group = min(request.group_size, request.instances)
    return min(most, request.instances) if most >= group else -(-group // -(-group // most))


def _in_pieces(
    shape: Shape, limits: Limits, layout: GraphLayout, cut: Cut, parts: dict[str, int], batch: int, row: int, graph: int
) -> MemoryPlan:
    """The plan that has ``batch`` instances of ``row`` bytes in flight, and the rest of the memory for pieces.

    ``parts``: bytes beside both.
    """
    store, edge, memory = shape.store, shape.needs.edge, limits.memory
    most = cut.most_edges(memory - sum(parts.values()) - batch * row)
    largest = cut.largest(most)
    parts = parts | {"table_scratch": cut.scratch_bytes(largest)}
    count = len(store.partitions)
    residency = limits.residency or Residency.DISK
    loaded = edge.in_partition(layout)  # once its table is made
    fitting = (memory - sum(parts.values()) - batch * row) * count // max(store.edges * loaded, 1)
    alone = row_cost(shape, loaded, limits.rates) if limits.policy.in_place and store.is_plain else None
    strategies = expected_strategies(shape, fitting, batch, loaded, residency, alone, limits)
    return MemoryPlan(
        layout,
        "search",
        residency,
        batch,
        batch * row,
        graph,
        memory,
        parts,
        count,
        most,
        largest * cut.edge,
        strategies=strategies,
        expected=taken(strategies),
    )


def _host_layouts(shape: Shape) -> tuple[GraphLayout, ...]:
    """Layouts that can serve a run on the CPU, the best first.

    Making running sums evaluates the bias of every edge, so it also refuses a bad bias that no instance would meet.
    """
    if shape.needs.alias_tables:
        return (GraphLayout.TABLE,)
    store = shape.store
    if shape.needs.running_sums or shape.needs.batch_sums:
        each = sum(accumulate(shape.sizes[:-1], mul, initial=shape.traversal.frontier_size))
    elif shape.needs.clock_sums:
        each = planned_steps(shape.algorithm)
    else:
        return (GraphLayout.CSR,)
    parents = shape.request.instances * each
    worth = shape.detect is None and min(parents, store.edges) * met_row(store) >= SUMMED_EDGES * store.edges
    return (GraphLayout.CTPS, GraphLayout.CSR) if worth else (GraphLayout.CSR, GraphLayout.CTPS)
