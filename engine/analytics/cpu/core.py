"""Core numbers on the CPU."""

import numpy as np

from csaw.engine.analytics.cpu.kernels import core
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.passes import until_none_is_active


def compute(network: HostNetwork) -> np.ndarray:
    """Find the core number of each vertex of a simple undirected network, int64 [V].

    In memory by peeling, with one thread; else in passes over blocks, with all.
    """
    cores = network.degrees.copy()
    if network.resident:
        block = next(iter(network.blocks()))
        core.peel(block.indptr, block.indices, cores)
    else:
        lowered(network, cores)
    return cores


def lowered(network: HostNetwork, cores: np.ndarray) -> int:
    """Lower estimates, from degrees on, to core numbers; returns the number of passes.

    Montresor, De Pellegrini and Miorandi, IEEE TPDS 24(2), 2013.
    """
    return until_none_is_active(
        network, cores > 0, lambda block, *active: network.over_rows(core.lower, block, cores, *active)
    )
