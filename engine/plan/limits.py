"""What a run's memory is planned from: how much an instance takes, what may be used, and the plan's fields that follow."""

from dataclasses import dataclass
from typing import Any

from csaw.engine.algorithm import Algorithm
from csaw.engine.plan.needs import Needs
from csaw.engine.plan.options import Policy
from csaw.partition.errors import OptionError


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


def refuse_far(shape: Shape, budget: str) -> None:
    """OptionError where questions could not be answered from the partitions that are loaded."""
    if shape.needs.asks_far:
        raise OptionError(
            f"{shape.algorithm.name()} cannot sample a graph that is streamed: there, only edge_bias may call e.is_neighbor, and only for e.prev or e.src, and not where walkers "
            f"have clocks; raise {budget} so that the whole graph fits"
        )


def fields(layout: str, membership: str, residency: str, batch: int, row: int, graph: int, fixed: int, budget: int, scratch: int = 0) -> dict[str, Any]:  # fmt: skip
    """Fields of a Plan; ``row`` is bytes of an instance in flight."""
    return {
        "graph_layout": layout, "membership": membership, "residency": residency, "batch": batch, "batch_bytes": batch * row, "graph_bytes": graph,
        "fixed_bytes": fixed, "budget_bytes": budget, "refused": {}, "expected": {}, "scratch_edges": scratch,
    }  # fmt: skip
