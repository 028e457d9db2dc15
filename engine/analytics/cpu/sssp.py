"""Shortest paths by weight from one vertex, in host memory or from disk."""

import numpy as np

from csaw.engine.analytics.cpu.kernels import sssp as kernels
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.passes import CHUNK, any_active, first_step, settle_ranges


def compute(network: HostNetwork, source: int) -> np.ndarray:
    """Find the least sum of weights along a path from ``source`` to each vertex, along directions.

    See engine/analytics/cpu/kernels/sssp.py for how sums are taken. State: 12 bytes a vertex. From disk, a round reads
    the blocks that have a vertex to go on from.

    Returns:
        float64 [V], infinite where there is no path.
    """
    distance, round_of = np.full(network.vertices, np.inf), np.full(network.vertices, -1, np.int32)
    distance[source] = 0.0
    spans = network.spans(-(-network.vertices // CHUNK))
    active = np.zeros(-(-network.vertices // CHUNK), np.uint8)

    def choose(number: int, floor: float, limit: float) -> tuple[int, float]:
        active.fill(0)
        found = network.each(kernels.choose, spans, distance, round_of, number, active, floor, limit)
        return sum(count for count, _ in found), min(beyond for _, beyond in found)

    def settle(number: int, limit: float) -> int:
        return _settle(network, (distance, distance.view(np.uint64), round_of), number, active, limit)

    settle_ranges(network.vertices, first_step(network), choose, settle)
    return distance


def _settle(network: HostNetwork, state: tuple[np.ndarray, ...], number: int, active: np.ndarray, limit: float) -> int:
    """Go through rows round after round, until no distance below ``limit`` changes.

    Returns the number of the next round.
    """
    while active.any():
        following = np.zeros_like(active)
        for block in network.blocks(weights=True, wanted=any_active(active, CHUNK)):
            network.over_rows(kernels.relax, block, block.weights, *state, number, active, following, limit)
        number, active = number + 1, following
    return number
