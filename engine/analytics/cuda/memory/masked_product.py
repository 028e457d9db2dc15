"""The memory of a masked product on a GPU."""

from functools import partial

from csaw.engine.analytics.cuda import device_room

IN_MEMORY = True  # a graph that memory does not hold is refused
ENTRY_BYTES, VERTEX_BYTES = 4, 72  # of an entry of a row once it is split, and of a vertex: ranks, rows and counts


def more_bytes(entries: int, vertices: int) -> int:
    """Bytes that are needed beside the rows of a graph."""
    return ENTRY_BYTES * entries + VERTEX_BYTES * vertices


suffices = partial(device_room.suffices, more=more_bytes)
"""Says how many bytes of memory suffice, as of device_room."""
