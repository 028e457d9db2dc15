"""The negatives of links and their law, of links without times and as of the times that links have."""

from collections.abc import Mapping
from itertools import pairwise
from typing import cast

import numpy as np

from csaw.engine.api.bases import LinksWithNegatives
from csaw.engine.api.starts import SourceKind
from csaw.engine.sources.link_ends import relation_of
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.groups import MOVED
from csaw.engine.verify.kernels import copies_until, multiplicity, place_negatives, place_negatives_until
from csaw.engine.verify.pooled import independence, lagged
from csaw.engine.verify.statistics import BINS, LEAST_EXPECTED, Result, even, fit, normal_sum, ranges
from csaw.partition import Graph
from csaw.partition.graph.edge_columns import BEFORE_ALL, TIME

PLACES = 20260301  # seed, fixed: the verdict on a sample never changes
POWER = 0.75  # of the number of edges that lead to a negative, which is its bias by degree
SAID = {
    "edges": "links that are no edges of the graph",
    "sources": "links with other ends than asked for",
    "negatives": "negatives that an edge leads to from their source",
    "types": "links or negatives of another type of vertices than asked for",
    "self": "negatives that are their own source",
    "missing": "links with too few negatives, or with some although none is possible",
}


class Negatives:
    """The negatives of links, which are drawn from the vertices of the type of the destination by their biases."""

    said: Mapping[str, str] = SAID
    lists_times = False
    """Whether each link has a time."""

    def __init__(self, subject: Subject, graph: Graph) -> None:
        self.subject, self.algorithm = subject, cast(LinksWithNegatives, subject.algorithm)
        self.graph, types = graph, subject.store.types
        vertices = self.graph.indptr.size - 1
        self.bounds = np.array([0, vertices] if types is None else types.bounds, np.int64)
        self.spans = None
        number = relation_of(subject.store, subject.algorithm)
        if types is not None and number is not None:
            relation = types.relations[number]
            self.spans = types.span(relation.source), types.span(relation.target)
        self.degree = np.bincount(self.graph.indices.astype(np.int64), minlength=vertices)
        by_degree = self.algorithm.negative_bias == "degree"
        self.bias = self.degree.astype(np.float64) ** POWER if by_degree else np.ones(vertices)
        self.upto = np.append(0.0, np.cumsum(self.bias))
        self.classes = np.log2(1.0 + self.degree).astype(np.int64)
        self.left, self.random = subject.budget, np.random.default_rng(PLACES)
        self.looked_at = self.links = self.whole = 0
        self.places: list[np.ndarray] = []
        self.at_ends = np.zeros((2, 3))  # excess, variance and number of negatives at the sources and destinations
        self.found = np.zeros(int(self.classes.max(initial=0)) + 1)
        self.expected = np.zeros(self.found.size)
        spans = [slice(*ends) for ends in pairwise(self.bounds.tolist())]
        self.of_type = np.stack([np.bincount(self.classes[s], self.bias[s], self.found.size) for s in spans])

    def copies(self, source: np.ndarray, vertex: np.ndarray, times: np.ndarray) -> np.ndarray:
        """int64 [n]: the edges that lead from each source to a vertex, and that count at the time of its link."""
        copies = np.empty(vertex.size, np.int64)
        multiplicity(self.graph.indptr, self.graph.indices, source, vertex, copies)
        return copies

    def is_there(self, vertex: np.ndarray, times: np.ndarray) -> np.ndarray:
        """bool [n]: whether each of some vertices may be a negative at a time."""
        return np.ones(vertex.shape, bool)

    def _spans(self, links: np.ndarray) -> np.ndarray:
        """The number of the type of each destination."""
        return np.searchsorted(self.bounds, links[:, 1], side="right") - 1

    def wrong(self, links: np.ndarray, negatives: np.ndarray, times: np.ndarray) -> dict[str, int]:
        """Count what is wrong of the negatives of a group."""
        number, source = self._spans(links), np.repeat(links[:, 0], negatives.shape[1])
        held = negatives.ravel() >= 0
        copies = self.copies(source, negatives.ravel(), np.repeat(times, negatives.shape[1]))
        low, high = self.bounds[number], self.bounds[number + 1]
        outside = (negatives >= 0) & ((negatives < low[:, None]) | (negatives >= high[:, None]))
        types = int(outside.sum())
        if self.spans is not None:
            types += sum(int(((v < a) | (v >= b)).sum()) for v, (a, b) in zip(links.T, self.spans, strict=True))
        own = 0 if self.algorithm.allow_self else int((negatives.ravel() == source).sum())
        return {
            "negatives": int((copies[held] > 0).sum()),
            "types": types,
            "self": own,
            "missing": self._missing(links, negatives, times),
        }

    def _missing(self, links: np.ndarray, negatives: np.ndarray, times: np.ndarray) -> int:
        """Links whose negatives are not all there although some vertex could be one, or that leave out what is no
        vertex of the graph.
        """
        lacks = np.flatnonzero((negatives < 0).any(axis=1))
        if not self.algorithm.skip_full:
            return lacks.size
        wrong = int(((negatives[lacks] >= 0).any(axis=1)).sum())
        return wrong + sum(bool(self.free(links[k], times[k : k + 1])[1].any()) for k in lacks.tolist())

    def free(self, link: np.ndarray, time: np.ndarray) -> tuple[int, np.ndarray]:
        """The first vertex of the type of a link's destination, and of it and those behind it the biases with which
        they are drawn; 0 of those that are no negatives. ``time``: that of the link, [1], or [0].
        """
        source, number = int(link[0]), int(self._spans(link[None])[0])
        low, high = self.bounds[number : number + 2].tolist()
        taken = self.neighbors(source, time)
        free = self.bias[low:high] * self.is_there(np.arange(low, high), time)
        free[taken[(taken >= low) & (taken < high)] - low] = 0.0
        if low <= source < high and not self.algorithm.allow_self:
            free[source - low] = 0.0
        return low, free

    def neighbors(self, source: int, time: np.ndarray) -> np.ndarray:
        """int64: the vertices to which a source has an edge that counts at a ``time``."""
        return self.graph.indices[self.graph.indptr[source] : self.graph.indptr[source + 1]].astype(np.int64)

    def add(self, links: np.ndarray, negatives: np.ndarray, times: np.ndarray) -> None:
        """Compare the negatives of as many links of a group with their law as the budget allows."""
        self.links += len(links)
        whole = np.flatnonzero((negatives >= 0).all(axis=1))
        self.whole += whole.size
        row = self.graph.indptr[links[whole, 0] + 1] - self.graph.indptr[links[whole, 0]]
        share = self.left * len(links) // max(1, self.subject.samples.instances - self.links + len(links))
        some = whole[: int(np.searchsorted(np.cumsum(row + negatives.shape[1]), share, "right"))]
        if not some.size:
            return
        self.left -= int((row[: some.size] + negatives.shape[1]).sum())
        self.looked_at += some.size
        number, picked = self._spans(links)[some], np.ascontiguousarray(negatives[some])
        low, high = self.bounds[number], self.bounds[number + 1]
        source = np.ascontiguousarray(links[some, 0])
        own = (source >= low) & (source < high) & (not self.algorithm.allow_self)
        now = times[some] if self.lists_times else times
        before, free = self._before(source, own, number, picked, now)
        total = np.maximum(free.sum(axis=1), 1e-300)
        draw = self.random.random(picked.shape)
        self.places.append(((before + self.bias[picked] * draw) / total[:, None]).ravel())
        self.found += np.bincount(self.classes[picked].ravel(), minlength=self.found.size)
        self.expected += (free / total[:, None]).sum(axis=0) * picked.shape[1]
        for end, vertex in enumerate(np.ascontiguousarray(links[some].T)):
            able = (vertex >= low) & (vertex < high) & ((vertex != source) | self.algorithm.allow_self)
            able &= self.is_there(vertex, now)
            self.at_ends[end] += self._share(vertex, able & (self.copies(source, vertex, now) == 0), picked, total)

    def _before(
        self, source: np.ndarray, own: np.ndarray, number: np.ndarray, picked: np.ndarray, times: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of the negatives ``picked`` of links, the biases of all vertices in front of each that could have been drawn;
        and the sums of the biases of all that could, by class, float64 [links, classes].

        ``own``: whether the source would be one of them; ``number``: of the type of their vertices.
        """
        before, taken = np.empty(picked.shape), np.zeros((source.size, self.found.size))
        place_negatives(
            self.graph.indptr,
            self.graph.indices,
            source,
            own,
            self.bounds[number],
            self.bounds[number + 1],
            picked,
            self.upto,
            self.classes,
            before,
            taken,
        )
        return before, self.of_type[number] - taken

    def _share(
        self, vertex: np.ndarray, able: np.ndarray, picked: np.ndarray, total: np.ndarray
    ) -> tuple[float, float, int]:
        """How many negatives are one ``vertex`` of each link beyond what is expected; the variance of that; and how
        many could be. ``able``: bool, whether it could be a negative.
        """
        chance = np.where(able, self.bias[vertex] / total, 0.0)
        excess = (picked == vertex[:, None]).sum() - picked.shape[1] * chance.sum()
        variance = picked.shape[1] * (chance * (1.0 - chance)).sum()
        return float(excess), float(variance), picked.shape[1] * int((chance > 0.0).sum())

    def judge(self, checks: Checks) -> None:
        """Add the checks of the law."""
        if not self.places:
            checks.not_tested("law of negatives", "too few links", self.whole > 0)
            return
        places = np.clip(np.concatenate(self.places), 0.0, np.nextafter(1.0, 0.0))
        details = f"the negatives of {self.looked_at:,} of {self.links:,} links"
        more = self.looked_at < self.whole
        found = even(places, BINS, MOVED.format("negatives", "vertices"))
        checks.results("law of negatives", found, details, "too few negatives", more)
        checks.results("negatives by degree", self._by_degree(), details, "too few negatives", more)
        checks.results("negatives, independence", independence(places) + lagged(places), details, "too few negatives")
        ends = [
            one
            for (excess, variance, n), name in zip(self.at_ends, ("source", "destination"), strict=True)
            for one in normal_sum(excess, variance, n, f"negatives that are the {name} of their link")
        ]
        if ends:
            checks.results("negatives at ends", ends, details)

    def _by_degree(self) -> list[Result]:
        """Compare how many negatives have a degree of each class with the sum of the chances of all draws.

        Counts vary no more than those of draws that all have the same law, so the p-value is, if anything, too large.
        """
        likely = self.expected >= LEAST_EXPECTED
        found = np.append(self.found[likely], self.found[~likely].sum())
        expected = np.append(self.expected[likely], self.expected[~likely].sum())
        used = expected >= LEAST_EXPECTED
        p = fit(found[used], expected[used])
        if p is None:
            return []
        return [ranges(p, int(found.sum()), int(used.sum()), MOVED.format("negatives", "degrees"))]


# Negatives as of a time.

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
