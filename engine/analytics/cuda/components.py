"""Weakly connected components on a GPU: twin of engine/analytics/cpu/components.py."""

import cupy

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.passes import FIRST
from csaw.engine.plan.contracts import Array


def compute(network: DeviceNetwork) -> Array:
    """[V]: the smallest vertex of each vertex's component; directions do not count.

    State: an id for each vertex.
    """
    kernels, vertices = network.kernels("components"), network.vertices
    parent = cupy.empty(vertices, network.id_dtype)
    kernels.over("number", vertices, vertices, parent)
    hub = -1 if network.directed or not vertices else int(network.degrees.argmax())
    for block in network.blocks():
        span = (block.first, block.last)
        rows = (*span, block.indptr, block.indices)
        kernels.over("link_first", block.last - block.first, *rows, parent, FIRST)
        kernels.over("flatten", block.last - block.first, *span, parent)
        kernels.over("link_rest", block.last - block.first, *rows, parent, FIRST, hub)
    kernels.over("flatten", vertices, 0, vertices, parent)
    return parent
