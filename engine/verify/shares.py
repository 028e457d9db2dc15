"""The share of choices that could come from another law, by scores of choices whose mean and variance follow from their
own law.

The score of a choice x for another law t is t(x) / p(x): no test of small shares of t is more powerful than its sum
(the locally most powerful one). Outcomes with a meaning are counted instead: an end, a return, a common neighbor, the
first and the last neighbor of a row.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from csaw.engine.verify.kernels import find_outcomes, score_rows
from csaw.engine.verify.power import Result, bounded_sum
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
    """A score of the outcomes of one table and, for each situation, its mean, variance and growth if all choices are
    the deviation.
    """

    deviation: str
    value: np.ndarray  # float64 or bool [outcomes]
    mean: np.ndarray  # float64 [situations]
    variance: np.ndarray
    change: np.ndarray
    largest: float  # no value is farther from its mean


def scores(
    table: LawTable, situations: np.ndarray, columns: tuple[str, ...], degree: np.ndarray | None
) -> Iterator[Score]:
    """Yield all scores of a table, whose situations are the rows of ``situations``; ``degree`` is that of each vertex,
    where outcomes are vertices.
    """
    neighbor = (table.outcome >= 0).astype(np.float64)
    yield _from_another(table, neighbor, FROM_ANOTHER["uniform"])
    if degree is not None:
        yield _from_another(table, neighbor * degree[np.maximum(table.outcome, 0)], FROM_ANOTHER["degree"])
    first, last = table.start[:-1] + (table.outcome[table.start[:-1]] < 0), table.start[1:] - 1
    cells = {"first": np.where(first <= last, first, -1), "last": np.where(first <= last, last, -1)}
    named = {"end": np.full(len(situations), -1)}
    named |= {c: situations[:, i] for i, c in enumerate(columns) if c in ("v", "prev", "source")}
    for name, outcome in named.items():
        cell = np.empty(outcome.size, np.int64)
        find_outcomes(table.start, table.outcome, np.arange(outcome.size), outcome.astype(np.int64), cell)
        known = cell >= 0 if name == "end" else (cell >= 0) & (outcome >= 0)
        cells[name] = np.where(known, cell, -1)
    for name, cell in cells.items():
        value = np.zeros(table.chance.size, np.bool_)
        value[cell[cell >= 0]] = True
        chance = np.where(cell >= 0, table.chance[np.maximum(cell, 0)], 0.0)
        yield _counted(chance, value, NAMED[name])
    if table.common is not None:
        yield _counted(table.sums(table.chance * table.common), table.common, NAMED["common"])


def _from_another(table: LawTable, other: np.ndarray, deviation: str) -> Score:
    value = np.empty(other.size)
    mean, variance, change = (np.empty(table.start.size - 1) for _ in range(3))
    score_rows(table.start, table.chance, other, LARGEST, value, mean, variance, change)
    return Score(deviation, value, mean, variance, change, float(value.max(initial=0.0)))


def _counted(chance: np.ndarray, value: np.ndarray, deviation: str) -> Score:
    chance = np.minimum(chance, 1.0)
    return Score(deviation, value, chance, chance * (1.0 - chance), 1.0 - chance, 1.0)


def sums_of(
    score: Score,
    labels: list[np.ndarray],
    parts: int,
    total: np.ndarray,
    times: np.ndarray | int = 1,
    at: np.ndarray | None = None,
) -> np.ndarray:
    """The excess, variance and growth of a score in each part of the sample, float64 [3, parts].

    Each entry of ``labels`` and ``total`` is one choice of situation ``at``, or all ``times`` choices of one situation
    where ``at`` is None.
    """
    decided = score.variance > LEAST
    of = slice(None) if at is None else at
    terms = (
        np.where(decided[of], total - times * score.mean[of], 0.0),
        np.where(decided, score.variance, 0.0)[of] * times,
        np.where(decided, score.change, 0.0)[of] * times,
    )
    return np.array([sum(np.bincount(one, term, parts) for one in labels) for term in terms])


class Shares:
    """Sums of the scores, over all choices and over each part of the sample."""

    def __init__(self, parts: list[str], labels: list[np.ndarray]) -> None:
        self.parts, self.labels = parts, labels
        self.sums: dict[str, np.ndarray] = {}  # excess, variance, change of each part
        self.largest: dict[str, float] = {}

    def add(self, deviation: str, sums: np.ndarray, largest: float) -> None:
        """Add the sums of one table."""
        self.sums[deviation] = self.sums.get(deviation, 0.0) + sums
        self.largest[deviation] = max(self.largest.get(deviation, 0.0), largest)

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
