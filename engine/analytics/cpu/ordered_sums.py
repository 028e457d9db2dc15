"""Sums of floating-point numbers over the neighbors of each vertex, on the CPU, in an order of their own."""

import numpy as np

from csaw.engine.analytics.cpu.kernels import ordered_sums as kernels
from csaw.engine.analytics.cpu.network import HostNetwork


def compute(network: HostNetwork, values: np.ndarray) -> np.ndarray:
    """Sum ``values``, float64 [V], over the entries of each row: float64 [V], the same bits on every device."""
    out = np.empty(network.vertices)
    for block in network.blocks():
        network.over_rows(kernels.sum_rows, block, values, out)
    return out
