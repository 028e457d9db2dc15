"""The rows of a graph by time, and passes over walks along them."""

from typing import NamedTuple, Self

import numpy as np

from csaw.engine.api.law import GraphView
from csaw.partition.base.compile import njit
from csaw.partition.graph.edge_columns import NO_TIME, TIME

ENDED = -1  # instead of a place, where a walk ended early


class TimeRows(NamedTuple):
    """The edges of each row by time, and at one time by their targets: equal edges stand side by side."""

    indptr: np.ndarray
    times: np.ndarray
    targets: np.ndarray
    order: np.ndarray
    """The edge, among all of the graph, at each place."""

    @classmethod
    def of(cls, view: GraphView) -> Self:
        """The rows of a graph, sorted anew: nothing is taken from the order that its store has."""
        owners = np.repeat(np.arange(view.vertices), np.diff(view.indptr))
        times = view.columns[TIME.name]
        order = np.lexsort((view.indices, times, owners))
        return cls(view.indptr, times[order], view.indices[order].astype(np.int64), order)

    def row(self, v: int) -> slice:
        """The places of the edges of v."""
        return slice(int(self.indptr[v]), int(self.indptr[v + 1]))


class Rule(NamedTuple):
    """Which edges may follow, by the options of ``temporal``; a window or a last time of None is none."""

    backward: bool
    strict: bool
    window: int
    has_window: bool
    last: int
    has_last: bool
    start: int
    has_start: bool


@njit(nogil=True)
def may_follow(time, now, known, rule):
    """Whether an edge of this time may follow one of time ``now``, if any is ``known``."""
    if rule.has_last and (time < rule.last if rule.backward else time > rule.last):
        return False
    if not known:
        return True
    if time == now:
        return not rule.strict
    if (time < now) != rule.backward:
        return False
    apart = np.uint64(max(time, now)) - np.uint64(min(time, now))
    return not rule.has_window or apart <= np.uint64(rule.window)


@njit(nogil=True)
def place_of(rows, v, target, time):
    """The first place, in the row of v, of an edge to ``target`` at ``time``; -2 where there is none."""
    begin, end = rows.indptr[v], rows.indptr[v + 1]
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        before = rows.times[middle] < time or (rows.times[middle] == time and rows.targets[middle] < target)
        low, high = (middle + 1, high) if before else (low, middle)
    there = low < end and rows.times[low] == time and rows.targets[low] == target
    return low - begin if there else -2


@njit(nogil=True)
def follow(rows, walks, times, lengths, rule, by_time, places, faults):
    """Find the place of each step of each walk: ``places`` [n, L], ENDED where it ended early and -2 where it is none.

    ``faults`` counts walks whose vertices or times do not match their length, steps along no edge of that time, steps
    that may not follow, and walks that end where they could go on; the last two where ``by_time``.
    """
    width = times.shape[1]
    for i in range(walks.shape[0]):
        steps, fits = lengths[i], 0 <= lengths[i] <= width
        for k in range(width + 1):
            fits &= walks[i, k] >= 0 if k <= steps else walks[i, k] == -1
        for k in range(max(steps, 0), width):
            fits &= times[i, k] == NO_TIME
        faults[0] += not fits
        places[i, :] = -2
        if not fits:
            continue
        now, known = rule.start, rule.has_start
        for k in range(steps):
            places[i, k] = place_of(rows, walks[i, k], walks[i, k + 1], times[i, k])
            faults[1] += places[i, k] < 0
            faults[2] += by_time and not may_follow(times[i, k], now, known, rule)
            now, known = times[i, k], True
        if steps < width:
            places[i, steps] = ENDED
            v = walks[i, steps]
            for place in range(rows.indptr[v], rows.indptr[v + 1] if by_time else 0):
                if may_follow(rows.times[place], now, known, rule):
                    faults[3] += 1
                    break


@njit(nogil=True)
def standing(rows, vertices, nows):
    """Where a time stands in a row: 0 before all its edges, 1 among them, 2 at the time of one, 3 behind all; and
    whether two of its edges share a time, 4 more.
    """
    out = np.empty(vertices.size, np.int64)
    for i in range(vertices.size):
        begin, end = rows.indptr[vertices[i]], rows.indptr[vertices[i] + 1]
        low, high = begin, end
        while low < high:
            middle = (low + high) >> 1
            low, high = (middle + 1, high) if rows.times[middle] < nows[i] else (low, middle)
        at = low < end and rows.times[low] == nows[i]
        out[i] = 2 if at else 0 if low == begin else 3 if low == end else 1
        for place in range(begin + 1, end):
            if rows.times[place] == rows.times[place - 1]:
                out[i] += 4
                break
    return out
