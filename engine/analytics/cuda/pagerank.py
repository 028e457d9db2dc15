"""PageRank on one GPU or several."""

import cupy
import numpy as np

from csaw.engine.analytics.cuda import pagerank_shares
from csaw.engine.analytics.cuda.arriving_sums import is_pulled
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.pagerank_shares import launched
from csaw.engine.analytics.cuda.several_gpus import reach_all
from csaw.engine.analytics.ranks import Ranks, converged
from csaw.engine.plan.contracts import Array


def compute(network: DeviceNetwork, *, damping: float, tolerance: float, sources: Array) -> Ranks:
    """Rank all vertices; arguments and result as of ``converged``.

    Several GPUs that have rows of where edges come from in memory, and reach each other's, rank the vertices of a range
    each.
    """
    if network.others and network.vertices and is_pulled(network) and reach_all(network):
        arriving = network.incoming
        if arriving.pooled or arriving.resident:
            return pagerank_shares.ranked(network, damping=damping, tolerance=tolerance, sources=sources)
    kernels, totals = network.kernels("ranking"), cupy.empty(2, np.uint64)

    def settle(base: int, *arguments: object) -> tuple[int, int]:
        totals.fill(0)
        launched(kernels, "settle", network.vertices, sources.size, base, *arguments, totals)
        changed, passed = totals.get().tolist()
        return changed, passed

    return converged(network, settle, damping=damping, tolerance=tolerance, sources=sources)
