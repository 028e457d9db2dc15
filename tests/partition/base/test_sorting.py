"""Numbers, each once: as np.unique finds them."""

import numpy as np
import pytest

from csaw.partition.base.sorting import distinct


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.uint32, np.uint8])
@pytest.mark.parametrize("size", [0, 1, 2, 1000])
def test_numbers_are_there_once_and_ascending(dtype, size):
    numbers = np.random.default_rng(3).integers(0, 200, size).astype(dtype)
    numbers[: size // 2] = np.iinfo(dtype).max
    found = distinct(numbers)
    assert found.dtype == dtype
    assert found.tolist() == np.unique(numbers).tolist()


def test_tables_are_flattened():
    assert distinct(np.array([[3, 1], [1, 2]])).tolist() == [1, 2, 3]
