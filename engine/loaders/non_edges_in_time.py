"""Pairs of vertices that no edge joins by a time, drawn as of the time of each link.

The vertices that can be an end are in the order of the times from which they are there, so that those of a link are the
first ones. A try proposes two of these, or with a given source one, and the first try stays whose ends differ and no
edge joins by then, which a binary search in the source's sorted row decides. After TRIES of them, the pair is chosen by
its rank among all that are left. Each pair that is left has its chance, and no loop is without a bound.

Try k of pick j has 128 random bits at the address (seed, link, NEGATIVE_SLOT - k, j), as in non_edges.py.
"""

from typing import NamedTuple

import numpy as np
from numba import int64, uint64

from csaw.engine.draws.random import SHIFT, below_wide, philox
from csaw.engine.draws.vectors import words64
from csaw.engine.loaders.non_edges import NEGATIVE_SLOT, NONE, Integer, rows_with_own, units_below, units_of
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, place_behind
from csaw.partition.graph.edge_columns import BEFORE_ALL

TRIES = 32  # of which the last one that fails has a chance of 2^-32 where half of all pairs are edges


class Ends(NamedTuple):
    """The n vertices that can be an end of a pair, in the order of the times from which they are there.

    Attributes:
        vertex: int64 [n].
        since: int64 [n], these times.
        upto: int64 [n + 1], the units of all before one; empty where all are as likely.
        place: int64 [V], the place of each vertex in this order; -1 of others.
    """

    vertex: np.ndarray
    since: np.ndarray
    upto: np.ndarray
    place: np.ndarray

    @classmethod
    def of(cls, since: np.ndarray, are_there: np.ndarray, weights: np.ndarray | None) -> "Ends":
        """Those of the vertices that ``are_there`` at some time, bool [V], with a weight above 0, float64 [V]."""
        vertex = np.flatnonzero(are_there if weights is None else are_there & (weights > 0))
        vertex = vertex[np.argsort(since[vertex], kind="stable")]
        place = np.full(since.size, -1)
        place[vertex] = np.arange(vertex.size)
        upto = NONE if weights is None else np.append(0, np.cumsum(units_of(weights[vertex])))
        return cls(vertex, since[vertex], upto, place)

    def count(self, now: int) -> int:
        """How many are there by a time."""
        return int(np.searchsorted(self.since, now, "right"))

    def units(self, count: int) -> np.ndarray:
        """int64 [count]: the units of the first ones."""
        return np.diff(self.upto[: count + 1]) if self.upto.size else np.ones(count, np.int64)


class NonEdgesInTime(NamedTuple):
    """The pairs of different vertices that are there by a time, and that no edge joins by then.

    Attributes:
        indptr: int64 [V + 1], where rows begin.
        indices: [entries], rows, each sorted and with its own vertex.
        times: int64 [entries], the times from which entries count.
        sources: the vertices that sources are drawn from.
        targets: those that targets are.
    """

    indptr: np.ndarray
    indices: np.ndarray
    times: np.ndarray
    sources: Ends
    targets: Ends

    @classmethod
    def of(cls, source: np.ndarray, target: np.ndarray, times: np.ndarray, *ends: Ends) -> "NonEdgesInTime":
        """The pairs of ``ends``, sources and targets, in a graph that has the edges ``source`` -> ``target`` from these
        ``times`` on, int64 [E] each; of several between two vertices, the earliest counts.
        """
        rows = rows_with_own(
            source, target, ends[0].place.size, np.append(times, np.full(ends[0].place.size, BEFORE_ALL))
        )
        return cls(*rows, *ends)

    def are_free(self, sources: np.ndarray, times: np.ndarray) -> np.ndarray:
        """bool [n]: whether any vertex can be drawn for each of these sources by its time."""
        are_free = self._proposed(0, np.arange(sources.size), sources, sources.size, times)[1] >= 0
        rest = np.flatnonzero(~are_free)  # few, whose rows are read
        are_free[rest] = self._left(sources[rest], times[rest]) > 0
        return np.asarray(are_free)

    def have_pairs(self, times: np.ndarray) -> np.ndarray:
        """bool [n]: whether any pair can be drawn by each time."""
        row = np.repeat(np.arange(self.indptr.size - 1), np.diff(self.indptr))
        from_place, to_place = self.sources.place[row], self.targets.place[self.indices]
        both = (from_place >= 0) & (to_place >= 0)
        since = np.maximum(self.sources.since[from_place[both]], self.targets.since[to_place[both]])
        taken = np.sort(np.maximum(since, self.times[both]))
        pairs, of_sources, of_targets = (
            np.searchsorted(known, times, "right") for known in (taken, self.sources.since, self.targets.since)
        )
        return np.asarray(of_sources * of_targets > pairs)

    def drawn(self, seed: int, links: np.ndarray, sources: np.ndarray, count: int, times: np.ndarray) -> np.ndarray:
        """int64 [2, count]: sources and targets of pairs, as ``NonEdges.drawn``, by the ``times`` of the links, [n]."""
        found = self._proposed(seed, links, sources, count, times)
        for j in np.flatnonzero(found[1] < 0).tolist():
            i = j % links.size
            found[:, j] = self._chosen(seed, int(links[i]), j // links.size, sources[i : i + 1], int(times[i]))
        return found

    def _proposed(self, seed: int, links: np.ndarray, sources: np.ndarray, count: int, times: np.ndarray) -> np.ndarray:
        """The same, as far as tries find them; -1 of others."""
        ends = (*self.sources[:3], *self.targets[:3])
        return propose(np.uint64(seed), links, sources, times, count, self.indptr, self.indices, self.times, *ends)

    def _chosen(self, seed: int, link: int, pick: int, source: np.ndarray, now: int) -> tuple[int, int]:
        """The pair of a pick, by its rank among all that are left at a time; ``source``: [1], or empty: to be drawn."""
        slots = int(NEGATIVE_SLOT) - TRIES - np.arange(2)
        words = words64(seed, np.full(2, link), slots, np.full(2, pick)).tolist()
        if not source.size:
            source = self.sources.vertex[: self.sources.count(now)]
            left = self._left(source, np.full(source.size, now))
            units = self.sources.units(source.size)
            source = source[
                [_ranked(words[0], units_of(left * units.astype(np.float64)) if self.sources.upto.size else left)]
            ]
        count = self.targets.count(now)
        units, row = self.targets.units(count), slice(self.indptr[source[0]], self.indptr[source[0] + 1])
        taken = self.targets.place[self.indices[row][self.times[row] <= now]]
        units[taken[(taken >= 0) & (taken < count)]] = 0
        return int(source[0]), int(self.targets.vertex[_ranked(words[1], units)])

    def _left(self, sources: np.ndarray, times: np.ndarray) -> np.ndarray:
        to = self.targets
        return units_left(sources, times, self.indptr, self.indices, self.times, to.since, to.upto, to.place)


def _ranked(word: int, units: np.ndarray) -> int:
    """The entry that a word of 64 bits chooses by these units."""
    upto = np.cumsum(units)
    return int(np.searchsorted(upto, (word * int(upto[-1])) >> 64, "right"))


@inner
def joins(
    source: Integer, target: Integer, now: Integer, indptr: np.ndarray, indices: np.ndarray, since: np.ndarray
) -> bool:
    """Whether an edge joins two vertices by a time, or they are the same."""
    low, high = indptr[source], indptr[source + 1]
    place = low + place_behind(indices[low:high], target) - 1
    return place >= low and indices[place] == target and since[place] <= now


@inner
def end_of(word: np.uint64, units: Integer, vertex: np.ndarray, upto: np.ndarray) -> Integer:
    """The vertex that a random word chooses among the first ones, which have so many ``units``."""
    unit = int64(below_wide(word, uint64(units)))
    return vertex[place_behind(upto, unit) - 1 if upto.size else unit]


@njit(nogil=True)
def propose(
    seed: np.uint64,
    links: np.ndarray,
    sources: np.ndarray,
    times: np.ndarray,
    count: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    since: np.ndarray,
    from_vertex: np.ndarray,
    from_since: np.ndarray,
    from_upto: np.ndarray,
    to_vertex: np.ndarray,
    to_since: np.ndarray,
    to_upto: np.ndarray,
) -> np.ndarray:
    """int64 [2, count]: the pairs that tries find, and -1 where all fail. Pair j is of link j % n, its pick j // n.

    ``sources`` [n]: of each link's pairs, or empty where they are drawn.
    """
    out = empty(2 * count, np.int64).reshape((2, count))
    for j in range(count):
        link = j % links.size
        now, out[0, j], out[1, j] = times[link], -1, -1
        units = units_below(place_behind(from_since, now), from_upto)
        of_targets = units_below(place_behind(to_since, now), to_upto)
        for number in range(TRIES if of_targets > 0 and (sources.size or units > 0) else 0):
            slot = NEGATIVE_SLOT - uint64(number)
            w0, w1, w2, w3 = philox(seed, uint64(links[link]), slot, uint64(j // links.size))
            source = sources[link] if sources.size else end_of((w0 << SHIFT) | w1, units, from_vertex, from_upto)
            target = end_of((w2 << SHIFT) | w3, of_targets, to_vertex, to_upto)
            if not joins(source, target, now, indptr, indices, since):
                out[0, j], out[1, j] = source, target
                break
    return out


@njit(nogil=True)
def units_left(
    sources: np.ndarray,
    times: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    since: np.ndarray,
    to_since: np.ndarray,
    to_upto: np.ndarray,
    to_place: np.ndarray,
) -> np.ndarray:
    """int64 [n]: the units of the targets that are there by each time and that its source has no edge to."""
    out = empty(sources.size, np.int64)
    for i in range(sources.size):
        begin, end, count = indptr[sources[i]], indptr[sources[i] + 1], place_behind(to_since, times[i])
        out[i] = units_below(count, to_upto)
        for entry in range(begin, end):
            place = to_place[indices[entry]]
            if since[entry] <= times[i] and 0 <= place < count:
                out[i] -= units_below(place + 1, to_upto) - units_below(place, to_upto)
    return out
