"""Costs of reading a graph, as bytes that a copy in order moves in the same time; the plan and the scheduler compare them."""

from csaw.engine.algorithm import Walk
from csaw.engine.contracts import Store
from csaw.engine.plan.limits import Shape
from csaw.engine.plan.residency import Residency

READ_BYTES = 1400  # cost of a random read over the bus: bytes copied to a GPU in the same time (docs/tuning.md)
# Cost of reading one row anywhere on a disk, as bytes read in order in the same time: 32 to 100 KiB on the disks measured (docs/tuning.md).
ROW_BYTES = 64 << 10
BUS_BYTES, DISK_BYTES = 50e9, 1.5e9  # a second; a plan's estimate of time assumes these rates


def row_cost(shape: Shape, per_edge: int) -> float:
    """Cost of a step that reads its rows one by one from a disk, as bytes read in order. ``per_edge``: bytes of an edge."""
    return (2 if shape.needs.second_order else 1) * (ROW_BYTES + met_row(shape.store) * per_edge)


def met_row(store: Store) -> float:
    """Estimate of the mean degree of the vertices in a frontier, which meets hubs more often than other vertices."""
    return float(store.edges / max(store.vertices, 1) * store.max_degree) ** 0.5


def expected(
    shape: Shape, room: int, in_flight: int, kept: int, residency: Residency, in_place: float | None
) -> dict[str, float]:
    """Estimate of the partitions and bytes that streaming copies and the seconds this takes, if instances spread evenly over partitions.

    ``room``: partitions that fit in memory at a time. ``in_flight``: instances of a batch. ``kept``: bytes of an edge.
    ``in_place``: cost of reading a row without loading its partition, as bytes copied; None if the run cannot do so.
    """
    store, parts = shape.store, max(len(shape.store.partitions), 1)
    away = max(parts - room, 0) / parts  # share of steps that lead out of the loaded partitions
    batches = -(-shape.request.instances // in_flight)
    walk = isinstance(shape.algorithm, Walk) or shape.algorithm.clocks  # type: ignore[attr-defined]
    steps = shape.algorithm.walk_length if walk else len(shape.algorithm.sizes())  # type: ignore[attr-defined]
    graph_bytes = store.edges * kept
    copied, read = batches * (steps * away**2 if walk else steps * away + 1) * graph_bytes, 0.0
    if in_place is not None and in_flight * steps * away * in_place < steps * away**2 * graph_bytes:
        copied, read = min(room, parts) / parts * graph_bytes, batches * in_flight * steps * away * in_place
    from_store = copied + read if residency.from_store else graph_bytes
    seconds = (copied + read) / BUS_BYTES + from_store / DISK_BYTES
    return {
        "transfers": round(copied / max(graph_bytes, 1) * parts),
        "bytes": round(copied),
        "seconds": round(seconds, 3),
    }
