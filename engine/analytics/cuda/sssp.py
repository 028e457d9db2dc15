"""Shortest paths by weight from one vertex on a GPU: twin of engine/analytics/cpu/sssp.py."""

import cupy
import numpy as np

from csaw.engine.analytics.cuda import sssp_shares
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.several_gpus import reach_all, told_how
from csaw.engine.analytics.cuda.sssp_shares import EVERY_CHUNK, INFINITE
from csaw.engine.analytics.passes import CHUNK, any_active, first_step, settle_ranges
from csaw.engine.cuda import arrays
from csaw.engine.plan.contracts import Array

LARGE = 1 << 30  # entries of rows of a graph from where on several GPUs are quicker (docs/contributing/tuning.md)


def pays(network: DeviceNetwork) -> bool:
    """Whether several GPUs search: because they are quicker than one, or the graph is spread, or the user says how.

    A search takes less than copying the rows, so the others must have them, and their weights.
    """
    if network.pooled or told_how(network):
        return True
    large = bool(network.others) and network.edges >= LARGE
    return large and network.is_elsewhere and _have_weights(network) and reach_all(network)


def _have_weights(network: DeviceNetwork) -> bool:
    """Whether all GPUs, which have the rows, have the weights in memory, too."""
    return all(True in one.held for one in network.among(1 + len(network.others)))


def compute(network: DeviceNetwork, source: int) -> Array:
    """Find the least sum of weights along a path from ``source`` to each vertex, along directions.

    The same bits as on the host. State: 12 bytes a vertex. A graph that does not fit is read once a round, without the
    blocks that have no vertex to go on from. Several GPUs share a large graph that all of them have in memory already;
    or any, where it is pooled, or the user has said how they tell each other what is lowered.

    Returns:
        float64 [V], infinite where there is no path.
    """
    distance = cupy.full(network.vertices, np.inf)
    distance[source] = 0.0
    step = first_step(network)
    if pays(network):
        sssp_shares.search(network, distance, step)
    else:
        _search(network, distance, step)
    return distance


def _search(network: DeviceNetwork, distance: Array, step: float) -> None:
    round_of, kernels = arrays.full(network.vertices, -1, np.int32), network.kernels("sssp")
    active = cupy.zeros(-(-network.vertices // CHUNK), np.uint8)

    def choose(number: int, floor: float, limit: float) -> tuple[int, float]:
        active.fill(0)
        found = cupy.asarray(np.array([0, INFINITE], np.uint64))
        given = (distance, round_of, number, active, floor, limit, found)
        kernels.over("choose", network.vertices, 0, network.vertices, *EVERY_CHUNK, *given)
        chosen, least = found.get()
        return int(chosen), float(least.view(np.float64))

    def settle(number: int, limit: float) -> int:
        return _settle(network, distance, round_of, number, active, limit)

    settle_ranges(network.vertices, step, choose, settle)


def _settle(network: DeviceNetwork, distance: Array, round_of: Array, number: int, active: Array, limit: float) -> int:
    """Go through rows round after round, until no distance below ``limit`` changes.

    Returns the number of the next round.
    """
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
