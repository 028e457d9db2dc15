"""Leading singular values of a graph's matrix, with products on a GPU: twin of engine/analytics/cpu/spectrum.py."""

import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.lanczos import leading
from csaw.engine.plan.residency import Residency


def compute(network: DeviceNetwork, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Find leading values and a vector on the host, the same as there; a graph that does not fit is read each time."""
    back = _beside(network)
    try:
        return leading(network, count, back)
    finally:
        if back is not None:
            back.close()


def _beside(network: DeviceNetwork) -> DeviceNetwork | None:
    """The rows of the other direction in blocks, where all rows of both would take turns; None: as they are.

    The rows of the network stay in memory, so that each of many products copies one direction in place of two. Where
    all rows are to be resident, blocks are not: directions take turns.
    """
    if not network.would_be_in_turn or network.residency is Residency.RESIDENT:
        return None
    back = network.of_store(network.host.incoming.store, network.memory - network.rows_bytes)
    if back.least_bytes <= back.memory:
        return back
    back.close()
    return None
