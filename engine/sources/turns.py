"""The order in which walks take all vertices as sources, each of them several times."""

from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True)
class Turns:
    """The order on a graph that has grown: each vertex of its oldest version once, again from the first one on, until
    each was taken ``rounds`` times; then in the same way those that are new in each later version. So what comes later
    is at the end, and the instances of an earlier version keep their numbers.

    ``bounds``, int64: 0, and the number of vertices of each version that had more than those before.
    """

    bounds: np.ndarray
    rounds: int

    @classmethod
    def of(cls, growth: tuple[int, ...], rounds: int) -> Self | None:
        """The order for a graph that had so many vertices; None where it is that of the vertices."""
        return cls(np.array([0, *growth], np.int64), rounds) if rounds > 1 and len(growth) > 1 else None

    def at(self, numbers: np.ndarray) -> np.ndarray:
        """int64: the vertices at which the instances with these numbers begin."""
        block = np.searchsorted(self.bounds[1:] * self.rounds, numbers, side="right")
        first, end = self.bounds[block], self.bounds[block + 1]
        return np.asarray(first + (numbers - self.rounds * first) % (end - first), np.int64)
