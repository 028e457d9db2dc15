"""Where a graph is while it is sampled, in which layout, and how many instances at a time: what memory allows, here that of the host.

gpu_memory.py does the same for the memory of GPUs.
"""

from itertools import accumulate
from operator import mul
from typing import Any

from csaw.engine.plan.costs import expected, met_row, row_cost
from csaw.engine.plan.limits import Limits, Shape, fields, refuse_far
from csaw.engine.plan.needs import SUM_BYTES
from csaw.partition.errors import BudgetError, OptionError

BATCH_BYTES = 256 << 20  # of samples in flight
SUMMED_EDGES = 0.4  # of a graph's biases: who expects to work out so many makes running sums of all of them


def on_host(shape: Shape, limits: Limits) -> dict[str, Any]:
    """Residency and batch in host memory."""
    store, row, instances, budget = shape.store, shape.row, shape.request.instances, limits.host_bytes
    possible = _host_layouts(shape)
    if limits.layout not in (None, *possible):
        raise OptionError(
            f"--layout {limits.layout}: on the CPU, this run can use {' or '.join(possible)}; other layouts are for GPUs"
        )
    if limits.residency in ("streamed", "pooled"):
        raise OptionError(f"--residency {limits.residency} is for GPUs; on the CPU, use resident or disk")
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
                f"--layout ctps needs {sums:,} bytes beside the graph, all of it in memory; raise --memory, or run without --layout and --residency"
            )
        layout = "csr"
    graph += sums if layout == "ctps" else 0
    whole = fixed + graph + in_flight * row
    if limits.residency == "resident" and whole > budget:
        raise BudgetError(
            f"{store.path}: the whole graph and the samples in flight need {whole:,} bytes, and {budget:,} are allowed; raise --memory to {whole:,}, "
            f"or run without --residency"
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
    worth = shape.detect is None and min(parents, store.edges) * met_row(store) >= SUMMED_EDGES * store.edges
    return ("ctps", "csr") if worth else ("csr", "ctps")
