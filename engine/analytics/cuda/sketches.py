"""Pairs within each number of hops on a GPU, estimated from sketches: twin of engine/analytics/cpu/sketches.py."""

import cupy
import numpy as np

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.sketches import FEW, SKETCH_SLOT, pairs_within


def compute(network: DeviceNetwork, seed: int, run: int) -> np.ndarray:
    """Estimate how many pairs (u, v) have a path of so many edges or fewer from u to v: float64 [levels], on the host.

    ``run``: the number of an independent sketch. Along directions. The same numbers as on the CPU. State: 32 bytes a
    vertex. A graph that does not fit is read once for each number of edges.
    """
    vertices, kernels = network.vertices, network.kernels("sketches")
    registers, following = (cupy.empty((vertices, 2), np.uint64) for _ in range(2))
    kernels.over("begin", vertices, vertices, np.uint64(seed), SKETCH_SLOT, np.uint64(run), registers)
    few, found = cupy.asarray(FEW), cupy.empty(3, np.uint64)

    def join() -> tuple[int, bool]:
        nonlocal registers, following
        found.fill(0)
        for block in network.blocks():
            rows = (block.first, block.indptr, block.indices)
            network.classes(block).launch(kernels, "join", *rows, registers, following, few, found)
        registers, following = following, registers
        low, high, changed = found.get().tolist()
        return (high << 32) + low, changed > 0

    return pairs_within(network, join)
