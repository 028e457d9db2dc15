"""Sums of floating-point numbers over neighbors on a GPU: twin of engine/analytics/cpu/ordered_sums.py."""

import cupy

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.plan.contracts import Array


def compute(network: DeviceNetwork, values: Array) -> Array:
    """Sum ``values``, float64 [V], over the entries of each row: float64 [V], the same bits as on the host."""
    out, kernels = cupy.empty(network.vertices), network.kernels("ordered_sums")
    for block in network.blocks():
        rows = (block.indptr, block.indices, values, out[block.first : block.last])
        network.classes(block).launch(kernels, "ordered_sums", *rows)
    return out
