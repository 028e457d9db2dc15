"""Memory planning for GPUs: choose the residency of the graph, its layout, and how many instances to draw at a time."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from csaw.engine.plan.contracts import Store
from csaw.engine.plan.gpu_parts import (
    BUILD_BYTES,
    DEVICE_BATCH_BYTES,
    DEVICE_ROWS,
    build_bytes,
    device_parts,
    layouts_of,
    piece_layout,
    scratch_room,
    streamed_layouts,
)
from csaw.engine.plan.gpu_streaming import streamed
from csaw.engine.plan.layouts import GraphLayout
from csaw.engine.plan.limits import Gpu, Limits, MemoryPlan, Shape
from csaw.engine.plan.needs import member_slots
from csaw.engine.plan.parts import host_parts_of, refuse_least
from csaw.engine.plan.residency import Residency
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
            f"--layout {limits.layout}: this run reads a graph that is {forced} as {' or '.join(pieces)}; "
            "run without --layout, or with --residency resident"
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
    parts = host_parts_of(shape)
    if sum(parts.values()) > limits.host_bytes:
        raise refuse_least(shape.store.path, limits.host_bytes, "--memory", parts)
    return replace(limits, host_bytes=limits.host_bytes - sum(parts.values()))


def _resident(shape: Shape, limits: Limits) -> MemoryPlan:
    """Plan to keep the whole graph on each GPU, in the fastest layout that fits. BudgetError if none does."""
    store, row, budget = shape.store, shape.row * DEVICE_ROWS, limits.device_bytes
    build = BUILD_BYTES * min(store.edges, ALIAS_CHUNK + store.max_degree) if shape.needs.alias_tables else 0
    parts = device_parts(shape) | {"table_scratch": build}
    size = _graph_bytes(shape, limits)
    fixed, least = sum(parts.values()), min(row, budget)
    rows = store.edges * shape.needs.edge.stored
    near = [way for way in size if size[way] - rows <= NEAR_BYTES]
    fitting = next((way for way in (*near, *size) if fixed + size[way] + least <= budget), None)
    if fitting is None:
        need = fixed + min(size.values()) + least
        raise BudgetError(
            f"{store.path}: the graph and the samples in flight need {need:,} bytes on a GPU, and "
            f"{budget:,} are allowed; raise --gpu-memory, or run without "
            f"--residency and --layout"
        )
    membership, layout = fitting
    scratch, more = scratch_room(shape, budget - fixed - size[fitting] - least)
    parts["candidates"] += more
    fixed += more
    room = min(DEVICE_BATCH_BYTES, budget - fixed - size[fitting])
    batch = limits.batch or max(1, min(shape.most, room // row))
    return MemoryPlan(
        layout,
        membership,
        Residency.RESIDENT,
        batch,
        batch * row,
        size[fitting],
        fixed,
        budget,
        parts,
        scratch_edges=scratch,
    )


def _graph_bytes(shape: Shape, limits: Limits) -> dict[tuple[str, GraphLayout], int]:
    """Bytes of a resident graph in each way that can serve the run: membership and layout, the fastest first.

    OptionError if the layout that the user asked for cannot.
    """
    store, needs, edge, possible = shape.store, shape.needs, shape.needs.edge, layouts_of(shape)
    if limits.layout is not None and limits.layout not in possible:
        raise OptionError(f"--layout {limits.layout} cannot serve this run; it can use {', '.join(possible)}")
    table = 4 * member_slots(store.edges, store.vertices)
    extra = {"search": 0, "filter": store.edges, "hash": 2 * table if needs.weighs_members else table}
    answers = ("search",) if not needs.asks_members else ("hash", "filter") if edge.id == 4 else ("filter",)
    sums = 4 * store.vertices  # the number of each row's biases above zero, beside running sums
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
    store, row, budget, count = shape.store, shape.row * DEVICE_ROWS, limits.device_bytes, len(devices)
    require_reach(devices)
    parts, edge = device_parts(shape), shape.needs.edge.piece
    held = np.bincount(owners(store, count), [p.edges for p in store.partitions], count)
    most, largest, share = _shared_pieces(shape, held, budget - sum(parts.values()) - min(row, budget))
    graph = share * edge
    parts["table_scratch"] = build_bytes(shape) * largest
    need = sum(parts.values()) + graph + min(row, budget)
    if need > budget or (most == store.largest_partition and held.min() == 0):
        least = {"the graph's share": graph, **parts, "samples in flight": min(row, budget)}
        raise refuse_least(store.path, budget, "--gpu-memory", least, " or name more GPUs")
    scratch, more = scratch_room(shape, budget - need)
    parts["candidates"] += more
    fixed = sum(parts.values())
    in_flight = limits.batch or max(1, min(shape.most, min(DEVICE_BATCH_BYTES, budget - fixed - graph) // row))
    return MemoryPlan(
        piece_layout(shape),
        "search",
        Residency.POOLED,
        in_flight,
        in_flight * row,
        graph,
        fixed,
        budget,
        parts,
        len(store.partitions),
        most,
        largest * edge,
        scratch,
    )


def _shared_pieces(shape: Shape, held: np.ndarray, room: int) -> tuple[int, int, int]:
    """Count the edges of the pieces of a pooled graph.

    Most edges of a piece of several rows, edges of the largest piece, and edges of the largest share that a GPU holds.

    ``held``: each GPU's edges with the partitions as they are, which stay so if the shares have room. Smaller pieces
    make shares more equal.
    """
    store, edge, build = shape.store, shape.needs.edge.piece, build_bytes(shape)
    whole, share = store.largest_partition, int(held.max())
    if held.min() > 0 and share * edge + whole * build <= room:
        return whole, whole, share
    most = max(1, store.edges // (PIECES_A_SHARE * held.size))
    largest = max(most, store.max_degree)
    if largest >= whole:
        return whole, whole, share
    return most, largest, min(-(-store.edges // held.size) + largest, store.edges)
