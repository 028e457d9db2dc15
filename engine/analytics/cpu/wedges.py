"""Closed wedges among random ones, from memory or from disk, on the CPU.

Seshadhri, Pinar and Kolda, Statistical Analysis and Data Mining 7(4), 2014.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from csaw.engine.analytics.cpu.kernels import wedges as kernels
from csaw.engine.analytics.cpu.network import HostNetwork

WEDGE_BYTES = 48  # of a wedge: its three vertices, and two orders
KEPT_BYTES = 24  # of a vertex, of which wedges in memory may take as much as STATE_BYTES leaves
LEAST = 1024  # wedges at a time


class Closed(NamedTuple):
    """How many of the drawn wedges are closed: of all wedges alike, and of vertices alike.

    ``wedges`` and ``vertices``: how many wedges, and vertices that have one, the graph has.
    """

    of_wedges: int
    of_vertices: int
    wedges: int
    vertices: int


def compute(network: HostNetwork, *, count: int, seed: int) -> Closed:
    """Draw ``count`` wedges of a simple undirected network twice: of all wedges alike, and of vertices alike.

    Of vertices of degree 2 or more alike, each comes with one of its wedges.
    """
    begin, able = _running(network)
    if not begin[-1]:
        return Closed(0, 0, 0, 0)
    batch = max(LEAST, (KEPT_BYTES * network.vertices) // WEDGE_BYTES)
    of_wedges = of_vertices = 0
    for low in range(0, count, batch):
        high = min(low + batch, count)
        given = (low, high, np.uint64(seed), begin)
        of_wedges += _closed(network, high - low, partial(kernels.draw_wedges, *given))
        of_vertices += _closed(network, high - low, partial(kernels.draw_vertices, *given, able))
    return Closed(of_wedges, of_vertices, int(begin[-1]), int(able[-1]))


def _running(network: HostNetwork) -> tuple[np.ndarray, np.ndarray]:
    """int64 [V + 1] twice: wedges of all vertices before each, and the vertices before it that have a wedge."""
    degrees = network.degrees
    begin, able = (np.zeros(network.vertices + 1, np.int64) for _ in range(2))
    np.cumsum(degrees * (degrees - 1) // 2, out=begin[1:])
    np.cumsum(degrees > 1, out=able[1:])
    return begin, able


def _closed(network: HostNetwork, count: int, draw: Callable[..., None]) -> int:
    """How many of some drawn wedges are closed."""
    centers, firsts, seconds = (np.empty(count, np.int64) for _ in range(3))
    draw(centers, firsts, seconds)
    visit(network, centers, kernels.find_ends, centers, firsts, seconds)
    return visit(network, firsts, kernels.count_closed, firsts, seconds)


def visit(network: HostNetwork, vertices: np.ndarray, kernel: Callable[..., int], *arrays: np.ndarray) -> int:
    """Have a kernel see each wedge while the row of its vertex in ``vertices`` is in memory.

    Returns the sum of the kernel's results.
    """
    order = np.argsort(vertices)
    ascending = vertices[order]
    total = 0
    for block in network.blocks(wanted=lambda *ends: bool(np.diff(np.searchsorted(ascending, ends))[0])):
        low, high = np.searchsorted(ascending, [block.first, block.last]).tolist()
        total += kernel(low, high, order, block.first, block.indptr, block.indices, *arrays)
    return total
