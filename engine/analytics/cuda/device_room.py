"""Works on a GPU that need all rows in its memory, and some room beside them."""

from collections.abc import Callable

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.kept import Kept
from csaw.engine.analytics.network import Network
from csaw.partition.errors import BudgetError

More = Callable[[int, int], int]
"""Says how many bytes a work takes beside rows of so many entries and vertices."""


def has_room(network: Network, more: More) -> bool:
    """Whether memory has room for the rows of the simple undirected graph, of which a directed one has half."""
    entries = network.edges * (1 + network.directed)
    rows = (entries + network.edges * network.directed) * network.edge_bytes  # those of a directed graph stay beside
    return not network.must_stream and rows + more(entries, network.vertices) <= network.room


def suffices(network: DeviceNetwork, kept: Kept, more: More) -> int:
    """Bytes of memory in which a work over the simple undirected graph has room, with ``kept`` set aside."""
    entries, item = network.extent("undirected").entries, network.id_dtype.itemsize
    return kept.bytes(network.vertices, entries, item) + entries * item + more(entries, network.vertices)


def require_room(network: DeviceNetwork, what: str, more: More) -> int:
    """Raise BudgetError, which says ``what``, unless all rows are in memory, and there is room for ``more``.

    Returns:
        The bytes that are left.
    """
    needed = network.edges * network.edge_bytes + more(network.edges, network.vertices)
    if network.resident and needed <= network.room:
        return network.room - needed
    if needed <= network.room:
        raise BudgetError(
            f"{network.store.path}: {what} need all rows in the memory of the GPU; leave out --residency "
            f"{network.residency}, or pass --device cpu"
        )
    least = needed + network.budget - network.room
    raise BudgetError(
        f"{network.store.path}: {what} take {least:,} bytes of a GPU's memory, and {network.budget:,} are allowed; "
        f"{network.advice(least)}, or pass --device cpu"
    )
