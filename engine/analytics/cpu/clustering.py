"""Clusterings of a simple undirected network, on the CPU."""

import numpy as np

from csaw.engine.analytics.clusterings import Clusterings, of_arrays
from csaw.engine.analytics.cpu.network import HostNetwork


def compute(network: HostNetwork, *, triangles: np.ndarray) -> Clusterings:
    """Find clusterings of the triangles of each vertex, int64 [V]."""
    return of_arrays(network.degrees, triangles)
