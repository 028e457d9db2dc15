"""Memory planning for a GPU that streams partitions through its memory."""

from csaw.engine.plan import costs
from csaw.engine.plan.gpu_parts import (
    DEVICE_BATCH_BYTES,
    DEVICE_ROWS,
    build_bytes,
    device_parts,
    scratch_room,
    streamed_layouts,
)
from csaw.engine.plan.layouts import GraphLayout
from csaw.engine.plan.limits import Gpu, Limits, MemoryPlan, Shape, refuse_far
from csaw.engine.plan.needs import question_bytes
from csaw.engine.plan.parts import refuse_least
from csaw.engine.plan.pieces import Cut
from csaw.engine.plan.residency import Residency
from csaw.engine.plan.strategies import Strategies, expected_strategies, taken
from csaw.partition.errors import BudgetError

# Batches have one part in so many of a budget. A walk moves less the more of the graph is in memory; a traversal passes
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
    store, needs = shape.store, shape.needs
    layout = limits.layout or streamed_layouts(shape)[0]
    budget, parts = limits.device_bytes, device_parts(shape, sums=layout.has_sums)
    row = _row(shape)
    free, one = budget - sum(parts.values()), (limits.batch or 1) * row
    cut, landing = _cut(shape, layout, free - one if lands else 0)
    if cut.least_bytes + one > free:
        raise _refusal(shape, budget, cut.least | parts | {"samples in flight": one}, devices[0])
    scratch, more = scratch_room(shape, free - cut.least_bytes - one, sums=layout.has_sums)
    free, parts["candidates"] = free - more, parts["candidates"] + more
    in_flight = limits.batch or _in_flight(shape, min(budget // _share(shape), free // 2, free - cut.least_bytes), row)
    free -= in_flight * row
    largest = cut.largest(most := cut.most_edges(free))
    parts |= {"table_scratch": build_bytes(shape) * largest, "landing": landing * largest}
    fixed, slot = sum(parts.values()), largest * cut.edge
    host = host_room(limits, in_flight * shape.sample * len(devices))
    residency = limits.residency or (Residency.STREAMED if _fits(shape, len(devices), host) else Residency.DISK)
    if landing and store.edges * cut.edge <= free:  # all of it is in slots
        return streamed(shape, devices, limits, lands=False)
    in_host = host // max(largest * needs.edge.stored, 1) * residency.from_store  # other partitions than those in slots
    near = (budget - fixed - in_flight * row) // max(slot, 1) + in_host
    strategies = _strategies(shape, limits, residency, layout, near, in_flight)
    return MemoryPlan(
        layout,
        "search",
        residency,
        in_flight,
        in_flight * row,
        store.edges * cut.edge,
        fixed,
        budget,
        parts,
        pieces=len(store.partitions),
        piece_edges=most,
        piece_bytes=slot,
        scratch_edges=scratch,
        strategies=strategies,
        expected=taken(strategies),
    )


def _cut(shape: Shape, layout: GraphLayout, room: int) -> tuple[Cut, int]:
    """How the graph is cut into pieces, and the bytes of an edge of one more, which is copied while others are sampled.

    Walkers return to pieces, so that this one can take the place of none. It is left out where so little ``room`` is
    there that the pieces of a step hardly fit, and for tables, which gain nothing by it (docs/contributing/tuning.md).
    """
    store, slot, build = shape.store, shape.needs.edge.in_slot(layout), build_bytes(shape)
    together = shape.needs.partitions_at_once
    alone = Cut(store, slot, build, together, uniform=True)
    beside = Cut(store, slot, slot, together, uniform=True)
    if shape.by_steps and not build and LANDING * beside.least_bytes <= room:
        return beside, slot
    return alone, 0


def _refusal(shape: Shape, budget: int, least: dict[str, int], device: Gpu) -> BudgetError:
    return refuse_least(shape.store.path, budget, "--gpu-memory", least, f" on {device.name}, or use --device cpu")


def _in_flight(shape: Shape, room: int, row: int) -> int:
    """Instances of a batch in ``room`` bytes, of ``row`` bytes each."""
    return max(1, min(shape.most, min(DEVICE_BATCH_BYTES, room) // row))


def _row(shape: Shape) -> int:
    """Bytes of an instance in flight."""
    questions = question_bytes(shape.needs.edge.id) if shape.needs.asks_later else 0
    return shape.row + (DEVICE_ROWS - 1) * shape.sample + questions


def _strategies(
    shape: Shape, limits: Limits, residency: Residency, layout: GraphLayout, near: int, in_flight: int
) -> Strategies:
    """Estimate what each way to serve a batch moves, with ``near`` partitions in slots and in host memory."""
    alone = _cost_in_place(shape, limits, residency, layout)
    return expected_strategies(shape, near, in_flight, shape.needs.edge.kept, residency, alone, limits)


def _fits(shape: Shape, gpus: int, room: int) -> bool:
    """Whether all partitions fit ``room`` bytes of host memory.

    A table takes the place of the rows that it is made of, unless another GPU may be copying them.
    """
    edge = shape.needs.edge
    each = edge.kept if gpus == 1 or not shape.needs.alias_tables else edge.stored + edge.alias
    return shape.store.edges * each <= room


def _share(shape: Shape) -> int:
    """The part of a budget that batches have: one in so many."""
    return STEPS_SHARE if shape.by_steps else HOPS_SHARE


def host_room(limits: Limits, samples: int) -> int:
    """Bytes of host memory for partitions beside those on GPUs, at least half of it.

    Batches on their way to disk take their ``samples`` bytes twice, and ids and groups that are written an eighth.
    """
    return max(limits.host_bytes // 2, limits.host_bytes - limits.host_bytes // 8 - 2 * samples)


def _cost_in_place(shape: Shape, limits: Limits, residency: Residency, layout: GraphLayout) -> float | None:
    """Cost of a step that reads single rows where they are, as bytes copied to a GPU; None if the run cannot do so."""
    policy = limits.policy
    if not policy.in_place:
        return None
    if not residency.from_store:
        if layout.has_sums:
            return None  # they are where the GPU has made them
        return costs.read_cost(shape, limits.rates)
    if not (shape.store.is_plain and policy.balancing):
        return None
    return costs.row_cost(shape, shape.needs.edge.stored, limits.rates)
