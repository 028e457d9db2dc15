"""Pairs within each number of hops, estimated from sketches: a pass over all rows for each hop."""

from itertools import chain

import numpy as np

from csaw.engine.analytics.cpu.kernels import sketches as kernels
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.sketches import pairs_within


def compute(network: HostNetwork, seed: int, run: int) -> np.ndarray:
    """Estimate how many pairs (u, v) have a path of so many edges or fewer from u to v: float64 [levels].

    ``run``: the number of an independent sketch. Along directions. State: 32 bytes a vertex. The first number is exact.
    """
    registers, following = (np.empty((network.vertices, 2), np.uint64) for _ in range(2))
    network.each(kernels.begin, network.spans(network.vertices), np.uint64(seed), np.uint64(run), registers)

    def join() -> tuple[int, bool]:
        nonlocal registers, following
        parts = (network.over_rows(kernels.join, block, registers, following) for block in network.blocks())
        found = list(chain.from_iterable(parts))
        registers, following = following, registers
        return sum(units for units, _ in found), any(different for _, different in found)

    return pairs_within(network, join)
