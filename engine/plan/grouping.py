"""Parents of a hop grouped by the place of their rows (``--transit-parallel``): which plans can, and for which hops it
pays.
"""

from dataclasses import replace
from itertools import accumulate
from operator import mul

from csaw.engine.api.algorithm import Traversal
from csaw.engine.plan.batch_kind import BatchKind
from csaw.engine.plan.limits import Shape
from csaw.engine.plan.plan import Plan
from csaw.engine.plan.residency import Residency
from csaw.partition.errors import OptionError

PARENTS = 2**32  # grouped parents are numbered in 32 bits
CACHED_EDGES = 1 << 24  # a GPU's cache holds this many, and random reads within it are cheap


def grouped(plan: Plan, shape: Shape, frontier_size: int) -> Plan:
    """The plan, without grouping of parents if this run cannot group them.

    OptionError, with the reason, if the user asked for grouping.
    """
    reason = _why_not(plan, shape, frontier_size)
    if reason and plan.transit == "on":
        raise OptionError(f"--transit-parallel on: {reason}; use auto or off")
    return replace(plan, transit="off") if reason else plan


def worth_grouping(plan: Plan, edges: int, parents: int, size: int) -> bool:
    """Whether to group the ``parents`` of a hop with ``size`` picks each: it pays if most memory lines of the graph are
    read more than once.
    """
    if plan.transit != "auto":
        return plan.transit == "on"
    return edges > CACHED_EDGES and parents * size >= plan.graph_layout.grouping_pays * edges


def _why_not(plan: Plan, shape: Shape, frontier_size: int) -> str | None:
    """The reason why parents cannot be grouped by the place of their rows; None if they can."""
    algorithm = shape.algorithm
    if not shape.on_gpu:
        return "only GPUs group parents, and this run is on the CPU"
    if isinstance(algorithm, Traversal) and plan.residency is Residency.POOLED:
        return "the graph is spread over several GPUs, and reading rows of other GPUs gains nothing by grouping"
    if isinstance(algorithm, Traversal) and plan.residency is not Residency.RESIDENT:
        return f"the graph is {plan.residency}, and its parents are already grouped by partition"
    if plan.kind not in (BatchKind.HOP_TABLES, BatchKind.HOP_TABLES_IN_TIME):
        return (
            "only neighbor samples of a few picks with a uniform or fixed bias can be grouped; "
            f"{algorithm.name()} with --select {plan.select} and these options cannot"
        )
    if (item := plan.needs.edge.id) > 4:
        return f"grouping needs vertex ids of 32 bits, and those of this graph have {8 * item}"
    widest = max(accumulate(plan.sizes[:-1], mul, initial=frontier_size))
    if plan.batch * widest >= PARENTS:
        return (
            f"a hop of {plan.batch:,} instances has {plan.batch * widest:,} parents, and at most "
            f"{PARENTS - 1:,} can be grouped; lower --in-flight to {(PARENTS - 1) // widest:,}"
        )
    return None
