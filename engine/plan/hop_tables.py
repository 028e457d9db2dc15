"""Neighbor samples stored hop by hop: which plans draw each cell from its parent alone, and which can group parents (``--transit-parallel``)."""

from itertools import accumulate
from operator import mul
from typing import Any, TypeGuard

import numpy as np

from csaw.engine.api.algorithm import Algorithm, Traversal
from csaw.engine.plan.methods import Method
from csaw.engine.plan.residency import Residency

PICKS = {"cpu": 64, "cuda": 32}  # most distinct picks of a parent: all are compared with each other, on a GPU by a warp
PARENTS = 2**32  # grouped parents are numbered in 32 bits
CACHED_EDGES = 1 << 24  # a GPU's cache holds this many, and random reads within it are cheap


def from_whole_rows(algorithm: Algorithm) -> TypeGuard[Traversal]:
    """Whether each vertex of a traversal selects from all of its own neighbors, whatever was sampled before."""
    a = algorithm
    return isinstance(a, Traversal) and not (
        a.only_new or a.each_edge_once or a.induced or a.collective or a.clocks or a.shares_draws
    )


def in_tables(plan: Any, algorithm: Algorithm) -> bool:
    """Whether each hop is drawn from the one before alone: picks are uniform, or on a GPU use alias tables or running sums made beforehand."""
    if plan.drawn_layout != "hops" or plan.residency.streams or not from_whole_rows(algorithm):
        return False
    kind = plan.device.partition(":")[0]
    few = algorithm.replace or max(plan.sizes, default=0) <= PICKS[kind]
    return (plan.select is Method.UNIFORM and few) or (
        kind == "cuda" and (plan.select is Method.ALIAS or plan.graph_layout.has_sums)
    )


def why_not_grouped(plan: Any, algorithm: Algorithm, ids: np.dtype, frontier_size: int) -> str | None:
    """The reason why parents cannot be grouped by the place of their rows; None if they can. ``ids``: dtype of vertex ids."""
    if plan.device == "cpu":
        return "only GPUs group parents, and this run is on the CPU"
    if isinstance(algorithm, Traversal) and plan.residency is Residency.POOLED:
        return "the graph is spread over several GPUs, and reading rows of other GPUs gains nothing by grouping"
    if isinstance(algorithm, Traversal) and plan.residency is not Residency.RESIDENT:
        return f"the graph is {plan.residency}, and its parents are already grouped by partition"
    if not in_tables(plan, algorithm):
        return f"only neighbor samples of a few picks with a uniform or fixed bias can be grouped; {algorithm.name()} with --select {plan.select} and these options cannot"
    if ids.itemsize > 4:
        return f"grouping needs vertex ids of 32 bits, and those of this graph have {8 * ids.itemsize}"
    widest = max(accumulate(plan.sizes[:-1], mul, initial=frontier_size))
    if plan.batch * widest >= PARENTS:
        return f"a hop of {plan.batch:,} instances has {plan.batch * widest:,} parents, and at most {PARENTS - 1:,} can be grouped; lower --in-flight to {(PARENTS - 1) // widest:,}"
    return None


def worth_grouping(plan: Any, edges: int, parents: int, size: int) -> bool:
    """Whether to group the ``parents`` of a hop with ``size`` picks each: it pays if most memory lines of the graph are read more than once."""
    if plan.transit != "auto":
        return plan.transit == "on"
    return edges > CACHED_EDGES and parents * size >= plan.graph_layout.grouping_pays * edges
