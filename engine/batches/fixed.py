"""Biases as integers of one scale in each pool, over arrays: as engine/cpu/kernels/weigh.py has them for rows."""

from types import ModuleType

import numpy as np

from csaw.engine.plan.contracts import Array

BITS = 61


def shifts(xp: ModuleType, largest: Array, count: Array) -> Array:
    """int64 [pools]: the power of two that scales the biases of a pool, ``count`` of them up to ``largest``, so that
    their sum stays below 2^62.
    """
    bits = xp.frexp(count.astype(np.float64))[1]
    return BITS - xp.frexp(largest)[1].astype(np.int64) - bits


def scaled(xp: ModuleType, biases: Array, shift: Array | int) -> Array:
    """int64 [n]: ``biases * 2^shift``; a possible edge keeps at least 1."""
    value = xp.ldexp(biases, xp.asarray(shift, np.int32)).astype(np.int64)
    return xp.where(biases > 0.0, xp.maximum(value, 1), 0)
