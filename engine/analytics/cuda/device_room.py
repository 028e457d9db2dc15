"""Works on a GPU that need all rows in its memory, and some room beside them."""

from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.partition.errors import BudgetError


def require_room(network: DeviceNetwork, what: str, more: int) -> int:
    """Raise BudgetError, which says ``what``, unless all rows are in memory beside ``more`` bytes.

    Returns:
        The bytes that are left.
    """
    needed = network.edges * network.edge_bytes + more
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
        f"raise --gpu-memory to {least:,}, or pass --device cpu"
    )
