"""The memory in which leading singular values are found on the CPU."""

from csaw.engine.analytics.kept import Kept
from csaw.engine.analytics.network import Network

IN_MEMORY = True  # a graph that memory does not hold is refused


def suffices(network: Network, kept: Kept) -> int:
    """Bytes of memory in which leading values are found, with ``kept`` set aside, which is for vectors."""
    own = kept.bytes(network.vertices, network.edges, network.id_dtype.itemsize)
    rows = network.edges * network.edge_bytes
    if network.directed:
        return own + 2 * rows
    simple = network.extent("undirected").entries * network.id_dtype.itemsize
    return max(own + rows, own + simple)
