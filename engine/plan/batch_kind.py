"""Kinds of batches: the ways in which the instances of a plan are drawn.

The plan chooses one. A backend has a class for each kind that it draws, and a GPU the kernels' files for it.
"""

from enum import StrEnum

from csaw.engine.api.algorithm import MiniBatches, Traversal
from csaw.engine.api.rules import (
    BudgetLayers,
    Clocks,
    EdgePool,
    GraphEdges,
    MiniBatch,
    NonNeighbors,
    PerVertex,
    SharedNumbers,
    Steps,
    VertexLayer,
    Visiting,
    WholeClusters,
)
from csaw.engine.api.termination import is_unlimited
from csaw.engine.plan.by_relation import fanouts_of
from csaw.engine.plan.choices import Method, Residency
from csaw.engine.plan.costs import mean_coins
from csaw.engine.plan.limits import MemoryPlan, Shape
from csaw.engine.plan.selection import from_whole_rows
from csaw.engine.samples.layouts.hops import Hops


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
    MINIBATCHES_BY_RELATION = "mini-batches-by-relation"
    """Mini-batches, hop by hop, whose nodes select from each relation by itself."""
    WHOLE_IN_TIME = "whole-mini-batches-in-time"
    """Mini-batches in time that a thread of a CPU takes through all hops."""
    MINIBATCHES_IN_TIME = "mini-batches-in-time"
    """Mini-batches, hop by hop, whose nodes select among edges before the times of their seeds."""
    MINIBATCHES_BY_RELATION_IN_TIME = "mini-batches-by-relation-in-time"
    """The same whose nodes select from each relation by itself."""
    HOP_TABLES_BY_RELATION = "hop-tables-by-relation"
    """Hops of a fixed size, each drawn from the one before alone, from each relation by itself, on a CPU."""
    NEIGHBORS_BY_RELATION = "neighbors-by-relation"
    """Hops, frontier by frontier, whose vertices select from each relation by itself."""
    NEIGHBORS_BY_RELATION_IN_TIME = "neighbors-by-relation-in-time"
    """The same in time."""
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
    SHARED_DRAWS_BY_RELATION = "shared-draws-by-relation"
    """The same whose vertices select from each relation by itself."""
    SHARED_DRAWS_BY_RELATION_IN_TIME = "shared-draws-by-relation-in-time"
    """The same in time."""
    LAYERS = "layers"
    """Layers of vertices, drawn by the sums of the biases of the edges to them."""
    BUDGETS = "budgets"
    """Mini-batches whose layers are drawn by budgets, with all edges among their vertices."""
    BUDGETS_IN_TIME = "budgets-in-time"
    """The same by the edges before the time of the seeds."""
    SUBGRAPHS_BY_RELATION = "subgraphs-by-relation"
    """Subgraphs whose vertices select from each relation by itself, all edges of some."""
    SUBGRAPHS_BY_RELATION_IN_TIME = "subgraphs-by-relation-in-time"
    """The same in time."""
    UNIQUE_BY_RELATION = "unique-by-relation"
    """Such subgraphs, whose edges lead to different vertices at each depth."""
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
    LINKS = "links"
    """Links with negatives, each drawn from the row of its source."""
    LINKS_IN_TIME = "links-in-time"
    """The same as of the time of each link, on a CPU."""


def choose_kind(shape: Shape, memory: MemoryPlan) -> BatchKind:
    """Choose the kind of the batches of a run whose graph is held as ``memory`` says."""
    rule, in_time, by_relation = shape.algorithm.rule, shape.needs.timed, fanouts_of(shape.algorithm) is not None
    match rule:
        case Steps():
            return BatchKind.UNLIMITED_WALKS if is_unlimited(shape.algorithm) else BatchKind.WALKS
        case WholeClusters():
            return BatchKind.CLUSTERS
        case Clocks():
            return BatchKind.CLOCK_WALKS
        case NonNeighbors():
            return BatchKind.LINKS_IN_TIME if in_time else BatchKind.LINKS
        case SharedNumbers():
            if in_time:
                return BatchKind.SHARED_DRAWS_BY_RELATION_IN_TIME if by_relation else BatchKind.SHARED_DRAWS_IN_TIME
            return BatchKind.SHARED_DRAWS_BY_RELATION if by_relation else BatchKind.SHARED_DRAWS
        case VertexLayer():
            return BatchKind.LAYERS
        case BudgetLayers():
            return BatchKind.BUDGETS_IN_TIME if in_time else BatchKind.BUDGETS
        case MiniBatch():
            return _of_minibatches(shape, memory, in_time, by_relation)
    in_hops = isinstance(shape.drawn_layout, Hops)
    if by_relation and in_time:
        return BatchKind.NEIGHBORS_BY_RELATION_IN_TIME if in_hops else BatchKind.SUBGRAPHS_BY_RELATION_IN_TIME
    if by_relation and not in_hops:
        return BatchKind.UNIQUE_BY_RELATION if rule.unique else BatchKind.SUBGRAPHS_BY_RELATION
    if by_relation:
        whole = in_tables(shape, memory)
        return BatchKind.HOP_TABLES_BY_RELATION if whole else BatchKind.NEIGHBORS_BY_RELATION
    if in_time and rule.together:
        return BatchKind.POOLS_IN_TIME
    if in_time:
        return BatchKind.HOP_TABLES_IN_TIME if in_tables_of_times(shape, memory) else BatchKind.IN_TIME
    if rule.unique:
        return BatchKind.UNIQUE
    if tree_edges(shape, memory):
        return BatchKind.TREES
    if in_tables(shape, memory):
        return BatchKind.HOP_TABLES
    return BatchKind.POOLS if shape.needs.in_pools else BatchKind.FRONTIERS


def _of_minibatches(shape: Shape, memory: MemoryPlan, in_time: bool, by_relation: bool) -> BatchKind:
    if in_time:
        if not (shape.on_gpu or memory.residency.streams):
            return BatchKind.WHOLE_IN_TIME
        return BatchKind.MINIBATCHES_BY_RELATION_IN_TIME if by_relation else BatchKind.MINIBATCHES_IN_TIME
    if drawn_whole(shape, memory):
        return BatchKind.WHOLE_MINIBATCHES
    return BatchKind.MINIBATCHES_BY_RELATION if by_relation else BatchKind.MINIBATCHES


# Traversals that a block of a GPU takes through all depths alone (cuda/kernels/trees.cu): which runs can, and the room
# that each instance takes.

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
    coins = traversal.rule.coins
    width = expected = 0.0 if needs.everywhere else float(traversal.frontier_size)
    for size in shape.sizes:
        picks = mean_coins(traversal) if coins else size
        width = size if needs.in_pools else width * picks
        expected += width
    room = SPARE_EDGES + expected * (FIRE_SPREAD if coins else 1)
    return int(room) if room <= (POOL_EDGES if needs.in_pools else TREE_EDGES) else 0


def _suits(shape: Shape, memory: MemoryPlan) -> bool:
    """Whether engine/cuda/kernels/trees.cu can draw this run's samples, with uniform picks."""
    a, rule, sizes = shape.traversal, shape.traversal.rule, shape.sizes
    if not isinstance(rule, PerVertex | EdgePool | GraphEdges) or rule.waiting or rule.visits is Visiting.FIRST:
        return False
    if shape.request.select is not Method.UNIFORM or memory.residency.streams or shape.store.max_degree >= 2**32:
        return False
    if type(a).update is not Traversal.update or a.is_unlimited:
        return False
    if rule.everywhere and memory.residency is Residency.POOLED:
        return False  # cuda/kernels/trees.cu searches offsets, and those of pieces have the piece's number in them
    return 0 < len(sizes) <= MOST_DEPTHS and (rule.coins or min(sizes) >= 0)


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
    select, of_relations = shape.request.select, fanouts_of(shape.algorithm)
    if shape.on_gpu and of_relations is None and (select is Method.ALIAS or memory.graph_layout.has_sums):
        return True
    largest = max(shape.sizes, default=0) if of_relations is None else of_relations.largest
    few = largest <= MOST_PICKS[shape.on_gpu]
    any_number = shape.algorithm.rule.replace and not (shape.on_gpu and of_relations is not None)
    return select is Method.UNIFORM and (few or any_number)


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
    fanouts = fanouts_of(a)
    largest = max(sizes) if fanouts is None else fanouts.largest
    if min(sizes) < 0 or not (a.rule.replace or largest <= most):
        return False
    widths = frontiers(sizes, a.seeds_per_batch, shape.store.vertices * (a.seeds_per_batch if a.disjoint else 1))
    return sum(width * size for width, size in zip(widths, sizes, strict=True)) < MOST_CELLS
