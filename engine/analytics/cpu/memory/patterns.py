"""The memory in which patterns are matched on the CPU."""

from csaw.engine.analytics.kept import Kept
from csaw.engine.analytics.network import Network
from csaw.engine.plan.residency import Residency

IN_MEMORY = True  # a graph that memory does not hold is refused


def suffices(network: Network, kept: Kept) -> int:
    """Bytes of memory in which patterns are matched, with ``kept`` set aside."""
    entries = network.extent("undirected").entries
    return kept.bytes(network.vertices, entries, network.id_dtype.itemsize) + rows_bytes(network, entries)


def rows_bytes(network: Network, entries: int) -> int:
    """Bytes of renumbered rows, and beside them of the rows, or of two blocks that are all of the rows at most."""
    return (3 if network.residency is Residency.DISK else 2) * entries * network.id_dtype.itemsize
