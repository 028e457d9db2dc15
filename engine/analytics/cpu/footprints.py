"""The memory of works on the CPU, without their kernels, so that a dry run compiles nothing.

The works divide their memory by the same numbers, so that a plan and a refusal name the same bytes.
"""

from math import isqrt

import numpy as np

from csaw.engine.analytics.clusterings import HUBS
from csaw.engine.analytics.computations import Work
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.network import Network
from csaw.engine.analytics.rows_in_memory import Extent
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.footprint import Footprint

# Triangles by intersection, and by a masked product


def _triangles_suffice(network: HostNetwork, kept: Footprint) -> int:
    rows = network.extent("undirected")
    return network.with_rows(kept, "undirected", 0) + scratch(network) + oriented_least_bytes(network, rows)


def _triangles_in_memory(network: HostNetwork, kept: Footprint) -> int:
    oriented = oriented_bytes(network, network.extent("undirected").entries)
    rows = network.edges * network.edge_bytes  # those of the graph, which may be beside the oriented ones
    return network.with_rows(kept, "undirected", 0) + scratch(network) + oriented + rows


def scratch(network: HostNetwork) -> int:
    """Bytes of the marks and counters of all threads that count triangles."""
    hubs = min(network.vertices, HUBS + 1)
    return network.threads * (network.vertices // 8 + (np.uint32().nbytes + np.int64().nbytes) * hubs + 16)


# Oriented rows: all of them, and the parts of those that wait in a file (oriented.py)

LISTED_BYTES = 10  # of an edge while it is counted: in 16 bits, and listed at its other end
PIECE_SHARE = 2  # one part of this many of the memory is for pieces, the other for rows that pieces meet
FETCH_SHARE = 2  # one part of this many is for rows of the graph while the file is written, the other for a run
RANKED_BYTES = 8  # of a vertex, where its row begins while rows are written in memory
RUN_BYTES = 64  # of a row of a run, beside its entries
PLACES_SHARE, PLACE_BYTES = 8, 32  # one part of this many is for where each run has each piece, of so many bytes


def rank_bytes(network: Network) -> int:
    """Bytes of the rank of a vertex."""
    return np.dtype(np.uint32 if network.vertices < 2**32 else np.uint64).itemsize


def piece_bytes(network: Network) -> int:
    """Bytes of an edge of a piece: in two pieces, in what one is put together from, and while it is counted."""
    return 3 * rank_bytes(network) + LISTED_BYTES


def oriented_bytes(network: Network, entries: int) -> int:
    """Bytes of a simple undirected graph of so many entries and of its oriented rows in memory."""
    own = Footprint(RANKED_BYTES, rank_bytes(network) + LISTED_BYTES).bytes(network.vertices, entries // 2)
    return entries * network.id_dtype.itemsize + own


def oriented_least_bytes(network: Network, rows: Extent) -> int:
    """Bytes that are the least for rows of this extent, which are simple and undirected, beside what is kept."""
    each, longest = rank_bytes(network), max(rows.longest, 1)
    oriented_row = min(longest, isqrt(rows.entries))
    return max(
        FETCH_SHARE * 2 * network.edge_bytes * longest,
        PIECE_SHARE * piece_bytes(network) * oriented_row,
        FETCH_SHARE * (each * oriented_row + RUN_BYTES),
        _least_for_places(network, rows.entries // 2),
    )


def _least_for_places(network: Network, edges: int) -> int:
    """Bytes from which on the places of pieces in runs fit their share: both get more as memory gets less."""
    pieces = PIECE_SHARE * piece_bytes(network) * edges
    runs = FETCH_SHARE * (rank_bytes(network) * edges + RUN_BYTES * network.vertices)
    return int((PLACES_SHARE * PLACE_BYTES * pieces * runs) ** (1 / 3))


# Lists of triangles

LEAST_TRIANGLES = 1 << 16  # of a window
TRIANGLE_BYTES, WINDOW_SHARE = 48, 4  # of a triangle in a window, for which there is one part of this many
COUNT_BYTES = 24  # of an entry of rows that stay: its number of common neighbors, and of those of a piece


def _lists_suffice(network: HostNetwork, kept: Footprint) -> int:
    return network.with_rows(kept, "undirected", 0) + lists_least_bytes(network, network.extent("undirected").longest)


def lists_least_bytes(network: HostNetwork, longest: int) -> int:
    """Bytes beside what is kept, for a window's marks and triangles and for a few rows of this length.

    The triangles of a window take the least, or their share of these bytes.
    """
    longest = max(longest, 1)
    beside = marks_bytes(network) + TRIANGLE_BYTES * longest + few_rows_bytes(network, longest)
    return max(TRIANGLE_BYTES * LEAST_TRIANGLES + beside, -(-beside * WINDOW_SHARE // (WINDOW_SHARE - 1)))


def marks_bytes(network: HostNetwork) -> int:
    """Bytes of the marks of all threads."""
    return network.threads * (network.vertices // 8 + 8)


def few_rows_bytes(network: HostNetwork, longest: int) -> int:
    """Bytes that are the least for rows of this length."""
    return 2 * max(longest * (network.id_dtype.itemsize + COUNT_BYTES), 2 * network.edge_bytes * longest)


# Patterns, and triangles that are matched


def _patterns_suffice(network: Network, kept: Footprint) -> int:
    rows = network.extent("undirected").entries
    return network.with_rows(kept, "undirected", 0) + renumbered_bytes(network, rows)


def renumbered_bytes(network: Network, entries: int) -> int:
    """Bytes of renumbered rows, and beside them of the rows, or of two blocks that are all of the rows at most."""
    return (3 if network.residency is Residency.DISK else 2) * entries * network.id_dtype.itemsize


# Leading singular values: what is kept is for vectors


def _spectrum_suffices(network: Network, kept: Footprint) -> int:
    if network.directed:
        return network.with_rows(kept, "", 2 * network.edges)
    return max(network.bytes_of(kept, ""), network.bytes_of(kept, "undirected"))


# Rounds of a measure of the user's own that reads weights in both directions

WEIGHT_BYTES = np.dtype(np.float32).itemsize
CHECK_BYTES = 2  # of an entry while it is checked that weights are finite and not negative


def both_directions_bytes(network: Network) -> int:
    """Bytes of what is kept and of rows in both directions with weights, without those of networks beside them."""
    backward = network.id_dtype.itemsize + WEIGHT_BYTES + CHECK_BYTES
    return network.kept_bytes + network.edges * (network.edge_bytes + backward)


TRIANGLES = Work(_triangles_suffice, _triangles_in_memory)
PATTERNS = Work(_patterns_suffice, all_rows=True)
WORKS = {
    "triangle_list": Work(_lists_suffice),
    "masked_product": TRIANGLES,
    "matched_triangles": PATTERNS,
    "patterns": PATTERNS,
    "rounds_both_ways": Work(lambda network, _: both_directions_bytes(network), all_rows=True),
    "spectrum": Work(_spectrum_suffices, all_rows=True),
    "triangles": TRIANGLES,
}
"""The computations that need more than what is kept and two rows, by name. ``rounds_both_ways`` are the rounds of a
measure that reads weights in both directions."""
