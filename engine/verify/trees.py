"""Checks that trees are what neighbor sampling may draw: edges, sizes, repeats, and the law of every choice."""

from typing import Any

import numpy as np

from csaw.engine.api.algorithm import NONE, Traversal
from csaw.engine.api.law import edge_biases, edge_law, of_largest
from csaw.engine.verify.checks import Checks, Subject, statistics
from csaw.engine.verify.course import LAW, passed
from csaw.engine.verify.kernels import edge_weights, multiplicity
from csaw.engine.verify.sets import Pool, SetResults, set_tests
from csaw.engine.verify.statistics import Choices
from csaw.engine.verify.tables import Laws
from csaw.engine.verify.walks import one_in
from csaw.partition.base.stages import stage

ENTRIES = 1_000_000  # frontier entries that the statistics use


def verify_hops(subject: Subject, checks: Checks) -> None:
    """Check the children of each column: they are neighbors, as many as asked for, and without replacement no edge is
    there twice.
    """
    wrong = dict.fromkeys(("sources", "edges", "sizes", "repeats"), 0)
    kept: list[tuple[np.ndarray, ...]] = []
    for start, arrays in passed(subject.samples, watch=subject.watch):
        hops = [subject.dense(array) for array in arrays.values()]
        wrong["sources"] += _wrong_sources(subject, start, hops[0])
        for depth in range(len(hops) - 1):
            _check_hop(subject, hops, depth, start, wrong, kept)
    checks.count("sources", wrong["sources"], "sources missing or other than asked for")
    checks.count("edges", wrong["edges"], "sampled edges that are not in the graph")
    checks.count("sizes", wrong["sizes"], "frontier vertices with another number of neighbors than the fanout allows")
    checks.count("repeats", wrong["repeats"], "edges selected twice without replacement")
    fits(subject, checks, kept)
    if kept and not subject.traversal.replace:
        with stage(LAW):
            _firsts(subject, checks, kept)


def _wrong_sources(subject: Subject, start: int, sources: np.ndarray) -> int:
    wrong = sources < 0
    if subject.starts_at_all:
        slots = np.arange(sources.size).reshape(sources.shape) + start * sources.shape[1]
        wrong |= sources != slots % subject.view.vertices
    return int(wrong.sum())


def _check_hop(
    subject: Subject, hops: list[np.ndarray], depth: int, start: int, wrong: dict[str, int], kept: list
) -> None:
    algorithm = subject.algorithm
    assert isinstance(algorithm, Traversal)
    size, parents = algorithm.sizes()[depth], hops[depth].ravel()
    children = hops[depth + 1].reshape(parents.size, size)
    found = (children >= 0).sum(axis=1)
    degree = np.where(parents >= 0, subject.degree[np.maximum(parents, 0)], 0)
    most = np.where(degree > 0, size, 0) if algorithm.replace else np.minimum(size, degree)
    few = np.flatnonzero(found < most)
    wrong["sizes"] += int((found > most).sum()) + unexplained(subject, _situations(subject, hops, depth, start)[few])
    wrong["edges"] += count_missing(
        subject, np.repeat(parents, size)[children.ravel() != NONE], children[children != NONE]
    )
    if not algorithm.replace:
        wrong["repeats"] += _repeats(subject, parents, children)
    if size == 0:
        return  # no choice is made
    widths = np.cumprod([1, *algorithm.sizes()])[:-1]
    every = max(1, -(-subject.samples.instances * hops[0].shape[1] * int(widths.sum()) // ENTRIES))
    instances = np.repeat(np.arange(len(hops[0])) + start, hops[depth].shape[1])
    alive = (parents >= 0) & one_in(every, instances)
    situations = _situations(subject, hops, depth, start)[alive]
    kept.append((situations, children[alive], np.full(len(situations), depth)))


def _situations(subject: Subject, hops: list[np.ndarray], depth: int, start: int) -> np.ndarray:
    width = hops[depth].shape[1]
    instances = np.repeat(np.arange(len(hops[0])), width)
    above = hops[depth - 1] if depth else np.full((len(hops[0]), 1), NONE)
    known = {
        "v": hops[depth].ravel(),
        "prev": np.repeat(above, width // max(above.shape[1], 1) if width else 0, axis=1).ravel(),
        "source": hops[0][instances, 0],
        "depth": np.full(instances.size, depth),
        "instance": instances + start,
    }
    return np.column_stack([known[name] for name in subject.columns]).astype(np.int64)


def count_missing(subject: Subject, src: np.ndarray, dst: np.ndarray) -> int:
    """Number of pairs (src, dst) that are no edge of the graph."""
    return int((copies(subject, src, dst) == 0).sum())


def unexplained(subject: Subject, situations: np.ndarray) -> int:
    """Number of situations (of the first thousand) in which fewer edges were selected than there are although no edge
    has bias 0.
    """
    if subject.uniform:
        return len(situations)
    wrong = 0
    for row in situations[:1000].tolist():
        named = dict(zip(subject.columns, row, strict=True))
        wrong += all(bias > 0.0 for _, bias in edge_biases(subject.view, subject.algorithm, named.pop("v"), **named))
    return wrong


def copies(subject: Subject, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Number of edges of the graph from each src to its dst."""
    out = np.empty(src.size, np.int64)
    multiplicity(subject.view.indptr, subject.view.indices, np.ascontiguousarray(src), np.ascontiguousarray(dst), out)
    return out


def _repeats(subject: Subject, parents: np.ndarray, children: np.ndarray) -> int:
    """Number of selections of a neighbor beyond the number of edges to it."""
    ordered = np.sort(children, axis=1)
    same = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    suspects = np.flatnonzero(same.any(axis=1))
    rows, counts = np.unique(
        np.column_stack([np.repeat(suspects, children.shape[1]), ordered[suspects].ravel()]), axis=0, return_counts=True
    )
    rows, counts = rows[rows[:, 1] >= 0], counts[rows[:, 1] >= 0]
    edges = copies(subject, parents[rows[:, 0]], rows[:, 1])
    return int(np.maximum(counts - np.maximum(edges, 1), 0).sum())


def fits(subject: Subject, checks: Checks, kept: list[tuple[np.ndarray, ...]]) -> None:
    """Test (situations, chosen neighbors): one by one with replacement, as sets without replacement."""
    if not kept:
        checks.not_tested(
            "neighbors",
            "no neighbor was drawn by chance: there is no instance or hop, or each vertex selects all of "
            "its neighbors or none",
        )
        return
    with stage(LAW):
        _fits(subject, checks, kept)


def _fits(subject: Subject, checks: Checks, kept: list[tuple[np.ndarray, ...]]) -> None:
    picks = max(k[1].shape[1] for k in kept)
    situations = np.concatenate([k[0] for k in kept])
    chosen = np.concatenate([np.pad(k[1], ((0, 0), (0, picks - k[1].shape[1])), constant_values=NONE) for k in kept])
    if subject.traversal.replace:
        _with_replacement(subject, checks, situations, chosen, np.concatenate([k[2] for k in kept]))
    else:
        _without(subject, checks, situations, chosen)


def in_turn(there: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The row and the pick of all choices that are ``there``, in an order in which one follows another of its vertex
    and the same of the vertex beside it, in turn: the tests of choices that follow each other see both.
    """
    row, pick = np.nonzero(there)
    order = np.lexsort(((row + pick) % 2, pick, row // 2))
    return row[order], pick[order]


def _with_replacement(
    subject: Subject, checks: Checks, situations: np.ndarray, chosen: np.ndarray, depth: np.ndarray
) -> None:
    nothing = (chosen < 0).all(axis=1, keepdims=True) & (np.arange(chosen.shape[1]) == 0)  # a choice too
    row, pick = in_turn((chosen >= 0) | nothing)
    before = np.where(pick > 0, chosen[row, np.maximum(pick - 1, 0)], NONE)
    weights, degree = subject.other_weights, subject.degree
    choices = Choices(situations[row], chosen[row, pick], subject.columns, depth[row], degree, weights, before)
    statistics(checks, choices, _laws(subject), degree, "neighbors")


def _laws(subject: Subject) -> Laws:
    """The laws of a neighbor that is selected from a whole row."""

    def law(v: int, *others: int) -> dict[int, float]:
        named: dict[str, Any] = dict(zip(subject.columns[1:], others, strict=True))
        return edge_law(subject.view, subject.algorithm, v, **named) or {NONE: 1.0}

    return subject.laws(law)


def _firsts(subject: Subject, checks: Checks, kept: list[tuple[np.ndarray, ...]]) -> None:
    """Test the first of several neighbors that a vertex selected of more, which is a single choice.

    Selections by bias are stored in order. Those with equal chances are not: Floyd's method takes its first pick from a
    part of the row.
    """
    if subject.uniform:
        return
    parts = []
    for situations, chosen, depth in kept:
        several = (subject.degree[situations[:, 0]] > chosen.shape[1]) & ((chosen >= 0).sum(axis=1) > 1)
        parts.append((situations[several], chosen[several, 0], depth[several]))
    situations, first, depth = (np.concatenate(part) for part in zip(*parts, strict=True))
    if first.size:
        choices = Choices(situations, first, subject.columns, depth, subject.degree, subject.other_weights)
        statistics(checks, choices, _laws(subject), subject.degree, "first of several")


def _without(subject: Subject, checks: Checks, situations: np.ndarray, chosen: np.ndarray) -> None:
    found = (chosen >= 0).sum(axis=1)
    sets = Choices(np.column_stack([situations, found]), chosen)
    rows, counts, start, order = sets.grouped

    def pool(number: int) -> Pool:
        named = dict(zip(subject.columns, rows[number].tolist(), strict=False))
        v = named.pop("v")
        biases = [one for one in edge_biases(subject.view, subject.algorithm, v, **named) if one[1] > 0.0]
        here = order[start[number] : start[number] + counts[number]]

        def beside() -> np.ndarray:
            return weights_or_degrees(subject, np.full(len(biases), v), np.array([dst for dst, _ in biases]))

        return Pool(f"v = {v}", of_largest(biases), chosen[here, : rows[number, -1]], here, beside)

    add_sets(checks, set_tests(sets, subject.degree[rows[:, 0]], pool, subject.budget // 2))


def weights_or_degrees(subject: Subject, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Weights of edges src -> dst, whether the run read them or not; where the first src is odd, and of a graph without
    weights, the degrees of their ends.
    """
    if subject.graph.weights is None or (src.size > 0 and src[0] % 2):
        return subject.degree[dst].astype(np.float64)
    return edge_weights(subject.graph, src, dst)


def add_sets(checks: Checks, results: SetResults, what: str = "neighbors") -> None:
    """Add the checks of sets that were picked without replacement."""
    few = f"too few sets of some of their pool's {'edges' if what == 'neighbors' else 'vertices'}, but not all"
    checks.situations(what, results.contexts, "sets")
    checks.results(f"{what}, pooled", results.pooled, "how often the likelier half of each pool is selected", few)
    checks.results(f"{what}, independence", results.independence, "each set beside the next one", few)
