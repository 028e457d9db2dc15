"""Arrays that kernels make and search are those of NumPy."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import copied, copy, empty, full, place_behind, place_of, zeros

ROOT = Path(__file__).parents[3]


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


def test_copies_to_the_beginning_of_an_array():
    @njit
    def copies(array, out):
        copy(array[1:3], out[2:])

    out = np.zeros(5, np.int32)
    copies(np.arange(5, dtype=np.uint8), out)
    assert out.tolist() == [0, 0, 1, 2, 0]


def copied_by_slices(body):
    """The lines on which a compiled function assigns one slice to another."""
    for function in ast.walk(body):
        if isinstance(function, ast.FunctionDef) and re.search(
            "njit|inner", "".join(map(ast.unparse, function.decorator_list))
        ):
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and all(has_slice(one) for one in (node.targets[0], node.value)):
                    yield node.lineno


def has_slice(node):
    return isinstance(node, ast.Subscript) and any(isinstance(one, ast.Slice) for one in ast.walk(node.slice))


def test_no_kernel_has_numba_compile_a_copy_of_slices():
    files = [file for name in ("engine", "partition", "datasets") for file in (ROOT / name).rglob("*.py")]
    found = {f"{file}:{line}" for file in files for line in copied_by_slices(ast.parse(file.read_text()))}
    assert not found, "compiled for 2 s; use copied of kernel_tools.py"
    assert list(copied_by_slices(ast.parse("@njit\ndef f(a, b):\n    a[1:] = b[:2]")))
