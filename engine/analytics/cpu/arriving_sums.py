"""Sums of a number of each vertex over those that edges come from, on the CPU."""

from functools import partial

import numpy as np

from csaw.engine.analytics.cpu.kernels import ranking
from csaw.engine.analytics.cpu.network import HostNetwork


def compute(network: HostNetwork, values: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """int64 [V]: for each edge to a vertex, one of ``values``, that of where the edge comes from, added up; in ``out`` where it is given. ``values``: int64 [V].

    Pulled over the rows of the other direction where there is memory for them or they were made before, else pushed along the graph's own, by threads that have
    a range of targets each: sums of integers are the same either way.
    """
    if not network.directed or network.can_have_incoming or "incoming" in vars(network):
        return network.incoming.compute("neighbor_sums", values=values, out=out)
    out = np.empty(network.vertices, np.int64) if out is None else out
    out.fill(0)
    spans = network.spans(network.vertices)
    for first, _, indptr, indices, _ in network.blocks():
        network.over(partial(_push, (first, indptr, indices, values, out)), spans)
    return out


def _push(given: tuple, low: int, high: int) -> None:
    ranking.push_rows(low, high, *given)
