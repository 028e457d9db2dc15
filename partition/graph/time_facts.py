"""What is known of the times of a graph: their span, how many there are, and how many edges of a vertex share one."""

import numpy as np

from csaw.partition.base.compile import njit
from csaw.partition.base.plain_data import Record
from csaw.partition.graph.edge_columns import TIME, TIME_ORDER
from csaw.partition.graph.store import GraphStore

MOST_DISTINCT = 1 << 24  # times that are told apart: more take too much memory beside the graph


def time_facts(store: GraphStore) -> Record:
    """Find the facts of a graph with times, a partition in memory at a time.

    Returns:
        ``first`` and ``last``, the least and the largest time, None without edges; ``distinct``, the number of
        different times, None beyond MOST_DISTINCT; ``most_at_once``, most stored edges of one time, None in the same
        case; ``tied``, stored edges that have the time of another edge of their vertex; ``units``.
    """
    assert store.time is not None
    times, counts = np.empty(0, np.int64), np.empty(0, np.int64)
    first: list[int] = []
    last: list[int] = []
    tied, told = 0, True
    for part in store.partitions:
        arrays = {column.array: np.empty(part.edges, column.dtype) for column in (TIME, TIME_ORDER)}
        store.read_edges(part.number, arrays)
        held = arrays[TIME.array]
        if not held.size:
            continue
        tied += int(tied_in_rows(store.read_offsets(part.number), held, arrays[TIME_ORDER.array]))
        first.append(int(held.min()))
        last.append(int(held.max()))
        if told:
            here, many = np.unique(held, return_counts=True)
            times, place = np.unique(np.concatenate([times, here]), return_inverse=True)
            counts = np.bincount(place, np.concatenate([counts, many]), times.size).astype(np.int64)
            told = times.size <= MOST_DISTINCT
    return {
        "units": store.time.units,
        "first": min(first, default=None),
        "last": max(last, default=None),
        "distinct": times.size if told else None,
        "most_at_once": int(counts.max(initial=0)) if told else None,
        "tied": tied,
    }


@njit(nogil=True)
def tied_in_rows(indptr: np.ndarray, times: np.ndarray, order: np.ndarray) -> int:
    """Number of edges whose time another edge of their row has."""
    tied = 0
    for v in range(indptr.size - 1):
        row, count = indptr[v], indptr[v + 1] - indptr[v]
        for k in range(count):
            time = times[row + order[row + k]]
            before = k > 0 and times[row + order[row + k - 1]] == time
            behind = k + 1 < count and times[row + order[row + k + 1]] == time
            tied += before or behind
    return tied
