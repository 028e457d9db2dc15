"""The memory in which triangles are listed on a GPU."""

from csaw.engine.analytics.kept import Kept
from csaw.engine.analytics.network import Network

LEAST = 1 << 16  # entries that are looked at, and triangles of a table, at a time
ENTRY_BYTES = 48  # of an entry that is looked at: its ends, its common neighbors, and where they begin


def suffices(network: Network, kept: Kept) -> int:
    """Bytes of memory in which triangles are listed, with ``kept`` set aside."""
    rows, item = network.extent("undirected"), network.id_dtype.itemsize
    own = kept.bytes(network.vertices, rows.entries, item) + rows.entries * item
    return own + least_bytes(network, rows.longest)


def least_bytes(network: Network, longest: int) -> int:
    """Bytes beside what is kept and all rows, the longest of which has so many entries."""
    return ENTRY_BYTES * LEAST + triangle_bytes(network) * (LEAST + longest)


def triangle_bytes(network: Network) -> int:
    """Bytes of a triangle of a table."""
    return 3 * network.id_dtype.itemsize
