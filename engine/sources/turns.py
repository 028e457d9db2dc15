"""The order in which walks take all vertices as sources, each of them several times."""

from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True)
class Turns:
    """The order on a graph that has grown: each vertex of its oldest version once, again from the first one on, until
    each was taken ``rounds`` times; then in the same way those that are new in each later version. So what comes later
    is at the end, and the instances of an earlier version keep their numbers. Further instances take all vertices from
    the first one on.

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
        block = np.searchsorted(self.bounds[1:-1] * self.rounds, numbers, side="right")
        first, end = self.bounds[block], self.bounds[block + 1]
        in_turn = first + (numbers - self.rounds * first) % (end - first)
        return np.where(numbers < self.rounds * self.bounds[-1], in_turn, numbers % self.bounds[-1])


def rounds_of(each: int, num_walks: int, instances: int, vertices: int) -> int:
    """How often instances with ``each`` sources take all vertices, as often as they can take all in full."""
    return instances // vertices if each == 1 else num_walks
