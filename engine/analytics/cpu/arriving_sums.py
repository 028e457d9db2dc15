"""Sums of a number of each vertex over the vertices that edges come from, on the CPU."""

import numpy as np

from csaw.engine.analytics.cpu.kernels import ranking
from csaw.engine.analytics.cpu.network import HostNetwork


def compute(network: HostNetwork, values: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Sum ``values``, int64 [V], over the vertices that edges come from, for each vertex that they lead to.

    Sums are pulled over the rows of the other direction where there is memory for them or they were made before, else
    pushed along the graph's own, by threads that have a range of targets each: they are integers, the same either way.

    Returns:
        int64 [V], in ``out`` if it is given.
    """
    if not network.directed or network.can_have_incoming or "incoming" in vars(network):
        return network.incoming.compute("neighbor_sums", values=values, out=out)
    out = np.empty(network.vertices, np.int64) if out is None else out
    out.fill(0)
    spans = network.spans(network.vertices)
    for first, _, indptr, indices, _ in network.blocks():
        network.each(ranking.push_rows, spans, first, indptr, indices, values, out)
    return out
