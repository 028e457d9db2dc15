"""PageRank on the CPU."""

import numpy as np

from csaw.engine.analytics.cpu.kernels import ranking
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.ranks import Ranks, converged


def compute(network: HostNetwork, *, damping: float, tolerance: float, sources: np.ndarray) -> Ranks:
    """Rank all vertices; arguments and result as of ``converged``."""
    spans = network.spans(network.vertices)

    def settle(*arguments: object) -> tuple[int, int]:
        found = network.each(ranking.settle, spans, *arguments)
        return sum(change for change, _ in found), sum(passed for _, passed in found)

    return converged(network, settle, damping=damping, tolerance=tolerance, sources=sources)
