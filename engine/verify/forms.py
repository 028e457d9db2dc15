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
from csaw.engine.verify.statistics import CHUNK, Law, Laws, LawTable
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import empty, place_between, zeros

# Closed forms of laws of single choices, by rows of the graph, for verify.

LONGER = 16  # times as long a row is searched for each entry of another
WORD_BITS = np.uint64(6)  # of the number of a bit in its word


@njit(nogil=True)
def mark_common(indices, row, end, other, other_end, bits, common):
    """Set ``common`` of each entry of the row indices[row:end] that indices[other:other_end] has, too, both ascending.

    ``bits`` has a zero for each vertex, and has them again afterwards. Marks there cost less than a merge, of which a
    processor cannot foretell how it goes on; a much longer row is searched.
    """
    one, low = np.uint64(1), np.uint64(63)
    row, end, other, other_end = np.uint64(row), np.uint64(end), np.uint64(other), np.uint64(other_end)
    if other_end - other > np.uint64(LONGER) * (end - row):
        for entry in range(row, end):
            first, left = other, other_end - other
            while left > one:
                half = left >> one
                first = first + half if indices[first + half] <= indices[entry] else first
                left -= half
            common[entry - row] = indices[first] == indices[entry]
        return
    for entry in range(other, other_end):
        to = np.uint64(indices[entry])
        bits[to >> WORD_BITS] |= one << (to & low)
    for entry in range(row, end):
        to = np.uint64(indices[entry])
        common[entry - row] = (bits[to >> WORD_BITS] >> (to & low)) & one
    for entry in range(other, other_end):
        bits[np.uint64(indices[entry]) >> WORD_BITS] = 0


@njit(nogil=True, error_model="numpy")
def one_law(indptr, indices, bias, p, q, v, prev, bits, common, outcome, chance, kind):
    """Fill in the possible neighbors of ``v``, ascending, with their chances, and their kinds: 2 a return, 1 a common
    neighbor, 0 another; return their number.

    ``bits`` is that of ``mark_common``; ``common`` has room for the row.
    """
    filled, total, each, second, last = np.uint64(0), 0.0, bias.size > 1, prev >= 0, np.int64(-1)
    row, end = np.uint64(indptr[v]), np.uint64(indptr[v + 1])
    if second:
        mark_common(indices, row, end, indptr[prev], indptr[prev + 1], bits, common)
    near = np.float64(bias[0]) if bias.size > 0 else 0.0
    back, far = near / p, near / q
    for edge in range(row, end):
        dst = np.int64(indices[edge])
        beside = second and common[edge - row] != 0
        away = second and not beside
        share = back if dst == prev else far if away else near
        if each:
            share = np.float64(bias[edge]) / (p if dst == prev else q if away else 1.0)
        if share <= 0.0:
            continue
        total += share
        if dst == last:
            chance[filled - np.uint64(1)] += share
            continue
        last = dst
        outcome[filled], chance[filled], kind[filled] = dst, share, np.int8(2) if dst == prev else np.int8(beside)
        filled += np.uint64(1)
    for cell in range(filled):
        chance[cell] /= total
    return np.int64(filled)


@njit(nogil=True)
def row_laws(indptr, indices, bias, p, q, vertex, before, room, outcome, chance, common, size):
    """The law of one step from each ``vertex``, whose row is compared with that of the vertex ``before`` it (-1: none).

    Situation s fills ``size[s]`` cells from room[s] on: the possible outcomes, ascending, repeated edges together, or
    -1 alone at a dead end. ``bias`` has a number for each edge, or one for all.
    """
    longest = 0
    for s in range(vertex.size):
        longest = max(longest, room[s + 1] - room[s])
    bits = zeros((indptr.size >> 6) + 1, np.uint64)
    kind, beside = empty(longest, np.int8), empty(longest, np.int8)
    for s in range(vertex.size):
        at, cells = room[s], (outcome[room[s] :], chance[room[s] :])
        filled = one_law(indptr, indices, bias, p, q, vertex[s], before[s], bits, beside, *cells, kind)
        for cell in range(filled):
            common[at + cell] = kind[cell] == 1
        if filled == 0:
            outcome[at], chance[at], common[at] = -1, 1.0, False
            filled = 1
        size[s] = filled


@njit(nogil=True)
def elsewhere(degree, vertex, target, share, stays, room, outcome, chance, common, size):
    """Laws of ``row_laws`` with a walk that goes to ``target`` instead with chance ``share``, or ``stays`` by the
    degrees, and from a dead end.

    A walk that may stay moves from v to u only with chance min(1, degree of v / degree of u). A walk at a dead end that
    is its target ends.
    """
    for s in range(vertex.size):
        first, v = room[s], vertex[s]
        end = first + size[s]
        if outcome[first] < 0 or share >= 1.0:
            outcome[first] = -1 if outcome[first] < 0 and target[s] == v else target[s]
            chance[first], common[first], size[s] = 1.0, False, 1
            continue
        rest = share
        for cell in range(first, end):
            kept = 1.0 - share
            if stays and degree[outcome[cell]] > degree[v]:
                kept = degree[v] / degree[outcome[cell]]
                rest += chance[cell] * (1.0 - kept)
            chance[cell] *= kept
        if rest <= 0.0:
            continue
        at = end
        while at > first and outcome[at - 1] >= target[s]:
            at -= 1
        if at < end and outcome[at] == target[s]:
            chance[at] += rest
            continue
        for cell in range(end, at, -1):
            outcome[cell], chance[cell], common[cell] = outcome[cell - 1], chance[cell - 1], common[cell - 1]
        outcome[at], chance[at], common[at] = target[s], rest, False
        size[s] += 1


@njit(nogil=True)
def close_up(room, start, outcome, chance, common):
    """Move the cells of each situation from room[s] on to start[s] on, which is no later."""
    for s in range(start.size - 1):
        back = room[s] - start[s]
        for cell in range(start[s], start[s + 1]):
            outcome[cell], chance[cell], common[cell] = outcome[cell + back], chance[cell + back], common[cell + back]


# The scores of single choices by a closed form: one thread judges many choices, each with its own law, and keeps no
# table.


@njit(nogil=True, error_model="numpy")
def judge_choices(indptr, indices, bias, p, q, vertex, before, chosen, largest, excess, variance, change):
    """Judge choices of a neighbor of ``vertex`` by the biases of ``row_laws``; ``before`` is the previous vertex, -1
    for none.

    The scores are in columns: a uniform neighbor, one by its degree, a return, a common neighbor, the first and the
    last possible one. Each choice gets the excess of its scores over their means, their variances, and their growth if
    the choice is the deviation. Return the number of choices that the law never makes.
    """
    most = 1
    for i in range(vertex.size):
        most = max(most, indptr[vertex[i] + 1] - indptr[vertex[i]])
    outcome, chance, kind = empty(most, np.int64), empty(most, np.float64), empty(most, np.int8)
    share, even, other = empty(most, np.float64), empty(most, np.float64), empty(most, np.float64)
    bits, common = zeros((indptr.size >> 6) + 1, np.uint64), empty(most, np.int8)
    impossible = 0
    for i in range(vertex.size):
        for column in range(excess.shape[1]):
            excess[i, column], variance[i, column], change[i, column] = 0.0, 0.0, 0.0
        filled = one_law(indptr, indices, bias, p, q, vertex[i], before[i], bits, common, outcome, chance, kind)
        at = place_of(outcome, filled, chosen[i])
        if at < 0:
            impossible += filled > 0 or chosen[i] >= 0
        elif filled > 1:
            score_outcomes(indptr, outcome, chance, filled, largest, share, even, other)
            fill_in(chance, kind, filled, share, even, other, at, i, excess, variance, change)
    return impossible


@njit(nogil=True)
def place_of(outcome, filled, chosen):
    """The place of ``chosen`` among the outcomes, ascending; -1 where it is none."""
    low = place_between(outcome, 0, filled, chosen)
    return low if low < filled and outcome[low] == chosen else -1


@njit(nogil=True, error_model="numpy")
def score_outcomes(indptr, outcome, chance, filled, largest, share, even, other):
    """The scores of ``score_rows`` of each outcome, for the law of a uniform neighbor (``even``) and for one by its
    degree (``other``), of which ``share`` is the law.

    Divisions stand in a loop without sums, which a processor does several at a time.
    """
    total, filled = 0.0, np.uint64(filled)
    for cell in range(filled):
        to = np.uint64(outcome[cell])
        degree = np.float64(indptr[to + np.uint64(1)] - indptr[to])
        share[cell] = degree
        total += degree
    total, uniform = max(total, 1e-300), 1.0 / filled
    for cell in range(filled):
        share[cell] /= total
        even[cell] = uniform / chance[cell] if uniform < largest * chance[cell] else largest
        other[cell] = share[cell] / chance[cell] if share[cell] < largest * chance[cell] else largest


@njit(nogil=True, error_model="numpy")
def fill_in(chance, kind, filled, share, even, other, at, i, excess, variance, change):
    """Fill in all columns of choice ``i``, of the outcome ``at``, from the scores of all outcomes, whose sums are made
    side by side.
    """
    uniform, last, back, common = 1.0 / filled, filled - 1, 0.0, 0.0
    mean, square, theirs = 0.0, 0.0, 0.0
    mean_other, square_other, theirs_other = 0.0, 0.0, 0.0
    for cell in range(np.uint64(filled)):
        here = chance[cell]
        mean += here * even[cell]
        square += here * even[cell] * even[cell]
        theirs += uniform * even[cell]
        mean_other += here * other[cell]
        square_other += here * other[cell] * other[cell]
        theirs_other += share[cell] * other[cell]
        back += here if kind[cell] == 2 else 0.0
        common += here if kind[cell] == 1 else 0.0
    if square - mean * mean > 1e-9:  # otherwise the other law is the law itself
        excess[i, 0], variance[i, 0], change[i, 0] = even[at] - mean, square - mean * mean, theirs - mean
    spread = square_other - mean_other * mean_other
    if spread > 1e-9:
        excess[i, 1], variance[i, 1], change[i, 1] = other[at] - mean_other, spread, theirs_other - mean_other
    chances = (back, common, chance[0], chance[last])
    hits = (kind[at] == 2, kind[at] == 1, at == 0, at == last)
    for name in range(4):
        one = min(chances[name], 1.0)
        excess[i, 2 + name] = hits[name] - one
        variance[i, 2 + name], change[i, 2 + name] = one * (1.0 - one), 1.0 - one


# Laws of whole rows.

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
        start = np.concatenate([[0], np.cumsum(size)])
        close_up(room, start, outcome, chance, common)
        outcome, chance, common = (array[: start[-1]] for array in (outcome, chance, common))
        return LawTable(start, outcome, chance, common if "prev" in self.columns else None)

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
