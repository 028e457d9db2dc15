"""Arrays in order: where equal elements begin, how many they are, and which are the first. ``xp``: NumPy or CuPy."""

from collections.abc import Iterator
from itertools import pairwise
from types import ModuleType

import numpy as np

from csaw.engine.plan.contracts import Array


def counts(xp: ModuleType, local: Array, instances: int) -> Array:
    """int64 [instances]: how many elements each has of ``local``, their instances in order.

    On a GPU, bincount waits where many are of the same instance.
    """
    return xp.diff(begins(xp, local, instances))


def begins(xp: ModuleType, local: Array, instances: int) -> Array:
    """int64 [instances + 1]: where the elements of each begin in ``local``, their instances in order."""
    return xp.searchsorted(local, xp.arange(instances + 1))


def distinct(xp: ModuleType, local: Array, vertex: Array, vertices: int) -> tuple[Array, Array]:
    """The distinct pairs of instance and vertex, in order. ``vertices``: number of vertices of the graph."""
    key = xp.sort(local * vertices + vertex)
    key = key[xp.flatnonzero(fresh(xp, key))]
    owner = key // vertices
    return owner, key - owner * vertices


def fresh(xp: ModuleType, values: Array) -> Array:
    """Whether each of sorted ``values`` differs from the one before it."""
    first = xp.full(values.size, True)
    xp.not_equal(values[1:], values[:-1], out=first[1:])
    return first


def in_pieces(xp: ModuleType, sizes: Array, most: int) -> Iterator[slice]:
    """Yield consecutive elements whose ``sizes`` add up to about ``most``, or one of a larger size."""
    upto = xp.cumsum(sizes)
    total = int(upto[-1]) if upto.size else 0
    marks = xp.searchsorted(upto, xp.arange(most, max(total, most), most)).tolist()
    for low, high in pairwise(sorted({0, *marks, upto.size})):
        yield slice(low, high)


def rank(xp: ModuleType, values: Array) -> Array:
    """int64 [n]: how many equal values come before each."""
    order = xp.argsort(values, kind="stable")
    place = xp.arange(values.size)
    begin = xp.flatnonzero(fresh(xp, values[order]))
    out = xp.empty(values.size, np.int64)
    out[order] = place - xp.repeat(begin, xp.diff(xp.append(begin, values.size)))
    return out
