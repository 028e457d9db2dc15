"""Whether each edge of an undirected graph is in the rows of both of its ends, as often in one as in the other, and
with the same numbers: sums of hashes over all entries, so that one pass over them in any order, and no memory, tells.
"""

from collections.abc import Iterable

import numpy as np

from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import GAMMA, mixed


class Symmetry:
    """Adds up the entries above the diagonal, and those below it, with their ends turned."""

    def __init__(self) -> None:
        self.sums = np.zeros(4, np.uint64)  # two hashes of each side

    def add(self, first: int, indptr: np.ndarray, indices: np.ndarray, numbers: np.ndarray | None = None) -> None:
        """Add the rows of the vertices from ``first`` on; ``indptr`` from 0.

        ``numbers``: one of each entry, integers [E], which both sides must have, too.
        """
        add_entries(first, indptr, indices, np.empty(0, np.uint64) if numbers is None else numbers, self.sums)

    @property
    def holds(self) -> bool:
        """Whether both sides have the same edges; two that differ pass once in 2^128."""
        return bool((self.sums[:2] == self.sums[2:]).all())


def numbers_of(columns: Iterable[np.ndarray], edges: int) -> np.ndarray:
    """A number for the values of each edge in all columns, uint64 [E]: the same where they are the same."""
    found = np.zeros(edges, np.uint64)
    for column in columns:
        values = column
        if column.dtype.kind == "f":  # 0 is -0, and no number is any other that is none
            values = np.where(np.isnan(column), np.array(np.nan, column.dtype), column + column.dtype.type(0))
        fold(found, values.view(f"u{column.dtype.itemsize}"))
    return found


def one_sided(indptr: np.ndarray, indices: np.ndarray, numbers: np.ndarray | None = None) -> tuple[int, int] | None:
    """The ends of an entry that has no reverse (with its number), or is there more often than it; None if there is
    none.
    """
    whole = Symmetry()
    whole.add(0, indptr, indices, numbers)
    if whole.holds:
        return None
    owner, ends = np.repeat(np.arange(indptr.size - 1), np.diff(indptr)), indices.astype(np.int64)
    entries = np.zeros(ends.size, [("src", np.int64), ("dst", np.int64), ("number", np.uint64)])
    entries["src"], entries["dst"], entries["number"] = owner, ends, 0 if numbers is None else numbers
    there, times = np.unique(entries, return_counts=True)
    back = there.copy()
    back["src"], back["dst"] = there["dst"], there["src"]
    at = np.minimum(np.searchsorted(there, back), there.size - 1)
    more = np.where(there[at] == back, times[at], 0) < times
    edge = there[np.flatnonzero(more)[0]]
    return int(edge["src"]), int(edge["dst"])


@inner
def pair_word(a: np.uint64, b: np.uint64) -> np.uint64:
    """A hash of two numbers."""
    return np.uint64(mixed(mixed(a + GAMMA) + b + GAMMA))


@njit(nogil=True)
def fold(words: np.ndarray, values: np.ndarray) -> None:
    """Make each word one of itself and of a value."""
    for k in range(words.size):
        words[k] = pair_word(words[k], np.uint64(values[k]))


@njit(nogil=True)
def add_entries(first: int, indptr: np.ndarray, indices: np.ndarray, numbers: np.ndarray, sums: np.ndarray) -> None:
    """Add the hashes of the entries of these rows, with their numbers if there are any, to ``sums``."""
    for v in range(indptr.size - 1):
        own = np.uint64(first + v)
        for k in range(indptr[v], indptr[v + 1]):
            other = np.uint64(indices[k])
            number = np.uint64(numbers[k]) if numbers.size > 0 else np.uint64(0)
            if own < other:
                word = pair_word(pair_word(own, other), number)
                sums[0] += word
                sums[1] += pair_word(word, other)
            elif own > other:
                word = pair_word(pair_word(other, own), number)
                sums[2] += word
                sums[3] += pair_word(word, own)
