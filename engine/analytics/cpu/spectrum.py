"""Leading singular values of a graph's matrix, on the CPU."""

import numpy as np

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.kept import Kept
from csaw.engine.analytics.lanczos import kept, leading
from csaw.partition.errors import BudgetError

IN_MEMORY = True  # a graph that memory does not hold is refused


def suffices(network: HostNetwork, kept: Kept) -> int:
    """Bytes of memory in which leading values are found, with ``kept`` set aside, which is for vectors."""
    own = kept.bytes(network.vertices, network.edges, network.id_dtype.itemsize)
    rows = network.edges * network.edge_bytes
    if network.directed:
        return own + 2 * rows
    simple = network.extent("undirected").entries * network.id_dtype.itemsize
    return max(own + rows, own + simple)


def compute(network: HostNetwork, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Find leading values and a vector, as ``leading`` does.

    BudgetError where memory does not hold the rows and the vectors: each of many products would read the graph.
    """
    vectors = kept(count).bytes(network.vertices, network.edges, network.id_dtype.itemsize)
    need = vectors + network.edges * network.edge_bytes * (2 if network.directed else 1) + network.beside
    if need > network.budget:
        raise BudgetError(
            f"{network.store.path}: {count:,} leading values take {vectors:,} bytes for vectors and the "
            f"whole graph in memory, {need:,} bytes together, "
            f"and {network.budget:,} are allowed; {network.advice(need)}, or lower --spectrum-size"
        )
    return leading(network, count)
