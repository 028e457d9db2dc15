"""Kinds of batches: the ways in which the instances of a plan are drawn.

The plan chooses one. A backend has a class for each kind that it draws, and a GPU the kernels' files for it.
"""

from enum import StrEnum
from typing import Any

from csaw.engine.api.algorithm import MiniBatches, Traversal
from csaw.engine.api.termination import is_unlimited
from csaw.engine.plan.limits import MemoryPlan, Shape
from csaw.engine.plan.methods import Method
from csaw.engine.plan.residency import Residency
from csaw.engine.plan.selection import from_whole_rows
from csaw.engine.samples.layouts.hops import Hops
from csaw.engine.samples.layouts.subgraphs import Batches, Subgraphs


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


# Traversals that a block of a GPU takes through all depths alone (trees.cu): which runs can, and the room that each
# instance takes.

TREE_EDGES = 1 << 15  # most edges of an instance that one block draws alone,
POOL_EDGES = 1 << 12  # and if every pick is compared with all picks before it
FIRE_SPREAD = 16  # room for a fire, as a multiple of the mean: of 10^5 fires none needs a second launch
SPARE_EDGES = 64
MOST_DEPTHS = 2**16 - 1


def tree_edges(shape: Shape, memory: MemoryPlan) -> int:
    """Edges to reserve for an instance that a block of a GPU takes through all depths; 0: draw depth by depth instead.

    An estimate suffices: an instance that outgrows it is drawn again with more room.
    """
    if not (shape.on_gpu and _suits(shape, memory)):
        return 0
    traversal, needs = shape.traversal, shape.needs
    chance = traversal.geometric() if traversal.geometric is not None else 0.0
    width = expected = 0.0 if needs.everywhere else float(traversal.frontier_size)
    for size in shape.sizes:
        picks = size if traversal.geometric is None else chance / (1.0 - chance)
        width = size if needs.in_pools else width * picks
        expected += width
    room = SPARE_EDGES + expected * (1 if traversal.geometric is None else FIRE_SPREAD)
    return int(room) if room <= (POOL_EDGES if needs.in_pools else TREE_EDGES) else 0


def _suits(shape: Shape, memory: MemoryPlan) -> bool:
    """Whether trees.cu can draw this run's samples, with uniform picks."""
    a, needs, sizes = shape.traversal, shape.needs, shape.sizes
    if (
        shape.request.select is not Method.UNIFORM
        or not isinstance(shape.drawn_layout, Subgraphs)
        or memory.residency.streams
    ):
        return False
    if type(a).update is not Traversal.update or a.pool_size is not None:
        return False
    if a.is_unlimited or a.revisits or a.induced or shape.store.max_degree >= 2**32:
        return False
    if needs.everywhere and memory.residency is Residency.POOLED:
        return False  # trees.cu searches offsets, and those of pieces have the piece's number in them
    if not 0 < len(sizes) <= (1 if needs.everywhere else MOST_DEPTHS) or (a.geometric is None and min(sizes) < 0):
        return False
    once = a.each_edge_once and not shape.store.directed
    return not (once and (a.visited_once or not needs.in_pools))


# Neighbor samples stored hop by hop whose cells are each drawn from their parent alone.

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


# Mini-batches that kernels take through all hops, and the nodes that their frontiers may have.

MOST_CELLS = 1 << 31  # of all hops of a mini-batch on a GPU


def frontiers(sizes: tuple[int, ...], seeds: int, most: int) -> list[int]:
    """Return the most nodes of the frontier of each hop of a mini-batch of ``seeds`` seeds.

    ``sizes``: neighbors of each, from 0 on. ``most``: nodes that a frontier has at most.
    """
    widths = [seeds]
    for size in sizes[:-1]:
        widths.append(min(widths[-1] * size, most))
    return widths


def drawn_whole(shape: Shape, memory: MemoryPlan) -> bool:
    """Whether kernels take the mini-batches of a run through all hops.

    On the CPU, with picks that are uniform or from running sums; on a GPU, with few uniform picks of each node.
    """
    if memory.residency.streams:
        return False
    uniform = shape.request.select is Method.UNIFORM
    if not shape.on_gpu:
        return uniform or memory.graph_layout.has_sums
    return uniform and _fits_gpu(shape)


def _fits_gpu(shape: Shape) -> bool:
    a, sizes, most = shape.algorithm, shape.sizes, MOST_PICKS[True]
    if not isinstance(a, MiniBatches) or not sizes:
        return False
    if not all(size >= 0 and (a.replace or size <= most) for size in sizes):
        return False
    widths = frontiers(sizes, a.seeds_per_batch, shape.store.vertices * (a.seeds_per_batch if a.disjoint else 1))
    return sum(width * size for width, size in zip(widths, sizes, strict=True)) < MOST_CELLS
