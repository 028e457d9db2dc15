"""NumPy's functions that csaw has of its own on a GPU give what NumPy's do."""

import numpy as np
import pytest
from helpers.gpu import device_or_skip

device_or_skip()

import cupy

from csaw.engine.cuda import arrays
from csaw.partition.base.flags import any_set, set_count

FILLS = [
    (7, 0, np.int64),
    (7, -1, np.int64),
    (7, 5, np.int64),
    (0, 5, np.int64),
    ((3, 2), np.uint32(0xFFFFFFFF), np.uint32),
    (4, np.iinfo(np.uint64).max, np.uint64),
    (4, True, None),
    (4, np.inf, None),
    (4, -1.0, np.float32),
    (4, np.int64(9), None),
    (4, 0x0101, np.uint16),
]


@pytest.mark.parametrize(("shape", "value", "dtype"), FILLS)
def test_arrays_are_filled_as_by_numpy(shape, value, dtype):
    found, wanted = arrays.full(shape, value, dtype), np.full(shape, value, dtype)
    assert found.dtype == wanted.dtype
    assert np.array_equal(found.get(), wanted)


@pytest.mark.parametrize(
    "parts",
    [
        [np.arange(5), np.arange(0), np.arange(3)],
        [np.arange(3.0), np.arange(4)],
        [np.arange(12)[::3], np.arange(2)],
        [np.arange(6).reshape(3, 2), np.arange(2).reshape(1, 2)],
        [np.zeros(0, bool)],
        [np.float32([1e-45, np.inf])],
    ],
)
def test_arrays_are_joined_as_by_numpy(parts):
    found, wanted = arrays.concatenate([cupy.asarray(part) for part in parts]), np.concatenate(parts)
    assert found.dtype == wanted.dtype
    assert np.array_equal(found.get(), wanted)


@pytest.mark.parametrize("kind", [bool, np.uint8])
@pytest.mark.parametrize("flags", [[], [0], [1], [0, 1, 0, 1], [[0, 0], [0, 1]], [0] * 2000 + [1]])
def test_flags_are_counted_as_by_numpy(kind, flags):
    flags = np.array(flags, kind)
    assert any_set(cupy.asarray(flags)) == any_set(flags) == bool(flags.any())
    assert set_count(cupy, cupy.asarray(flags)) == set_count(np, flags) == np.count_nonzero(flags)
