"""Pairs of vertices without an edge, drawn with one search each and never by trying.

A row lists the vertices that its vertex has an edge to, and the vertex itself: sorted, each of them once. The others
are free. ``row[i] - i`` free vertices are below entry i, a number that never falls along the row, so a binary search
finds the free vertex of any rank. A uniform rank below ``V - len(row)`` gives each free vertex the same chance. With
weights, whole units replace the counts: those of all vertices below an entry, minus those of the entries before it.

A draw has 128 random bits at the address (seed, link, NEGATIVE_SLOT, pick): the first 64 choose the source, if one is
drawn, the others the target. Each choice has its chance up to 2^-64, and by weights those of the units.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numba import int64, uint64

from csaw.engine.draws.random import SHIFT, below_wide, philox
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, place_behind
from csaw.partition.errors import OptionError
from csaw.partition.graph.in_memory import LARGEST_32, rows_of_edges

NEGATIVE_SLOT = np.uint64(0xFFFFFFFC)  # below those of engine/sources/shuffled.py
UNITS = 2**61  # of all weights together
MOST_VERTICES = 2**31  # whose pairs an int64 counts
NONE = np.zeros(0, np.int64)
Integer: TypeAlias = int | np.signedinteger


class NonEdges(NamedTuple):
    """The pairs of different vertices that no edge joins.

    Attributes:
        indptr: int64 [V + 1], where rows begin.
        indices: [entries], rows, each sorted and with its own vertex.
        sums: int64 [entries], the running sums of the entries' units in a row; empty where all weights are the same.
        upto: int64 [V + 1], the units of all vertices below one; empty likewise.
        starts: int64 [V + 1], the running sums of the units of sources.
    """

    indptr: np.ndarray
    indices: np.ndarray
    sums: np.ndarray
    upto: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(
        cls,
        source: np.ndarray,
        target: np.ndarray,
        vertices: int,
        source_weights: np.ndarray | None = None,
        target_weights: np.ndarray | None = None,
    ) -> "NonEdges":
        """The pairs without an edge in a graph that has the edges ``source`` -> ``target``, int64 [E].

        ``source_weights``, ``target_weights``: float64 [V], to which the chances of a pair's ends are in proportion
        (default: None, uniform).
        """
        indptr, indices, _ = rows_with_own(source, target, vertices)
        if target_weights is None:
            sums, upto, free = NONE, NONE, vertices - np.diff(indptr)
        else:
            units = units_of(target_weights)
            upto = np.append(0, np.cumsum(units))
            sums = row_sums(indptr, units[indices])
            free = upto[-1] - sums[indptr[1:] - 1]
        if source_weights is not None or target_weights is not None:  # else the number of pairs, which is exact
            chances = free.astype(np.float64) * (
                1.0 if source_weights is None else source_weights / source_weights.max()
            )
            starts = np.cumsum(units_of(chances))
        else:
            starts = np.cumsum(free)
        return cls(indptr, indices, sums, upto, np.append(0, starts))

    def are_free(self, vertices: np.ndarray) -> np.ndarray:
        """bool [n]: whether any vertex can be drawn for each of these sources."""
        last = self.indptr[vertices + 1] - 1
        if self.sums.size:
            return np.asarray(self.sums[last] < self.upto[-1])
        return np.asarray(last + 1 - self.indptr[vertices] < self.indptr.size - 1)

    @property
    def is_empty(self) -> bool:
        """Whether there is no pair to draw."""
        return int(self.starts[-1]) == 0

    def drawn(self, seed: int, links: np.ndarray, sources: np.ndarray, count: int, _: object = None) -> np.ndarray:
        """int64 [2, count]: sources and targets of pairs without an edge; pair j is of link j % n, its pick j // n.

        ``links``, int64 [n]: their numbers in the addresses of draws. ``sources`` [n]: those of each link's pairs; or
        empty: they are drawn.
        """
        return draw_non_edges(
            np.uint64(seed), links, sources, count, self.indptr, self.indices, self.sums, self.upto, self.starts
        )


def rows_with_own(
    source: np.ndarray, target: np.ndarray, vertices: int, times: np.ndarray = NONE
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the edges ``source`` -> ``target``, int64 [E], and of each vertex to itself, every target once; and the
    earliest of its ``times``, int64 [E + V], if these are given.
    """
    if vertices > MOST_VERTICES:
        raise OptionError(f"neg_sampling: expected a graph of at most {MOST_VERTICES:,} vertices, found {vertices:,}")
    own = np.arange(vertices)
    indptr, indices, order = rows_of_edges(np.append(source, own), np.append(target, own), vertices)
    times = times[order] if times.size else times
    kept = keep_distinct(indptr, indices, times)
    return indptr, indices[:kept].astype(np.uint32 if vertices < LARGEST_32 else np.int64), times[:kept].copy()


def units_of(weights: np.ndarray) -> np.ndarray:
    """int64 [n]: ``weights``, float64, in whole units of 1 / UNITS of their sum; 1 at least of those above 0."""
    most = weights.max(initial=0.0)
    if most <= 0.0:
        return np.zeros(weights.size, np.int64)
    shares = weights / most
    units = (shares / shares.sum() * UNITS).astype(np.int64)
    return np.asarray(np.maximum(units, weights > 0.0), np.int64)


@njit(nogil=True)
def keep_distinct(indptr: np.ndarray, indices: np.ndarray, times: np.ndarray) -> int:
    """Leave each neighbor once in its sorted row, in place, with the earliest of its ``times`` if there are any.

    Returns how many entries are left.
    """
    kept, begin = 0, 0
    for v in range(indptr.size - 1):
        first, end = kept, indptr[v + 1]
        for i in range(begin, end):
            if kept == first or indices[kept - 1] != indices[i]:
                indices[kept] = indices[i]
                kept += 1
                if times.size:
                    times[kept - 1] = times[i]
            elif times.size:
                times[kept - 1] = min(times[kept - 1], times[i])
        indptr[v], begin = first, end
    indptr[indptr.size - 1] = kept
    return kept


@njit(nogil=True)
def row_sums(indptr: np.ndarray, units: np.ndarray) -> np.ndarray:
    """int64 [entries]: the running sums of ``units`` within each row."""
    out = empty(units.size, np.int64)
    for v in range(indptr.size - 1):
        total = int64(0)
        for i in range(indptr[v], indptr[v + 1]):
            total += units[i]
            out[i] = total
    return out


@inner
def units_below(vertex: Integer, upto: np.ndarray) -> Integer:
    """The units of all vertices below one."""
    return upto[vertex] if upto.size else vertex


@inner
def units_in_front(entry: Integer, begin: Integer, sums: np.ndarray) -> Integer:
    """The units of the entries of a row, which begins at ``begin``, in front of one."""
    if entry == begin:
        return int64(0)
    return sums[entry - 1] if sums.size else entry - begin


@inner
def free_vertex(
    word: np.uint64,
    begin: Integer,
    end: Integer,
    vertices: int,
    indices: np.ndarray,
    sums: np.ndarray,
    upto: np.ndarray,
) -> Integer:
    """The vertex that a random word chooses among those that entries begin .. end - 1, a row, leave free; -1: none."""
    free = units_below(vertices, upto) - units_in_front(end, begin, sums)
    if free <= 0:
        return int64(-1)
    rank = int64(below_wide(word, uint64(free)))
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if units_below(int64(indices[middle]), upto) - units_in_front(middle, begin, sums) <= rank:
            low = middle + 1
        else:
            high = middle
    wanted = rank + units_in_front(low, begin, sums)
    return place_behind(upto, wanted) - 1 if upto.size else wanted


@njit(nogil=True)
def draw_non_edges(
    seed: np.uint64,
    links: np.ndarray,
    sources: np.ndarray,
    count: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    sums: np.ndarray,
    upto: np.ndarray,
    starts: np.ndarray,
) -> np.ndarray:
    """int64 [2, count]: pairs without an edge. Pair j is of link j % n, and its pick j // n.

    ``sources`` [n]: of each link's pairs, or empty where they are drawn by ``starts``.
    """
    out, vertices = empty(2 * count, np.int64).reshape((2, count)), indptr.size - 1
    for j in range(count):
        link = j % links.size
        w0, w1, w2, w3 = philox(seed, uint64(links[link]), NEGATIVE_SLOT, uint64(j // links.size))
        if sources.size:
            source = sources[link]
        else:
            unit = int64(below_wide((w0 << SHIFT) | w1, uint64(starts[starts.size - 1])))
            source = place_behind(starts, unit) - 1
        out[0, j] = source
        begin, end = indptr[source], indptr[source + 1]
        out[1, j] = free_vertex((w2 << SHIFT) | w3, begin, end, vertices, indices, sums, upto)
    return out
