"""CuPy as traversals use it on a GPU, with NumPy's functions that it lacks or is slow at."""

from collections.abc import Sequence

import cupy
import numpy as np
from cupy import ndarray as Array
from numpy.typing import DTypeLike


def __getattr__(name: str) -> object:
    return getattr(cupy, name)


def full(shape: int | tuple[int, ...], value: object, dtype: DTypeLike | None = None) -> Array:
    """Fill like ``numpy.full``; where all bytes of the value are the same, without a kernel, which must be compiled."""
    filled = np.full((), value, dtype)
    kinds = set(filled.tobytes())
    if len(kinds) > 1:
        return cupy.full(shape, value, dtype)
    out = cupy.empty(shape, filled.dtype)
    out.data.memset_async(kinds.pop(), out.nbytes)
    return out


def concatenate(arrays: Sequence[Array]) -> Array:
    """Join arrays like ``numpy.concatenate``; those [n] of one type without a kernel, which must be compiled."""
    types = {array.dtype for array in arrays}
    if len(types) > 1 or any(array.ndim != 1 for array in arrays):
        return cupy.concatenate(arrays)
    out, at = cupy.empty(sum(array.size for array in arrays), types.pop()), 0
    for array in arrays:
        cupy.copyto(out[at : at + array.size], array)
        at += array.size
    return out


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
