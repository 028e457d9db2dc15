"""Costs of reading a graph, as bytes that a copy in order moves in the same time; the plan and the scheduler compare them."""

import math

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


def read_cost(shape: Shape) -> float:
    """Cost of a step that reads over the bus where rows are, as bytes copied to a GPU. A trial by rejection searches the previous vertex's row, too."""
    return READ_BYTES * (2 + math.log2(shape.store.max_degree + 2) if shape.needs.second_order else 1)


def met_row(store: Store) -> float:
    """Estimate of the mean degree of the vertices in a frontier, which meets hubs more often than other vertices."""
    return float(store.edges / max(store.vertices, 1) * store.max_degree) ** 0.5


def expected_seconds(moved: float, graph: int, residency: Residency) -> float:
    """Estimate of the seconds that it takes to move so many bytes of a graph of ``graph`` bytes, which is read from its store once at least."""
    return moved / BUS_BYTES + (moved if residency.from_store else graph) / DISK_BYTES
