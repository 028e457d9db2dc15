"""Leading singular values of a graph's matrix, with products on a GPU: twin of engine/analytics/cpu/spectrum.py."""

import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.lanczos import leading


def compute(network: DeviceNetwork, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Find leading values and a vector on the host, the same as there; a graph that does not fit is read each time."""
    return leading(network, count)
