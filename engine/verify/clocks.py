"""Checks of multidimensional walks: edges start where walkers stand, and the choices of walker
and edge fit their laws.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Protocol, cast

import numpy as np

from csaw.engine.api import hooks
from csaw.engine.api.law import edge_law
from csaw.engine.api.plain_hooks import plain_hook
from csaw.engine.api.starts import SourceKind
from csaw.engine.verify.checks import Checks, Subject, statistics
from csaw.engine.verify.course import LAW
from csaw.engine.verify.groups import MOVED, Group, count, groups
from csaw.engine.verify.kernels import replay
from csaw.engine.verify.pooled import pooled_test
from csaw.engine.verify.statistics import BINS, Choices, even
from csaw.engine.verify.tables import Laws
from csaw.partition.base.stages import stage

OF_PLACE = frozenset({"src", "src_degree", "vertices", "column"})  # what a vertex bias may read to be tested


class Clocked(Protocol):
    """A traversal with clocks."""

    walk_length: int  # steps of all walkers of an instance together


def verify_clocks(subject: Subject, checks: Checks) -> None:
    """Check walks of many walkers: each edge starts where a walker stands, and the choices of the walker and of its
    edge fit their laws.
    """
    algorithm = subject.traversal
    limit = cast(Clocked, algorithm).walk_length
    wrong = dict.fromkeys(("edges", "sources", "depths", "sizes"), 0)
    steps: list[np.ndarray] = []
    moves: list[tuple[np.ndarray, np.ndarray]] = []
    started: list[np.ndarray] = []
    rate = _rate(subject)
    for group in groups(subject, checks, wrong):
        started.append(group.sources)
        order = np.arange(group.src.size) - np.repeat(np.cumsum(group.counts) - group.counts, group.counts)
        bad, ends = np.empty(group.counts.size, np.int64), group.sources.copy()
        replay(group.counts, group.src, group.dst, group.source_counts, ends, bad)
        wrong["depths"] += int((bad >= 0).sum() + (order != group.depth).sum())
        alive = np.bincount(group.source_instance, _moves_on(subject, rate, ends), group.counts.size) > 0
        short = (group.counts < limit) & alive if subject.all_possible else np.zeros(1, bool)
        wrong["sizes"] += int((group.counts > limit).sum() + short.sum())
        if "prev" not in subject.columns and len(subject.columns) == 1:
            steps.append(np.column_stack([group.src, group.dst]))
        if (bad < 0).all():
            moves += _movers(subject, group)
    count(checks, wrong)
    if subject.sources is SourceKind.RANDOM and started:
        at = np.concatenate(started)
        places = (at + np.random.default_rng(at.size).random(at.size)) / subject.view.vertices
        checks.results(
            "starts",
            even(places, BINS, MOVED.format("starts", "vertices")),
            "every vertex equally likely",
            "too few starts",
        )
    with stage(LAW):
        _judge(subject, checks, steps, moves)


def _judge(
    subject: Subject, checks: Checks, steps: list[np.ndarray], moves: list[tuple[np.ndarray, np.ndarray]]
) -> None:
    """Add the tests of the laws of steps and of who moves."""
    if steps:
        table = np.concatenate(steps)
        laws = subject.laws(lambda v: edge_law(subject.view, subject.algorithm, v) or {-1: 1.0})
        statistics(checks, Choices(table[:, :1], table[:, 1], degree=subject.degree), laws, subject.degree)
    else:
        checks.not_tested("transitions", "the law reads more than a subgraph tells, or there is no step")
    _moves(subject, checks, moves)


def _movers(subject: Subject, group: Group) -> list[tuple[np.ndarray, np.ndarray]]:
    """(vertices of the walkers, the walker that moves) at each step, of as many instances as the budget allows."""
    out, edge, source, left = [], 0, 0, subject.budget // 20
    for steps, walkers in zip(group.counts.tolist(), group.source_counts.tolist(), strict=True):
        left -= steps * walkers
        if left < 0:
            break
        at = group.sources[source : source + walkers].copy()
        for k in range(edge, edge + steps):
            out.append((np.sort(at), group.src[k]))
            at[np.flatnonzero(at == group.src[k])[0]] = group.dst[k]
        edge, source = edge + steps, source + walkers
    return out


def _further(subject: Subject) -> list[str]:
    """The fields that vertex_bias reads and a subgraph does not tell."""
    read = hooks.others(subject.algorithm, subject.weighted)["vertex_bias"]
    return [] if read is None else sorted(read.reads - OF_PLACE)


def _rate(subject: Subject) -> Callable[[int], float] | None:
    """How often a walker at a vertex moves, ``vertex_bias``; None where it reads more than the vertex."""
    if _further(subject):
        return None
    vertex_bias, view = plain_hook(subject.algorithm, "vertex_bias"), subject.view

    @lru_cache(1 << 18)
    def rate(v: int) -> float:
        degree, column = view.degree(v), subject.algorithm.vertex_columns.value
        seen = SimpleNamespace(id=v, src=v, degree=degree, src_degree=degree, vertices=view.vertices, column=column)
        return float(vertex_bias(seen))

    return rate


def _moves_on(subject: Subject, rate: Callable[[int], float] | None, at: np.ndarray) -> np.ndarray:
    """Whether the walker at each of these vertices can move, [n]; where nothing tells, that it cannot."""
    if rate is None:
        return np.zeros(at.size, bool)
    vertices, number = np.unique(at, return_inverse=True)
    return (subject.degree[at] > 0) & np.array([rate(v) > 0.0 for v in vertices.tolist()], bool)[number]


def _moves(subject: Subject, checks: Checks, moves: list[tuple[np.ndarray, np.ndarray]]) -> None:
    algorithm, view, rate = subject.algorithm, subject.view, _rate(subject)
    if rate is None:
        checks.not_tested("movers", f"vertex_bias reads {', '.join(_further(subject))}, which a subgraph does not tell")
        return
    frontiers = [tuple(at.tolist()) for at, _ in moves]
    possible = cache(lambda v: bool(edge_law(view, algorithm, v)))  # a walker without a possible edge never moves

    def law(number: int) -> dict[int, float]:
        chances: dict[int, float] = {}
        for v in frontiers[number]:
            if possible(v):
                chances[v] = chances.get(v, 0.0) + rate(v)
        total = sum(chances.values())
        return {v: chance / total for v, chance in chances.items() if chance > 0}

    laws = Laws(law, lambda rows: np.ones(len(rows)), len(moves) + 1)
    made = np.array([src for _, src in moves], np.int64)
    found = pooled_test(Choices(np.arange(len(moves))[:, None], made, ("step",)), laws)
    steps = f"{found.used:,} steps: which walker moves"
    checks.results("movers", found.places + found.uniform + found.independence, steps, f"too few choices: {steps}")
