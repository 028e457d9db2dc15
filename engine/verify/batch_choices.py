"""The nodes of mini-batches, and what they select: as many edges as they may, by the law of the neighbors, and of
several edges to one neighbor each by its bias.
"""

from typing import Any

import numpy as np

from csaw.engine.api.algorithm import NONE
from csaw.engine.api.law import edge_biases, of_largest
from csaw.engine.verify.checks import Checks, Subject, statistics
from csaw.engine.verify.neighbors_in_time import one_of
from csaw.engine.verify.statistics import Choices
from csaw.engine.verify.tables import Laws
from csaw.engine.verify.trees import fits, unexplained
from csaw.engine.verify.walk_pass import one_in

BESIDE = 64  # nodes that the statistics use together, because they also compare nodes that follow each other


class Nodes:
    """The mini-batches of one group in dense ids, with nodes counted through all of them: node k of a mini-batch is
    number ``first`` + k.
    """

    def __init__(self, subject: Subject, start: int, arrays: dict[str, np.ndarray]) -> None:
        self.start, self.hop_nodes, self.hop_edges = start, arrays["hop_nodes"], arrays["hop_edges"]
        counts, hops = arrays["node_counts"], self.hop_nodes.shape[1]
        self.first = np.cumsum(counts) - counts
        self.instance = np.repeat(np.arange(counts.size), counts)
        self.of_edge = np.repeat(np.arange(counts.size), arrays["edge_counts"])
        self.vertex = subject.dense(arrays["n_id"])
        self.hop = np.repeat(np.tile(np.arange(hops), counts.size), self.hop_nodes.ravel())
        self.edge_hop = np.repeat(np.tile(np.arange(hops - 1), counts.size), self.hop_edges.ravel())
        self.row, self.col = (arrays[name] + self.first[self.of_edge] for name in ("row", "col"))
        self.e_id, self.input_id = arrays["e_id"], arrays["input_id"]
        self.seed = arrays.get("batch", np.zeros(self.vertex.size, np.int32)).astype(np.int64)
        self.seeds = np.flatnonzero(self.hop == 0)
        self.selected = np.bincount(self.col, minlength=self.vertex.size)
        self.numbers = np.arange(self.vertex.size) // BESIDE + (start % (1 << 22) << 40)  # by which some are kept


class BatchChoices:
    """The choices of mini-batches that are not in time."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.wrong_sizes = subject, 0
        self.sizes = np.append(subject.traversal.sizes(), 0).astype(np.int64)
        self.kept: list[tuple[np.ndarray, ...]] = []
        self.parallel = ParallelEdges(subject) if subject.store.multigraph else None

    def add(self, nodes: Nodes, arrays: dict[str, np.ndarray]) -> None:
        """Count nodes that selected another number of edges than they may, and keep what some nodes selected."""
        subject, replace = self.subject, self.subject.traversal.replace
        degree, asked = subject.degree[nodes.vertex], self.sizes[nodes.hop]
        limited = np.where(degree > 0, asked, 0) if replace else np.minimum(asked, degree)
        most = np.where(asked < 0, degree, limited)
        few = np.flatnonzero(nodes.selected < most)
        situations = _situations(subject, nodes)
        self.wrong_sizes += int((nodes.selected > most).sum()) + unexplained(subject, situations[few])
        some = one_in(one_of(subject, nodes.vertex.size, nodes.first.size), nodes.numbers)
        self._keep(nodes, situations, some)
        if self.parallel is not None:
            alone = (asked > 0) if replace else (asked == 1)
            self.parallel.add(nodes, situations, (some & alone)[nodes.col])

    def _keep(self, nodes: Nodes, situations: np.ndarray, some: np.ndarray) -> None:
        """Keep the neighbors that ``some`` nodes selected, hop by hop."""
        begin = np.concatenate([[0], np.cumsum(nodes.selected)])
        order = np.argsort(nodes.col, kind="stable")
        ends = nodes.vertex[nodes.row[order]]
        for hop, size in enumerate(self.subject.traversal.sizes()):
            if size <= 0:  # nothing is chosen
                continue
            here = np.flatnonzero((nodes.hop == hop) & (nodes.selected <= size) & some)
            places = np.arange(min(size, nodes.selected[here].max(initial=0)))
            cells = begin[here][:, None] + places
            there = places < nodes.selected[here][:, None]
            chosen = np.where(there, ends[np.where(there, cells, 0)] if ends.size else NONE, NONE)
            self.kept.append((situations[here], chosen, np.full(here.size, hop)))

    def hand_over(self, wrong: dict[str, int]) -> None:
        """Add to the faults of mini-batches those of the same names."""
        wrong["sizes"] += self.wrong_sizes

    def judge(self, checks: Checks) -> None:
        fits(self.subject, checks, self.kept)
        if self.parallel is not None:
            self.parallel.judge(checks)


class ParallelEdges:
    """Edges that were selected one by one, where there are several to the same neighbor: each by its share of their
    biases.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        indptr, indices = subject.view.indptr, subject.view.indices
        fresh = np.ones(indices.size, np.bool_)
        fresh[1:] = indices[1:] != indices[:-1]
        fresh[indptr[:-1][subject.degree > 0]] = True
        self.run = np.cumsum(fresh) - 1  # of each stored edge: the number of the run of edges to one neighbor
        self.begin = np.append(np.flatnonzero(fresh), indices.size)
        self.kept: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, nodes: Nodes, situations: np.ndarray, edges: np.ndarray) -> None:
        """Keep those of ``edges`` [edges of the group] that have others beside them."""
        indptr, vertex, e_id = self.subject.view.indptr, nodes.vertex[nodes.col], nodes.e_id
        here = np.flatnonzero(edges & (e_id >= indptr[vertex]) & (e_id < indptr[vertex + 1]))
        run = self.run[e_id[here]]
        beside = self.begin[run + 1] - self.begin[run] > 1
        here, run = here[beside], run[beside]
        self.kept.append((np.column_stack([situations[nodes.col[here]], run]), e_id[here].astype(np.int64)))

    def judge(self, checks: Checks) -> None:
        """Add the tests of all choices, where there are any."""
        if not sum(chosen.size for _, chosen in self.kept):
            return
        rows, chosen = (np.concatenate(part) for part in zip(*self.kept, strict=True))
        known, number = np.unique(rows, axis=0, return_inverse=True)
        begin, end = self.begin[known[:, -1]], self.begin[known[:, -1] + 1]
        subject = self.subject

        def law(one: int) -> dict[int, float]:
            v, *others = known[one, :-1].tolist()
            named: dict[str, Any] = dict(zip(subject.columns[1:], others, strict=True))
            row, first, last = (int(at) for at in (subject.view.indptr[v], begin[one], end[one]))
            biases = edge_biases(subject.view, subject.algorithm, v, **named)[first - row : last - row]
            if not any(bias > 0.0 for _, bias in biases):
                return {NONE: 1.0}
            shares = [share for _, share in of_largest(biases)]
            total = sum(shares)
            return {first + k: share / total for k, share in enumerate(shares)}

        laws = Laws(law, lambda rows: subject.degree[known[rows[:, 0], 0]] + 1, subject.budget)
        choices = Choices(number.reshape(-1, 1).astype(np.int64), chosen, ("pool",))
        statistics(checks, choices, laws, end - begin, "parallel edges")


def _situations(subject: Subject, nodes: Nodes) -> np.ndarray:
    """Return the numbers that the bias of each node's edges may read, int64 [nodes, columns]."""
    previous = np.full(nodes.vertex.size, NONE)
    met, edge = np.unique(nodes.row, return_index=True)
    later = nodes.hop[met] > 0
    previous[met[later]] = nodes.vertex[nodes.col[edge[later]]]
    known = {
        "v": nodes.vertex,
        "prev": previous,
        "source": nodes.vertex[nodes.first[nodes.instance]],
        "depth": nodes.hop,
        "instance": nodes.instance + nodes.start,
    }
    return np.column_stack([known[name] for name in subject.columns]).astype(np.int64)
