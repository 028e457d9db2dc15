"""The memory of oriented rows: of all of them, and of the parts of those that wait in a file (spooled_rows.py)."""

from math import isqrt

import numpy as np

from csaw.engine.analytics.network import Network
from csaw.engine.analytics.rows_in_memory import Extent

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


def whole_bytes(network: Network, entries: int) -> int:
    """Bytes of a simple undirected graph of so many entries and of its oriented rows in memory."""
    own = entries // 2 * (rank_bytes(network) + LISTED_BYTES) + RANKED_BYTES * network.vertices
    return entries * network.id_dtype.itemsize + own


def least_bytes(network: Network, rows: Extent) -> int:
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
