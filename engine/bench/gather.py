"""The host's ceiling: independent gathers of random elements, each line prefetched well before it is read."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import uint64

from csaw.engine.cpu.kernels.memory import prefetch
from csaw.engine.draws.random import below
from csaw.partition.base.compile import njit

AHEAD = 64


@njit(nogil=True)
def _gather(table, start, count):
    size = uint64(table.size)
    spots = np.empty(AHEAD, np.int64)
    state, total = uint64(start) * uint64(0x9E3779B97F4A7C15) + uint64(1), uint64(0)
    for _ in range(count // AHEAD):
        for j in range(AHEAD):
            state = state * uint64(6364136223846793005) + uint64(1442695040888963407)
            spots[j] = below(state ^ (state >> uint64(32)), size)
            prefetch(table, uint64(spots[j]))
        for j in range(AHEAD):
            total += table[spots[j]]
    return total


def gather(table: np.ndarray, threads: int, count: int) -> None:
    """Do ``count`` gathers from ``table`` in each of ``threads`` threads."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda start: _gather(table, start, count), range(threads)))
