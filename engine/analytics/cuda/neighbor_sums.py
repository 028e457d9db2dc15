"""Sums of a number of each vertex over the neighbors of each vertex, on one GPU or several."""

import cupy
import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.several_gpus import exchange, here, on_each, rows_of
from csaw.engine.cuda.graphs.node import fetch
from csaw.engine.plan.contracts import Array


def compute(network: DeviceNetwork, values: Array, out: Array | None = None) -> Array:
    """Sum ``values``, int64 [V], over the entries of each row: int64 [V], in ``out`` if it is given.

    Several GPUs take a range of the rows each.
    """
    sums = cupy.empty(network.vertices, np.int64) if out is None else out
    shares = network.shares

    def add_up(one: DeviceNetwork, number: int) -> Array:
        first, last = shares[number]
        own, kernels = here(values), one.kernels("ranking")
        found = sums[first:last] if one is network else cupy.empty(last - first, np.int64)
        for block in rows_of(one, first, last):
            there = found[block.first - first : block.last - first]
            one.classes(block).launch(kernels, "sum_rows", block.indptr, block.indices, own, there)
        return found

    parts = on_each(network.among(len(shares)), add_up)
    for (first, last), found in zip(shares[1:], parts[1:], strict=True):
        with exchange():
            fetch(found, sums[first:last])
    return sums
