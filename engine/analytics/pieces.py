"""Numbers of all vertices in pieces, so that temporary arrays are of a few of them; and items by how much they have."""

from collections.abc import Iterable, Iterator

import numpy as np

PIECES, LEAST = 8, 1 << 12  # at most so many, of at least so many vertices but the last


def spans(count: int) -> list[tuple[int, int]]:
    """Cut 0 .. count - 1 into ranges (low, high)."""
    size = max(-(-count // PIECES), LEAST)
    return [(low, min(low + size, count)) for low in range(0, count, size)]


def occurrences(found: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Put together what values occur in pieces, and how often: the rising values, and int64 counts.

    found: values and counts of each piece, as ``np.unique`` returns them; there is at least one piece.
    """
    values, counts = zip(*found, strict=True)
    together, place = np.unique(np.concatenate(values), return_inverse=True)
    often = np.zeros(together.size, np.int64)
    np.add.at(often, place, np.concatenate(counts))
    return together, often


def within(upto: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
    """Cut items into ranges, first .. last - 1, of at most ``most``, or of one item that has more.

    ``upto``: int64 [items + 1], how much all items before each have together.
    """
    first = 0
    while first < upto.size - 1:
        last = max(first + 1, int(np.searchsorted(upto, upto[first] + most, side="right")) - 1)
        yield first, last
        first = last
