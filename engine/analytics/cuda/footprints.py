"""The memory of works on a GPU, without CuPy: twin of engine/analytics/cpu/footprints.py.

Works that need all rows of the simple undirected graph in memory declare what they take in addition to these.
"""

from functools import partial

from csaw.engine.analytics.computations import Work
from csaw.engine.analytics.network import Network
from csaw.engine.plan.footprint import Footprint
from csaw.partition.errors import BudgetError

# Triangles, in memory and streamed

TRIANGLES = Footprint(vertex=64, edge=6, edge_ids=1)
"""Of rows in memory, and of all that is made of them. Of a vertex beside STATE_BYTES: ranks, the lists' and what is
counted; of an entry beside its id: split, half of them in 16 bits; and of bit matrices."""
RANKED_BYTES = 36  # of a vertex: where its row begins, its rank, and its id and key while ranks are sorted
BLOCK_SHARE = 32  # bytes of an entry of a block while it is copied, split and written
LEAST_ROWS = 2  # of the longest length, for which a block must have room
LEAST_BLOCK = 1 << 20  # bytes of a block, as segments of few lists are slow


def _triangles_suffice(network: Network, kept: Footprint) -> int:
    """Bytes in which triangles are counted, of a streamed graph if need be."""
    longest = network.extent("undirected").longest
    streamed = RANKED_BYTES * network.vertices + least_block_bytes(longest)
    return max(network.with_rows(kept, "undirected", 2 * longest), streamed)


def _triangles_in_memory(network: Network, kept: Footprint) -> int:
    rows = network.edges * network.edge_bytes  # beside which those of the undirected graph may be
    made = triangles_bytes(network, network.extent("undirected").entries)
    return network.with_rows(kept, "undirected", 0) + made + rows


def triangles_bytes(network: Network, entries: int) -> int:
    """Bytes of rows in memory with so many entries, and of all that is made of them."""
    return TRIANGLES.bytes(network.vertices, entries, network.id_dtype.itemsize)


def least_block_bytes(longest: int) -> int:
    """Bytes for blocks of rows of this length, while they are streamed."""
    return max(BLOCK_SHARE * LEAST_ROWS * longest, LEAST_BLOCK)


# Works that need all rows in memory, and some room beside them

LEAST_MATCHES = 1 << 16  # of a table
MATCH_BYTES = 128  # of a match in the tables of all levels, with its candidates
PATTERNS = Footprint(vertex=96, edge=28, fixed=MATCH_BYTES * LEAST_MATCHES)
"""Of a vertex: numbers, its candidates, and counts; of an entry while rows are sorted."""
MASKED_PRODUCT = Footprint(vertex=72, edge=4)
"""Of a vertex: ranks, rows and counts; of an entry of a row once it is split."""


def _suffices_beside_rows(network: Network, kept: Footprint, more: Footprint) -> int:
    return network.bytes_of(kept, "undirected") + more.bytes(network.vertices, network.extent("undirected").entries)


def has_room(network: Network, more: Footprint) -> bool:
    """Whether memory has room for the rows of the simple undirected graph, of which a directed one has half."""
    entries = network.edges * (1 + network.directed)
    rows = (entries + network.edges * network.directed) * network.edge_bytes  # those of a directed graph stay beside
    return not network.must_stream and rows + more.bytes(network.vertices, entries) <= network.budget


def require_room(network: Network, what: str, more: int) -> int:
    """Raise BudgetError, which says ``what``, unless all rows are in memory, and there is room for ``more`` bytes.

    Returns:
        The bytes that are left.
    """
    needed = network.edges * network.edge_bytes + more
    if network.resident and needed <= network.budget:
        return network.budget - needed
    if needed <= network.budget:
        raise BudgetError(
            f"{network.store.path}: {what} need all rows in the memory of the GPU; leave out --residency "
            f"{network.residency}, or pass --device cpu"
        )
    least = needed + network.memory - network.budget
    raise network.refusal(least, f"{what} take {least:,} bytes of a GPU's memory", ", or pass --device cpu")


# Lists of triangles, which have all rows in memory, too

LEAST_ENTRIES = 1 << 16  # that are looked at, and triangles of a table, at a time
ENTRY_BYTES = 48  # of an entry that is looked at: its ends, its common neighbors, and where they begin


def _lists_suffice(network: Network, kept: Footprint) -> int:
    longest = network.extent("undirected").longest
    return network.bytes_of(kept, "undirected") + lists_least_bytes(network, longest)


def lists_least_bytes(network: Network, longest: int) -> int:
    """Bytes beside what is kept and all rows, the longest of which has so many entries."""
    return ENTRY_BYTES * LEAST_ENTRIES + triangle_bytes(network) * (LEAST_ENTRIES + longest)


def triangle_bytes(network: Network) -> int:
    """Bytes of a triangle of a table."""
    return 3 * network.id_dtype.itemsize


# Rounds of a measure of the user's own that reads weights in both directions


def both_directions_bytes(network: Network) -> int:
    """Bytes of what is kept, of the rows if they stay in memory, and of two of those backward, with weights."""
    backward = 2 * network.edge_bytes * network.extent("incoming").longest
    streams = not network.resident and backward < network.rows_bytes  # as with so many bytes, too
    return network.kept_bytes + backward + (0 if streams else network.rows_bytes)


def _beside_all_rows(more: Footprint) -> Work:
    return Work(partial(_suffices_beside_rows, more=more), all_rows=True, more=more)


WORKS = {
    "triangle_list": Work(_lists_suffice),
    "masked_product": _beside_all_rows(MASKED_PRODUCT),
    "matched_triangles": _beside_all_rows(PATTERNS),
    "patterns": _beside_all_rows(PATTERNS),
    "rounds_both_ways": Work(lambda network, _: both_directions_bytes(network)),
    "triangles": Work(_triangles_suffice, _triangles_in_memory),
}
"""By the names of computations, as in engine/analytics/cpu/footprints.py."""
