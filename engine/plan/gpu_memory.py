"""Memory planning for GPUs: choose the residency of the graph, its layout, and how many instances to draw at a time."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from csaw.engine.api.algorithm import Traversal, Walk
from csaw.engine.api.termination import planned_steps
from csaw.engine.plan import costs
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.layouts import GraphLayout
from csaw.engine.plan.limits import Limits, MemoryPlan, Shape, refuse_far
from csaw.engine.plan.methods import Method
from csaw.engine.plan.needs import member_slots, question_bytes
from csaw.engine.plan.parts import CLUSTER_BYTES, columns_bytes, refuse_least
from csaw.engine.plan.pieces import Cut
from csaw.engine.plan.residency import Residency
from csaw.engine.plan.strategies import expected_strategies, taken
from csaw.partition.errors import BudgetError, CsawError, OptionError

DEVICE_BATCH_BYTES = 4 << 30  # of samples in flight and the arrays that sampling them needs
DEVICE_ROWS = 3  # copies of a sample on a GPU: as drawn, in order of instance, and of the batch before
SCRATCH_EDGES, SCRATCH_BYTES = 1 << 25, 33  # candidates that a GPU selects from at a time, and scratch bytes of each
BUILD_BYTES = 16  # of an edge while its alias table is made on a GPU
PIECES_A_SHARE = 8  # of a pooled graph, on each GPU, where partitions are too large to be shared equally
ALIAS_CHUNK = 1 << 27  # edges whose alias tables a GPU builds at a time
# Random reads run at full rate within this much of a GPU's memory; over 100 GB they take twice as long (docs/tuning.md).
NEAR_BYTES = 64 << 30


def on_devices(shape: Shape, devices: tuple[Any, ...], limits: Limits) -> MemoryPlan:
    """Plan the memory of GPUs: take the fastest residency that fits, and note why faster ones were refused.

    OptionError if a forced residency or layout cannot serve the run; BudgetError, with the bytes needed, if nothing allowed fits.
    """
    forced = limits.residency
    if forced is not None and forced.in_pieces and limits.layout not in (None, _piece_layout(shape)):
        raise OptionError(
            f"--layout {limits.layout}: this run reads a graph that is {forced} as {_piece_layout(shape)}; run without --layout, or with --residency resident"
        )
    if forced is Residency.POOLED:
        return _pooled(shape, devices, limits)
    if forced is not None and forced.streams:
        return _streamed(shape, devices, limits)
    try:
        return _resident(shape, limits)
    except BudgetError as error:
        if forced is Residency.RESIDENT or limits.layout is not None:
            raise
        refused = {Residency.RESIDENT.value: str(error)}
    try:
        return replace(_pooled(shape, devices, limits), refused=refused)
    except CsawError as error:
        return replace(_streamed(shape, devices, limits), refused=refused | {Residency.POOLED.value: str(error)})


def _resident(shape: Shape, limits: Limits) -> MemoryPlan:
    """Plan to keep the whole graph on each GPU, in the fastest layout that fits. BudgetError if none does."""
    store, row, budget = shape.store, shape.row * DEVICE_ROWS, limits.device_bytes
    possible = _layouts(shape)
    if limits.layout is not None and limits.layout not in possible:
        raise OptionError(f"--layout {limits.layout} cannot serve this run; it can use {', '.join(possible)}")
    needs, edge = shape.needs, shape.needs.edge
    build = BUILD_BYTES * min(store.edges, ALIAS_CHUNK + store.max_degree) if needs.alias_tables else 0
    parts = _parts(shape) | {"table_scratch": build}
    fixed = sum(parts.values())
    table = 4 * member_slots(store.edges, store.vertices)
    extra = {"search": 0, "filter": store.edges, "hash": 2 * table if needs.weighs_members else table}
    answers = ("search",) if not needs.asks_members else ("hash", "filter") if edge.id == 4 else ("filter",)
    least = min(row, budget)
    ways = list(product(answers, (limits.layout,) if limits.layout else possible))
    sums = 4 * store.vertices  # the number of each row's biases above zero, beside running sums
    size = {
        way: store.edges * (edge.stored + edge.built(way[1])) + extra[way[0]] + way[1].has_sums * sums for way in ways
    }
    near = [way for way in ways if size[way] - store.edges * edge.stored <= NEAR_BYTES]
    fitting = next((way for way in (*near, *ways) if fixed + size[way] + least <= budget), None)
    if fitting is None:
        need = fixed + min(size.values()) + least
        raise BudgetError(
            f"{store.path}: the graph and the samples in flight need {need:,} bytes on a GPU, and {budget:,} are allowed; raise --gpu-memory, or run without "
            f"--residency and --layout"
        )
    membership, layout = fitting
    scratch, more = _scratch(shape, budget - fixed - size[fitting] - least)
    parts["candidates"] += more
    fixed += more
    room = min(DEVICE_BATCH_BYTES, budget - fixed - size[fitting])
    batch = limits.batch or max(1, min(shape.most, room // row))
    return MemoryPlan(
        layout, membership, Residency.RESIDENT, batch, batch * row, size[fitting], fixed, budget, parts, scratch_edges=scratch
    )  # fmt: skip


def owners(store: Store, devices: int) -> list[int]:
    """The GPU, from 0 to ``devices`` - 1, that holds each partition of a pooled graph: consecutive partitions, about equal numbers of edges."""
    return [
        min(devices - 1, (2 * p.first_edge + p.edges) * devices // max(2 * store.edges, 1)) for p in store.partitions
    ]


def _pooled(shape: Shape, devices: tuple[Any, ...], limits: Limits) -> MemoryPlan:
    """Plan to spread the graph over GPUs that read each other's memory, with a batch on each. BudgetError if a GPU's share does not fit."""
    store, row, budget, count = shape.store, shape.row * DEVICE_ROWS, limits.device_bytes, len(devices)
    if count < 2:
        raise OptionError("--residency pooled spreads the graph over several GPUs; name them, as in --device cuda:0,1")
    for a, b in product(devices, devices):
        if a is not b and b.number not in a.peers:
            raise OptionError(
                f"--residency pooled: GPU {a.number} cannot read the memory of GPU {b.number} (nvidia-smi topo -p2p r); use --residency streamed"
            )
    parts, edge = _parts(shape), shape.needs.edge.piece
    held = np.bincount(owners(store, count), [p.edges for p in store.partitions], count)
    most, largest, share = _shared_pieces(shape, held, budget - sum(parts.values()) - min(row, budget))
    graph = share * edge
    parts["table_scratch"] = _build_bytes(shape) * largest
    need = sum(parts.values()) + graph + min(row, budget)
    if need > budget or (most == store.largest_partition and held.min() == 0):
        least = {"the graph's share": graph, **parts, "samples in flight": min(row, budget)}
        raise refuse_least(store.path, budget, "--gpu-memory", least, " or name more GPUs")
    scratch, more = _scratch(shape, budget - need)
    parts["candidates"] += more
    fixed = sum(parts.values())
    in_flight = limits.batch or max(1, min(shape.most, min(DEVICE_BATCH_BYTES, budget - fixed - graph) // row))
    return MemoryPlan(
        _piece_layout(shape), "search", Residency.POOLED, in_flight, in_flight * row, graph, fixed, budget, parts, len(store.partitions), most,
        largest * edge, scratch,
    )  # fmt: skip


def _shared_pieces(shape: Shape, held: np.ndarray, room: int) -> tuple[int, int, int]:
    """Most edges of a piece of several rows of a pooled graph, edges of the largest piece, and edges of the largest share that a GPU holds.

    ``held``: each GPU's edges with the partitions as they are, which stay so if the shares have room. Smaller pieces make shares more equal.
    """
    store, edge, build = shape.store, shape.needs.edge.piece, _build_bytes(shape)
    whole, share = store.largest_partition, int(held.max())
    if held.min() > 0 and share * edge + whole * build <= room:
        return whole, whole, share
    most = max(1, store.edges // (PIECES_A_SHARE * held.size))
    largest = max(most, store.max_degree)
    if largest >= whole:
        return whole, whole, share
    return most, largest, min(-(-store.edges // held.size) + largest, store.edges)


def _selects_from_rows(shape: Shape) -> bool:
    """Whether selection on a GPU needs scratch memory for the candidates of a row."""
    return isinstance(shape.algorithm, Traversal) and not shape.algorithm.clocks and not shape.needs.alias_tables


def _least_scratch(shape: Shape) -> int:
    """Least scratch memory, in bytes: room for the candidates of two rows as long as the longest."""
    return 2 * SCRATCH_BYTES * max(shape.store.max_degree, 1) if _selects_from_rows(shape) else 0


def _scratch(shape: Shape, left: int) -> tuple[int, int]:
    """Candidates that fit in scratch memory at a time, and the bytes of ``left`` that they take beyond the least scratch memory."""
    if not _selects_from_rows(shape):
        return 0, 0
    least = max(shape.store.max_degree, 1)
    more = max(0, min(min(shape.store.edges, SCRATCH_EDGES) - least, left // 8 // SCRATCH_BYTES))
    return least + more, more * SCRATCH_BYTES


def _parts(shape: Shape) -> dict[str, int]:
    """Bytes on a GPU beside edges, samples in flight and making tables, by the names of PARTS."""
    vertices = shape.store.vertices
    sums = 8 * vertices if shape.needs.row_weights else 0
    columns = columns_bytes(vertices, shape.store.edges) if shape.needs.columns else 0
    clusters = CLUSTER_BYTES * vertices if shape.needs.clusters else 0
    return {
        "offsets": 8 * (vertices + 1), "row_sums": sums, "vertex_columns": shape.algorithm.vertex_columns.nbytes, "columns": columns,
        "clusters": clusters, "candidates": _least_scratch(shape),
    }  # fmt: skip


def _build_bytes(shape: Shape) -> int:
    """Bytes of an edge while the alias tables of its piece are made."""
    needs = shape.needs
    return BUILD_BYTES + needs.edge.stored if needs.alias_tables else 0


def _piece_layout(shape: Shape) -> GraphLayout:
    """Layout of a partition in a streamed or pooled graph."""
    return GraphLayout.TABLE if shape.needs.alias_tables else GraphLayout.CSR


def _streamed(shape: Shape, devices: tuple[Any, ...], limits: Limits) -> MemoryPlan:
    """Plan to stream partitions through slots in a GPU's memory, from host memory if the graph fits there, else from disk.

    BudgetError if the partitions that one step needs do not fit beside a batch.
    """
    store, needs, edge, budget = shape.store, shape.needs, shape.needs.edge, limits.device_bytes
    refuse_far(shape, "--gpu-memory")
    row, parts, slots = (
        shape.row * DEVICE_ROWS + (question_bytes(edge.id) if needs.asks_later else 0),
        _parts(shape),
        needs.partitions_at_once,
    )
    cut = Cut(store, edge.piece, _build_bytes(shape), slots, uniform=True)
    free, one = budget - sum(parts.values()), (limits.batch or 1) * row
    if cut.least_bytes + one > free:
        least = {**cut.least, **parts, "samples in flight": one}
        raise refuse_least(store.path, budget, "--gpu-memory", least, f" on {devices[0].name}, or use --device cpu")
    scratch, more = _scratch(shape, free - cut.least_bytes - one)
    free, parts["candidates"] = free - more, parts["candidates"] + more
    room_of_batch = min(DEVICE_BATCH_BYTES, budget // 4, free // 2, free - cut.least_bytes)
    in_flight = limits.batch or max(1, min(shape.most, room_of_batch // row))
    most = cut.most_edges(free - in_flight * row)
    largest = cut.largest(most)
    parts["table_scratch"] = cut.scratch_bytes(largest)
    fixed, slot = sum(parts.values()), largest * edge.piece
    residency = limits.residency or (
        Residency.STREAMED if store.edges * edge.kept <= limits.host_bytes // 2 else Residency.DISK
    )
    room = (budget - fixed - in_flight * row) // max(slot, 1)
    graph = store.edges * edge.piece
    in_place: float | None = None
    if limits.policy.in_place and residency.from_store and store.is_plain and limits.policy.balancing:
        in_place = costs.row_cost(shape, edge.stored, limits.rates)
    elif limits.policy.in_place and not residency.from_store:
        in_place = costs.read_cost(shape, limits.rates)
    strategies = expected_strategies(shape, room, in_flight, edge.kept, residency, in_place, limits.rates)
    return MemoryPlan(
        _piece_layout(shape), "search", residency, in_flight, in_flight * row, graph, fixed, budget, parts, len(store.partitions), most, slot, scratch,
        strategies, taken(strategies),
    )  # fmt: skip


def _layouts(shape: Shape) -> tuple[GraphLayout, ...]:
    """Layouts that can serve a run on a GPU, the fastest first."""
    walk, wide = isinstance(shape.algorithm, Walk), shape.needs.edge.id > 4
    if shape.needs.alias_tables:
        return (GraphLayout.ALIAS, GraphLayout.TABLE) if walk and not wide else (GraphLayout.TABLE,)
    one_edge = walk or shape.algorithm.clocks  # type: ignore[attr-defined]  # a step
    if one_edge and shape.request.select in (Method.UNIFORM, Method.REJECTION) and not wide:
        steps = shape.request.instances * planned_steps(shape.algorithm)
        return (
            (GraphLayout.ENTRIES, GraphLayout.CSR)
            if steps >= shape.store.edges // 8
            else (GraphLayout.CSR, GraphLayout.ENTRIES)
        )
    if shape.needs.clock_sums:
        return (GraphLayout.CTPS, GraphLayout.CSR)
    if shape.needs.running_sums:
        return (
            (GraphLayout.CTPS, GraphLayout.CSR) if shape.detect is None else (GraphLayout.CSR, GraphLayout.CTPS)
        )  # only select.cu, which reads rows, has detectors
    return (GraphLayout.CSR,)
