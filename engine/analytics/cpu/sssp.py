"""Shortest ways by weight from one vertex, in host memory or from disk."""

from typing import Any

import numpy as np

from csaw.engine.analytics.cpu.bfs import any_active
from csaw.engine.analytics.cpu.kernels import sssp as kernels
from csaw.engine.analytics.cpu.network import HostNetwork

CHUNK = 4096  # vertices of a flag
STEP, SOME = 0.1, 1 << 16  # of R-MAT graphs, steps of 0.05 to 0.25 take about the same time
FEW = 256  # a step with fewer than a vertex in so many is too short: the next is twice as long


def compute(network: HostNetwork, source: int) -> np.ndarray:
    """float64 [V]: the least sum of weights along a way from ``source`` to each vertex, along directions; infinite where there is none. See engine/analytics/cpu/kernels/sssp.py for how sums are taken.

    State: 12 bytes a vertex. From disk, a round reads the blocks that have a vertex to go on from.
    """
    distance, round_of = np.full(network.vertices, np.inf), np.full(network.vertices, -1, np.int32)
    distance[source] = 0.0
    state = (distance, distance.view(np.uint64), round_of)
    chunks = -(-network.vertices // CHUNK)
    number, floor, step = 0, 0.0, first_step(network)
    while floor < np.inf:
        limit, active = floor + step, np.zeros(chunks, np.uint8)
        chosen, least = _choose(network, distance, round_of, number, active, floor, limit)
        if chosen:
            number = _settle(network, state, number, active, limit)
        floor = limit if chosen else least
        if chosen < network.vertices // FEW or limit == floor:
            step *= 2
    return distance


def first_step(network: HostNetwork) -> float:
    """A range of distances to begin with, that decides nothing but the time: STEP weights of the mean of some edges."""
    weights = next(network.blocks(weights=True)).weights[:SOME].astype(np.float64)
    return STEP * float(weights.mean()) if weights.size and weights.any() else np.inf


def _choose(network: HostNetwork, *given: Any) -> tuple[int, float]:
    """Mark the vertices of the next range; how many there are, and the least distance beyond."""
    found = network.over(lambda low, high: kernels.choose(low, high, *given), network.spans(given[3].size))
    return sum(count for count, _ in found), min(least for _, least in found)


def _settle(network: HostNetwork, state: tuple[np.ndarray, ...], number: int, active: np.ndarray, limit: float) -> int:
    """Go through rows round after round, until no distance below ``limit`` changes; the number of the next round."""
    while active.any():
        following = np.zeros_like(active)
        for block in network.blocks(weights=True, wanted=any_active(active, CHUNK)):
            network.over_rows(kernels.relax, block, block.weights, *state, number, active, following, limit)
        number, active = number + 1, following
    return number
