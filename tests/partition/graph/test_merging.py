"""Places of edges among stored rows, and the order of new edges, are those of slow searches and sorts by two keys."""

import numpy as np
import pytest

from csaw.partition.graph.merging import Rows, order_of, ranges_of


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
@pytest.mark.parametrize("seed", range(3))
def test_places_are_those_of_a_search_in_each_row(seed, dtype):
    rng = np.random.default_rng(seed)
    top = np.iinfo(dtype).max - 40 if dtype == np.uint32 else 2**62
    held = [np.sort(rng.integers(0, 30, rng.integers(0, 60))) for _ in range(20)] + [np.zeros(500, np.int64)]
    indices = (np.concatenate(held).astype(np.uint64) + np.uint64(top)).astype(dtype)
    indptr = np.append(0, np.cumsum([len(row) for row in held]))
    rows = np.sort(rng.integers(0, 21, 300))
    neighbors = rng.integers(0, 32, 300)
    order = np.lexsort((neighbors, rows))
    rows, neighbors = rows[order], neighbors[order]
    low, high = ranges_of(Rows(indptr, {"indices": indices}), rows, neighbors.astype(np.int64) + top)
    for row, neighbor, begin, end in zip(rows, neighbors, low, high, strict=True):
        assert begin == indptr[row] + np.searchsorted(held[row], neighbor, "left")
        assert end == indptr[row] + np.searchsorted(held[row], neighbor, "right")


@pytest.mark.parametrize("top", [50, 2**31, 2**33, 2**62])
def test_edges_are_ordered_by_both_ends_and_else_stay(top):
    rng = np.random.default_rng(1)
    rows, neighbors = rng.integers(0, 6, 400) + top - 6, rng.integers(0, 6, 400) + top - 6
    assert np.array_equal(order_of(rows, neighbors), np.lexsort((neighbors, rows)))
    assert order_of(rows[:0], neighbors[:0]).size == 0
