"""Arrays that kernels make and search are those of NumPy."""

import numpy as np
import pytest

from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_arrays import copied, empty, full, place_behind, place_of, zeros


@njit
def made(count, value):
    blank = empty(count, np.uint32)
    for i in range(count):
        blank[i] = i
    return blank, zeros(count, np.float64), zeros(count, np.uint8), full(count, value, np.int64)


@njit
def places(array, values, out):
    for i in range(values.size):
        out[0, i], out[1, i] = place_of(array, values[i]), place_behind(array, values[i])


@njit
def copies(array):
    return copied(array)


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_arrays_are_those_of_numpy(count):
    expected = np.arange(count, dtype=np.uint32), np.zeros(count), np.zeros(count, np.uint8), np.full(count, -7)
    for found, array in zip(made(count, -7), expected, strict=True):
        np.testing.assert_array_equal(found, array, strict=True)


@pytest.mark.parametrize(("count", "error"), [(-1, ValueError), (1 << 62, ValueError), (1 << 55, MemoryError)])
def test_what_cannot_be_allocated_is_an_error(count, error):
    with pytest.raises(error):
        made(count, 0)


def test_searches_are_those_of_numpy():
    array = np.sort(np.random.default_rng(1).integers(0, 60, 100))
    values, out = np.arange(-2, 63), np.empty((2, 65), np.int64)
    places(array, values, out)
    np.testing.assert_array_equal(out[0], np.searchsorted(array, values))
    np.testing.assert_array_equal(out[1], np.searchsorted(array, values, side="right"))


def test_a_copy_of_every_second_element_is_contiguous():
    array = np.arange(10)
    found = copies(array[::2])
    np.testing.assert_array_equal(found, [0, 2, 4, 6, 8])
    found[0] = 5
    assert array[0] == 0
