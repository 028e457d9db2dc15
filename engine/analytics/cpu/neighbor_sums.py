"""Sums of a number of each vertex over the neighbors of each vertex, on the CPU."""

import numpy as np

from csaw.engine.analytics.cpu.kernels import ranking
from csaw.engine.analytics.cpu.network import HostNetwork


def compute(network: HostNetwork, values: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """[V]: the sum of ``values`` over the entries of each row, in ``out`` where it is given. ``values``: int64 or float64 [V]; floats are added in the order of rows."""
    out = np.empty(network.vertices, values.dtype) if out is None else out
    for block in network.blocks():
        network.over_rows(ranking.sum_rows, block, values, out)
    return out
