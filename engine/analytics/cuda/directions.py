"""Rows of a graph on a GPU with its edges in other directions, made by sorting.

An entry is sorted by its key: the vertex of its row in the high 32 bits, its neighbor in the low ones.
"""

import cupy
import numpy as np

from csaw.engine.analytics.network import Block
from csaw.engine.plan.contracts import Array


def undirected(block: Block, directed: bool) -> Block:
    """The rows of the simple undirected graph of a block of all rows: both ends, no self loops, no repeats.

    ``directed``: whether an edge stands in one row alone.
    """
    source, target = _ends(block)
    keys = [source << 32 | target, target << 32 | source] if directed else [source << 32 | target]
    both = cupy.concatenate(keys)
    return _of_keys(cupy.unique(both[both >> 32 != both & 0xFFFFFFFF]), block.last)


def incoming(block: Block) -> Block:
    """The rows of the graph of a block of all rows with its edges reversed; repeats stay."""
    source, target = _ends(block)
    return _of_keys(cupy.sort(target << 32 | source), block.last)


def incoming_with_weights(block: Block) -> Block:
    """The same with weights. Those of repeats keep their order, since CuPy sorts stably."""
    source, target = _ends(block)
    keys = target << 32 | source
    order = cupy.argsort(keys)
    return _of_keys(keys[order], block.last)._replace(weights=block.weights[order])


def _ends(block: Block) -> tuple[Array, Array]:
    """int64 [E] twice: the vertex of each entry's row, and the entry."""
    row = cupy.searchsorted(block.indptr, cupy.arange(block.indices.size), side="right") - 1
    return row, block.indices.astype(np.int64)


def _of_keys(keys: Array, vertices: int) -> Block:
    """The rows of the entries with these ``keys``, which rise."""
    indptr = cupy.searchsorted(keys, cupy.arange(vertices + 1) << 32)
    return Block(0, vertices, indptr, (keys & 0xFFFFFFFF).astype(np.uint32), None)
