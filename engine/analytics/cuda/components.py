"""Weakly connected components on a GPU: twin of engine/analytics/cpu/components.py."""

from collections.abc import Iterable

import cupy

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.threaded_gpus import here, on_each, rows_of
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.passes import FIRST
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.plan.contracts import Array

PAIR = 2  # ids of a vertex that is told alone, with the one that it points to; of one among all, one


def pays(network: DeviceNetwork) -> bool:
    """Whether several GPUs join vertices: because the graph is spread. They are not quicker than one."""
    return network.pooled


def compute(network: DeviceNetwork) -> Array:
    """[V]: the smallest vertex of each vertex's component; directions do not count.

    State: an id for each vertex. Of a pooled network, each GPU joins what its own rows do, and the first joins that:
    others send it the vertices that point to another one (selective) or all (broadcast), whichever are fewer bytes.
    """
    hub = -1 if network.directed or not network.vertices else int(network.degrees.argmax())
    parent = _joined(network, hub) if pays(network) else _forest(network, network.blocks(), hub)
    network.kernels("components").over("flatten", network.vertices, 0, network.vertices, parent)
    return parent


def _forest(network: DeviceNetwork, blocks: Iterable[Block], hub: int) -> Array:
    """Join the vertices that the rows of some blocks join: [V], which lead to the smallest of each tree.

    ``hub``: a vertex of many neighbors, or -1 where rows have to be read to their ends.
    """
    kernels, vertices = network.kernels("components"), network.vertices
    parent = cupy.empty(vertices, network.id_dtype)
    kernels.over("number", vertices, vertices, parent)
    for block in blocks:
        span = (block.first, block.last)
        rows = (*span, block.indptr, block.indices)
        kernels.over("link_first", block.last - block.first, *rows, parent, FIRST)
        kernels.over("flatten", block.last - block.first, *span, parent)
        kernels.over("link_rest", block.last - block.first, *rows, parent, FIRST, hub)
    return parent


def _joined(network: DeviceNetwork, hub: int) -> Array:
    """Join the forests of all GPUs, on the first."""

    def pairs(one: DeviceNetwork, number: int) -> tuple[Array | None, Array]:
        forest = _forest(one, rows_of(one, *network.shares[number]), hub)
        one.kernels("components").over("flatten", one.vertices, 0, one.vertices, forest)
        return (None, forest) if one is network else _told(forest, network.exchange)

    (_, parent), *others = on_each(network.among(len(network.shares)), pairs)
    for vertices, roots in others:
        given = (roots.size, None if vertices is None else here(vertices), here(roots), parent)
        network.kernels("components").over("link_pairs", roots.size, *given)
    return parent


def _told(forest: Array, exchange: Exchange | None) -> tuple[Array | None, Array]:
    """Choose the vertices of a forest that another GPU hears of, and what they point to; None for all vertices."""
    moved = cupy.flatnonzero(forest != cupy.arange(forest.size, dtype=forest.dtype)).astype(forest.dtype)
    few = PAIR * moved.size < forest.size
    if exchange is Exchange.BROADCAST or (exchange is None and not few):
        return None, forest
    return moved, forest[moved]
