"""Laws of many situations at once, as tables."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from csaw.partition.base.parallel import go_on

CHUNK = 2_000_000  # outcomes of a table
Law = dict[int, float]


@dataclass(frozen=True)
class LawTable:
    """The possible outcomes of situations 0, 1, ..., situation after situation, ascending within each."""

    start: np.ndarray  # int64 [situations + 1]
    outcome: np.ndarray  # int64 [outcomes]
    chance: np.ndarray  # float64 [outcomes], above 0, of sum 1 in each situation
    common: np.ndarray | None = (
        None  # bool [outcomes]: whether it is a neighbor of the previous vertex, where that is known
    )

    def sums(self, values: np.ndarray) -> np.ndarray:
        """The sum of ``values`` over each situation's outcomes."""
        return np.add.reduceat(values, self.start[:-1])

    def spread(self, values: np.ndarray) -> np.ndarray:
        """The value of each situation, repeated for each of its outcomes."""
        return np.repeat(values, np.diff(self.start))


class Laws:
    """Laws by situation. Each is computed once and takes its cost from a budget of bias evaluations."""

    def __init__(self, law: Callable[..., Law], cost: Callable[[np.ndarray], np.ndarray], budget: int) -> None:
        self.law, self.cost, self.left = law, cost, budget
        self._known: dict[tuple[int, ...], Law] = {}
        self._room = 1_000_000  # outcomes that are kept

    def of(self, situation: np.ndarray) -> Law:
        key = tuple(situation.tolist())
        if key in self._known:
            return self._known[key]
        law = self.law(*key)
        self.left -= max(int(self.cost(situation[None])[0]), len(law) // 8)  # a jump's law lists every vertex
        if len(law) <= self._room:
            self._known[key] = law
            self._room -= len(law)
        return law

    def affordable(self, rows: np.ndarray) -> int:
        """The number of these situations, in this order, that the budget allows; at least one."""
        listed = len(self.of(rows[0])) // 8
        return max(1, int(np.searchsorted(np.cumsum(np.maximum(self.cost(rows), listed)), self.left, "right")))

    def listed(self, rows: np.ndarray) -> np.ndarray:
        """The number of outcomes of each situation, at most."""
        return self.cost(rows)

    def within(self, rows: np.ndarray) -> np.ndarray:
        """Which of these situations half of the budget allows, in this order, bool [situations]."""
        allowed, left = np.zeros(len(rows), np.bool_), self.left // 2
        for number, cost in enumerate(self.cost(rows).tolist()):
            allowed[number] = cost <= left
            left -= cost if allowed[number] else 0
        return allowed

    def tables(self, rows: np.ndarray) -> Iterator[LawTable]:
        """Yield tables of these situations, in this order."""
        begun = 0
        while begun < len(rows):
            laws: list[Law] = []
            size = 0
            while begun + len(laws) < len(rows) and size < CHUNK:
                go_on()
                law = self.of(rows[begun + len(laws)])
                laws.append({outcome: law[outcome] for outcome in sorted(law) if law[outcome] > 0.0})
                size += len(laws[-1])
            start = np.cumsum([0, *(len(law) for law in laws)])
            outcome = np.fromiter((o for law in laws for o in law), np.int64, size)
            chance = np.fromiter((p for law in laws for p in law.values()), np.float64, size)
            yield LawTable(start, outcome, chance)
            begun += len(laws)


def joined(tables: Iterator[LawTable]) -> LawTable:
    """One table of all situations."""
    some = list(tables)
    size = np.concatenate([np.diff(one.start) for one in some])
    common = None if some[0].common is None else np.concatenate([one.common for one in some if one.common is not None])
    return LawTable(
        np.concatenate([[0], np.cumsum(size)]),
        np.concatenate([one.outcome for one in some]),
        np.concatenate([one.chance for one in some]),
        common,
    )
