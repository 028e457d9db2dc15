"""Whether each number that edges have in the input belongs to one edge: both rows of an undirected edge have the same
one, and no other edge has it.

Sums of hashes tell the first, as in symmetry.py. For the second, a bit for each number of a window says that it was
met; numbers beyond the first window are looked at in further passes over the store, so that memory is bounded.
"""

from collections.abc import Iterator

import numpy as np

from csaw.partition.base.compile import njit
from csaw.partition.graph.symmetry import Symmetry

WINDOW = 2**30  # numbers, an eighth of it in bytes
NO_NUMBER = 2**63 - 1


class Numbering:
    """Looks at the numbers of edges, each ``below`` the number of rows of the input."""

    def __init__(self, below: int, directed: bool) -> None:
        self.below, self.directed, self.low, self.twice = below, directed, 0, 0
        self.symmetry = Symmetry()
        self.met = np.zeros(max(1, -(-min(below, WINDOW) // 8)), np.uint8)
        self.next = NO_NUMBER  # the least number beyond the window

    def add(self, first: int, indptr: np.ndarray, indices: np.ndarray, numbers: np.ndarray) -> None:
        """Add the rows of the vertices from ``first`` on, ``indptr`` from 0, to what was added in this pass."""
        if not self.directed and self.low == 0:
            self.symmetry.add(first, indptr, indices, numbers)
        twice, beyond = meet(first, indptr, indices, numbers, self.directed, self.low, self.met)
        self.twice, self.next = self.twice + twice, min(self.next, beyond)

    def passes(self) -> Iterator[None]:
        """Begin each further pass, for which all rows are added again."""
        while self.next < NO_NUMBER:
            self.low, self.next = self.next, NO_NUMBER
            self.met[:] = 0
            yield

    @property
    def both_same(self) -> bool:
        """Whether both rows of each edge have the same numbers; others pass once in 2^128."""
        return self.symmetry.holds


@njit(nogil=True)
def meet(
    first: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    numbers: np.ndarray,
    directed: bool,
    low: int,
    met: np.ndarray,
) -> tuple[int, int]:
    """Mark the numbers from ``low`` on in the bits ``met``, of the first row of each undirected edge.

    Returns how many were marked before, and the least number beyond the bits.
    """
    twice, beyond = 0, NO_NUMBER
    high = low + 8 * met.size
    for v in range(indptr.size - 1):
        for k in range(indptr[v], indptr[v + 1]):
            number = numbers[k]
            if number < low or not (directed or first + v <= np.int64(indices[k])):
                continue
            if number >= high:
                beyond = min(beyond, number)
                continue
            place, bit = (number - low) >> 3, np.uint8(1 << ((number - low) & 7))
            twice += (met[place] & bit) != 0
            met[place] |= bit
    return twice, beyond
