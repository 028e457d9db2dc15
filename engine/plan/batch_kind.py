"""Kinds of batches: the ways in which the instances of a plan are drawn.

The plan chooses one. A backend has a class for each kind that it draws, and a GPU the kernels' files for it.
"""

from enum import StrEnum
from typing import Any

from csaw.engine.api.algorithm import Traversal
from csaw.engine.api.termination import is_unlimited
from csaw.engine.plan.hop_tables import in_tables, in_tables_of_times
from csaw.engine.plan.limits import MemoryPlan, Shape
from csaw.engine.plan.minibatches import drawn_whole
from csaw.engine.plan.trees import tree_edges
from csaw.engine.samples.layouts.batches import Batches


class BatchKind(StrEnum):
    """A way to draw the instances of a batch, from special ones to the general ones."""

    WALKS = "walks"
    """Walkers of a given number of steps."""
    UNLIMITED_WALKS = "unlimited-walks"
    """Walkers that end by themselves, in rounds of steps."""
    CLUSTERS = "clusters"
    """All vertices of some clusters; no row is read."""
    CLOCK_WALKS = "clock-walks"
    """Walkers of an instance that share its steps, each with a clock that says when it moves."""
    WHOLE_MINIBATCHES = "whole-mini-batches"
    """Mini-batches that kernels take through all hops, one or some at a time."""
    MINIBATCHES = "mini-batches"
    """Mini-batches, hop by hop."""
    WHOLE_IN_TIME = "whole-mini-batches-in-time"
    """Mini-batches in time that a thread of a CPU takes through all hops."""
    MINIBATCHES_IN_TIME = "mini-batches-in-time"
    """Mini-batches, hop by hop, whose nodes select among edges before the times of their seeds."""
    IN_TIME = "in-time"
    """Frontiers whose vertices select among edges before a time."""
    HOP_TABLES_IN_TIME = "hop-tables-in-time"
    """Hops of a fixed size, each drawn from the one before and the times that it knows."""
    SHARED_DRAWS_IN_TIME = "shared-draws-in-time"
    """Frontiers of copies, vertices with times, that decide on their edges to a vertex by one random number."""
    POOLS_IN_TIME = "pools-in-time"
    """Picks from all edges that the copies of an instance's frontier may select, together."""
    SHARED_DRAWS = "shared-draws"
    """Frontiers whose vertices decide on their edges to a vertex by one random number."""
    LAYERS = "layers"
    """Layers of vertices, drawn by the sums of the biases of the edges to them."""
    UNIQUE = "unique"
    """Frontiers whose edges lead to different vertices at each depth."""
    TREES = "trees"
    """Traversals with uniform picks that stay small: on a GPU, a block takes an instance through all depths."""
    HOP_TABLES = "hop-tables"
    """Hops of a fixed size, each drawn from the one before alone."""
    POOLS = "pools"
    """Uniform picks by number from all edges of an instance's frontier together."""
    FRONTIERS = "frontiers"
    """Any other traversal, frontier by frontier."""

    @property
    def of_walks(self) -> bool:
        """Whether an instance is one walker, which has one source."""
        return self in (BatchKind.WALKS, BatchKind.UNLIMITED_WALKS)

    @property
    def of_minibatches(self) -> bool:
        """Whether an instance is a mini-batch, whose sources also have positions in the list of seeds."""
        in_time = (BatchKind.WHOLE_IN_TIME, BatchKind.MINIBATCHES_IN_TIME)
        return self in (BatchKind.WHOLE_MINIBATCHES, BatchKind.MINIBATCHES, *in_time)

    @property
    def in_time(self) -> bool:
        """Whether an instance's sources have times, behind what else is known of them."""
        together = (BatchKind.SHARED_DRAWS_IN_TIME, BatchKind.POOLS_IN_TIME)
        of_frontiers = (BatchKind.IN_TIME, BatchKind.HOP_TABLES_IN_TIME, *together)
        return self in (*of_frontiers, BatchKind.WHOLE_IN_TIME, BatchKind.MINIBATCHES_IN_TIME)

    @property
    def no_sources(self) -> tuple[int, ...]:
        """Shape of the sources of a batch of no instances."""
        if self.of_walks:
            return (0,)
        columns = 1 + self.of_minibatches + self.in_time
        return (0, 1, columns) if columns > 1 else (0, 1)


def choose_kind(shape: Shape, memory: MemoryPlan) -> BatchKind:
    """Choose the kind of the batches of a run whose graph is held as ``memory`` says."""
    algorithm, needs = shape.algorithm, shape.needs
    if not isinstance(algorithm, Traversal):
        return BatchKind.UNLIMITED_WALKS if is_unlimited(algorithm) else BatchKind.WALKS
    if needs.clusters:
        return BatchKind.CLUSTERS
    if algorithm.clocks:
        return BatchKind.CLOCK_WALKS
    if algorithm.time_strategy is not None:
        return _kind_in_time(shape, memory)
    if isinstance(shape.drawn_layout, Batches):
        return BatchKind.WHOLE_MINIBATCHES if drawn_whole(shape, memory) else BatchKind.MINIBATCHES
    if algorithm.shares_draws:
        return BatchKind.SHARED_DRAWS
    if algorithm.draws_from != "edges":
        return BatchKind.LAYERS
    if algorithm.unique:
        return BatchKind.UNIQUE
    if tree_edges(shape, memory):
        return BatchKind.TREES
    if in_tables(shape, memory):
        return BatchKind.HOP_TABLES
    return BatchKind.POOLS if needs.in_pools else BatchKind.FRONTIERS


def _kind_in_time(shape: Shape, memory: MemoryPlan) -> BatchKind:
    """Choose the kind of the batches of a traversal in time."""
    algorithm: Any = shape.algorithm
    if isinstance(shape.drawn_layout, Batches):
        by_hops = shape.on_gpu or memory.residency.streams
        return BatchKind.MINIBATCHES_IN_TIME if by_hops else BatchKind.WHOLE_IN_TIME
    if algorithm.shares_draws:
        return BatchKind.SHARED_DRAWS_IN_TIME
    if algorithm.collective:
        return BatchKind.POOLS_IN_TIME
    return BatchKind.HOP_TABLES_IN_TIME if in_tables_of_times(shape, memory) else BatchKind.IN_TIME
