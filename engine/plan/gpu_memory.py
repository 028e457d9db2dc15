"""Memory planning for GPUs: choose the residency of the graph, its layout, and how many instances to draw at a time."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from csaw.engine.api.rules import HopTable, PerVertex, Steps
from csaw.engine.api.termination import has_hooks, planned_steps
from csaw.engine.plan import costs
from csaw.engine.plan.choices import GraphLayout, Method, Residency
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.costs import events_pay, frontiers, met_row
from csaw.engine.plan.footprint import fit, host_parts_of, parts_of, refuse_least
from csaw.engine.plan.limits import Gpu, Limits, MemoryPlan, Shape, refuse_far
from csaw.engine.plan.needs import answer_bytes, question_bytes
from csaw.engine.plan.streaming import Cut, expected_strategies, taken
from csaw.partition.errors import BudgetError, CsawError, OptionError

PIECES_A_SHARE = 8  # of a pooled graph, on each GPU, where partitions are too large to be shared equally
ALIAS_CHUNK = 1 << 27  # edges whose alias tables a GPU builds at a time
# Random reads run at full rate within this much of a GPU's memory; over 100 GB they take twice as long
# (docs/contributing/tuning.md).
NEAR_BYTES = 64 << 30


def on_devices(shape: Shape, devices: tuple[Gpu, ...], limits: Limits) -> MemoryPlan:
    """Plan the memory of GPUs: take the fastest residency that fits, and note why faster ones were refused.

    OptionError if a forced residency or layout cannot serve the run; BudgetError, with the bytes needed, if nothing
    allowed fits.
    """
    limits, forced = beside_host_parts(shape, limits), limits.residency
    pieces = streamed_layouts(shape) if forced is not None and forced.streams else (piece_layout(shape),)
    if forced is not None and forced.in_pieces and limits.layout not in (None, *pieces):
        raise OptionError(
            f"--layout {limits.layout}: with --residency {forced}, this run needs the layout "
            f"{' or '.join(pieces)}; leave out --layout, or pass --residency resident"
        )
    if forced is Residency.POOLED:
        return _pooled(shape, devices, limits)
    if forced is not None and forced.streams:
        return streamed(shape, devices, limits)
    try:
        return _resident(shape, limits)
    except BudgetError as error:
        if forced is Residency.RESIDENT or limits.layout is not None:
            raise
        refused = {Residency.RESIDENT.value: str(error)}
    try:
        return replace(_pooled(shape, devices, limits), refused=refused)
    except CsawError as error:
        return replace(streamed(shape, devices, limits), refused=refused | {Residency.POOLED.value: str(error)})


def beside_host_parts(shape: Shape, limits: Limits) -> Limits:
    """The limits that are left beside what a run needs in the memory of the host, whatever draws it.

    BudgetError if that does not fit there.
    """
    return replace(limits, memory=fit(host_parts_of(shape), limits.memory, shape.store.path, "--memory"))


def _resident(shape: Shape, limits: Limits) -> MemoryPlan:
    """Plan to keep the whole graph on each GPU, in the fastest layout that fits. BudgetError if none does."""
    store, row, memory = shape.store, shape.row * DEVICE_ROWS, limits.gpu_memory
    build = BUILD_BYTES * min(store.edges, ALIAS_CHUNK + store.max_degree) if shape.needs.alias_tables else 0
    parts = device_parts(shape) | {"table_scratch": build}
    size = _graph_bytes(shape, limits)
    least = sum(parts.values()) + min(row, memory)
    rows = store.edges * shape.needs.edge.stored
    near = [way for way in size if size[way] - rows <= NEAR_BYTES]
    fitting = next((way for way in (*near, *size) if size[way] + least <= memory), None)
    if fitting is None:
        need = min(size.values()) + least
        raise BudgetError(
            f"{store.path}: the graph and the samples in flight need {need:,} bytes on a GPU, but only {memory:,} "
            "are allowed; raise --gpu-memory, or leave out --residency and --layout"
        )
    membership, layout = fitting
    graph = size[fitting]
    scratch, more = scratch_room(shape, memory - graph - least)
    parts["candidates"] += more
    batch = _in_flight(shape, limits, memory - sum(parts.values()) - graph, row)
    return MemoryPlan(
        layout, membership, Residency.RESIDENT, batch, batch * row, graph, memory, parts, scratch_edges=scratch
    )


def _graph_bytes(shape: Shape, limits: Limits) -> dict[tuple[str, GraphLayout], int]:
    """Bytes of a resident graph in each way that can serve the run: membership and layout, the fastest first.

    OptionError if the layout that the user asked for cannot.
    """
    store, needs, edge, possible = shape.store, shape.needs, shape.needs.edge, layouts_of(shape)
    if limits.layout is not None and limits.layout not in possible:
        raise OptionError(f"--layout {limits.layout} does not work for this run; it can use {', '.join(possible)}")
    answers = ("search",) if not needs.asks_members else ("hash", "filter") if edge.id == 4 else ("filter",)
    extra, sums = answer_bytes(store, needs), 4 * store.vertices  # each row's number of biases above zero
    return {
        (answer, layout): store.edges * (edge.stored + edge.built(layout)) + extra[answer] + layout.has_sums * sums
        for answer, layout in product(answers, (limits.layout,) if limits.layout else possible)
    }


def owners(store: Store, devices: int) -> list[int]:
    """The GPU, from 0 to ``devices`` - 1, that holds each partition of a pooled graph: consecutive partitions, about
    equal numbers of edges.
    """
    return [
        min(devices - 1, (2 * p.first_edge + p.edges) * devices // max(2 * store.edges, 1)) for p in store.partitions
    ]


def require_reach(devices: Sequence[Gpu]) -> None:
    """Raise OptionError unless there are several GPUs, each of which can read the memory of all others."""
    if len(devices) < 2:
        raise OptionError("--residency pooled spreads the graph over several GPUs; name them, as in --device cuda:0,1")
    for a, b in product(devices, devices):
        if a.number != b.number and b.number not in a.peers:
            raise OptionError(
                f"--residency pooled: GPU {a.number} cannot read the memory of GPU {b.number} (nvidia-smi "
                "topo -p2p r); use --residency streamed"
            )


def _pooled(shape: Shape, devices: tuple[Gpu, ...], limits: Limits) -> MemoryPlan:
    """Plan to spread the graph over GPUs that read each other's memory, with a batch on each.

    BudgetError if a GPU's share does not fit.
    """
    store, row, memory, count = shape.store, shape.row * DEVICE_ROWS, limits.gpu_memory, len(devices)
    require_reach(devices)
    parts, edge, one = device_parts(shape), shape.needs.edge.piece, min(row, memory)
    held = np.bincount(owners(store, count), [p.edges for p in store.partitions], count)
    most, largest, share = _shared_pieces(shape, held, memory - sum(parts.values()) - one)
    graph = share * edge
    parts["table_scratch"] = build_bytes(shape) * largest
    least = {"the graph's share": graph, **parts, "samples in flight": one}
    given = (least, memory, store.path, "--gpu-memory", " or name more GPUs")
    budget = fit(*given)
    if most == store.largest_partition and held.min() == 0:
        raise refuse_least(*given)
    scratch, more = scratch_room(shape, budget)
    parts["candidates"] += more
    in_flight = _in_flight(shape, limits, memory - sum(parts.values()) - graph, row)
    return MemoryPlan(
        piece_layout(shape),
        "search",
        Residency.POOLED,
        in_flight,
        in_flight * row,
        graph,
        memory,
        parts,
        len(store.partitions),
        most,
        largest * edge,
        scratch,
    )


def _shared_pieces(shape: Shape, held: np.ndarray, budget: int) -> tuple[int, int, int]:
    """Count the edges of the pieces of a pooled graph.

    Most edges of a piece of several rows, edges of the largest piece, and edges of the largest share that a GPU holds.

    ``held``: each GPU's edges with the partitions as they are, which stay so if ``budget`` bytes hold the shares.
    Smaller pieces make shares more equal.
    """
    store, edge, build = shape.store, shape.needs.edge.piece, build_bytes(shape)
    whole, share = store.largest_partition, int(held.max())
    if held.min() > 0 and share * edge + whole * build <= budget:
        return whole, whole, share
    most = max(1, store.edges // (PIECES_A_SHARE * held.size))
    largest = max(most, store.max_degree)
    if largest >= whole:
        return whole, whole, share
    return most, largest, min(-(-store.edges // held.size) + largest, store.edges)


# Parts of the memory of a GPU that any residency has, and the layouts that a run can read there.

DEVICE_BATCH_BYTES = 4 << 30  # of samples in flight and the arrays that sampling them needs
DEVICE_ROWS = 3  # copies of a sample on a GPU: as drawn, in order of instance, and of the batch before
SCRATCH_EDGES, SCRATCH_BYTES = 1 << 25, 33  # candidates that a GPU selects from at a time, and scratch bytes of each
SUMS_PAY = 2  # times the edges of the graph that rows have, all together, from which sums of partitions pay
BUILD_BYTES = 16  # of an edge while its alias table is made on a GPU


def _selects_from_rows(shape: Shape, sums: bool) -> bool:
    """Whether selection on a GPU needs scratch memory for the candidates of a row; ``sums``: it searches in sums of
    partitions.
    """
    return not (shape.by_steps or shape.needs.alias_tables or sums)


def scratch_room(shape: Shape, budget: int, *, sums: bool = False) -> tuple[int, int]:
    """Count the candidates that fit in scratch memory at a time, and their bytes.

    The bytes are those of ``budget`` that they take beyond the least scratch memory.
    """
    if not _selects_from_rows(shape, sums):
        return 0, 0
    least = max(shape.store.max_degree, 1)
    more = max(0, min(min(shape.store.edges, SCRATCH_EDGES) - least, budget // 8 // SCRATCH_BYTES))
    return least + more, more * SCRATCH_BYTES


def device_parts(shape: Shape, *, sums: bool = False) -> dict[str, int]:
    """Bytes on a GPU beside edges, samples in flight and making tables, by the names of PARTS.

    The least for candidates is room for those of two rows as long as the longest.
    """
    least = 2 * SCRATCH_BYTES * max(shape.store.max_degree, 1) if _selects_from_rows(shape, sums) else 0
    return parts_of(shape) | {"candidates": least}


def build_bytes(shape: Shape) -> int:
    """Bytes of an edge while the alias tables of its piece are made."""
    needs = shape.needs
    return BUILD_BYTES + needs.edge.stored if needs.alias_tables else 0


def piece_layout(shape: Shape) -> GraphLayout:
    """Layout of a partition in a streamed or pooled graph."""
    return GraphLayout.TABLE if shape.needs.alias_tables else GraphLayout.CSR


def streamed_layouts(shape: Shape) -> tuple[GraphLayout, ...]:
    """Layouts that partitions of a streamed graph can have, the better one first.

    Running sums are made of a partition whenever it is loaded, and take room. They pay where picks would read longer
    rows, all together, than the graph has twice.
    """
    if not shape.needs.running_sums or shape.traversal.rule.replace or shape.detect is not None:
        return (piece_layout(shape),)
    read = shape.request.instances * frontiers(shape)[0] * met_row(shape.store)
    both = (GraphLayout.CTPS, GraphLayout.CSR)
    return both if read > SUMS_PAY * shape.store.edges else both[::-1]


def _reads_events(shape: Shape) -> bool:
    """Whether a run in time can do with edges in the order by time: no hook reads an edge, and no sample its number."""
    return isinstance(shape.algorithm.rule, Steps | PerVertex | HopTable) and not has_hooks(shape.algorithm)


def layouts_of(shape: Shape) -> tuple[GraphLayout, ...]:
    """Layouts that can serve a run on a GPU, the fastest first."""
    needs, wide = shape.needs, shape.needs.edge.id > 4
    if needs.alias_tables:
        walks = isinstance(shape.algorithm.rule, Steps)
        return (GraphLayout.ALIAS, GraphLayout.TABLE) if walks and not wide else (GraphLayout.TABLE,)
    if shape.by_steps and shape.request.select in (Method.UNIFORM, Method.REJECTION) and not wide:
        steps = shape.request.instances * planned_steps(shape.algorithm)
        many = steps >= shape.store.edges // 8
        return (GraphLayout.ENTRIES, GraphLayout.CSR) if many else (GraphLayout.CSR, GraphLayout.ENTRIES)
    if shape.request.select is Method.TIME and not wide and _reads_events(shape):
        return (GraphLayout.EVENTS, GraphLayout.CSR) if events_pay(shape) else (GraphLayout.CSR, GraphLayout.EVENTS)
    if not (needs.clock_sums or needs.running_sums):
        return (GraphLayout.CSR,)
    # Only engine/cuda/kernels/select.cu, which reads rows, has detectors.
    sums_first = needs.clock_sums or shape.detect is None
    return (GraphLayout.CTPS, GraphLayout.CSR) if sums_first else (GraphLayout.CSR, GraphLayout.CTPS)


# Batches have one part in so many of the memory. A walk moves less the more of the graph is there; a traversal passes
# over the graph once a hop for each batch, however much of it is there.
STEPS_SHARE, HOPS_SHARE = 4, 2
LANDING = 4  # times the least that pieces take: from there on, there is room for one more


def streamed(shape: Shape, devices: tuple[Gpu, ...], limits: Limits, *, lands: bool = True) -> MemoryPlan:
    """Plan to stream partitions through slots in a GPU's memory.

    They come from host memory if the graph fits there, else from disk. ``lands``: whether one more slot may take the
    partition that comes next.

    BudgetError if the partitions that one step needs do not fit beside a batch.
    """
    refuse_far(shape, "--gpu-memory")
    store, needs, memory = shape.store, shape.needs, limits.gpu_memory
    layout = limits.layout or streamed_layouts(shape)[0]
    row = shape.row + (DEVICE_ROWS - 1) * shape.sample + (question_bytes(needs.edge.id) if needs.asks_later else 0)
    parts, one = device_parts(shape, sums=layout.has_sums), (limits.batch or 1) * row
    cut, landing = _cut(shape, layout, memory - sum(parts.values()) - one if lands else 0)
    least, otherwise = cut.least | parts | {"samples in flight": one}, f" on {devices[0].name}, or use --device cpu"
    scratch, more = scratch_room(shape, fit(least, memory, store.path, "--gpu-memory", otherwise), sums=layout.has_sums)
    parts["candidates"] += more
    budget = memory - sum(parts.values())
    share = memory // (STEPS_SHARE if shape.by_steps else HOPS_SHARE)
    in_flight = _in_flight(shape, limits, min(share, budget // 2, budget - cut.least_bytes), row)
    budget -= in_flight * row
    largest = cut.largest(most := cut.most_edges(budget))
    parts |= {"table_scratch": build_bytes(shape) * largest, "landing": landing * largest}
    slot = largest * cut.edge
    host = host_budget(limits, in_flight * shape.sample * len(devices))
    residency = limits.residency or (Residency.HOST if _fits(shape, len(devices), host) else Residency.DISK)
    if landing and store.edges * cut.edge <= budget:  # all of it is in slots
        return streamed(shape, devices, limits, lands=False)
    in_host = host // max(largest * needs.edge.stored, 1) * residency.from_store  # other partitions than those in slots
    near = (memory - sum(parts.values()) - in_flight * row) // max(slot, 1) + in_host
    alone = _cost_in_place(shape, limits, residency, layout)
    strategies = expected_strategies(shape, near, in_flight, needs.edge.kept, residency, alone, limits)
    return MemoryPlan(
        layout,
        "search",
        residency,
        in_flight,
        in_flight * row,
        store.edges * cut.edge,
        memory,
        parts,
        pieces=len(store.partitions),
        piece_edges=most,
        piece_bytes=slot,
        scratch_edges=scratch,
        strategies=strategies,
        expected=taken(strategies),
    )


def _cut(shape: Shape, layout: GraphLayout, budget: int) -> tuple[Cut, int]:
    """How the graph is cut into pieces, and the bytes of an edge of one more, which is copied while others are sampled.

    Walkers return to pieces, so that this one can take the place of none. It is left out where ``budget`` is so
    little that the pieces of a step hardly fit, and for tables, which gain nothing by it (docs/contributing/tuning.md).
    """
    store, slot, build = shape.store, shape.needs.edge.in_slot(layout), build_bytes(shape)
    together = shape.needs.partitions_at_once
    alone = Cut(store, slot, build, together, uniform=True)
    beside = Cut(store, slot, slot, together, uniform=True)
    if shape.by_steps and not build and LANDING * beside.least_bytes <= budget:
        return beside, slot
    return alone, 0


def _in_flight(shape: Shape, limits: Limits, budget: int, row: int) -> int:
    """Instances of a batch in ``budget`` bytes, of ``row`` bytes each, or those that the user asked for."""
    return limits.batch or max(1, min(shape.most, min(DEVICE_BATCH_BYTES, budget) // row))


def _fits(shape: Shape, gpus: int, budget: int) -> bool:
    """Whether all partitions fit ``budget`` bytes of host memory.

    A table takes the place of the rows that it is made of, unless another GPU may be copying them.
    """
    edge = shape.needs.edge
    each = edge.kept if gpus == 1 or not shape.needs.alias_tables else edge.stored + edge.alias
    return shape.store.edges * each <= budget


def host_budget(limits: Limits, samples: int) -> int:
    """Bytes of host memory for partitions beside those on GPUs, at least half of it.

    Batches on their way to disk take their ``samples`` bytes twice, and ids and groups that are written an eighth.
    """
    return max(limits.memory // 2, limits.memory - limits.memory // 8 - 2 * samples)


def _cost_in_place(shape: Shape, limits: Limits, residency: Residency, layout: GraphLayout) -> float | None:
    """Cost of a step that reads single rows where they are, as bytes copied to a GPU; None if the run cannot do so."""
    policy = limits.policy
    if not policy.in_place:
        return None
    if residency.reads_over_bus:
        if layout.has_sums:
            return None  # they are where the GPU has made them
        return costs.read_cost(shape, limits.rates)
    if not (shape.store.is_plain and policy.balancing):
        return None
    return costs.row_cost(shape, shape.needs.edge.stored, limits.rates)
