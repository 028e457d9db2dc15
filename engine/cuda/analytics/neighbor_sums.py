"""Sums of a number of each vertex over the neighbors of each vertex, on a GPU."""

import numpy as np

from csaw.engine.contracts import Array
from csaw.engine.cuda.network import DeviceNetwork


def compute(network: DeviceNetwork, values: Array, out: Array | None = None) -> Array:
    """int64 [V]: the sum of ``values`` over the entries of each row, in ``out`` where it is given. ``values``: int64 [V]."""
    out = network.xp.empty(network.vertices, np.int64) if out is None else out
    kernels = network.kernels("ranking")
    for block in network.blocks():
        there = out[block.first : block.last]
        network.classes(block).launch(kernels, "sum_rows", block.indptr, block.indices, values, there)
    return out
