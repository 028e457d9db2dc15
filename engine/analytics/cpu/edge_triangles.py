"""Triangles of random edges, from memory or from disk, each seen by a random neighbor of an end."""

from typing import NamedTuple

import numpy as np

from csaw.engine.analytics.cpu.kernels import edge_triangles as kernels
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cpu.wedges import KEPT_BYTES, LEAST, visit

DRAW_BYTES = 64  # of an edge: three vertices, two places, the largest number of its triangles, and two orders


class Seen(NamedTuple):
    """Sums over the drawn edges of the number of triangles that each says, and of its square.

    ``edges`` and ``wedges``: how many of them the graph has.
    """

    triangles: int
    squares: int
    edges: int
    wedges: int


def compute(network: HostNetwork, *, count: int, seed: int) -> Seen:
    """Draw ``count`` edges of a simple undirected network, each alike, and see whether each is in a triangle.

    Of each edge a random neighbor w is drawn, of that end which has fewer of them, d. Where w is a neighbor of the
    other end too, the edge is taken to have d triangles, otherwise none: on average, those that it has. All sums are of
    integers.
    """
    degrees = network.degrees
    edges, wedges = network.edges // 2, int((degrees * (degrees - 1) // 2).sum())
    batch = max(LEAST, KEPT_BYTES * network.vertices // DRAW_BYTES)
    triangles = squares = 0
    for low in range(0, count if edges else 0, batch):
        most = _most(network, degrees, low, min(low + batch, count), np.uint64(seed))
        triangles += int(most.sum())
        squares += sum(int(part @ part) for part in np.array_split(most, -(-most.size // LEAST)))
    return Seen(triangles, squares, edges, wedges)


def _most(network: HostNetwork, degrees: np.ndarray, low: int, high: int, seed: np.uint64) -> np.ndarray:
    """Say the numbers of triangles of the edges with the numbers low .. high - 1: int64 [high - low]."""
    near, far, third, place = (np.empty(high - low, np.int64) for _ in range(4))
    kernels.draw_edges(low, high, seed, network.offsets, near, place)
    visit(network, near, kernels.read_entries, near, place, far)
    kernels.choose_neighbors(low, high, seed, degrees, near, far, place)
    visit(network, near, kernels.read_entries, near, place, third)
    most = degrees[near]
    kernels.shorter_first(degrees, far, third)
    visit(network, far, kernels.keep_closed, far, third, most)
    return most
