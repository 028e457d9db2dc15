"""Edges of the whole graph at which walks in time start, drawn by their times.

A walk is given the vertex of its edge and the time of it, and its first step takes one of that vertex's edges of that
time, each as likely. So edges of one time are equally likely, too: they share evenly what their ranks have.
"""

from collections.abc import Iterator
from functools import cached_property
from threading import Lock
from typing import NamedTuple

import numpy as np

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.starts import BIASES, EdgeStarts
from csaw.partition import GraphStore
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import TIME

START_BYTES = 40  # of an edge at most, while edges are sorted by time and their biases are added up
MOST_LINEAR = 1 << 32  # edges with linear biases
UNIFORM, LINEAR, EXPONENTIAL, EXPONENTIAL_RANK = range(len(BIASES))


class ByTime(NamedTuple):
    """All edges of a graph by time."""

    order: np.ndarray
    """The number of each edge, by time."""
    times: np.ndarray
    """int64: the different times."""
    upto: np.ndarray
    """int64: the edges before each time, and last all of them."""


class StartEdges:
    """The start edges of walks. Edges are sorted when the first ones are drawn."""

    def __init__(self, store: GraphStore, walk: EdgeStarts, indptr: np.ndarray, seed: int) -> None:
        self.store, self.indptr, self.seed = store, indptr, np.uint64(seed)
        self.bias, self.scale = BIASES.index(walk.start_bias), float(walk.start_scale)
        self.per_time, self.late = walk.start_per == "time", walk.start_prefer == "late"
        self.sorting = Lock()

    @staticmethod
    def of(store: GraphStore, algorithm: Algorithm, indptr: np.ndarray, seed: int) -> "StartEdges | None":
        """The start edges of an algorithm; None where it draws none by time.

        OptionError where linear biases are of too many edges.
        """
        if not isinstance(algorithm, EdgeStarts) or not algorithm.starts_by_time:
            return None
        if algorithm.start_bias == "linear" and store.edges >= MOST_LINEAR:
            raise OptionError(
                f"--start-bias linear: expected fewer than {MOST_LINEAR:,} edges, because the sum of their biases "
                f"must fit in 64 bits, found {store.edges:,} in {store.path}; use exponential-rank"
            )
        return StartEdges(store, algorithm, indptr, seed)

    @property
    def bytes(self) -> int:
        """Bytes that sorting the edges takes."""
        return START_BYTES * self.store.edges

    def draw(self, first: int, last: int) -> np.ndarray:
        """int64 [last - first, 2]: where instances start, and at what time."""
        from csaw.engine.draws.random import source_words

        words = np.empty((last - first, 2), np.uint64)
        source_words(self.seed, first, words)
        with self.sorting:
            edges, _ = self.edges, self.sums if self.bias == EXPONENTIAL else None
        time = self._times_drawn(words[:, 0])
        begin = edges.upto[time]
        place = begin + _below(words[:, 1], edges.upto[time + 1] - begin)
        vertex = np.searchsorted(self.indptr, edges.order[place], side="right") - 1
        return np.column_stack([vertex, edges.times[time]])

    def _times_drawn(self, words: np.ndarray) -> np.ndarray:
        """The number, among the different times, of that of each start edge."""
        edges = self.edges
        if self.bias == EXPONENTIAL:
            from csaw.engine.draws.random import fractions

            sums = self.sums
            number = np.searchsorted(sums, fractions(words) * sums[-1], side="right")
            return number if self.late else sums.size - 1 - number
        size = edges.times.size if self.per_time else edges.order.size
        number = self._ranks(words, size)
        number = size - 1 - number if self.late else number
        return number if self.per_time else np.searchsorted(edges.upto, number, side="right") - 1

    def _ranks(self, words: np.ndarray, size: int) -> np.ndarray:
        """Ranks below ``size`` by their bias, 0 for the one that is preferred."""
        from csaw.engine.draws.random import geometrics, triangulars

        if self.bias == UNIFORM:
            return _below(words, np.full(words.size, size))
        return triangulars(words, size) if self.bias == LINEAR else geometrics(words, self.scale) % size

    @cached_property
    def edges(self) -> ByTime:
        """All edges by time."""
        all_times = np.empty(self.store.edges, np.int64)
        for first, times in _read(self.store):
            all_times[first : first + times.size] = times
        order = np.argsort(all_times, kind="stable")
        all_times = all_times[order]
        if order.size <= 2**32:
            order = order.astype(np.uint32)
        begins = np.flatnonzero(np.concatenate([[True], all_times[1:] != all_times[:-1]]))
        return ByTime(order, all_times[begins], np.append(begins, order.size))

    @cached_property
    def sums(self) -> np.ndarray:
        """float64: the exponential biases of the edges of each time, relative to the preferred end, added up from the
        other end on, so that small ones keep their digits.
        """
        from csaw.engine.draws.random import lasting

        _, times, upto = self.edges
        counts, bits = np.diff(upto), times.view(np.uint64)
        apart = bits[-1] - bits if self.late else (bits - bits[0])[::-1]
        bias = lasting(apart, self.scale)
        del apart
        bias *= counts[:: 1 if self.late else -1]
        del counts
        return np.cumsum(bias, out=bias)


def _read(store: GraphStore) -> Iterator[tuple[int, np.ndarray]]:
    """The times of each partition, with the number of its first edge."""
    first = 0
    for part in store.partitions:
        times = np.empty(part.edges, np.int64)
        store.read_edges(part.number, {TIME.array: times})
        yield first, times
        first += part.edges


def _below(words: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    from csaw.engine.draws.random import numbers_below

    return numbers_below(words, bounds)
