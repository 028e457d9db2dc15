"""Strongly connected components of a network on a GPU: found on the host, where a search in depth takes time of its vertices and edges."""

import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork


def compute(network: DeviceNetwork) -> np.ndarray:
    """[V], in host memory: as of engine/analytics/cpu/strong_components.py, by all means of the host."""
    return network.host.compute("strong_components")
