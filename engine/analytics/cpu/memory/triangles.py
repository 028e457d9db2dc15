"""The memory in which triangles are counted on the CPU."""

import numpy as np

from csaw.engine.analytics.cpu.hubs import HUBS
from csaw.engine.analytics.cpu.memory import oriented_rows
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.kept import Kept


def suffices(network: HostNetwork, kept: Kept) -> int:
    """Bytes of memory in which triangles are counted, with ``kept`` set aside."""
    rows = network.extent("undirected")
    needed = kept.bytes(network.vertices, rows.entries, network.id_dtype.itemsize) + scratch(network)
    return needed + oriented_rows.least_bytes(network, rows)


def whole_bytes(network: HostNetwork, kept: Kept) -> int:
    """Bytes of memory from which on triangles are counted in memory, with ``kept`` set aside."""
    entries, item = network.extent("undirected").entries, network.id_dtype.itemsize
    needed = kept.bytes(network.vertices, entries, item) + scratch(network)
    rows = oriented_rows.whole_bytes(network, entries)
    return needed + rows + network.edges * network.edge_bytes  # those of the graph, which may be beside them


def scratch(network: HostNetwork) -> int:
    """Bytes of the marks and counters of all threads."""
    hubs = min(network.vertices, HUBS + 1)
    return network.threads * (network.vertices // 8 + (np.uint32().nbytes + np.int64().nbytes) * hubs + 16)
