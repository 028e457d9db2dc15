"""Checks that mini-batches are what neighbor sampling may draw: seeds, edges, numbers of nodes, hops, sizes, repeats,
and the law of every choice.
"""

import numpy as np

from csaw.engine.api.algorithm import NONE, MiniBatches
from csaw.engine.api.starts import SourceKind
from csaw.engine.samples.layouts.declared import SEED_TIME, TIME
from csaw.engine.sources.digest import digest_of
from csaw.engine.sources.drawn_seeds import DrawnSeeds, order_of
from csaw.engine.sources.given_sources import LABELS
from csaw.engine.sources.seeds import SeedOrder
from csaw.engine.verify.batch_choices import BatchChoices, Nodes
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.course import passed
from csaw.engine.verify.drawn_seeds import SeedDraws
from csaw.engine.verify.layouts_in_time import SeedTimes
from csaw.engine.verify.neighbors_in_time import InTime, Selections, one_of

SAID = {
    "seeds": "seeds missing or other than asked for",
    "edges": "edges that are not where e_id says, between the vertices of their nodes",
    "nodes": "nodes that are not numbered in the order of first meeting, or are there twice",
    "hops": "edges whose col is no node of the hop before, or out of order",
    "sizes": "nodes with another number of edges than the fanout allows",
    "repeats": "edges selected twice without replacement",
}


class Labels:
    """The label at each position of the list of sources, as far as seeds have shown it, and the number of seeds with
    another one than a seed before.
    """

    def __init__(self, asked: str, listed: int) -> None:
        self.asked, self.label, self.wrong = asked, np.full(listed, np.nan), 0

    @classmethod
    def of(cls, subject: Subject, listed: int) -> "Labels | None":
        """Make the labels to check; None where neither the request nor the store has any."""
        asked = subject.asked.labels
        return None if not asked and LABELS not in subject.samples else cls(asked, listed)

    def add(self, arrays: dict[str, np.ndarray]) -> None:
        """Compare the labels of a group's seeds with those of seeds at the same positions."""
        if LABELS not in arrays:
            self.wrong += arrays["input_id"].size
            return
        inside = (arrays["input_id"] >= 0) & (arrays["input_id"] < self.label.size)
        position, label = arrays["input_id"][inside], arrays[LABELS][inside]
        new = np.isnan(self.label[position])
        self.label[position[new]] = label[new]
        self.wrong += int((~inside).sum() + (self.label[position] != label).sum())

    def judged(self) -> int:
        """The number of wrong labels, with 1 more if all are known and are not those that were asked for."""
        return self.wrong + int(not np.isnan(self.label).any() and digest_of(self.label) != self.asked)


def verify_batches(subject: Subject, checks: Checks) -> None:
    """Check mini-batches node by node and edge by edge, the order of their seeds, and the law of what each node
    selected.
    """
    wrong = dict.fromkeys(SAID, 0)
    algorithm = subject.traversal
    assert isinstance(algorithm, MiniBatches)
    listed = subject.view.vertices if subject.asked.count is None else subject.asked.count
    draws = SeedDraws(subject) if algorithm.draws_seeds else None
    order = _order(subject, algorithm, listed)
    source = np.full(listed, NONE, np.int64)  # the vertex at each position of the list, as far as seeds have shown it
    labels = Labels.of(subject, listed)
    choices = BatchChoices(subject) if algorithm.time_strategy is None else BatchesInTime(subject)
    for start, arrays in passed(subject.samples, watch=subject.watch):
        nodes = Nodes(subject, subject.samples.first + start, arrays)
        wrong["seeds"] += _wrong_seeds(subject, nodes, order, source)
        if labels is not None:
            labels.add(arrays)
        if nodes.vertex.min(initial=0) < 0:
            wrong["edges"] += int((nodes.vertex < 0).sum())
            continue
        if draws is not None:
            draws.add(nodes.vertex[nodes.seeds], nodes.hop_nodes[:, 0], arrays)
        wrong["edges"] += _wrong_edges(subject, nodes)
        wrong["nodes"] += _wrong_nodes(subject, nodes, algorithm.disjoint)
        wrong["hops"] += int((nodes.hop[nodes.col] != nodes.edge_hop).sum()) + _falls(nodes.col)
        if not algorithm.replace:
            wrong["repeats"] += _falls(np.sort(nodes.col * subject.store.edges + nodes.e_id), 1)
        choices.add(nodes, arrays)
    wrong["seeds"] += _other_list(subject, source)
    choices.hand_over(wrong)
    for name, count in wrong.items():
        checks.count(name, count, SAID[name])
    _judge_seeds(checks, labels, draws)
    choices.judge(checks)


def _judge_seeds(checks: Checks, labels: Labels | None, draws: SeedDraws | None) -> None:
    """Add the checks of labels and of the chances of seeds, of samples that have some."""
    if labels is not None:
        checks.count("labels", labels.judged(), "labels of seeds other than those that were given")
    if draws is not None:
        draws.judge(checks)


class BatchesInTime:
    """The choices of mini-batches in time, and the times of their seeds."""

    def __init__(self, subject: Subject) -> None:
        self.times, self.seeds, self.selected = subject.view.columns[TIME], SeedTimes(subject), InTime(subject)
        self.sizes = np.append(subject.traversal.sizes(), 0).astype(np.int64)

    def add(self, nodes: Nodes, arrays: dict[str, np.ndarray]) -> None:
        """Check a group, and that its edges have the times of their numbers."""
        seed_time, seeds = arrays[SEED_TIME], nodes.hop_nodes[:, 0]
        self.seeds.add(arrays["input_id"], seed_time)
        now = seed_time[(np.cumsum(seeds) - seeds)[nodes.instance] + nodes.seed]
        order = np.argsort(nodes.col, kind="stable")
        ends = nodes.vertex[nodes.row[order]]
        every = one_of(self.selected.subject, nodes.vertex.size, nodes.first.size)
        of_nodes = (nodes.vertex, now, self.sizes[nodes.hop], nodes.hop, nodes.numbers, every)
        self.selected.add(Selections(*of_nodes, nodes.col[order], ends, arrays[TIME][order]))
        inside = (nodes.e_id >= 0) & (nodes.e_id < self.times.size)
        self.selected.wrong["edges"] += int((self.times[nodes.e_id[inside]] != arrays[TIME][inside]).sum())

    def hand_over(self, wrong: dict[str, int]) -> None:
        """Add to the faults of mini-batches those of the same names."""
        for name in ("edges", "sizes", "repeats"):
            wrong[name] += self.selected.wrong.pop(name)

    def judge(self, checks: Checks) -> None:
        self.seeds.judge(checks)
        self.selected.judge(checks)


def _order(subject: Subject, algorithm: MiniBatches, listed: int) -> SeedOrder | DrawnSeeds | None:
    """The seeds that are asked for, of a list of so many sources; None where they are drawn from a list that is not
    known.
    """
    if algorithm.draws_seeds and not subject.starts_at_all:
        return None
    return order_of(algorithm, None, listed, int(subject.samples.manifest["request"]["seed"]))


def _falls(values: np.ndarray, least: int = 0) -> int:
    """Number of values that are not at least ``least`` above the one before."""
    return int((np.diff(values) < least).sum())


def _wrong_seeds(subject: Subject, nodes: Nodes, order: SeedOrder | DrawnSeeds | None, source: np.ndarray) -> int:
    """Number of seeds at other positions of the list than their epoch takes, or of other vertices than there; fills
    ``source`` with those that are new.
    """
    vertex = nodes.vertex[nodes.seeds]
    if order is None:
        position = np.clip(nodes.input_id, 0, source.size - 1)
    else:
        asked = order.positions(nodes.start, nodes.start + nodes.first.size)
        there = asked >= 0
        if not np.array_equal(there.sum(axis=1), nodes.hop_nodes[:, 0]):
            return int(np.abs(there.sum(axis=1) - nodes.hop_nodes[:, 0]).sum())
        position = asked[there]
    new = source[position] == NONE
    source[position[new]] = vertex[new]
    wrong = (nodes.input_id != position) | (source[position] != vertex) | (vertex < 0)
    return int((wrong | (vertex != position) if subject.starts_at_all else wrong).sum())


def _other_list(subject: Subject, source: np.ndarray) -> int:
    """1 if all sources are known and are not those that were asked for."""
    if subject.sources is not SourceKind.LIST or (source == NONE).any():
        return 0
    return int(digest_of(source) != subject.asked.digest)


def _wrong_edges(subject: Subject, nodes: Nodes) -> int:
    """Number of edges that are not in the row of the vertex that they were drawn for, or lead to another vertex than
    that of ``row``.
    """
    indptr, vertex = subject.view.indptr, nodes.vertex[nodes.col]
    inside = (nodes.e_id >= indptr[vertex]) & (nodes.e_id < indptr[vertex + 1])
    leads = subject.view.indices[np.where(inside, nodes.e_id, 0)] if subject.store.edges else nodes.e_id
    return int((~inside | (leads != nodes.vertex[nodes.row])).sum())


def _wrong_nodes(subject: Subject, nodes: Nodes, disjoint: bool) -> int:
    """Number of nodes that do not follow the one before in the order of first meeting, and of edges that do not lead to
    the first node of their vertex.
    """
    seeds = nodes.hop_nodes[:, 0]
    key = nodes.instance * subject.view.vertices + nodes.vertex
    if disjoint:
        tree = np.cumsum(seeds)[nodes.instance] - seeds[nodes.instance] + nodes.seed
        key = tree * subject.view.vertices + nodes.vertex
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    twice = (first[number] != np.arange(key.size)) & (nodes.hop > 0)
    astray = first[number][nodes.row] != nodes.row
    if disjoint:
        astray |= nodes.seed[nodes.row] != nodes.seed[nodes.col]
        twice |= (nodes.hop == 0) & (nodes.seed != np.arange(key.size) - nodes.first[nodes.instance])
    met, edge = np.unique(nodes.row, return_index=True)
    later = nodes.hop[met] > 0
    met, edge = met[later], edge[later]
    unmet = int((nodes.hop > 0).sum()) - met.size
    early = int((nodes.hop[met] != nodes.edge_hop[edge] + 1).sum())
    return int(twice.sum()) + int(astray.sum()) + unmet + early + _falls(edge)
