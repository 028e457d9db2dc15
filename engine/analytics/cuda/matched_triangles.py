"""Triangles by subgraph matching on a GPU, in memory: twin of cpu/matched_triangles.py."""

import cupy
import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.patterns import matches, renumbered
from csaw.engine.analytics.pattern import Asked
from csaw.engine.plan.contracts import Array


def compute(network: DeviceNetwork, *, each: bool = True) -> tuple[int, Array | None]:
    """Count triangles as cuda/masked_product.py does.

    Errors as of patterns.compute.
    """
    rows = renumbered(network)
    counts = cupy.zeros(rows.order.size if each else 0, np.uint64)
    total = matches(network, Asked("triangle"), rows, None, counts)
    if not each:
        return total, None
    vertices = cupy.zeros(network.vertices, np.int64)
    vertices[rows.order] = counts.view(np.int64)
    return total, vertices
