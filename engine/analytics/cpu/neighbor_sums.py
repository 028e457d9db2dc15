"""Sums of a number of each vertex over the neighbors of each vertex, on the CPU."""

import numpy as np

from csaw.engine.analytics.cpu.kernels import ranking
from csaw.engine.analytics.cpu.network import HostNetwork


def compute(network: HostNetwork, values: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Sum ``values``, int64 or float64 [V], over the entries of each row: [V], in ``out`` if it is given.

    Floats are added in the order of rows.
    """
    out = np.empty(network.vertices, values.dtype) if out is None else out
    for block in network.blocks():
        network.over_rows(ranking.sum_rows, block, values, out)
    return out
