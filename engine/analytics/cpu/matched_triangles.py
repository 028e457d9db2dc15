"""Triangles by subgraph matching: candidates are filtered by degree, and joined edge by edge.

It is one of the three ways of Gunrock's paper (Wang and others, IA3 2016).
"""

import numpy as np

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cpu.patterns import NO_LABELS, matches, renumbered
from csaw.engine.analytics.pattern import Asked


def compute(network: HostNetwork, *, each: bool = True) -> tuple[int, np.ndarray | None]:
    """Count triangles as cpu/triangles.py does, in memory alone.

    BudgetError for a graph that memory does not hold twice.
    """
    indptr, indices, number = renumbered(network)
    counts = np.zeros(network.vertices if each else 0, np.int64)
    total = matches(network, Asked("triangle"), indptr, indices, NO_LABELS, counts)
    return total, counts[number] if each else None
