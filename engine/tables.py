"""Neighbor samples that are tables: which plans draw a cell from its parent alone, and which of them can group parents (``--transit-parallel``)."""

from itertools import accumulate
from operator import mul
from typing import Any, TypeGuard

import numpy as np

from csaw.engine.algorithm import Algorithm, Traversal
from csaw.partition.errors import OptionError

PICKS = {"cpu": 64, "cuda": 32}  # of a parent that must differ: compared with each other; on a GPU by a warp
PARENTS = 2**32  # grouped ones are numbered in 32 bits


def from_whole_rows(algorithm: Algorithm) -> TypeGuard[Traversal]:
    """Whether each vertex of a traversal selects from all of its own neighbors, whatever was sampled before."""
    a = algorithm
    return isinstance(a, Traversal) and not (
        a.visited_once or a.each_edge_once or a.induced or a.collective or a.clocks
    )


def in_tables(plan: Any, algorithm: Algorithm) -> bool:
    """Whether samples are made as tables, hop after hop: picks are uniform, or on a GPU from alias tables or running sums made beforehand."""
    if plan.layout != "hops" or plan.residency not in ("resident", "pooled") or not from_whole_rows(algorithm):
        return False
    kind = plan.device.partition(":")[0]
    few = algorithm.replace or max(plan.sizes, default=0) <= PICKS[kind]
    return (plan.select == "uniform" and few) or (
        kind == "cuda" and (plan.select == "alias" or plan.graph_layout == "ctps")
    )


def refuse_transit(plan: Any, algorithm: Algorithm, ids: np.dtype, frontier_size: int) -> None:
    """OptionError where parents cannot be grouped by where their rows are."""
    widest = max(accumulate(plan.sizes[:-1], mul, initial=frontier_size))
    if plan.device == "cpu":
        reason = "it groups parents on a GPU, and this run is on the CPU"
    elif isinstance(algorithm, Traversal) and plan.residency == "pooled":
        reason = "the graph is pooled, and rows of other GPUs are no nearer to each other than to this one"
    elif isinstance(algorithm, Traversal) and plan.residency != "resident":
        reason = f"the graph is {plan.residency}, so that parents are grouped by partition already"
    elif not in_tables(plan, algorithm):
        reason = f"it is for tables of neighbors, uniform or by a fixed bias, and {algorithm.name()} with --select {plan.select} and these options makes none"
    elif ids.itemsize > 4:
        reason = f"grouped vertices take 32 bits, and this graph's ids {8 * ids.itemsize}"
    elif plan.batch * widest >= PARENTS:
        reason = f"a hop of {plan.batch:,} instances has {plan.batch * widest:,} parents and at most {PARENTS - 1:,} can be grouped: lower --batch-size to {(PARENTS - 1) // widest:,}"
    else:
        return
    raise OptionError(f"--transit-parallel on: {reason}; auto and off always work")
