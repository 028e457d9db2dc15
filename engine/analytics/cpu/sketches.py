"""Pairs within each number of hops from sketches, in host memory or from disk: a pass over all rows for each hop."""

import numpy as np

from csaw.engine.analytics.cpu.kernels import sketches as kernels
from csaw.engine.analytics.cpu.network import HostNetwork


def compute(network: HostNetwork, seed: int, run: int) -> np.ndarray:
    """float64 [levels]: about how many pairs (u, v) have a way of so many edges or fewer from u to v, along directions. ``run``: the number of an independent sketch.

    State: 32 bytes a vertex. The first number is exact.
    """
    registers, following = (np.empty((network.vertices, 2), np.uint64) for _ in range(2))
    given = (np.uint64(seed), np.uint64(run), registers)
    network.over(lambda low, high: kernels.begin(low, high, *given), network.spans(network.vertices))
    pairs, changed = [float(network.vertices)], network.edges > 0
    while changed:
        found = [
            part for block in network.blocks() for part in network.over_rows(kernels.join, block, registers, following)
        ]
        changed = any(different for _, different in found)
        if changed:
            total = sum(units for units, _ in found) / kernels.UNIT
            pairs.append(max(total, pairs[-1]))  # an estimate may fall where linear counting ends
        registers, following = following, registers
    return np.array(pairs)
