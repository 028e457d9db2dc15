"""Memory of samples that nobody holds any more, used again: the system clears fresh memory first, which can take a
third of the time of short walks.
"""

import math
import weakref

import numpy as np
from numpy.typing import DTypeLike

LARGEST = 2  # of the memory of a block, in place of that asked for


class Recycled:
    """Hands out arrays, and keeps the memory of those that were dropped for the next ones.

    It has no more blocks at a time than there were arrays, because one that fits nothing makes way for a new one.
    """

    def __init__(self) -> None:
        self.spares: dict[int, np.ndarray] = {}  # by identity

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
        """An array with any values in it. Its memory is used again once the array and all views of it are gone."""
        count, kind = math.prod(shape), np.dtype(dtype)
        block = self._block(max(count * kind.itemsize, 1))
        # All views have this array as their base. Of an array NumPy would name the array's own base instead.
        array = np.frombuffer(block.data, kind, count)
        weakref.finalize(array, self._keep, block).atexit = False
        return array.reshape(shape)

    def filled(self, shape: tuple[int, ...], value: object, dtype: DTypeLike) -> np.ndarray:
        """Such an array with ``value`` in it."""
        array = self.empty(shape, dtype)
        array[...] = value
        return array

    def _block(self, size: int) -> np.ndarray:
        spares = sorted(self.spares.values(), key=lambda block: block.size)
        fitting = [block for block in spares if size <= block.size <= LARGEST * size]
        taken = (fitting[:1] or spares[-1:])[:1]
        for block in taken:
            del self.spares[id(block)]
        return fitting[0] if fitting else np.empty(size, np.uint8)

    def _keep(self, block: np.ndarray) -> None:
        self.spares[id(block)] = block
