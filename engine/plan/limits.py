"""What a run's memory is planned from: how much an instance takes, what may be used, and the plan's fields that follow."""

from dataclasses import dataclass, field

from csaw.engine.algorithm import Algorithm
from csaw.engine.contracts import Store
from csaw.engine.plan.layouts import GraphLayout
from csaw.engine.plan.needs import Needs
from csaw.engine.plan.options import Policy
from csaw.engine.plan.request import Request
from csaw.engine.plan.residency import Residency
from csaw.partition.errors import OptionError


@dataclass(frozen=True)
class Shape:
    """What decides how much memory a run takes."""

    store: Store
    algorithm: Algorithm
    request: Request
    needs: Needs
    row: int
    """Bytes of an instance in flight."""
    most: int
    """Instances that one device draws at a time at most."""
    detect: str | None
    """The detector of repeated candidates that was asked for, if any."""


@dataclass(frozen=True)
class Limits:
    """What a run may use, and what the user has fixed."""

    host_bytes: int
    device_bytes: int
    """Bytes of each GPU's memory."""
    batch: int | None
    layout: GraphLayout | None
    residency: Residency | None
    policy: Policy


@dataclass(frozen=True)
class MemoryPlan:
    """Where a graph is, in which form, and how many instances are drawn at a time. Plan has the same fields."""

    graph_layout: GraphLayout
    membership: str
    residency: Residency
    batch: int
    batch_bytes: int
    graph_bytes: int
    fixed_bytes: int
    budget_bytes: int
    scratch_edges: int = 0
    expected: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


def refuse_far(shape: Shape, budget: str) -> None:
    """OptionError where questions could not be answered from the partitions that are loaded."""
    if shape.needs.asks_far:
        raise OptionError(
            f"{shape.algorithm.name()} cannot sample a graph that is streamed: there, only edge_bias may call e.is_neighbor, and only for e.prev or e.src, and not where walkers "
            f"have clocks; raise {budget} so that the whole graph fits"
        )
