"""Checks of links: their ends are those that were asked for, no negative is an edge, and negatives fit their law."""

import hashlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import cast

import numpy as np

from csaw.engine.api.bases import LinksWithNegatives
from csaw.engine.api.starts import SourceKind
from csaw.engine.samples.layouts import Arrays
from csaw.engine.sources.link_ends import relation_of
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.course import EDGES, LAW, passed
from csaw.engine.verify.groups import MOVED
from csaw.engine.verify.kernels import first_edge, multiplicity, place_negatives
from csaw.engine.verify.pooled import independence, lagged
from csaw.engine.verify.statistics import BINS, LEAST_EXPECTED, Result, even, fit, normal_sum, ranges
from csaw.partition import Graph
from csaw.partition.base.stages import stage
from csaw.partition.graph.types import RELATION

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


def verify_links(subject: Subject, checks: Checks) -> None:
    """Check the ends of all links and all negatives; then the law of edges that were drawn, and of negatives."""
    graph = graph_of(subject)
    ends, law = Ends(subject, graph), Negatives(subject, graph)
    wrong = dict.fromkeys(SAID, 0)
    for start, arrays in passed(subject.samples, EDGES, subject.watch):
        links, negatives = (np.ascontiguousarray(subject.dense(arrays[name])) for name in ("links", "negatives"))
        if (links < 0).any():
            wrong["sources"] += int((links < 0).any(axis=1).sum())
            continue
        for name, count in (ends.wrong(start, links) | law.wrong(links, negatives)).items():
            wrong[name] += count
        law.add(links, negatives)
    for name, count in wrong.items():
        checks.count(name, count, SAID[name])
    with stage(LAW):
        ends.judge(checks)
        if not any(wrong.values()):
            law.judge(checks)


class Ends:
    """The ends of links: edges that are drawn or taken in turn, or a list."""

    def __init__(self, subject: Subject, graph: Graph) -> None:
        """``graph``: what :func:`graph_of` returns, as everywhere here."""
        self.subject, self.graph = subject, graph
        self.drawn, self.random = list[np.ndarray](), np.random.default_rng(PLACES)
        self.listed = (subject.asked.count or 0) // 2
        self.digest, self.met = hashlib.sha256(), 0
        again = 0 < self.listed < subject.samples.instances
        self.list = np.full((self.listed, 2), -1, np.int64) if again else None

    def wrong(self, start: int, links: np.ndarray) -> dict[str, int]:
        """Count wrong links of a group from number ``start`` on, and note what the law needs."""
        kind, (source, target) = self.subject.sources, np.ascontiguousarray(links.T)
        if kind is SourceKind.LIST:
            return {"sources": self._wrong_listed(start, links)}
        edge, copies = np.empty(source.size, np.int64), np.empty(source.size, np.int64)
        first_edge(self.graph.indptr, self.graph.indices, source, target, edge)
        multiplicity(self.graph.indptr, self.graph.indices, source, target, copies)
        if kind is SourceKind.ALL:
            asked = (start + np.arange(source.size)) % max(self.graph.indices.size, 1)
            other = (asked < edge) | (asked >= edge + copies)
            return {"edges": int((copies == 0).sum()), "sources": int(other.sum())}
        number = edge + np.floor(self.random.random(edge.size) * copies)
        self.drawn.append((number + self.random.random(edge.size)) / max(self.graph.indices.size, 1))
        return {"edges": int((copies == 0).sum())}

    def _wrong_listed(self, start: int, links: np.ndarray) -> int:
        """Note the links of the list itself, and count those that come again as others."""
        first = links[: max(0, self.listed - start)]
        self.digest.update(first.astype(np.int64).tobytes())
        self.met += len(first)
        if self.list is None:
            return 0
        self.list[start : start + len(first)] = first
        asked = self.list[(start + np.arange(len(links))) % self.listed]
        return int((links != asked).any(axis=1).sum())

    def judge(self, checks: Checks) -> None:
        """Add the checks of what is only known of all links together."""
        if self.subject.sources is SourceKind.LIST:
            if self.met < self.listed or not self.listed:
                checks.not_tested("list of links", "the sample has not all links of the list that it was drawn for")
            else:
                other = self.digest.hexdigest()[:32] != self.subject.asked.digest
                checks.count("list of links", int(other), "lists with other links than asked for")
        elif self.drawn:
            places = np.concatenate(self.drawn)
            found = even(places, BINS, MOVED.format("links", "edges")) + independence(places) + lagged(places)
            checks.results("links", found, f"{places.size:,} edges that were drawn", "too few links")


class Negatives:
    """The negatives of links, which are drawn from the vertices of the type of the destination by their biases."""

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

    def _spans(self, links: np.ndarray) -> np.ndarray:
        """The number of the type of each destination."""
        return np.searchsorted(self.bounds, links[:, 1], side="right") - 1

    def wrong(self, links: np.ndarray, negatives: np.ndarray) -> dict[str, int]:
        """Count what is wrong of the negatives of a group."""
        number, source = self._spans(links), np.repeat(links[:, 0], negatives.shape[1])
        held = negatives.ravel() >= 0
        copies = np.empty(source.size, np.int64)
        multiplicity(self.graph.indptr, self.graph.indices, source, negatives.ravel(), copies)
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
            "missing": self._missing(links, negatives),
        }

    def _missing(self, links: np.ndarray, negatives: np.ndarray) -> int:
        """Links whose negatives are not all there although some vertex could be one, or that leave out what is no
        vertex of the graph.
        """
        lacks = np.flatnonzero((negatives < 0).any(axis=1))
        if not self.algorithm.skip_full:
            return lacks.size
        wrong = int(((negatives[lacks] >= 0).any(axis=1)).sum())
        return wrong + sum(bool(self.free(links[k])[1].any()) for k in lacks.tolist())

    def free(self, link: np.ndarray) -> tuple[int, np.ndarray]:
        """The first vertex of the type of a link's destination, and of it and those behind it the biases with which
        they are drawn; 0 of those that are no negatives.
        """
        source, number = int(link[0]), int(self._spans(link[None])[0])
        low, high = self.bounds[number : number + 2].tolist()
        taken = self.graph.indices[self.graph.indptr[source] : self.graph.indptr[source + 1]].astype(np.int64)
        free = self.bias[low:high].copy()
        free[taken[(taken >= low) & (taken < high)] - low] = 0.0
        if low <= source < high and not self.algorithm.allow_self:
            free[source - low] = 0.0
        return low, free

    def add(self, links: np.ndarray, negatives: np.ndarray) -> None:
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
        before, taken = np.empty(picked.shape), np.zeros((some.size, self.found.size))
        place_negatives(
            self.graph.indptr,
            self.graph.indices,
            source,
            own,
            low,
            high,
            picked,
            self.upto,
            self.classes,
            before,
            taken,
        )
        free = self.of_type[number] - taken
        total = np.maximum(free.sum(axis=1), 1e-300)
        draw = self.random.random(picked.shape)
        self.places.append(((before + self.bias[picked] * draw) / total[:, None]).ravel())
        self.found += np.bincount(self.classes[picked].ravel(), minlength=self.found.size)
        self.expected += (free / total[:, None]).sum(axis=0) * picked.shape[1]
        for end, vertex in enumerate(np.ascontiguousarray(links[some].T)):
            able = (vertex >= low) & (vertex < high) & ((vertex != source) | self.algorithm.allow_self)
            self.at_ends[end] += self._share(source, vertex, able, picked, total)

    def _share(
        self, source: np.ndarray, vertex: np.ndarray, able: np.ndarray, picked: np.ndarray, total: np.ndarray
    ) -> tuple[float, float, int]:
        """How many negatives are one ``vertex`` of each link beyond what is expected; the variance of that; and how
        many could be. ``able``: bool, whether it could be a negative if no edge led to it.
        """
        copies = np.empty(vertex.size, np.int64)
        multiplicity(self.graph.indptr, self.graph.indices, source, vertex, copies)
        chance = np.where(able & (copies == 0), self.bias[vertex] / total, 0.0)
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


def graph_of(subject: Subject) -> Graph:
    """The graph whose edges are no negatives: that of the sample, or the edges of its relation."""
    number, graph = relation_of(subject.store, subject.algorithm), subject.graph
    if number is None:
        return graph
    kept = graph.columns[RELATION.name] == number
    row = np.repeat(np.arange(graph.indptr.size - 1), np.diff(graph.indptr))[kept]
    indptr = np.append(0, np.cumsum(np.bincount(row, minlength=graph.indptr.size - 1)))
    return Graph(indptr, graph.indices[kept], None, {})


def chances_of_links(subject: Subject) -> Callable[[Arrays], Iterator[float]]:
    """A function that yields the chances of the negatives of one link."""
    law = Negatives(subject, graph_of(subject))

    def chances(arrays: Arrays) -> Iterator[float]:
        links, negatives = (np.ascontiguousarray(subject.dense(arrays[name])) for name in ("links", "negatives"))
        low, free = law.free(links[0])
        total = float(free.sum())
        yield from (float(free[v - low]) / total for v in negatives[0].tolist() if v >= 0 and total > 0.0)

    return chances
