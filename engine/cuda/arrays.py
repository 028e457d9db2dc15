"""CuPy as traversals use it on a GPU, with NumPy's functions that it lacks or is slow at."""

from typing import Any

import cupy
import numpy as np


def __getattr__(name: str) -> Any:
    return getattr(cupy, name)


def repeat(values: Any, counts: Any) -> Any:
    """As ``numpy.repeat``. ``counts``: an int, or int [n]."""
    if isinstance(counts, (int, np.integer)):
        return cupy.repeat(values, int(counts))
    upto = cupy.cumsum(counts)
    total = int(upto[-1]) if upto.size else 0
    return values[cupy.searchsorted(upto, cupy.arange(total), side="right")]


def bincount(values: Any, minlength: int) -> Any:
    """As ``numpy.bincount`` of values below ``minlength``; CuPy's own searches for larger values and waits for the result."""
    counts = cupy.zeros(minlength, np.int64)
    cupy.add.at(counts, values, 1)
    return counts


def lexsort(keys: tuple[Any, ...]) -> Any:
    """As ``numpy.lexsort``, where the last key is the primary one: stable sorts, starting with the first key."""
    order = cupy.arange(keys[0].size)
    for key in keys:
        order = order[cupy.argsort(key[order], kind="stable")]
    return order
