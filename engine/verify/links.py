"""Checks of links: their ends are those that were asked for, no negative is an edge, and negatives fit their law."""

import hashlib
from collections.abc import Callable, Iterator
from typing import cast

import numpy as np

from csaw.engine.api.bases import LinksWithNegatives
from csaw.engine.api.starts import SourceKind
from csaw.engine.samples.layouts import Arrays
from csaw.engine.sources.link_ends import relation_of
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.course import EDGES, LAW, passed
from csaw.engine.verify.groups import MOVED
from csaw.engine.verify.kernels import copy_at, first_edge, multiplicity
from csaw.engine.verify.layouts_in_time import SeedTimes
from csaw.engine.verify.negatives import PLACES, Negatives, NegativesInTime
from csaw.engine.verify.pooled import independence, lagged
from csaw.engine.verify.statistics import BINS, even
from csaw.partition import Graph
from csaw.partition.base.stages import stage
from csaw.partition.graph.edge_columns import TIME
from csaw.partition.graph.types import RELATION


def verify_links(subject: Subject, checks: Checks) -> None:
    """Check the ends of all links, their times and all negatives; then the law of edges that were drawn, and of
    negatives.
    """
    graph = graph_of(subject)
    law = negatives_of(subject, graph)
    ends = Ends(subject, graph, law.lists_times)
    wrong = dict.fromkeys(law.said, 0)
    for start, arrays in passed(subject.samples, EDGES, subject.watch):
        links, negatives, times = drawn_in(subject, arrays)
        if (links < 0).any():
            wrong["sources"] += int((links < 0).any(axis=1).sum())
            continue
        for name, count in (ends.wrong(start, links, times) | law.wrong(links, negatives, times)).items():
            wrong[name] += count
        law.add(links, negatives, times)
    for name, count in wrong.items():
        checks.count(name, count, law.said[name])
    with stage(LAW):
        ends.judge(checks)
        if not any(wrong.values()):
            law.judge(checks)


def drawn_in(subject: Subject, arrays: Arrays) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The links and the negatives of a group as dense ids, and the times of its links, of which there may be none."""
    links, negatives = (np.ascontiguousarray(subject.dense(arrays[name])) for name in ("links", "negatives"))
    return links, negatives, arrays.get(TIME.name, np.zeros(0, np.int64))


class Ends:
    """The ends of links: edges that are drawn or taken in turn, or a list; and the times of links."""

    def __init__(self, subject: Subject, graph: Graph, in_time: bool) -> None:
        """``graph``: what :func:`graph_of` returns, as everywhere here."""
        self.subject, self.graph = subject, graph
        self.times = graph.columns[TIME.name] if in_time else None
        self.listed_times = SeedTimes(subject)
        self.drawn, self.random = list[np.ndarray](), np.random.default_rng(PLACES)
        self.listed = (subject.asked.count or 0) // 2
        self.digest, self.met = hashlib.sha256(), 0
        again = 0 < self.listed < subject.samples.instances
        self.list = np.full((self.listed, 2), -1, np.int64) if again else None

    def wrong(self, start: int, links: np.ndarray, times: np.ndarray) -> dict[str, int]:
        """Count wrong links of a group from number ``start`` on, and note what the law needs."""
        kind, (source, target) = self.subject.sources, np.ascontiguousarray(links.T)
        if kind is SourceKind.LIST:
            if self.times is not None and self.listed:
                places = 2 * (start + np.arange(len(links))[:, None]) + np.arange(2)
                self.listed_times.add((places % (2 * self.listed)).ravel(), np.repeat(times, 2))
            return {"sources": self._wrong_listed(start, links)}
        edge, copies = np.empty(source.size, np.int64), np.empty(source.size, np.int64)
        first_edge(self.graph.indptr, self.graph.indices, source, target, edge)
        multiplicity(self.graph.indptr, self.graph.indices, source, target, copies)
        wrong = {"edges": int((copies == 0).sum())}
        if kind is SourceKind.ALL:
            asked = (start + np.arange(source.size)) % max(self.graph.indices.size, 1)
            other = (asked < edge) | (asked >= edge + copies)
            if self.times is not None:
                wrong["times"] = int((self.times[asked] != times).sum())
            return wrong | {"sources": int(other.sum())}
        number = edge + np.floor(self.random.random(edge.size) * copies)
        if self.times is not None:
            share, edge = self.random.random(edge.size), edge.copy()
            copy_at(edge, copies, self.times, times, share, number)
            wrong["times"] = int(((number < 0) & (copies > 0)).sum())
        self.drawn.append((number + self.random.random(edge.size)) / max(self.graph.indices.size, 1))
        return wrong

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
            if self.times is not None:
                self.listed_times.judge(checks)
        elif self.drawn:
            places = np.concatenate(self.drawn)
            found = even(places, BINS, MOVED.format("links", "edges")) + independence(places) + lagged(places)
            checks.results("links", found, f"{places.size:,} edges that were drawn", "too few links")


def graph_of(subject: Subject) -> Graph:
    """The graph whose edges are no negatives: that of the sample, or the edges of its relation."""
    number, graph = relation_of(subject.store, subject.algorithm), subject.graph
    if number is None:
        return graph
    kept = graph.columns[RELATION.name] == number
    row = np.repeat(np.arange(graph.indptr.size - 1), np.diff(graph.indptr))[kept]
    indptr = np.append(0, np.cumsum(np.bincount(row, minlength=graph.indptr.size - 1)))
    times = {TIME.name: graph.columns[TIME.name][kept]} if TIME.name in graph.columns else {}
    return Graph(indptr, graph.indices[kept], None, times)


def negatives_of(subject: Subject, graph: Graph) -> Negatives:
    """The law of the negatives of a sample."""
    in_time = cast(LinksWithNegatives, subject.algorithm).negative_time is not None
    return (NegativesInTime if in_time else Negatives)(subject, graph)


def chances_of_links(subject: Subject) -> Callable[[Arrays], Iterator[float]]:
    """A function that yields the chances of the negatives of one link."""
    law = negatives_of(subject, graph_of(subject))

    def chances(arrays: Arrays) -> Iterator[float]:
        links, negatives, times = drawn_in(subject, arrays)
        low, free = law.free(links[0], times[:1])
        total = float(free.sum())
        yield from (float(free[v - low]) / total for v in negatives[0].tolist() if v >= 0 and total > 0.0)

    return chances
