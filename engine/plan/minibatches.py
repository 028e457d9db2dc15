"""Mini-batches that kernels take through all hops, and the nodes that their frontiers may have."""

from csaw.engine.api.algorithm import MiniBatches
from csaw.engine.plan.hop_tables import MOST_PICKS
from csaw.engine.plan.limits import MemoryPlan, Shape
from csaw.engine.plan.methods import Method

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
