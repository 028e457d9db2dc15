"""Rows of a graph on a GPU with its edges in other directions, made by sorting.

An entry is sorted by its key: the vertex of its row in the high 32 bits, its neighbor in the low ones. Two ids of 64
bits do not fit a key: then entries are sorted by their neighbors, and by their rows in a second sort that keeps the
order of the first.
"""

from collections.abc import Iterable

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.cuda.launch import Kernels

WARPS = 1 << 16  # of a launch over rows


def is_simple(blocks: Iterable[Block], kernels: Kernels) -> bool:
    """Whether no row of an undirected graph has a self loop or a repeat. ``kernels``: those of
    analytics/cuda/kernels/adjacency.cu.
    """
    faults = cupy.zeros(1, np.uint64)
    for block in blocks:
        rows = (block.first, block.last, block.indptr, block.indices)
        kernels.over("count_faults", 32 * min(block.last - block.first, WARPS), *rows, faults)
    return int(faults[0]) == 0


def undirected(block: Block, directed: bool) -> Block:
    """The rows of the simple undirected graph of a block of all rows: both ends, no self loops, no repeats.

    ``directed``: whether an edge stands in one row alone.
    """
    source, target = _ends(block)
    if block.indices.dtype != np.uint32 and source.size:
        return _undirected_wide(source, target, block, directed)
    kept = source != target
    source, target = source[kept], target[kept]
    keys = cupy.empty(source.size << directed, np.int64)
    keys[: source.size] = source << 32 | target
    if directed:
        keys[source.size :] = target << 32 | source
    del source, target
    keys.sort()
    kept = cupy.ones(keys.size, bool)
    kept[1:] = keys[1:] != keys[:-1]
    return _of_keys(keys[kept], block)


def incoming(block: Block) -> Block:
    """The rows of the graph of a block of all rows with its edges reversed; repeats stay."""
    source, target = _ends(block)
    if block.indices.dtype != np.uint32 and source.size:
        order = cupy.argsort(target, kind="stable")  # entries are in the order of their rows
        return _of_rows(target[order], source[order], block)
    return _of_keys(cupy.sort(target << 32 | source), block)


def _undirected_wide(source: Array, target: Array, block: Block, directed: bool) -> Block:
    """The rows of ``undirected`` with ids of 64 bits."""
    if directed:
        source, target = cupy.concatenate([source, target]), cupy.concatenate([target, source])
    order = cupy.argsort(target, kind="stable")
    order = order[cupy.argsort(source[order], kind="stable")]
    source, target = source[order], target[order]
    kept = source != target
    kept[1:] &= (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    return _of_rows(source[kept], target[kept], block)


def _of_rows(source: Array, target: Array, like: Block) -> Block:
    """The rows of entries in order: ``source`` int64 [E], the vertex of each one's row, and ``target``, the entry."""
    indptr = cupy.searchsorted(source, cupy.arange(like.last + 1))
    return Block(0, like.last, indptr, target.astype(like.indices.dtype), None)


def incoming_with_weights(block: Block) -> Block:
    """The same with weights. Those of repeats keep their order."""
    assert block.weights is not None
    source, target = _ends(block)
    order = cupy.argsort(target, kind="stable")  # entries are in the order of their rows
    return _of_rows(target[order], source[order], block)._replace(weights=block.weights[order])


def _ends(block: Block) -> tuple[Array, Array]:
    """int64 [E] twice: the vertex of each entry's row, and the entry."""
    row = cupy.searchsorted(block.indptr, cupy.arange(block.indices.size), side="right") - 1
    return row, block.indices.astype(np.int64)


def _of_keys(keys: Array, like: Block) -> Block:
    """The rows of the entries with these ``keys``, which rise."""
    indptr = cupy.searchsorted(keys, cupy.arange(like.last + 1) << 32)
    return Block(0, like.last, indptr, (keys & 0xFFFFFFFF).astype(like.indices.dtype), None)
