"""What reading a graph costs, in bytes that are copied in order in the same time: for the plan, and for the scheduler while it runs."""

from csaw.engine.algorithm import Walk
from csaw.engine.contracts import Store
from csaw.engine.plan.limits import Shape
from csaw.engine.plan.residency import Residency

READ_BYTES = 1400  # copied to a GPU in the time of a random read over the bus (docs/tuning.md)
# Read from a disk in order in the time of a row from anywhere: 32 KiB to 100 KiB on disks that were measured (docs/tuning.md).
ROW_BYTES = 64 << 10
BUS_BYTES, DISK_BYTES = 50e9, 1.5e9  # a second, where a plan says how long copies will take


def row_cost(shape: Shape, per_edge: int) -> float:
    """What a step that reads rows one by one takes, in bytes read in order."""
    return (2 if shape.needs.second_order else 1) * (ROW_BYTES + met_row(shape.store) * per_edge)


def met_row(store: Store) -> float:
    """About how many neighbors the vertices have that a frontier meets, hubs more often than others."""
    return float(store.edges / max(store.vertices, 1) * store.max_degree) ** 0.5


def expected(
    shape: Shape, room: int, in_flight: int, kept: int, residency: Residency, in_place: float | None
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
    from_store = copied + read if residency.from_store else graph_bytes
    seconds = (copied + read) / BUS_BYTES + from_store / DISK_BYTES
    return {
        "transfers": round(copied / max(graph_bytes, 1) * parts),
        "bytes": round(copied),
        "seconds": round(seconds, 3),
    }
