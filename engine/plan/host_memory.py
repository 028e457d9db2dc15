"""Where a graph is while it is sampled, in which layout, and how many instances at a time: what memory allows, here that of the host.

fit_devices.py does the same for the memory of GPUs.
"""

from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import Any

from csaw.engine.algorithm import Algorithm, Walk
from csaw.engine.plan.needs import SUM_BYTES, Needs
from csaw.engine.schedule.schedule import Policy
from csaw.engine.schedule.single_rows import ROW_BYTES
from csaw.partition.errors import BudgetError, OptionError

BATCH_BYTES = 256 << 20  # of samples in flight
SUMMED_EDGES = 0.4  # of a graph's biases: who expects to work out so many makes running sums of all of them
BUS_BYTES, DISK_BYTES = 50e9, 1.5e9  # a second, where a plan says how long copies will take


@dataclass(frozen=True)
class Shape:
    """What decides how much memory a run takes; ``row`` is bytes of an instance in flight, ``most`` how many a device takes at a time.

    ``detect`` is the detector of repeated candidates that was asked for, if any.
    """

    store: Any
    algorithm: Algorithm
    request: Any  # of plan.py
    needs: Needs
    row: int
    most: int
    detect: str | None


@dataclass(frozen=True)
class Limits:
    """What a run may use, and what the user has fixed."""

    host_bytes: int
    device_bytes: int  # of each GPU
    batch: int | None
    layout: str | None
    residency: str | None
    policy: Policy


def on_host(shape: Shape, limits: Limits) -> dict[str, Any]:
    """Residency and batch in host memory."""
    store, row, instances, budget = shape.store, shape.row, shape.request.instances, limits.host_bytes
    possible = _host_layouts(shape)
    if limits.layout not in (None, *possible):
        raise OptionError(
            f"--layout {limits.layout}: on the CPU this run reads {' or '.join(possible)}; other layouts are for GPUs"
        )
    if limits.residency in ("streamed", "pooled"):
        raise OptionError(
            f"--residency {limits.residency} is for GPUs; on the CPU a graph is resident, or streams from disk"
        )
    per_edge, second_order = shape.needs.edge.reserved, shape.needs.second_order
    filters = store.edges if second_order else 0  # 8 bits an edge
    fixed = 8 * (store.vertices + 1) + 2 * store.vertices + filters
    graph = store.edges * per_edge
    in_flight = limits.batch or max(
        1, min(instances, max(shape.request.group_size, min(BATCH_BYTES, budget // 4) // row))
    )
    sums = SUM_BYTES * store.edges + 4 * store.vertices
    layout = limits.layout or possible[0]
    if layout == "ctps" and (fixed + graph + sums + in_flight * row > budget or limits.residency == "disk"):
        if limits.layout:
            raise OptionError(
                f"--layout ctps takes {sums:,} bytes beside the graph, all in memory; raise --memory, or leave out --layout and --residency"
            )
        layout = "csr"
    graph += sums if layout == "ctps" else 0
    whole = fixed + graph + in_flight * row
    if limits.residency == "resident" and whole > budget:
        raise BudgetError(
            f"{store.path}: {whole:,} bytes hold the whole graph and the samples in flight, and {budget:,} are allowed; raise --memory to {whole:,}, "
            f"or leave out --residency"
        )
    residency = limits.residency or ("resident" if whole <= budget else "disk")
    if residency == "disk":
        refuse_far(shape, "--memory")
        largest, slots = store.largest_partition * per_edge, 2 if second_order else 1
        batch = (limits.batch or 1) * row
        need = fixed + slots * largest + batch
        if need > budget:
            raise BudgetError(
                f"{store.path}: {slots} partition(s) of {largest:,} bytes, {fixed:,} for offsets and {batch:,} for "
                f"samples in flight exceed the budget of {budget:,} bytes; raise --memory to {need:,}, or make "
                f"smaller partitions with csaw partition --partition-size"
            )
        in_flight = limits.batch or max(1, min(instances, min(budget // 4, budget - fixed - slots * largest) // row))
    membership = "filter" if filters and residency == "resident" else "search"
    fit = fields(layout, membership, residency, in_flight, row, graph, fixed, budget)
    if residency == "disk":
        room = (budget - fixed - in_flight * row) // max(store.largest_partition * per_edge, 1)
        one = row_cost(shape, per_edge) if limits.policy.in_place and store.is_plain else None
        fit["expected"] = expected(shape, room, in_flight, per_edge, residency, one)
    return fit


def _host_layouts(shape: Shape) -> tuple[str, ...]:
    """Layouts that can serve a run on the CPU, the best first. Running sums look at every edge's bias, and refuse a bad one that no instance may meet."""
    if shape.needs.alias_tables:
        return ("table",)
    store, a = shape.store, shape.algorithm
    if shape.needs.running_sums:
        frontier: int = getattr(a, "frontier_size", 1)
        hops: tuple[int, ...] = tuple(accumulate(a.sizes()[:-1], mul, initial=frontier))  # type: ignore[attr-defined]
        each = sum(hops)
    elif shape.needs.clock_sums:
        each = a.walk_length  # type: ignore[attr-defined]
    else:
        return ("csr",)
    parents = shape.request.instances * each
    worth = shape.detect is None and min(parents, store.edges) * _met_row(store) >= SUMMED_EDGES * store.edges
    return ("ctps", "csr") if worth else ("csr", "ctps")


def row_cost(shape: Shape, per_edge: int) -> float:
    """What a step that reads rows one by one takes, in bytes read in order."""
    return (2 if shape.needs.second_order else 1) * (ROW_BYTES + _met_row(shape.store) * per_edge)


def _met_row(store: Any) -> float:
    """About how many neighbors the vertices have that a frontier meets, hubs more often than others."""
    return float(store.edges / max(store.vertices, 1) * store.max_degree) ** 0.5


def refuse_far(shape: Shape, budget: str) -> None:
    """OptionError where questions could not be answered from the partitions that are loaded."""
    if shape.needs.asks_far:
        raise OptionError(
            f"{shape.algorithm.name()} with a graph that is streamed: only edge_bias may ask e.is_neighbor, of e.prev or e.src, and not where walkers "
            f"have clocks; raise {budget} so that the whole graph fits"
        )


def fields(layout: str, membership: str, residency: str, batch: int, row: int, graph: int, fixed: int, budget: int, scratch: int = 0) -> dict[str, Any]:  # fmt: skip
    """Fields of a Plan; ``row`` is bytes of an instance in flight."""
    return {
        "graph_layout": layout, "membership": membership, "residency": residency, "batch": batch, "batch_bytes": batch * row, "graph_bytes": graph,
        "fixed_bytes": fixed, "budget_bytes": budget, "refused": {}, "expected": {}, "scratch_edges": scratch,
    }  # fmt: skip


def expected(
    shape: Shape, room: int, in_flight: int, kept: int, residency: str, in_place: float | None
) -> dict[str, float]:
    """About what streaming will take, if instances are spread evenly over partitions: copies of partitions, bytes, seconds.

    ``in_place`` is what reading a row where it is takes, in bytes copied; None where that cannot be.
    """
    store, parts = shape.store, max(len(shape.store.partitions), 1)
    away = max(parts - room, 0) / parts  # of steps that lead out of what is loaded
    batches = -(-shape.request.instances // in_flight)
    walk = isinstance(shape.algorithm, Walk) or shape.algorithm.clocks  # type: ignore[attr-defined]
    steps = shape.algorithm.walk_length if walk else len(shape.algorithm.sizes())  # type: ignore[attr-defined]
    graph_bytes = store.edges * kept
    copied, read = batches * (steps * away**2 if walk else steps * away + 1) * graph_bytes, 0.0
    if in_place is not None and in_flight * steps * away * in_place < steps * away**2 * graph_bytes:
        copied, read = min(room, parts) / parts * graph_bytes, batches * in_flight * steps * away * in_place
    from_store = copied + read if residency == "disk" else graph_bytes
    seconds = (copied + read) / BUS_BYTES + from_store / DISK_BYTES
    return {
        "transfers": round(copied / max(graph_bytes, 1) * parts),
        "bytes": round(copied),
        "seconds": round(seconds, 3),
    }
