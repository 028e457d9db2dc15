"""Memory of samples that nobody holds any more, used again: the system clears fresh memory first, which can take a
third of the time of short walks.
"""

import math
import weakref

import numpy as np


class Recycled:
    """Hands out arrays, and keeps the memory of the last one that was dropped for the next."""

    def __init__(self) -> None:
        self.spare: np.ndarray | None = None

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array with any values in it. Its memory is used again once the array and all views of it are gone."""
        count, dtype = math.prod(shape), np.dtype(dtype)
        block, self.spare = self.spare, None
        if block is None or block.size < count * dtype.itemsize:
            block = np.empty(max(count * dtype.itemsize, 1), np.uint8)
        # All views have this array as their base. Of an array NumPy would name the array's own base instead.
        array = np.frombuffer(block.data, dtype, count)
        weakref.finalize(array, self._keep, block).atexit = False
        return array.reshape(shape)

    def _keep(self, block: np.ndarray) -> None:
        self.spare = block
