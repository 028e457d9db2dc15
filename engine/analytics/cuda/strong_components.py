"""Strongly connected components of a network on a GPU, found on the host.

A search in depth there takes time of the vertices and edges.
"""

import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork


def compute(network: DeviceNetwork) -> np.ndarray:
    """Find the smallest vertex of each vertex's component, [V], on the host, as cpu/strong_components.py does."""
    return network.host.compute("strong_components")
