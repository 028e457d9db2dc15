"""Core numbers on a GPU."""

from functools import partial

import cupy
import numpy as np

from csaw.engine.contracts import Array
from csaw.engine.cuda.network import DeviceNetwork


def compute(network: DeviceNetwork) -> Array:
    """int64 [V]: the core number of each vertex of a simple undirected network, by estimates that fall from the degrees on, in passes over its rows."""
    cores, kernels = network.degrees.copy(), network.kernels("core")
    active = (cores > 0).view(np.uint8)
    while bool(active.any()):
        following = cupy.zeros(network.vertices, np.uint8)
        for block in network.blocks(wanted=partial(_any, active)):
            given = (block.first, block.indptr, block.indices, cores, active, following)
            network.classes(block).launch(kernels, "lower", *given)
        active = following
    return cores


def _any(active: Array, first: int, last: int) -> bool:
    return bool(active[first:last].any())
