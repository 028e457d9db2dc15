"""The state that batches keep between calls of kernels, each kind of it one argument."""

from typing import NamedTuple

import numpy as np

from csaw.engine.plan.contracts import Frontier


class Walkers(NamedTuple):
    """The walkers of a batch: arrays [n]. See walk.py."""

    source: np.ndarray
    """int64: where each began."""
    at: np.ndarray
    """int64: where it is."""
    previous: np.ndarray
    """int64: where it was before; -1 at its source."""
    step: np.ndarray
    """int64: steps that it has taken."""
    alive: np.ndarray
    """uint8: whether it goes on."""
    clock: np.ndarray
    """int64 [n, 2]: the times of the edge that it took last, and of its first; none but of walks in time."""
    times: np.ndarray
    """int64 [n, length]: the time of each step's edge, likewise."""
    rules: np.ndarray
    """int64 [3]: the time at which walks start, the longest time between edges, the last time."""
    scale: np.ndarray
    """float64 [1]: the time in which an exponential bias changes by e."""


class FrontierArrays(NamedTuple):
    """The arrays of a frontier that kernels read and fill. See Frontier."""

    instance: np.ndarray
    slot: np.ndarray
    vertex: np.ndarray
    previous: np.ndarray
    source: np.ndarray
    seen_from: np.ndarray
    seen_to: np.ndarray
    seen: np.ndarray
    start: np.ndarray
    capacity: np.ndarray
    found: np.ndarray
    out: np.ndarray
    edge: np.ndarray
    keys: np.ndarray


def arrays_of(frontier: Frontier) -> FrontierArrays:
    """The arrays of a frontier in host memory."""
    return FrontierArrays(*(getattr(frontier, name) for name in FrontierArrays._fields))
