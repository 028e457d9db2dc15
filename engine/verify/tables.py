"""Laws of many situations at once, as tables: from the slow law one after the other, or whole rows by a closed form."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from csaw.engine import hooks
from csaw.engine.algorithm import NONE, Algorithm
from csaw.engine.algorithms.node2vec import Node2vec
from csaw.engine.law import GraphView
from csaw.engine.verify.kernels import row_laws

CHUNK = 2_000_000  # outcomes of a table
QUICKER = 50  # rows by a closed form take so much less time than biases evaluated in Python
Law = dict[int, float]


@dataclass(frozen=True)
class LawTable:
    """The possible outcomes of situations 0, 1, ..., one situation's after the other's, ascending."""

    start: np.ndarray  # int64 [situations + 1]
    outcome: np.ndarray  # int64 [outcomes]
    chance: np.ndarray  # float64 [outcomes], above 0, of sum 1 in each situation
    common: np.ndarray | None = None  # bool [outcomes]: is it a neighbor of the vertex before, where that is known

    def sums(self, values: np.ndarray) -> np.ndarray:
        """The sum of ``values`` over each situation's outcomes."""
        return np.add.reduceat(values, self.start[:-1])

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Each situation's value, once for every outcome."""
        return np.repeat(values, np.diff(self.start))


class Laws:
    """Laws by situation, each computed once and paid from a budget of bias evaluations."""

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
        """How many of these situations, in this order, the budget is enough for; one at least."""
        listed = len(self.of(rows[0])) // 8
        return max(1, int(np.searchsorted(np.cumsum(np.maximum(self.cost(rows), listed)), self.left, "right")))

    def tables(self, rows: np.ndarray) -> Iterator[LawTable]:
        """Tables of these situations, in this order."""
        begun = 0
        while begun < len(rows):
            laws: list[Law] = []
            size = 0
            while begun + len(laws) < len(rows) and size < CHUNK:
                law = self.of(rows[begun + len(laws)])
                laws.append({outcome: law[outcome] for outcome in sorted(law) if law[outcome] > 0.0})
                size += len(laws[-1])
            start = np.cumsum([0, *(len(law) for law in laws)])
            outcome = np.fromiter((o for law in laws for o in law), np.int64, size)
            chance = np.fromiter((p for law in laws for p in law.values()), np.float64, size)
            yield LawTable(start, outcome, chance)
            begun += len(laws)


@dataclass(frozen=True)
class RowForm:
    """Biases of all stored edges, divided by ``p`` back to the vertex before and by ``q`` to what is no neighbor of it."""

    bias: np.ndarray  # float32 or float64 [edges]
    p: float = 1.0
    q: float = 1.0


def row_form(view: GraphView, algorithm: Algorithm, budget: int) -> RowForm | None:
    """The closed form of an algorithm's edge biases; None where there is none and only the slow law knows."""
    hook = hooks.edge_bias(algorithm, view.weights is not None)
    weights = np.ones(view.indices.size, np.float32) if view.weights is None else view.weights
    own = type(algorithm).edge_bias
    if own is Node2vec.edge_bias:
        form = RowForm(weights, float(algorithm.p), float(algorithm.q))  # type: ignore[attr-defined]
    elif own is Algorithm.edge_bias:
        form = RowForm(weights)
    elif hook.constant is not None:
        form = RowForm(np.full(weights.size, hook.constant))
    elif hook.reads <= {"weight"} or hook.reads <= {"dst_degree"}:
        read = weights if "weight" in hook.reads else np.diff(view.indptr)[view.indices]
        values, inverse = np.unique(read, return_inverse=True)
        if values.size > budget // 4:
            return None
        name = next(iter(hook.reads), "weight")
        form = RowForm(np.array([float(algorithm.edge_bias(_Read(name, x))) for x in values.tolist()])[inverse])
    else:
        return None
    bounds = *(float(x) for x in (form.bias.min(initial=1.0), form.bias.max(initial=1.0))), form.p, form.q
    tame = all(np.isfinite(x) and (x == 0.0 or 1e-60 < x < 1e60) for x in bounds)
    return form if tame and bounds[0] >= 0.0 else None


class _Read:
    """An edge of which a bias reads one number."""

    def __init__(self, name: str, value: float) -> None:
        setattr(self, name, value)


class RowLaws(Laws):
    """Laws of which a closed form is known: a quick one for tables, beside the slow one for single situations."""

    def __init__(self, law: Callable[..., Law], cost: Callable[[np.ndarray], np.ndarray], budget: int,
                 view: GraphView, form: RowForm, columns: tuple[str, ...]) -> None:  # fmt: skip
        super().__init__(law, cost, budget)
        self.view, self.form, self.columns = view, form, columns
        self.degree, self.rows_left = np.diff(view.indptr), budget * QUICKER

    def affordable(self, rows: np.ndarray) -> int:
        return max(1, int(np.searchsorted(np.cumsum(self._cells(rows)), self.rows_left, "right")))

    def tables(self, rows: np.ndarray) -> Iterator[LawTable]:
        paid, begun = np.cumsum(self._cells(rows)), 0
        while begun < len(rows):
            before = paid[begun - 1] if begun else 0
            end = max(begun + 1, int(np.searchsorted(paid, before + CHUNK, "right")))
            yield self._table(rows[begun:end, 0], self._prev(rows[begun:end]))
            begun = end

    def _prev(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, self.columns.index("prev")] if "prev" in self.columns else np.full(len(rows), NONE)

    def _cells(self, rows: np.ndarray) -> np.ndarray:
        """How many neighbors a table of each situation looks at."""
        prev = self._prev(rows)
        return self.degree[rows[:, 0]] + np.where(prev >= 0, self.degree[prev], 0) + 1

    def _table(self, v: np.ndarray, prev: np.ndarray) -> LawTable:
        room = np.concatenate([[0], np.cumsum(np.maximum(self.degree[v], 1))])
        outcome, chance, common = np.empty(room[-1], np.int64), np.empty(room[-1]), np.empty(room[-1], np.bool_)
        size, form = np.empty(v.size, np.int64), self.form
        row_laws(self.view.indptr, self.view.indices, form.bias, form.p, form.q, v, prev, room, outcome, chance, common, size)  # fmt: skip
        if (size < np.diff(room)).any():
            used = np.arange(room[-1]) - np.repeat(room[:-1], np.diff(room)) < np.repeat(size, np.diff(room))
            outcome, chance, common = outcome[used], chance[used], common[used]
        start = np.concatenate([[0], np.cumsum(size)])
        return LawTable(start, outcome, chance, common if "prev" in self.columns else None)
