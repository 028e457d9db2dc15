"""Neighbor samples stored hop by hop whose cells are each drawn from their parent alone."""

from csaw.engine.plan.limits import MemoryPlan, Shape
from csaw.engine.plan.methods import Method
from csaw.engine.plan.selection import from_whole_rows
from csaw.engine.samples.layouts.hops import Hops

MOST_PICKS = (
    64,
    32,
)  # distinct picks of a parent on the CPU, on a GPU: all are compared with each other, there by a warp


def in_tables(shape: Shape, memory: MemoryPlan) -> bool:
    """Whether each hop is drawn from the one before alone: picks are uniform, or on a GPU use alias tables or running
    sums made beforehand.
    """
    if not isinstance(shape.drawn_layout, Hops) or memory.residency.streams or not from_whole_rows(shape.algorithm):
        return False
    select = shape.request.select
    if shape.on_gpu and (select is Method.ALIAS or memory.graph_layout.has_sums):
        return True
    few = shape.algorithm.replace or max(shape.sizes, default=0) <= MOST_PICKS[shape.on_gpu]
    return select is Method.UNIFORM and few


def in_tables_of_times(shape: Shape, memory: MemoryPlan) -> bool:
    """Whether each hop of a run in time is drawn from the one before and its times alone."""
    if not isinstance(shape.drawn_layout, Hops) or memory.residency.streams:
        return False
    return max(shape.sizes, default=0) <= MOST_PICKS[shape.on_gpu]
