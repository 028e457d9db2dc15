"""Sums over the neighbors of each vertex on the CPU, and what is iterated of them: PageRank, and the spectrum."""

import numpy as np

from csaw.engine.analytics.cpu.kernels import sums
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.iterations import Ranks, converged, kept, leading


def arriving_sums(network: HostNetwork, values: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
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
        network.each(sums.push_rows, spans, first, indptr, indices, values, out)
    return out


def neighbor_sums(network: HostNetwork, values: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Sum ``values``, int64 or float64 [V], over the entries of each row: [V], in ``out`` if it is given.

    Floats are added in the order of rows.
    """
    out = np.empty(network.vertices, values.dtype) if out is None else out
    for block in network.blocks():
        network.over_rows(sums.sum_rows, block, values, out)
    return out


def ordered_sums(network: HostNetwork, values: np.ndarray) -> np.ndarray:
    """Sum ``values``, float64 [V], over the entries of each row: float64 [V], the same bits on every device."""
    out = np.empty(network.vertices)
    for block in network.blocks():
        network.over_rows(sums.sum_rows_in_order, block, values, out)
    return out


# What is iterated.


def pagerank(network: HostNetwork, *, damping: float, tolerance: float, sources: np.ndarray) -> Ranks:
    """Rank all vertices; arguments and result as of ``converged``."""
    spans = network.spans(network.vertices)

    def settle(*arguments: object) -> tuple[int, int]:
        found = network.each(sums.settle, spans, *arguments)
        return sum(change for change, _ in found), sum(passed for _, passed in found)

    return converged(network, settle, damping=damping, tolerance=tolerance, sources=sources)


def spectrum(network: HostNetwork, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Find leading values and a vector, as ``leading`` does.

    BudgetError where memory does not hold the rows and the vectors: each of many products would read the graph.
    """
    vectors = kept(count).bytes(network.vertices, network.edges, network.id_dtype.itemsize)
    need = vectors + network.edges * network.edge_bytes * (2 if network.directed else 1) + network.beside
    if need > network.memory:
        vectors_and_rows = f"{vectors:,} bytes for vectors and the whole graph in memory, {need:,} bytes together"
        what = f"{count:,} leading values take {vectors_and_rows}"
        raise network.refusal(need, what, ", or lower --spectrum-size")
    return leading(network, count)
