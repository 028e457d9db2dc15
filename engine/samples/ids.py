"""Dense ids as bits: the value for no vertex, and unsigned numbers for kernels."""

from typing import overload

import numpy as np

from csaw.partition.base.read_only import thawed


def all_ones(dense: np.dtype) -> int:
    """The dense id that stands for nothing."""
    return int(np.array(-1).astype(dense)[()])


@overload
def bits(ids: int | np.integer, dtype: np.dtype | None = None) -> np.unsignedinteger: ...


@overload
def bits(ids: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray: ...


def bits(ids: int | np.integer | np.ndarray, dtype: np.dtype | None = None) -> np.unsignedinteger | np.ndarray:
    """Ids, or one id, as unsigned numbers of the same bits: kernels are compiled for two element types then, not for
    four.
    """
    held = thawed(np.asarray(ids, dtype))
    return held.view(f"u{held.dtype.itemsize}")[()]
