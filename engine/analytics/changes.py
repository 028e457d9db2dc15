"""The contract of what has changed between two versions of a graph, as measures read it."""

from typing import NamedTuple, Protocol

import numpy as np


class MeasuredAnew(Exception):
    """The reason for which findings cannot be made of those of an earlier version of a graph."""


class Entries(NamedTuple):
    """The entries of rows that a version of a graph has more or less often than an earlier one, in order.

    rows, neighbors, more: int64 [n], ``more`` is how much more often the newer version has each.
    turned: int8 [n], 1 where the older one has none, -1 where the newer one has none, 0 otherwise.
    """

    rows: np.ndarray
    neighbors: np.ndarray
    more: np.ndarray
    turned: np.ndarray

    def of(self, those: np.ndarray) -> "Entries":
        """Some of them: bool [n]."""
        return Entries(*(array[those] for array in self))


class Changes(Protocol):
    """The changes since an earlier version. Methods raise MeasuredAnew where this takes too much memory or time."""

    @property
    def entries(self) -> Entries:
        """The entries of rows that have changed."""

    def components(self, labels: np.ndarray) -> np.ndarray:
        """The smallest vertex of each vertex's component, [V], by those of the earlier version."""

    def triangles(self) -> tuple[int, np.ndarray]:
        """How many more triangles the simple undirected graph has: in all, and of each vertex, int64 [V]."""
