"""The share of choices that could come from another law, by scores of choices whose mean and variance follow from their own law.

The score of a choice x for another law t is t(x) / p(x): no test of small shares of t is more powerful than its sum (the locally most
powerful one). Outcomes with a meaning are counted instead: an end, a return, a common neighbor, the first and the last neighbor of a row.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from csaw.engine.verify.kernels import find_outcomes
from csaw.engine.verify.power import Result, bounded_sum
from csaw.engine.verify.statistics import Choices
from csaw.engine.verify.tables import LawTable

LARGEST = 16.0  # scores are cut there, so that no rare outcome decides alone
LEAST = 1e-9  # variance below which the other law is the law itself
FROM_ANOTHER = {"uniform": "choices from a uniform neighbor", "degree": "choices of a neighbor by its degree"}
NAMED = {
    "end": "choices that end",
    "v": "choices that stay",
    "prev": "choices that return",
    "source": "choices that go to the source",
    "common": "choices of a common neighbor",
    "first": "choices of the first neighbor of a row",
    "last": "choices of the last neighbor of a row",
}


@dataclass(frozen=True)
class Score:
    """A score of the choices of one table: its values and, for each situation, their mean, variance and growth if all choices are the deviation."""

    deviation: str
    value: np.ndarray  # float64 [choices]
    mean: np.ndarray  # float64 [situations]
    variance: np.ndarray
    change: np.ndarray
    largest: float  # no value is farther from its mean


def scores(table: LawTable, situations: np.ndarray, choices: Choices, at: np.ndarray, situation: np.ndarray) -> Iterator[Score]:  # fmt: skip
    """Yield all scores of the choices, whose outcomes are ``at`` in the table and whose situations are the rows ``situation`` of ``situations``."""
    neighbor = (table.outcome >= 0).astype(np.float64)
    yield _from_another(table, neighbor, at, FROM_ANOTHER["uniform"])
    if choices.degree is not None:
        degrees = neighbor * choices.degree[np.maximum(table.outcome, 0)]
        yield _from_another(table, degrees, at, FROM_ANOTHER["degree"])
    first, last = table.start[:-1] + (table.outcome[table.start[:-1]] < 0), table.start[1:] - 1
    cells = {"first": np.where(first <= last, first, -1), "last": np.where(first <= last, last, -1)}
    named = {"end": np.full(len(situations), -1)}
    named |= {c: situations[:, i] for i, c in enumerate(choices.columns) if c in ("v", "prev", "source")}
    for name, outcome in named.items():
        cell = np.empty(outcome.size, np.int64)
        find_outcomes(table.start, table.outcome, np.arange(outcome.size), outcome.astype(np.int64), cell)
        known = cell >= 0 if name == "end" else (cell >= 0) & (outcome >= 0)
        cells[name] = np.where(known, cell, -1)
    for name, cell in cells.items():
        chance = np.where(cell >= 0, table.chance[np.clip(cell, 0, table.chance.size - 1)], 0.0)
        yield _counted(chance, (at == cell[situation]).astype(np.float64), NAMED[name])
    if table.common is not None:
        chance = table.sums(table.chance * table.common)
        yield _counted(chance, table.common[at].astype(np.float64), NAMED["common"])


def _from_another(table: LawTable, other: np.ndarray, at: np.ndarray, deviation: str) -> Score:
    other = other / table.spread(np.maximum(table.sums(other), 1e-300))
    value = np.full(other.size, LARGEST)
    np.divide(other, table.chance, out=value, where=other < LARGEST * table.chance)
    mean = table.sums(table.chance * value)
    variance = table.sums(table.chance * (value - table.spread(mean)) ** 2)
    change = table.sums(other * value) - mean
    return Score(deviation, value[at], mean, variance, change, float(value.max(initial=0.0)))


def _counted(chance: np.ndarray, value: np.ndarray, deviation: str) -> Score:
    chance = np.minimum(chance, 1.0)
    return Score(deviation, value, chance, chance * (1.0 - chance), 1.0 - chance, 1.0)


class Shares:
    """Sums of the scores, over all choices and over each part of the sample."""

    def __init__(self, choices: Choices) -> None:
        self.parts, self.labels = choices.parts()
        self.sums: dict[str, np.ndarray] = {}  # excess, variance, change of each part
        self.largest: dict[str, float] = {}

    def add(self, score: Score, here: np.ndarray, situation: np.ndarray) -> None:
        """Add a score of the choices ``here``, which were made in the rows ``situation`` of a table."""
        decided = score.variance > LEAST
        terms = (
            np.where(decided[situation], score.value - score.mean[situation], 0.0),
            np.where(decided, score.variance, 0.0)[situation],
            np.where(decided, score.change, 0.0)[situation],
        )
        sums = self.sums.setdefault(score.deviation, np.zeros((3, len(self.parts))))
        for labels in self.labels:
            sums += [np.bincount(labels[here], term, len(self.parts)) for term in terms]
        self.largest[score.deviation] = max(self.largest.get(score.deviation, 0.0), score.largest)

    def varies(self, deviation: str) -> bool:
        """Whether any choice could show this deviation."""
        return bool((self.sums.get(deviation, np.zeros((3, 1)))[1] > 0.0).any())

    def results(self, names: dict[str, str], level: float) -> list[Result]:
        """The results of the deviations ``names``, in the parts of the sample that can show them at ``level``."""
        found = [
            bounded_sum(self.sums[deviation][:, part], self.largest[deviation], deviation, self.parts[part])
            for deviation in names.values()
            if deviation in self.sums
            for part in range(len(self.parts))
            if self.sums[deviation][1, part] > 0.0
        ]
        return [result for result in found if result.smallest(level) <= 1.0]
