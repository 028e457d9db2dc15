"""The order of each row by time: a permutation beside the order by neighbor, 4 bytes an edge.

Rows stay sorted by neighbor, by which edges are looked up and exported, and ``time_order[k]`` is the place in its row of
the edge that comes k-th by time. Edges of one time keep their order in the row, so equal graphs have equal orders.
"""

from collections.abc import Iterable

import numpy as np

from csaw.partition.errors import StoreError
from csaw.partition.graph.edge_columns import TIME_ORDER, EdgeColumn

MOST = 2**32 - 1  # edges of a row


def time_of(columns: Iterable[EdgeColumn]) -> EdgeColumn | None:
    """The column that is the time of the edges; None where there is none."""
    return next((column for column in columns if column.is_time), None)


def time_order(indptr: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Find the order of the edges of each row by time, and at one time by their place in the row.

    Args:
        indptr: int64 [rows + 1], from 0.
        times: int64 [edges].

    Returns:
        uint32 [edges]: places from 0 in each row.

    Raises:
        StoreError: a row has more edges than such places can tell apart.
    """
    degrees = np.diff(indptr)
    if int(degrees.max(initial=0)) > MOST:
        raise StoreError(f"expected at most {MOST:,} edges of a vertex with times, found {int(degrees.max()):,}")
    owners = np.repeat(np.arange(degrees.size), degrees)
    order = np.lexsort((times, owners))
    order -= np.repeat(indptr[:-1], degrees)
    return order.astype(TIME_ORDER.dtype)
