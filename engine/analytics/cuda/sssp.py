"""Shortest ways by weight from one vertex on a GPU: twin of engine/analytics/cpu/sssp.py."""

import cupy
import numpy as np

from csaw.engine.analytics.cpu.bfs import any_active
from csaw.engine.analytics.cpu.sssp import CHUNK, FEW, SOME, STEP
from csaw.engine.analytics.cuda import sssp_shares
from csaw.engine.analytics.cuda.levels import Exchange
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.network import on_host
from csaw.engine.plan.contracts import Array


def compute(network: DeviceNetwork, source: int, exchange: Exchange | None = None) -> Array:
    """float64 [V]: the least sum of weights along a way from ``source`` to each vertex, along directions; infinite where there is none. The same bits as on the host.

    State: 12 bytes a vertex. A graph that does not fit is read once a round, without the blocks that have no vertex to go on from. Several GPUs are slower than one
    (docs/tuning.md), so the first searches alone, unless ``exchange`` says by which means they tell each other of lowered distances.
    """
    distance = cupy.full(network.vertices, np.inf)
    distance[source] = 0.0
    step = _first_step(network)
    if exchange and network.others and network.resident:
        sssp_shares.search(network, distance, step, exchange)
    else:
        _search(network, distance, step)
    return distance


def _search(network: DeviceNetwork, distance: Array, step: float) -> None:
    round_of, chunks = cupy.full(network.vertices, -1, np.int32), -(-network.vertices // CHUNK)
    number, floor = 0, 0.0
    while floor < np.inf:
        limit, active = floor + step, cupy.zeros(chunks, np.uint8)
        found = cupy.asarray(np.array([0, np.float64(np.inf).view(np.uint64)], np.uint64))
        given = (distance, round_of, number, active, floor, limit, found)
        network.kernels("sssp").over("choose", network.vertices, 0, network.vertices, *given)
        chosen, least = found.get()
        if chosen:
            number = _settle(network, distance, round_of, number, active, limit)
        floor = limit if chosen else float(least.view(np.float64))
        if chosen < network.vertices // FEW or limit == floor:
            step *= 2


def _first_step(network: DeviceNetwork) -> float:
    """As on the host: a range that decides nothing but the time."""
    weights = on_host(next(network.blocks(weights=True)).weights[:SOME]).astype(np.float64)
    return STEP * float(weights.mean()) if weights.size and weights.any() else float("inf")


def _settle(network: DeviceNetwork, distance: Array, round_of: Array, number: int, active: Array, limit: float) -> int:
    """Go through rows round after round, until no distance below ``limit`` changes; the number of the next round."""
    while (flags := active.get()).any():
        following = cupy.zeros_like(active)
        state = (distance, round_of, number, active, following, float(limit))
        for block in network.blocks(weights=True, wanted=any_active(flags, CHUNK)):
            rows = (block.indptr, block.indices, block.weights)
            kernels = network.kernels("sssp")
            kernels.over("relax", block.last - block.first, block.first, block.last, *rows, *state)
            network.long_rows.launch(kernels, "relax_long", block, *rows, *state)
        number, active = number + 1, following
    return number
