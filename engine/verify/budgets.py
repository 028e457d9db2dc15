"""Checks of mini-batches that are drawn by budgets: their vertices, all edges among them, and the law of every draw.

A draw is one of successive draws without replacement from the vertices of a type that have a budget: given those before
it, each has a chance in proportion to the square of its budget. So its place in its law is uniform, whatever the order
of the vertices there, and whether it is one of a set that is known beforehand has a mean and a variance.
"""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from csaw.engine.api.algorithm import MiniBatches
from csaw.engine.api.bases import InTime
from csaw.engine.plan.by_relation import numbers_in_full, numbers_of, sizes_of_types
from csaw.engine.samples.layouts.layout import SEED_TIME, TIME
from csaw.engine.verify.batches import Nodes, Seeds, known_nodes, wrong_edges
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.layouts_in_time import SeedTimes
from csaw.engine.verify.pooled import independence
from csaw.engine.verify.statistics import BINS, Result, even, normal_sum
from csaw.partition.base.parallel import go_on
from csaw.partition.base.sorting import distinct
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.types import RELATION

PLACES = 20240304  # seed, fixed: the verdict on a sample never changes
QUICKER = 50  # edges that are added up in the time of a bias evaluated in Python
SAID = {
    "seeds": "seeds that are missing or wrong",
    "edges": "edges that are not where e_id says, between the vertices of their nodes",
    "nodes": "vertices that are there twice, or not layer by layer and type by type",
    "hops": "edges that are not with the layer of their later end, or out of order",
}
OF_LAW = {
    "sizes": "layers with another number of vertices of a type than was asked for, or had budgets",
    "budgets": "vertices drawn without a budget",
    "all edges": "mini-batches with other edges than all among their vertices",
}
FEW = "too few vertices drawn by chance"


class Draws(NamedTuple):
    """The vertices of a type that a layer drew.

    Attributes:
        vertices: those with a budget, ascending.
        squares: float64, of their budgets.
        picks: their numbers among these, in the order in which they were drawn.
        before: bool of each of ``vertices``, whether it had a budget at the layer before.
    """

    vertices: np.ndarray
    squares: np.ndarray
    picks: np.ndarray
    before: np.ndarray

    @property
    def chosen(self) -> np.ndarray:
        """The squares of those that were drawn."""
        return self.squares[self.picks]

    @property
    def left(self) -> np.ndarray:
        """The sum of the squares of those that were left at each draw."""
        others = np.delete(self.squares, self.picks).sum()
        left: np.ndarray = others + np.cumsum(self.chosen[::-1])[::-1]
        return left

    def places(self, order: np.ndarray, random: np.ndarray) -> np.ndarray:
        """The place in [0, 1] of each draw in its law, with the vertices in this order, and at ``random`` in its own
        part.
        """
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        upto, mine = np.cumsum(self.squares[order]), rank[self.picks]
        earlier = np.tril(mine[None, :] < mine[:, None], -1)  # of draws before this one, those in front of it
        before = upto[mine] - self.chosen - earlier @ self.chosen
        return np.clip((before + random * self.chosen) / self.left, 0.0, 1.0)

    def of(self, known: np.ndarray) -> tuple[float, float]:
        """How many draws are of a set, bool of each vertex, beyond what is expected; and the variance of that."""
        inside = known[self.picks]
        mass = np.where(known, self.squares, 0.0).sum() - np.cumsum(self.chosen * inside) + self.chosen * inside
        chance = np.clip(mass / self.left, 0.0, 1.0)
        return float((inside - chance).sum()), float((chance * (1.0 - chance)).sum())


class Budgets:
    """The budgets of a mini-batch, from the rows of a graph, in 64-bit floats."""

    def __init__(self, subject: Subject) -> None:
        view, types = subject.view, subject.store.stored.types
        self.indptr, self.indices, self.degree = view.indptr, view.indices, subject.degree
        self.relation = subject.graph.columns[RELATION.name].astype(np.int64) if types is not None else None
        self.relations = 1 if types is None else len(types.relations)
        self.bounds = np.array([0, view.vertices] if types is None else types.bounds, np.int64)
        self.wanted = sizes_of_types(subject.algorithm)
        self.given, self.sampled = np.zeros(view.vertices), np.zeros(view.vertices, bool)
        algorithm = subject.algorithm
        self.rule = algorithm if isinstance(algorithm, InTime) and algorithm.time_strategy is not None else None
        self.times = np.zeros(0, np.int64) if self.rule is None else view.columns[TIME].astype(np.int64)

    def kind(self, vertices: np.ndarray) -> np.ndarray:
        """The number of the type of each vertex."""
        return np.searchsorted(self.bounds, vertices, side="right") - 1

    def edges(self, vertices: np.ndarray, now: int) -> tuple[np.ndarray, np.ndarray]:
        """The edges of all rows of some vertices, in time those that a mini-batch of the time ``now`` may have, and the
        number of the vertex among them that each is of.
        """
        degree = self.degree[vertices]
        row = np.repeat(np.arange(vertices.size), degree)
        edge = np.arange(row.size) + np.repeat(self.indptr[vertices] - np.cumsum(degree) + degree, degree)
        early = self.early(edge, np.full(edge.size, now, np.int64))
        return edge[early], row[early]

    def early(self, edge: np.ndarray, now: np.ndarray) -> np.ndarray:
        """bool of each edge: whether a mini-batch of the time ``now`` of each may have it."""
        if self.rule is None:
            return np.ones(edge.size, bool)
        times = self.times[edge]
        early: np.ndarray = times < now if self.rule.time_order == "strict" else times <= now
        if self.rule.time_window is not None:
            early &= now.astype(np.uint64) - times.astype(np.uint64) <= np.uint64(self.rule.time_window)
        return early

    def follow(self, vertices: np.ndarray, layer: np.ndarray, now: int = 0) -> Iterator[tuple[int, int, Draws]]:
        """Yield layer, type and draws of a mini-batch of the time ``now``, whose ``vertices`` are seeds and then those
        of each ``layer``, from 1 on, in order. Draws of vertices without a budget have a pick of -1.
        """
        touched = np.zeros(0, np.int64)
        try:
            for number, wanted in enumerate(self.wanted):
                here, old = distinct(vertices[layer == number]), touched
                self.sampled[here] = True
                touched = np.union1d(touched, self._give(here, now))
                able = touched[~self.sampled[touched]]
                drawn, kinds = vertices[layer == number + 1], self.kind(able)
                for kind in range(wanted.size):
                    pool, picked = able[kinds == kind], drawn[self.kind(drawn) == kind]
                    at = np.minimum(np.searchsorted(pool, picked), max(pool.size - 1, 0))
                    found = pool[at] == picked if pool.size else np.zeros(picked.size, bool)
                    yield number, kind, Draws(pool, self.given[pool] ** 2, np.where(found, at, -1), np.isin(pool, old))
        finally:
            self.given[touched], self.sampled[vertices] = 0.0, False

    def _give(self, vertices: np.ndarray, now: int) -> np.ndarray:
        """Give each neighbor of these vertices its shares, and return the neighbors."""
        edge, row = self.edges(vertices, now)
        key = row * self.relations + (0 if self.relation is None else self.relation[edge])
        share = 1.0 / np.bincount(key, minlength=1)[key]
        ends: np.ndarray = self.indices[edge].astype(np.int64)
        np.add.at(self.given, ends, share)
        return ends


class Law:
    """The draws of as many mini-batches as the budget allows, and their edges."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.budgets = subject, Budgets(subject)
        self.wrong = dict.fromkeys(OF_LAW, 0)
        self.random, self.drawn = np.random.default_rng(PLACES), 0
        self.places: dict[str, list[np.ndarray]] = {name: [] for name in ("budgets", "degrees", "vertices")}
        self.again, self.later = np.zeros(3), np.zeros(3)  # excess, variance and number of draws
        self.last: dict[tuple[int, int], np.ndarray] = {}  # drawn by the mini-batch before, by layer and type

    def add(self, nodes: Nodes, nows: np.ndarray) -> None:
        """Check the first mini-batches of a group, until its share of the budget is spent. ``nows``: their times."""
        subject = self.subject
        share = subject.budget * QUICKER * nodes.first.size / max(1, subject.samples.instances)
        ends = np.append(nodes.first, nodes.vertex.size)
        of_edges = np.searchsorted(nodes.of_edge, np.arange(nodes.first.size + 1))
        for i in range(nodes.first.size):
            go_on()
            here, edges = slice(ends[i], ends[i + 1]), slice(of_edges[i], of_edges[i + 1])
            vertices, layer = nodes.vertex[here], nodes.hop[here]
            now = int(nows[i])
            self._edges(vertices, nodes.e_id[edges], now)
            drawn = {}
            for number, kind, draws in self.budgets.follow(vertices, layer, now):
                drawn[number, kind] = draws.vertices[draws.picks[draws.picks >= 0]]
                self._note(number, kind, draws)
            self.last = drawn
            share -= self.subject.degree[vertices].sum() + vertices.size
            if share < 0:
                break

    def _edges(self, vertices: np.ndarray, e_id: np.ndarray, now: int) -> None:
        """Compare the edges of a mini-batch with all those among its vertices that it may have."""
        members = distinct(vertices)
        edge, _ = self.budgets.edges(members, now)
        ends = self.budgets.indices[edge].astype(np.int64)
        at = np.minimum(np.searchsorted(members, ends), members.size - 1)
        expected = edge[members[at] == ends] if members.size else edge
        self.wrong["all edges"] += int(not np.array_equal(expected, np.sort(e_id)))

    def _note(self, number: int, kind: int, draws: Draws) -> None:
        asked = min(int(self.budgets.wanted[number, kind]), draws.vertices.size)
        self.wrong["sizes"] += int(draws.picks.size != asked)
        strays = int((draws.picks < 0).sum())
        self.wrong["budgets"] += strays
        if strays or not draws.picks.size or distinct(draws.picks).size < draws.picks.size:
            return
        random = self.random.random(draws.picks.size)
        degree = self.subject.degree[draws.vertices]
        for name, key in (("budgets", draws.squares), ("degrees", degree), ("vertices", draws.vertices)):
            self.places[name].append(draws.places(np.argsort(key, kind="stable"), random))
        self.drawn += draws.picks.size
        if (before := self.last.get((number, kind))) is not None:
            self.again += *draws.of(np.isin(draws.vertices, before)), draws.picks.size
        self.later += *draws.of(draws.before), draws.picks.size

    def judge(self, checks: Checks) -> None:
        """Add the checks of all draws."""
        for name, count in self.wrong.items():
            checks.count(name, count, OF_LAW[name])
        places = {name: np.concatenate([np.zeros(0), *found]) for name, found in self.places.items()}
        deviation = "vertices drawn moved to one of some ranges of {}"
        results = [one for name, each in places.items() for one in _even(each, deviation.format(name))]
        details = f"{self.drawn:,} vertices drawn by the squares of their budgets"
        checks.results("neighbors", results, details, FEW)
        following = independence(places["budgets"])
        checks.results("neighbors, independence", following, "each vertex with the next one", FEW)
        pairs = (
            (self.again, "vertices drawn that the mini-batch before has drawn, too"),
            (self.later, "vertices drawn that could be drawn at the layer before"),
        )
        results = [one for (excess, variance, n), said in pairs for one in normal_sum(excess, variance, n, said)]
        checks.results("layers, independence", results, "each layer and mini-batch with the one before", FEW)


class Times:
    """The times of mini-batches, one for each, and of their seeds and edges."""

    said: ClassVar[dict[str, str]] = {
        "order": "edges at a time that may not be in their mini-batch",
        "shared times": "mini-batches whose seeds have different times",
    }

    def __init__(self, subject: Subject, budgets: Budgets) -> None:
        self.budgets, self.wrong = budgets, dict.fromkeys(self.said, 0)
        self.seeds = SeedTimes(subject) if budgets.rule is not None else None

    def add(self, nodes: Nodes, arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, int]:
        """Check a group; return the time of each mini-batch, and how many edges have another time than they say."""
        if self.seeds is None:
            return np.zeros(nodes.first.size, np.int64), 0
        seed_time, times, counts = arrays[SEED_TIME], self.budgets.times, nodes.hop_nodes[:, 0]
        self.seeds.add(arrays["input_id"], seed_time)
        nows, of_seeds = np.zeros(counts.size, np.int64), np.repeat(np.arange(counts.size), counts)
        nows[of_seeds] = seed_time  # of each mini-batch, the time of its last seed
        self.wrong["shared times"] += np.unique(of_seeds[seed_time != nows[of_seeds]]).size
        inside = (nodes.e_id >= 0) & (nodes.e_id < times.size)
        edge = nodes.e_id[inside]
        self.wrong["order"] += int((~self.budgets.early(edge, nows[nodes.of_edge[inside]])).sum())
        return nows, int((times[edge] != arrays[TIME][inside]).sum())

    def judge(self, checks: Checks) -> None:
        """Add the checks of all times, of samples in time."""
        if self.seeds is None:
            return
        self.seeds.judge(checks)
        for name, count in self.wrong.items():
            checks.count(name, count, self.said[name])


def _even(places: np.ndarray, deviation: str) -> list[Result]:
    return even(places, BINS, deviation) if places.size else []


def verify_budgets(subject: Subject, checks: Checks) -> None:
    """Check mini-batches node by node and edge by edge, the order of their seeds, and the law of every layer."""
    algorithm = subject.traversal
    assert isinstance(algorithm, MiniBatches)
    _require_types(subject)
    wrong = dict.fromkeys(SAID, 0)
    seeds, law = Seeds(subject, algorithm), Law(subject)
    times = Times(subject, law.budgets)
    for nodes, arrays in known_nodes(subject, seeds, wrong):
        relation = arrays.get(RELATION.name, np.zeros(nodes.e_id.size, np.uint8)).astype(np.int64)
        nows, at_other_times = times.add(nodes, arrays)
        wrong["edges"] += wrong_edges(subject, nodes) + _wrong_relations(law.budgets, nodes, relation) + at_other_times
        wrong["nodes"] += _wrong_nodes(subject, nodes, law.budgets)
        wrong["hops"] += _wrong_hops(nodes, relation)
        law.add(nodes, nows)
    wrong["seeds"] += seeds.judged()
    for name, count in wrong.items():
        checks.count(name, count, SAID[name])
    seeds.judge_labels(checks)
    times.judge(checks)
    law.judge(checks)


def _require_types(subject: Subject) -> None:
    """StoreError if the request has numbers of other types than those of the graph."""
    numbers = numbers_of(subject.algorithm)
    try:
        if numbers_in_full(numbers, subject.store) == numbers:
            return
        said = "num-samples: expected the numbers of all types of the graph"
    except OptionError as error:
        said = str(error).removeprefix("--")
    raise StoreError(f"{subject.samples.path}/zarr.json: {said}; make the sample again")


def _wrong_relations(budgets: Budgets, nodes: Nodes, relation: np.ndarray) -> int:
    """Number of edges of another relation than they say."""
    if budgets.relation is None:
        return 0
    inside = (nodes.e_id >= 0) & (nodes.e_id < budgets.relation.size)
    return int((budgets.relation[nodes.e_id[inside]] != relation[inside]).sum())


def _wrong_nodes(subject: Subject, nodes: Nodes, budgets: Budgets) -> int:
    """Number of vertices that were drawn although they are there already, of drawn ones that come after a later type of
    their layer, and of edges that do not join the first nodes of their vertices.
    """
    _, first, number = np.unique(
        nodes.instance * subject.view.vertices + nodes.vertex, return_index=True, return_inverse=True
    )
    mine = first[number]
    twice = int(((mine != np.arange(mine.size)) & (nodes.hop > 0)).sum())
    astray = int((mine[nodes.row] != nodes.row).sum() + (mine[nodes.col] != nodes.col).sum())
    drawn = nodes.hop > 0
    place = (nodes.instance * nodes.hop_nodes.shape[1] + nodes.hop) * (budgets.bounds.size - 1)
    return twice + astray + int((np.diff((place + budgets.kind(nodes.vertex))[drawn]) < 0).sum())


def _wrong_hops(nodes: Nodes, relation: np.ndarray) -> int:
    """Number of edges whose hop is not the one after which both ends are there, or that are not in order of hop, node,
    relation and place.
    """
    later = np.maximum(np.maximum(nodes.hop[nodes.row], nodes.hop[nodes.col]) - 1, 0)
    order = np.lexsort((nodes.e_id, relation, nodes.col, nodes.edge_hop, nodes.of_edge))
    return int((later != nodes.edge_hop).sum() + (order != np.arange(order.size)).sum())
