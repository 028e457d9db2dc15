"""Traversals that a block of a GPU takes through all depths alone (trees.cu): which runs can, and the room that each
instance takes.
"""

from csaw.engine.api.algorithm import Traversal
from csaw.engine.plan.limits import MemoryPlan, Shape
from csaw.engine.plan.methods import Method
from csaw.engine.plan.residency import Residency
from csaw.engine.samples.layouts.subgraphs import Subgraphs

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
