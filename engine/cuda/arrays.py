"""CuPy as traversals use it on a GPU, with NumPy's functions that it lacks or is slow at."""

import cupy
import numpy as np

from csaw.engine.plan.contracts import Array


def __getattr__(name: str) -> object:
    return getattr(cupy, name)


def repeat(values: Array, counts: int | Array) -> Array:
    """Repeat elements like ``numpy.repeat``. ``counts``: an int, or int [n]."""
    if isinstance(counts, (int, np.integer)):
        return cupy.repeat(values, int(counts))
    upto = cupy.cumsum(counts)
    total = int(upto[-1]) if upto.size else 0
    return values[cupy.searchsorted(upto, cupy.arange(total), side="right")]


def bincount(values: Array, minlength: int) -> Array:
    """Count values below ``minlength`` like ``numpy.bincount``.

    CuPy's own searches for larger values and waits for the result.
    """
    counts = cupy.zeros(minlength, np.int64)
    cupy.add.at(counts, values, 1)
    return counts


def lexsort(keys: tuple[Array, ...]) -> Array:
    """Sort like ``numpy.lexsort``, where the last key is the primary one.

    These are stable sorts, starting with the first key.
    """
    order = cupy.arange(keys[0].size)
    for key in keys:
        order = order[cupy.argsort(key[order], kind="stable")]
    return order
