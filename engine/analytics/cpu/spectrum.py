"""Leading singular values of a graph's matrix, on the CPU."""

import numpy as np

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.lanczos import kept, leading


def compute(network: HostNetwork, count: int) -> tuple[np.ndarray, np.ndarray]:
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
