"""Triangles by subgraph matching on a GPU, in memory: twin of cpu/matched_triangles.py."""

import cupy
import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.patterns import matches, renumbered
from csaw.engine.analytics.pattern import Asked
from csaw.engine.plan.contracts import Array


def compute(network: DeviceNetwork, *, each: bool = True) -> tuple[int, Array | None]:
    """Count triangles as cuda/masked_product.py does.

    BudgetError where the GPU's memory does not hold the rows and what they are sorted by.
    """
    rows = renumbered(network)
    counts = cupy.zeros(network.vertices if each else 0, np.uint64)
    total = matches(network, Asked("triangle"), rows, None, counts)
    return total, counts[rows.number].astype(np.int64) if each else None
