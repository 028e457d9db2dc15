"""Searches from 64 sources together, a bit of a word each, the same on every device."""

from collections.abc import Callable

import numpy as np

from csaw.engine.plan.contracts import Array

WORD, CHUNK = 64, 512  # sources of a word, vertices of a flag


def search_levels(sources: np.ndarray, entries: int, edges: int, advance: Callable[[int, int], Array]) -> np.ndarray:
    """Search from a word of sources, level by level: int64 [levels, 64], the vertices that each reaches at each.

    ``entries``: of the sources' rows. ``advance(entries, rest)`` does a level, whose frontier's rows have ``entries``
    entries where those of vertices that some source has not reached have ``rest``; it returns the 66 numbers of
    ``settle`` in kernels/reach.py.
    """
    counts, rest = [(np.arange(WORD) < sources.size).astype(np.int64)], edges
    while entries:
        found = advance(entries, rest)
        entries, rest = int(found[WORD]), rest - int(found[WORD + 1])
        counts.append(found[:WORD])
    return np.array(counts)


def one_table(found: list[np.ndarray], sizes: list[int]) -> np.ndarray:
    """Put the tables [levels, 64] of words together to one [sources, levels]. ``sizes``: sources of each word."""
    table: np.ndarray = np.zeros((sum(sizes), max((len(one) for one in found), default=1)), np.int64)
    for first, size, one in zip(np.cumsum([0, *sizes]), sizes, found, strict=False):
        table[first : first + size, : len(one)] = one[:, :size].T
    levels = 1 + int(np.flatnonzero(table.sum(0)).max(initial=0))  # the last level of a search finds nothing
    return table[:, :levels]
