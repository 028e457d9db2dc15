"""Rows that kernels sort are those that NumPy sorts."""

import numpy as np
import pytest

from csaw.engine.analytics.cpu.kernels.oriented import FEW, sort_row
from csaw.partition.base.compile import njit


@njit
def sorted_rows(rows):
    for row in rows:
        sort_row(row)


@pytest.mark.parametrize("size", [0, 1, 2, FEW, FEW + 1, 500, 5000])
@pytest.mark.parametrize("values", [1, 2, 40, 1 << 31])
def test_rows_are_sorted(size, values):
    rows = np.random.default_rng(size).integers(0, values, (7, size)).astype(np.uint32)
    rows[1].sort()
    rows[2] = np.sort(rows[2])[::-1]
    rows[3, size // 2 :] = rows[3, : size - size // 2][::-1]
    expected = np.sort(rows, axis=1)
    sorted_rows(rows)
    np.testing.assert_array_equal(rows, expected)
