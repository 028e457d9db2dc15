"""The memory in which triangles are listed on the CPU."""

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.kept import Kept

LEAST = 1 << 16  # triangles of a window
TRIANGLE_BYTES, WINDOW_SHARE = 48, 4  # of a triangle in a window, for which there is a part of the room
COUNT_BYTES = 24  # of an entry of rows that stay: its number of common neighbors, and of those of a piece


def suffices(network: HostNetwork, kept: Kept) -> int:
    """Bytes of memory in which triangles are listed, with ``kept`` set aside."""
    rows = network.extent("undirected")
    return kept.bytes(network.vertices, rows.entries, network.id_dtype.itemsize) + least_bytes(network, rows.longest)


def least_bytes(network: HostNetwork, longest: int) -> int:
    """Bytes beside what is kept, for a window's marks and triangles and for a few rows of this length.

    The triangles of a window take the least, or their share of these bytes.
    """
    longest = max(longest, 1)
    beside = marks_bytes(network) + TRIANGLE_BYTES * longest + rows_bytes(network, longest)
    return max(TRIANGLE_BYTES * LEAST + beside, -(-beside * WINDOW_SHARE // (WINDOW_SHARE - 1)))


def marks_bytes(network: HostNetwork) -> int:
    """Bytes of the marks of all threads."""
    return network.threads * (network.vertices // 8 + 8)


def rows_bytes(network: HostNetwork, longest: int) -> int:
    """Bytes that are the least for rows of this length."""
    return 2 * max(longest * (network.id_dtype.itemsize + COUNT_BYTES), 2 * network.edge_bytes * longest)
