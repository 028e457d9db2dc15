"""What verify hands around: the sample with its graph and algorithm, the checks made so far."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from csaw.engine import hooks
from csaw.engine.algorithm import Algorithm
from csaw.engine.law import GraphView
from csaw.engine.samples import Samples
from csaw.engine.verify.statistics import Choices, Laws, context_tests, holm, pooled_test
from csaw.partition import Graph

ALPHA = 1e-6
"""Chance that a right sample fails, over all statistical checks together."""


@dataclass(frozen=True)
class Check:
    name: str
    ok: bool
    p_value: float | None
    details: str


@dataclass
class Checks:
    """Checks in the order they were made."""

    made: list[Check] = field(default_factory=list)

    def add(self, check: Check) -> None:
        self.made.append(check)

    def count(self, name: str, wrong: int, what: str) -> None:
        self.add(Check(name, wrong == 0, None, f"{wrong:,} {what}"))

    def p_values(self, name: str, values: list[float], details: str) -> None:
        """A statistical check; whether it holds is decided with all others by :meth:`judge`."""
        if values:
            self.add(Check(name, True, holm(values), details))
        else:
            self.add(Check(name, True, None, "too few choices of one situation to test"))

    def judge(self) -> list[Check]:
        """All checks, the statistical ones decided together (Holm)."""
        tested = sorted((c for c in self.made if c.p_value is not None), key=lambda c: c.p_value or 0.0)
        failed: set[str] = set()
        for rank, check in enumerate(tested):
            if (check.p_value or 0.0) > ALPHA / (len(tested) - rank):
                break
            failed.add(check.name)
        return [Check(c.name, c.ok and c.name not in failed, c.p_value, c.details) for c in self.made]


class Subject:
    """A sample together with its graph in memory and its algorithm."""

    def __init__(self, samples: Samples, store: Any, graph: Graph, algorithm: Algorithm, budget: int) -> None:
        request = samples.manifest["request"]
        self.samples, self.store, self.algorithm, self.budget = samples, store, algorithm, budget
        self.weighted = bool(request.get("weighted", False))
        self.view = GraphView(graph, self.weighted)
        self.degree = np.diff(self.view.indptr)
        bias, others = hooks.edge_bias(algorithm, self.weighted), hooks.others(algorithm, self.weighted)
        reads = bias.reads.union(*(hook.reads for hook in others.values() if hook))
        self.uniform = bias.constant is not None and bias.constant > 0
        self.columns = ("v", *(name for name in ("prev", "source", "depth", "instance") if name in reads))
        self.revives = others["dead_end"] is not None
        self.sources = str(request.get("sources", ""))
        self.starts_at_all = self.sources.startswith("all")
        ids = store.stored_ids()
        self._ids = ids if isinstance(ids, np.ndarray) else None

    def dense(self, array: np.ndarray) -> np.ndarray:
        return self.samples.dense(array, self._ids)


def statistics(checks: Checks, choices: Choices, laws: Laws, sizes: np.ndarray, what: str = "transitions") -> None:
    """All tests of single choices against their law; ``sizes`` of the situations' first column sorts them into strata."""
    results = context_tests(choices, laws, sizes)
    worst = min(results, key=lambda r: r[2], default=None)
    details = f"{len(results)} situations, {sum(r[1] for r in results):,} choices"
    if worst is not None:
        named = ", ".join(f"{c} = {v}" for c, v in zip(choices.columns, worst[0], strict=True))
        details += f"; worst at {named} (dense ids) with p = {worst[2]:.2g}"
    checks.p_values(what, [r[2] for r in results], details)
    used, p, follow = pooled_test(choices, laws)
    checks.p_values(f"{what}, pooled", p, f"{used:,} choices")
    checks.p_values(f"{what}, independence", follow, "each choice beside the next one")
