"""Checks of samples of layers: their vertices fit the law, and the edges between layers are all there, with their
weights.
"""

import numpy as np

from csaw.engine.api.bases import MatrixEntries
from csaw.engine.api.law import edge_biases, squared_entries
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.entries import Entries
from csaw.engine.verify.groups import MOVED, Group, groups
from csaw.engine.verify.overlap import Overlaps, add_draws
from csaw.engine.verify.pooled import independence
from csaw.engine.verify.statistics import BINS, Result, even, evenly
from csaw.partition.base.sorting import distinct

QUICKER = 50  # times as fast as biases evaluated in Python: entries by a closed form
LARGE = 1e100  # a bias beyond which sums of biases, and their products, may not be finite
PLACES = 20240302  # seed, fixed: the verdict on a sample never changes
STEP = 2.0**-149  # from one number of 32 bits to the next where they are smallest
SIZES = "layers with a wrong number of vertices"
EDGES = "layers whose edges are not all those between their vertices, with the weights that follow from the draws"


def verify_layers(subject: Subject, checks: Checks) -> None:
    """Check layers: sources, sizes, edges with weights and stored chances; then the law of the draws."""
    algorithm = subject.traversal
    wrong = dict.fromkeys(("edges", "sources", "repeats"), 0)
    biases = matrix_biases(subject)
    law = None if biases is None else (WholeGraph if algorithm.draws_from == "vertices" else Frontiers)(subject, biases)
    for group in groups(subject, checks, wrong):
        wrong["repeats"] += 0 if algorithm.replace else _twice(subject, group)
        if law is not None:
            law.add(group)
    checks.count("edges", wrong["edges"], "sampled edges that are not in the graph")
    checks.count("sources", wrong["sources"], "sources that are missing or wrong")
    checks.count("repeats", wrong["repeats"], "vertices drawn twice in a layer without replacement")
    if law is None:
        checks.not_tested(
            "layers",
            f"{subject.store.edges:,} edges have biases of the user's own, which take too long to evaluate",
            True,
        )
        return
    checks.count("sizes", law.wrong["sizes"], SIZES)
    checks.count("layers", law.wrong["edges"], EDGES)
    checks.count("probabilities", law.wrong["probabilities"], "vertices whose probability does not match their law")
    law.judge(checks)


def _twice(subject: Subject, group: Group) -> int:
    """Number of vertices of a group that are in the same layer of the same instance as one before."""
    counts = group.arrays["vertex_counts"]
    drawn = np.repeat(np.arange(counts.size), counts), group.arrays["layer"], subject.dense(group.arrays["vertices"])
    order = np.lexsort(drawn)
    same = [of[order[1:]] == of[order[:-1]] for of in drawn]
    return int(np.logical_and.reduce(same).sum())


def matrix_biases(subject: Subject) -> np.ndarray | None:
    """float64 [edges]: the bias of each stored edge; None if there are too many to evaluate them one by one."""
    view, algorithm = subject.view, subject.algorithm
    if type(algorithm).edge_bias is not MatrixEntries.edge_bias:
        if subject.store.edges > subject.budget:
            return None
        return np.array([bias for v in range(view.vertices) for _, bias in edge_biases(view, algorithm, v)], np.float64)
    assert isinstance(algorithm, MatrixEntries)
    return squared_entries(view.indptr, view.indices, view.weights, algorithm.normalize)


class Layered:
    """The layers of as many instances as the budget allows, compared with all edges of their frontiers."""

    def __init__(self, subject: Subject, biases: np.ndarray) -> None:
        self.subject, self.algorithm, self.biases = subject, subject.traversal, biases
        self.wrong = dict.fromkeys(("sizes", "edges", "probabilities"), 0)

    def add(self, group: Group) -> None:
        """Check the first instances of a group, until its share of the budget is spent."""
        share = self.subject.budget * QUICKER * len(group.counts) / max(1, self.subject.samples.instances)
        arrays = group.arrays
        vertices = self.subject.dense(arrays["vertices"])
        ends = [np.cumsum([0, *counts]) for counts in (group.counts, group.source_counts, arrays["vertex_counts"])]
        for i in range(len(group.counts)):
            edges, sources, drawn = (slice(end[i], end[i + 1]) for end in ends)
            frontier = distinct(group.sources[sources])
            for depth, size in enumerate(self.algorithm.sizes()):
                layer = np.flatnonzero(arrays["layer"][drawn] == depth + 1) + drawn.start
                here = np.flatnonzero(group.depth[edges] == depth) + edges.start
                picks, chance = vertices[layer], arrays["probability"][layer]
                rows = self._rows(frontier)
                self._sizes(rows, picks, size)
                kept = np.stack([group.src[here], group.dst[here]]), arrays["weight"][here]
                self._edges(rows, kept, picks, chance)
                self.note(frontier, rows, picks, chance)
                share -= rows[0].size + frontier.size
                frontier = distinct(picks)
            if share < 0:
                break

    def _rows(self, frontier: np.ndarray) -> tuple[np.ndarray, ...]:
        """Both ends of the frontier's edges of biases above 0, and these biases."""
        view, degree = self.subject.view, self.subject.degree[frontier]
        at = np.arange(degree.sum()) + np.repeat(view.indptr[frontier] - np.cumsum(degree) + degree, degree)
        at, src = at[self.biases[at] > 0.0], np.repeat(frontier, degree)[self.biases[at] > 0.0]
        return src, view.indices[at].astype(np.int64), self.biases[at]

    def possible(self, rows: tuple[np.ndarray, ...]) -> int:
        """Number of vertices that may be drawn."""
        raise NotImplementedError

    def _sizes(self, rows: tuple[np.ndarray, ...], picks: np.ndarray, size: int) -> None:
        many = self.possible(rows)
        asked = size * (many > 0) if self.algorithm.replace else min(size, many)
        self.wrong["sizes"] += int(picks.size != asked)

    def _edges(
        self, rows: tuple[np.ndarray, ...], kept: tuple[np.ndarray, np.ndarray], picks: np.ndarray, chance: np.ndarray
    ) -> None:
        """Compare the edges of a depth with all those to the vertices that were drawn."""
        drawn, first, times = np.unique(picks, return_index=True, return_counts=True)
        at = np.searchsorted(drawn, rows[1])
        inside = np.flatnonzero(np.append(drawn, -1)[at] == rows[1])
        at = at[inside]
        weight = np.sqrt(rows[2][inside]) * times[at] / (picks.size * chance[first[at]])
        expected = _ordered(np.stack([rows[0][inside], rows[1][inside]]), weight)
        found = _ordered(*kept)
        same = expected[0].shape == found[0].shape and (expected[0] == found[0]).all()
        self.wrong["edges"] += int(not (same and np.allclose(expected[1], found[1], 1e-6, STEP)))

    def note(self, frontier: np.ndarray, rows: tuple[np.ndarray, ...], picks: np.ndarray, chance: np.ndarray) -> None:
        """Note the draws of a layer for the tests of their law, and check the chances that are stored with them."""
        raise NotImplementedError

    def compare(
        self, chance: np.ndarray, sums: np.ndarray, edges: np.ndarray, largest: float, count: int, total: float
    ) -> None:
        """Compare stored chances with ``sums / total``.

        ``edges``: how many biases are in each sum, each of which became an integer.
        """
        step = 2.0 * largest * count * 2.0**-61
        far = np.abs(chance * total - sums) > edges * step + 1e-9 * sums + chance * count * step
        self.wrong["probabilities"] += int(far.sum())


def _ordered(ends: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort((weight, ends[1], ends[0]))
    return ends[:, order], weight[order]


class Frontiers(Layered):
    """Layers that are drawn from the neighbors of the layer before."""

    def __init__(self, subject: Subject, biases: np.ndarray) -> None:
        super().__init__(subject, biases)
        self.entries, self.left = Entries(subject), subject.budget

    def possible(self, rows: tuple[np.ndarray, ...]) -> int:
        return distinct(rows[1]).size

    def note(self, frontier: np.ndarray, rows: tuple[np.ndarray, ...], picks: np.ndarray, chance: np.ndarray) -> None:
        vertices, place, edges = np.unique(rows[1], return_inverse=True, return_counts=True)
        sums = np.bincount(place, rows[2], vertices.size)
        at = np.minimum(np.searchsorted(vertices, picks), max(vertices.size - 1, 0))
        if picks.size and (not vertices.size or (vertices[at] != picks).any()):
            self.wrong["probabilities"] += 1
            return
        self.compare(chance, sums[at], edges[at], float(rows[2].max(initial=0.0)), rows[2].size, float(sums.sum()))
        self.left -= vertices.size
        if self.left < 0:
            return
        self.entries.note_pool(
            tuple(frontier.tolist()), list(zip(vertices.tolist(), sums.tolist(), strict=True)), picks.tolist()
        )

    def judge(self, checks: Checks) -> None:
        self.entries.judge(checks)


def moderate(biases: np.ndarray) -> np.ndarray:
    """The biases, or their shares of the largest where sums of them may not be finite: only shares count."""
    largest = float(biases.max(initial=0.0))
    return biases / largest if largest > LARGE else biases


class WholeGraph(Layered):
    """Layers that are drawn from all vertices."""

    def __init__(self, subject: Subject, biases: np.ndarray) -> None:
        biases = moderate(biases)
        super().__init__(subject, biases)
        indices, vertices = subject.view.indices, subject.view.vertices
        self.sums = np.bincount(indices, biases, vertices)
        self.edges = np.bincount(indices, minlength=vertices)
        self.picks: list[np.ndarray] = []

    def possible(self, rows: tuple[np.ndarray, ...]) -> int:
        return int((self.sums > 0.0).sum())

    def note(self, frontier: np.ndarray, rows: tuple[np.ndarray, ...], picks: np.ndarray, chance: np.ndarray) -> None:
        largest = float(self.biases.max(initial=0.0))
        self.compare(chance, self.sums[picks], self.edges[picks], largest, self.biases.size, float(self.sums.sum()))
        self.picks.append(picks)

    def judge(self, checks: Checks) -> None:
        """Add the tests of the draws, which are independent, by ranges of vertices, by their places in the law, and by
        pairs.
        """
        picks = np.concatenate([np.zeros(0, np.int64), *self.picks])
        drawn = np.bincount(picks, minlength=self.sums.size)
        upto, total = np.cumsum(self.sums), float(self.sums.sum())
        place = (upto[picks] - self.sums[picks] * np.random.default_rng(PLACES).random(picks.size)) / max(total, 1e-300)
        deviation = MOVED.format("vertices drawn", "vertices")
        results = evenly(drawn, 0, deviation, self.sums) + (
            even(np.clip(place, 0.0, 1.0), BINS, deviation) if picks.size else []
        )
        few = "too few vertices drawn"
        checks.results("neighbors", results, f"{picks.size:,} vertices drawn by the norms of their columns", few)
        checks.results("neighbors, independence", independence(place), "each vertex with the next one", few)
        checks.results("layers, independence", self._overlaps(total), "each layer and instance with the next one", few)

    def _overlaps(self, total: float) -> list[Result]:
        """How many vertices of a layer the one before has, too, and how many of an instance the one before has."""
        layers, each = self.picks, len(self.algorithm.sizes())
        whole = [np.concatenate(layers[i : i + each]) for i in range(0, len(layers), each)] if each > 1 else []
        return [
            result
            for draws, of in ((layers, "layer"), (whole, "instance"))
            for result in add_draws(
                Overlaps(self.sums.size, total, f"vertices of the {of} before", replace=True), draws, self.sums
            )
        ]
