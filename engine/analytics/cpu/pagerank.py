"""PageRank on the CPU."""

import numpy as np

from csaw.engine.analytics.cpu.kernels import ranking
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.ranks import Ranks, converged


def compute(network: HostNetwork, *, damping: float, tolerance: float, sources: np.ndarray) -> Ranks:
    """Ranks of all vertices, as ``converged`` has them."""
    spans = network.spans(network.vertices)

    def settle(*arguments: object) -> tuple[int, int]:
        found = network.over(lambda low, high: ranking.settle(low, high, *arguments), spans)
        return sum(change for change, _ in found), sum(passed for _, passed in found)

    return converged(network, settle, damping=damping, tolerance=tolerance, sources=sources)
