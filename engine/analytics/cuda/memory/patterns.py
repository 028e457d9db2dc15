"""The memory in which patterns are matched on a GPU."""

from functools import partial

from csaw.engine.analytics.cuda import device_room

IN_MEMORY = True  # a graph that memory does not hold is refused
SORT_BYTES, VERTEX_BYTES = 28, 96  # of an entry while rows are sorted; of a vertex: numbers, its candidates, and counts
MATCH_BYTES = 128  # of a match in the tables of all levels, with its candidates
LEAST = 1 << 16  # matches of a table


def more_bytes(entries: int, vertices: int) -> int:
    """Bytes that are needed beside the rows of a graph."""
    return SORT_BYTES * entries + VERTEX_BYTES * vertices + MATCH_BYTES * LEAST


suffices = partial(device_room.suffices, more=more_bytes)
"""Says how many bytes of memory suffice, as of device_room."""
