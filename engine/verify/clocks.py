"""The rules of multidimensional walks: walkers that stand where the edges start, who moves, and where to."""

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from csaw.engine.law import edge_law
from csaw.engine.verify.checks import Checks, Subject, statistics
from csaw.engine.verify.kernels import replay
from csaw.engine.verify.statistics import BINS, Choices, Laws, even, pooled_test
from csaw.engine.verify.subgraphs import Group, count, groups


def verify_clocks(subject: Subject, checks: Checks) -> None:
    """Many walkers: each edge starts where one stands; which one moves, and where, fit their laws."""
    algorithm: Any = subject.algorithm
    wrong = dict.fromkeys(("edges", "sources", "depths", "sizes"), 0)
    steps: list[np.ndarray] = []
    moves: list[tuple[np.ndarray, np.ndarray]] = []
    started: list[np.ndarray] = []
    for group in groups(subject, checks, wrong):
        started.append(group.sources)
        order = np.arange(group.src.size) - np.repeat(np.cumsum(group.counts) - group.counts, group.counts)
        bad, ends = np.empty(group.counts.size, np.int64), group.sources.copy()
        replay(group.counts, group.src, group.dst, group.source_counts, ends, bad)
        wrong["depths"] += int((bad >= 0).sum() + (order != group.depth).sum())
        alive = np.bincount(group.source_instance, subject.degree[ends] > 0, group.counts.size) > 0
        short = (group.counts < algorithm.walk_length) & alive if subject.uniform else np.zeros(1, bool)
        wrong["sizes"] += int((group.counts > algorithm.walk_length).sum() + short.sum())
        if "prev" not in subject.columns and len(subject.columns) == 1:
            steps.append(np.column_stack([group.src, group.dst]))
        if (bad < 0).all():
            moves += _movers(subject, group)
    count(checks, wrong)
    if subject.sources.startswith("random") and started:
        at = np.concatenate(started)
        p = even((at + np.random.default_rng(at.size).random(at.size)) / subject.view.vertices, BINS)
        checks.p_values("starts", [] if p is None else [p], "every vertex equally likely")
    if steps:
        table = np.concatenate(steps)
        laws = Laws(
            lambda v: edge_law(subject.view, algorithm, v) or {-1: 1.0},
            lambda r: subject.degree[r[:, 0]] + 1,
            subject.budget,
        )
        statistics(checks, Choices(table[:, :1], table[:, 1]), laws, subject.degree)
    _moves(subject, checks, moves)


def _movers(subject: Subject, group: Group) -> list[tuple[np.ndarray, np.ndarray]]:
    """(where the walkers stand, who moves) at each step, of as many instances as the budget allows."""
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


def _moves(subject: Subject, checks: Checks, moves: list[tuple[np.ndarray, np.ndarray]]) -> None:
    algorithm, view = subject.algorithm, subject.view
    frontiers = [tuple(at.tolist()) for at, _ in moves]
    possible = cache(lambda v: bool(edge_law(view, algorithm, v)))  # a walker without a possible edge never moves

    def law(number: int) -> dict[int, float]:
        chances: dict[int, float] = {}
        for v in frontiers[number]:
            if not possible(v):
                continue
            seen = SimpleNamespace(
                id=v, src=v, degree=view.degree(v), src_degree=view.degree(v), prev=-1, vertices=view.vertices
            )
            chances[v] = chances.get(v, 0.0) + float(algorithm.vertex_bias(seen))  # type: ignore[attr-defined]
        total = sum(chances.values())
        return {v: chance / total for v, chance in chances.items() if chance > 0}

    laws = Laws(law, lambda rows: np.ones(len(rows)), len(moves) + 1)
    made = np.array([src for _, src in moves], np.int64)
    used, p, follow = pooled_test(Choices(np.arange(len(moves))[:, None], made, ("step",)), laws)
    checks.p_values("movers", p + follow, f"{used:,} steps: which walker moves")
