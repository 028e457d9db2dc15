"""The memory in which triangles are counted on a GPU, in memory and streamed."""

from csaw.engine.analytics.kept import Kept
from csaw.engine.analytics.network import Network

ENTRY_BYTES = 6  # of an entry of a row beside its id: split, half of them in 16 bits; and of bit matrices
VERTEX_BYTES = 64  # of a vertex beside STATE_BYTES: ranks, the lists' and what is counted
KEPT_BYTES = 36  # of a vertex: where its row begins, its rank, and its id and key while ranks are sorted
BLOCK_SHARE = 32  # bytes of an entry of a block while it is copied, split and written
LEAST_ROWS = 2  # of the longest length, for which a block must have room
LEAST_ROOM = 1 << 20  # bytes of a block, as segments of few lists are slow


def suffices(network: Network, kept: Kept) -> int:
    """Bytes of memory in which triangles are counted, of a streamed graph if need be, with ``kept`` set aside."""
    rows, item = network.extent("undirected"), network.id_dtype.itemsize
    own = kept.bytes(network.vertices, rows.entries, item) + 2 * item * rows.longest
    return max(own, KEPT_BYTES * network.vertices + least_room(rows.longest))


def whole_bytes(network: Network, kept: Kept) -> int:
    """Bytes of memory from which on triangles are counted in memory, with ``kept`` set aside."""
    entries, item = network.extent("undirected").entries, network.id_dtype.itemsize
    rows = network.edges * network.edge_bytes  # beside which those of the undirected graph may be
    return kept.bytes(network.vertices, entries, item) + needed(network, entries) + rows


def needed(network: Network, entries: int) -> int:
    """Bytes of rows in memory with so many entries, and of all that is made of them."""
    return (network.id_dtype.itemsize + ENTRY_BYTES) * entries + VERTEX_BYTES * network.vertices


def least_room(longest: int) -> int:
    """Bytes for blocks of rows of this length, while they are streamed."""
    return max(BLOCK_SHARE * LEAST_ROWS * longest, LEAST_ROOM)
