"""The memory of rounds of a measure of the user's own on the CPU."""

import numpy as np

from csaw.engine.analytics.network import Network

WEIGHT_BYTES = np.dtype(np.float32).itemsize
CHECK_BYTES = 2  # of an entry while it is checked that weights are finite and not negative


def both_directions_bytes(network: Network) -> int:
    """Bytes of what is kept and of rows in both directions with weights, without those of networks beside them."""
    backward = network.id_dtype.itemsize + WEIGHT_BYTES + CHECK_BYTES
    return network.kept_bytes + network.edges * (network.edge_bytes + backward)
