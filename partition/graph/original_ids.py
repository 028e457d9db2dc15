"""Dense ids of ids of the input: words by a table, integers by a search among those of the graph, which rise unless its vertices were numbered anew."""

from typing import Any

import numpy as np

from csaw.partition.arrays.words import Words


def places(ids: np.ndarray | Words | None, order: np.ndarray | None, vertices: int, originals: list[Any]) -> list[int]:
    """The dense id of each of ``originals``; -1 for one that is not among ``ids``, which are by dense id; None for 0 .. ``vertices`` - 1.

    ``order``: of integers, the dense ids in the order of rising ids; None where these rise already.
    """
    if isinstance(ids, Words):
        return ids.find(originals)
    if ids is None:
        return [int(v) if 0 <= int(v) < vertices else -1 for v in originals]
    return [_place(ids, order, int(v)) for v in originals]


def _place(ids: np.ndarray, order: np.ndarray | None, original: int) -> int:
    limits = np.iinfo(ids.dtype)
    if not limits.min <= original <= limits.max:
        return -1
    place = int(np.searchsorted(ids, ids.dtype.type(original), sorter=order))
    if place == ids.size:
        return -1
    place = place if order is None else int(order[place])
    return place if int(ids[place]) == original else -1
