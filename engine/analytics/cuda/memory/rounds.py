"""The memory of rounds of a measure of the user's own on a GPU."""

from csaw.engine.analytics.network import Network


def both_directions_bytes(network: Network) -> int:
    """Bytes of what is kept, of the rows if they stay in memory, and of two of those backward, with weights."""
    backward = 2 * network.edge_bytes * network.extent("incoming").longest
    streams = not network.resident and backward < network.rows_bytes  # as with so many bytes, too
    return network.kept_bytes + backward + (0 if streams else network.rows_bytes)
