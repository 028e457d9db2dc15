"""Checks of the negatives of links as of their times: each has an edge by then, and none from its source."""

import numpy as np

from csaw.engine.api.starts import SourceKind
from csaw.engine.verify.checks import Subject
from csaw.engine.verify.kernels import copies_until, place_negatives_until
from csaw.engine.verify.links import SAID, Negatives
from csaw.partition import Graph
from csaw.partition.graph.edge_columns import BEFORE_ALL, TIME

BLOCK = 256  # vertices, in the order of their first edges, whose biases are added up
ALWAYS = np.int64(2**63 - 1)
WORDS = {
    "negatives": "negatives that an edge leads to from their source by the time of the link",
    "there": "negatives that have no edge by the time of their link",
    "times": "links with another time than that of their edge",
}


class NegativesInTime(Negatives):
    """The negatives of links that have times."""

    lists_times = True

    def __init__(self, subject: Subject, graph: Graph) -> None:
        super().__init__(subject, graph)
        self.times, self.ever = graph.columns[TIME.name], self.algorithm.negative_time == "ever"
        words = WORDS | ({"negatives": SAID["negatives"]} if self.ever else {})
        if subject.sources is SourceKind.LIST:  # whose times are judged together
            del words["times"]
        self.said = SAID | words
        self.first, self.has_edge = first_edges(subject.graph)
        number = np.searchsorted(self.bounds, np.arange(self.first.size), side="right")
        order = np.lexsort((self.first, ~self.has_edge, number))
        self.place = np.empty(order.size, np.int64)
        self.place[order] = np.arange(order.size)
        self.first_by_place, self.class_by_place = self.first[order], self.classes[order]
        self.known = np.append(0, np.cumsum(self.has_edge[order]))
        self.upto_place = np.append(0.0, np.cumsum(self.bias[order]))
        self.blocks = self._blocks(self.bias[order])

    def _blocks(self, bias: np.ndarray) -> np.ndarray:
        """float64 [n, classes]: the sums of the biases of all places before every BLOCK of them."""
        of_blocks = np.zeros((bias.size // BLOCK + 2, self.found.size))
        np.add.at(of_blocks, (np.arange(bias.size) // BLOCK + 1, self.class_by_place), bias)
        return np.cumsum(of_blocks, axis=0)

    def copies(self, source: np.ndarray, vertex: np.ndarray, times: np.ndarray) -> np.ndarray:
        copies, until = np.empty(vertex.size, np.int64), self._until(times)
        copies_until(self.graph.indptr, self.graph.indices, self.times, source, vertex, until, copies)
        return copies

    def _until(self, times: np.ndarray) -> np.ndarray:
        """int64 [n]: the times after which edges do not count, of links with these ``times``."""
        return np.full(times.size, ALWAYS) if self.ever else times

    def is_there(self, vertex: np.ndarray, times: np.ndarray) -> np.ndarray:
        return np.asarray(self.has_edge[vertex] & (self.first[vertex] <= times))

    def wrong(self, links: np.ndarray, negatives: np.ndarray, times: np.ndarray) -> dict[str, int]:
        held = negatives >= 0
        there = self.is_there(np.maximum(negatives, 0), times[:, None])
        return super().wrong(links, negatives, times) | {"there": int((held & ~there).sum())}

    def neighbors(self, source: int, time: np.ndarray) -> np.ndarray:
        row = slice(self.graph.indptr[source], self.graph.indptr[source + 1])
        return self.graph.indices[row][self.times[row] <= self._until(time)].astype(np.int64)

    def _before(
        self, source: np.ndarray, own: np.ndarray, number: np.ndarray, picked: np.ndarray, times: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        before, free = np.empty(picked.shape), np.zeros((source.size, self.found.size))
        low = self.bounds[number]
        place_negatives_until(
            self.graph.indptr,
            self.graph.indices,
            self.times,
            source,
            own,
            self._until(times),
            low,
            self._ends(number, times),
            picked,
            self.place,
            self.upto_place,
            self.class_by_place,
            self.blocks,
            BLOCK,
            before,
            free,
        )
        return before, np.maximum(free, 0.0)

    def _ends(self, number: np.ndarray, times: np.ndarray) -> np.ndarray:
        """int64 [n]: the place behind the last vertex of a type that has an edge by a time."""
        out = np.empty(times.size, np.int64)
        for one in np.unique(number):
            low, high = self.bounds[one : one + 2].tolist()
            some, high = number == one, low + int(self.known[high] - self.known[low])
            out[some] = low + np.searchsorted(self.first_by_place[low:high], times[some], side="right")
        return out


def first_edges(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """The time of the first edge at either end of each vertex, int64 [V], and whether it has an edge, bool [V]. Edges
    before all times count where a vertex has no others.
    """
    vertices, times = graph.indptr.size - 1, graph.columns[TIME.name]
    first = np.full(vertices, ALWAYS)
    sources = np.repeat(np.arange(vertices), np.diff(graph.indptr))
    has_edge = np.zeros(vertices, bool)
    has_edge[sources] = has_edge[graph.indices] = True
    timed, known = np.zeros(vertices, bool), times > BEFORE_ALL
    for ends in (sources, graph.indices):
        np.minimum.at(first, ends[known], times[known])
        timed[ends[known]] = True
    return np.where(has_edge & ~timed, BEFORE_ALL, first), has_edge
