"""Core numbers on the CPU."""

from functools import partial

import numpy as np

from csaw.engine.analytics.cpu.kernels import core
from csaw.engine.analytics.cpu.network import HostNetwork


def compute(network: HostNetwork) -> np.ndarray:
    """int64 [V]: the core number of each vertex of a simple undirected network. In memory by peeling, with one thread; else in passes over blocks, with all."""
    cores = network.degrees.copy()
    if network.resident:
        block = next(iter(network.blocks()))
        core.peel(block.indptr, block.indices, cores)
    else:
        lowered(network, cores)
    return cores


def lowered(network: HostNetwork, cores: np.ndarray) -> int:
    """Lower estimates, from degrees on, to core numbers (Montresor, De Pellegrini and Miorandi, IEEE TPDS 24(2), 2013). Returns the number of passes."""
    active, passes = cores > 0, 0
    while active.any():
        following = np.zeros(network.vertices, np.bool_)
        for block in network.blocks(wanted=partial(_any, active)):
            network.over_rows(core.lower, block, cores, active, following)
        active, passes = following, passes + 1
    return passes


def _any(active: np.ndarray, first: int, last: int) -> bool:
    return bool(active[first:last].any())
