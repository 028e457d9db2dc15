"""Laws with a closed form, computed for whole rows at once.

The slow law remains their definition; a test compares both.

A choice is a neighbor by the biases of the stored edges, divided by p for a return to the previous vertex, and by q for
a vertex that is no neighbor of it. Then
the walk may go elsewhere with some chance: to its end (ppr), to its source (restart), to any vertex (jump), or it
stays, by the degrees (Metropolis-Hastings).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from csaw.engine.algorithms.jump import Jump
from csaw.engine.algorithms.metropolis_hastings import MetropolisHastings
from csaw.engine.algorithms.node2vec import Node2vec
from csaw.engine.algorithms.ppr import Ppr
from csaw.engine.algorithms.restart import Restart
from csaw.engine.api import hooks
from csaw.engine.api.algorithm import NONE, Algorithm, Walk
from csaw.engine.api.law import GraphView, plain_hook
from csaw.engine.verify.course import in_order
from csaw.engine.verify.law_kernels import elsewhere, row_laws
from csaw.engine.verify.tables import CHUNK, Law, Laws, LawTable

QUICKER = 50  # times as fast as biases evaluated in Python: rows by a closed form


@dataclass(frozen=True)
class RowForm:
    """The parameters of a closed form."""

    bias: np.ndarray  # float32 or float64 [edges], or [1] where it is the same for all
    p: float = 1.0
    q: float = 1.0
    goes: str = ""  # the other place: end, source, anywhere, stays
    share: float = 0.0  # the chance of it; by the degrees where the walk stays


def row_form(view: GraphView, algorithm: Algorithm, budget: int) -> RowForm | None:
    """The closed form of an algorithm's law; None where there is only the slow law."""
    bias = _edge_biases(view, algorithm, budget)
    if bias is None:
        return None
    p, q = 1.0, 1.0
    if isinstance(algorithm, Node2vec) and type(algorithm).edge_bias is Node2vec.edge_bias:
        p, q = float(algorithm.p), float(algorithm.q)
    bounds = float(bias.min(initial=1.0)), float(bias.max(initial=1.0)), p, q
    tame = all(np.isfinite(x) and (x == 0.0 or 1e-60 < x < 1e60) for x in bounds)
    return _elsewhere(RowForm(bias, p, q), algorithm) if tame and bounds[0] >= 0.0 else None


def _edge_biases(view: GraphView, algorithm: Algorithm, budget: int) -> np.ndarray | None:
    """Biases of all stored edges, before p and q; None where they depend on more than the weight of the edge and the
    degree of its end.
    """
    hook, own = hooks.edge_bias(algorithm, view.weights is not None), type(algorithm).edge_bias
    weights = np.ones(1, np.float32) if view.weights is None else view.weights
    if own in (Node2vec.edge_bias, Algorithm.edge_bias):
        return weights
    if hook.constant is not None:
        return np.full(1, hook.constant)
    if not (hook.reads <= {"weight"} or hook.reads <= {"dst_degree"}):
        return None
    read = np.diff(view.indptr)[view.indices] if "dst_degree" in hook.reads else weights
    values, inverse = np.unique(read, return_inverse=True)
    if values.size > budget // 4:
        return None
    name = next(iter(hook.reads), "weight")
    bias = plain_hook(algorithm, "edge_bias")
    return np.array([float(bias(_Read(name, value))) for value in values.tolist()])[inverse]


class _Read:
    """A stand-in for an edge, of which a bias may read a single number, and the weight of an unweighted run."""

    weight = 1.0

    def __init__(self, name: str, value: float) -> None:
        setattr(self, name, value)


def _elsewhere(form: RowForm, algorithm: Algorithm) -> RowForm | None:
    """The form with the place to which the walk may go instead; None where that is not known."""
    if not isinstance(algorithm, Walk) or type(algorithm).law is Walk.law:
        return form
    known = {
        Ppr.law: ("end", "termination_prob"),
        Restart.law: ("source", "restart_prob"),
        Jump.law: ("anywhere", "jump_prob"),
    }
    if type(algorithm).law in known:
        goes, option = known[type(algorithm).law]
        return replace(form, goes=goes, share=float(getattr(algorithm, option)))
    return replace(form, goes="stays") if type(algorithm).law is MetropolisHastings.law else None


class RowLaws(Laws):
    """Laws with a closed form: it fills tables; the slow law serves single situations."""

    def __init__(
        self,
        law: Callable[..., Law],
        cost: Callable[[np.ndarray], np.ndarray],
        budget: int,
        view: GraphView,
        form: RowForm,
        columns: tuple[str, ...],
    ) -> None:
        super().__init__(law, cost, budget)
        self.view, self.form, self.columns = view, form, columns
        self.degree, self.rows_left = np.diff(view.indptr), budget * QUICKER

    def affordable(self, rows: np.ndarray) -> int:
        return max(1, int(np.searchsorted(np.cumsum(self.cells(rows)), self.rows_left, "right")))

    def listed(self, rows: np.ndarray) -> np.ndarray:
        return np.full(len(rows), self.view.vertices) if self.form.goes == "anywhere" else self.degree[rows[:, 0]] + 1

    def within(self, rows: np.ndarray) -> np.ndarray:
        return np.cumsum(self.cells(rows)) <= self.rows_left // 2

    def tables(self, rows: np.ndarray) -> Iterator[LawTable]:
        return in_order(self._finished, self._chunks(rows))

    def _chunks(self, rows: np.ndarray) -> Iterator[tuple[np.ndarray]]:
        paid, begun = np.cumsum(self.cells(rows)), 0
        while begun < len(rows):
            before = paid[begun - 1] if begun else 0
            end = max(begun + 1, int(np.searchsorted(paid, before + CHUNK, "right")))
            yield (rows[begun:end],)
            begun = end

    def _finished(self, rows: np.ndarray) -> LawTable:
        table = self._table(rows)
        return self._anywhere(table) if self.form.goes == "anywhere" else table

    def column(self, rows: np.ndarray, name: str) -> np.ndarray:
        return rows[:, self.columns.index(name)] if name in self.columns else np.full(len(rows), NONE)

    def cells(self, rows: np.ndarray) -> np.ndarray:
        """Number of neighbors and outcomes that a table reads for each situation."""
        prev = self.column(rows, "prev")
        listed = self.view.vertices if self.form.goes == "anywhere" else 1
        return self.degree[rows[:, 0]] + np.where(prev >= 0, self.degree[prev], 0) + listed

    def _table(self, rows: np.ndarray) -> LawTable:
        # Contiguous, whatever ``rows`` are: a kernel is compiled for each layout of each argument.
        v, prev = np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(self.column(rows, "prev"))
        form = self.form
        room = np.concatenate([[0], np.cumsum(self.degree[v] + 1)])
        outcome, chance, common = np.empty(room[-1], np.int64), np.empty(room[-1]), np.empty(room[-1], np.bool_)
        size = np.empty(v.size, np.int64)
        cells = (outcome, chance, common, size)
        row_laws(self.view.indptr, self.view.indices, form.bias, form.p, form.q, v, prev, room, *cells)
        if form.goes in ("end", "source", "stays"):
            target = v if form.goes == "stays" else self.column(rows, "source" if form.goes == "source" else "")
            elsewhere(self.degree, v, np.ascontiguousarray(target), form.share, form.goes == "stays", room, *cells)
        used = np.arange(room[-1]) - np.repeat(room[:-1], np.diff(room)) < np.repeat(size, np.diff(room))
        start = np.concatenate([[0], np.cumsum(size)])
        return LawTable(start, outcome[used], chance[used], common[used] if "prev" in self.columns else None)

    def _anywhere(self, table: LawTable) -> LawTable:
        """The table of a walk that jumps to any vertex with some chance, and always from a dead end."""
        vertices, situations = self.view.vertices, table.start.size - 1
        share = np.where(table.outcome[table.start[:-1]] < 0, 1.0, self.form.share)
        chance = np.repeat((share / vertices)[:, None], vertices, axis=1)
        row, kept = table.spread(np.arange(situations)), table.outcome >= 0
        chance[row[kept], table.outcome[kept]] += (1.0 - share[row[kept]]) * table.chance[kept]
        possible = chance > 0.0
        start = np.concatenate([[0], np.cumsum(possible.sum(axis=1))])
        return LawTable(start, np.nonzero(possible)[1].astype(np.int64), chance[possible])
