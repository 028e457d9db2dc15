"""Whether each edge of an undirected graph is in the rows of both of its ends, as often in one as in the other: sums of
hashes over all entries, so that one pass over them in any order, and no memory, tells.
"""

import numpy as np

from csaw.partition.base.compile import inner, njit
from csaw.partition.base.mixing import GAMMA, mixed


class Symmetry:
    """Adds up the entries above the diagonal, and those below it, with their ends turned."""

    def __init__(self) -> None:
        self.sums = np.zeros(4, np.uint64)  # two hashes of each side

    def add(self, first: int, indptr: np.ndarray, indices: np.ndarray) -> None:
        """Add the rows of the vertices from ``first`` on; ``indptr`` from 0."""
        add_entries(first, indptr, indices, self.sums)

    @property
    def holds(self) -> bool:
        """Whether both sides have the same edges; two that differ pass once in 2^128."""
        return bool((self.sums[:2] == self.sums[2:]).all())


def one_sided(indptr: np.ndarray, indices: np.ndarray) -> tuple[int, int] | None:
    """The ends of an entry that has no reverse, or is there more often than it; None if there is none."""
    whole = Symmetry()
    whole.add(0, indptr, indices)
    if whole.holds:
        return None
    vertices = indptr.size - 1
    owner, ends = np.repeat(np.arange(vertices), np.diff(indptr)), indices.astype(np.int64)
    there, times = np.unique(owner * vertices + ends, return_counts=True)
    back = there % vertices * vertices + there // vertices
    at = np.minimum(np.searchsorted(there, back), there.size - 1)
    more = np.where(there[at] == back, times[at], 0) < times
    edge = int(there[np.flatnonzero(more)[0]])
    return edge // vertices, edge % vertices


@inner
def pair_word(a: np.uint64, b: np.uint64) -> np.uint64:
    """A hash of two numbers."""
    return np.uint64(mixed(mixed(a + GAMMA) + b + GAMMA))


@njit(nogil=True)
def add_entries(first: int, indptr: np.ndarray, indices: np.ndarray, sums: np.ndarray) -> None:
    """Add the hashes of the entries of these rows to ``sums``."""
    for v in range(indptr.size - 1):
        own = np.uint64(first + v)
        for k in range(indptr[v], indptr[v + 1]):
            other = np.uint64(indices[k])
            if own < other:
                word = pair_word(own, other)
                sums[0] += word
                sums[1] += pair_word(word, other)
            elif own > other:
                word = pair_word(other, own)
                sums[2] += word
                sums[3] += pair_word(word, own)
