"""Tests of single choices: by classes of degree, by the share of those that could come from another law, and of all
that were made in the same situation.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock, local

import numpy as np

from csaw.engine.verify.course import in_order
from csaw.engine.verify.forms import RowLaws, judge_choices
from csaw.engine.verify.kernels import add_up, count_choices, fill_slots, find_outcomes, of_neighbors, score_rows
from csaw.engine.verify.statistics import (
    LEAST_EXPECTED,
    Choices,
    Laws,
    LawTable,
    Result,
    Situation,
    ascending,
    bounded_sum,
    certain,
    fit_law,
    in_half,
    joined,
    ranges,
)
from csaw.partition.base.stages import tell

# The share of choices that could come from another law, by scores of choices whose mean and variance follow from their
# own law.
#
# The score of a choice x for another law t is t(x) / p(x): no test of small shares of t is more powerful than its sum
# (the locally most powerful one). Outcomes with a meaning are counted instead: an end, a return, a common neighbor, the
# first and the last neighbor of a row.

LARGEST = 16.0  # scores are cut there, so that no rare outcome decides alone
LEAST = 1e-9  # variance below which the other law is the law itself
FROM_ANOTHER = {"uniform": "choices from a uniform neighbor", "degree": "choices of a neighbor by its degree"}
BY_WEIGHT = {"weight": "choices of a neighbor by the weight of its edge"}  # where the law does not read it
NAMED = {
    "end": "choices that end",
    "v": "choices that stay",
    "prev": "choices that return",
    "source": "choices that go to the source",
    "common": "choices of a common neighbor",
    "first": "choices of the first neighbor of a row",
    "last": "choices of the last neighbor of a row",
    "again": "choices of the neighbor that was selected before",
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
    table: LawTable,
    situations: np.ndarray,
    columns: tuple[str, ...],
    degree: np.ndarray | None,
    weights: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> Iterator[Score]:
    """Yield all scores of a table, whose situations are the rows of ``situations``; ``degree`` is that of each vertex,
    where outcomes are vertices, and ``weights`` as in :class:`Choices`.
    """
    other, nothing = np.empty(table.outcome.size), np.zeros(0, np.int64)
    of_neighbors(table.outcome, nothing, other)
    yield _from_another(table, other, FROM_ANOTHER["uniform"])
    if degree is not None:
        of_neighbors(table.outcome, degree, other)
        yield _from_another(table, other, FROM_ANOTHER["degree"])
    if weights is not None:
        neighbor = (table.outcome >= 0).astype(np.float64)
        there = weights(table.spread(situations[:, 0]), np.maximum(table.outcome, 0))
        yield _from_another(table, neighbor * there, BY_WEIGHT["weight"])
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


def repeats(
    table: LawTable, situation: np.ndarray, chosen: np.ndarray, before: np.ndarray, labels: list[np.ndarray], parts: int
) -> np.ndarray:
    """The sums, as of a score, of choices that repeat the one ``before`` in the same selection; -1 for none."""
    cell = np.empty(before.size, np.int64)
    find_outcomes(table.start, table.outcome, situation, before, cell)
    chance = np.where((before >= 0) & (cell >= 0), np.minimum(table.chance[np.maximum(cell, 0)], 1.0), 1.0)
    variance = chance * (1.0 - chance)
    terms = [np.where(variance > LEAST, term, 0.0) for term in ((chosen == before) - chance, variance, 1.0 - chance)]
    return np.array([sum(np.bincount(one, term, parts) for one in labels) for term in terms])


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


# Tests of single situations: all choices of the sample that were made in the same one, counted by their outcomes.
#
# Situations are chosen by a fixed rule of the graph and of the part of the sample that is kept: the most frequent ones
# of each stratum. Strata are classes of degree of the vertex; where the law reads the previous vertex, also the first
# step, and steps from a low or a higher degree. So hubs and low degrees, first steps and returns to either have their
# own share of the tests, however rare they are.

CLASSES = np.array([2, 4, 16, 64, 256, 1024, 4096, 16384, 65536])  # least degree of each class but the first
LOW = 3  # classes of a previous vertex of low degree
CONTEXTS = 256  # of each stratum
OUTCOMES = 1 << 21  # of all situations that are tested: each thread has a count of 8 bytes of each
SLOTS = 8  # of the table that finds them, for each
COUNTED = ("v", "prev", "source")  # columns of situations that a pass over the sample counts
LEVEL = 1e-9  # about that of a single test; parts that show nothing at it are left out
DEVIATION = "choices in one situation moved to one outcome"


def class_of(degree: np.ndarray) -> np.ndarray:
    return np.searchsorted(CLASSES, degree, "right")


def class_names(what: str = "") -> list[str]:
    bounds = [0, *CLASSES.tolist()]
    between = [f"degrees {a:,} to {b - 1:,}" for a, b in pairwise(bounds)]
    return [name + what for name in [*between, f"degrees from {bounds[-1]:,}"]]


def strata(rows: np.ndarray, columns: tuple[str, ...], sizes: np.ndarray) -> np.ndarray:
    """The stratum of each situation."""
    own = class_of(sizes[rows[:, 0]])
    if "prev" not in columns:
        return own
    prev = rows[:, columns.index("prev")]
    before = class_of(sizes[np.maximum(prev, 0)])
    return 3 * own + np.where(prev < 0, 0, np.where(before < LOW, 1, 2))


def parts_of(rows: np.ndarray, columns: tuple[str, ...], sizes: np.ndarray) -> tuple[list[str], list[np.ndarray]]:
    """Names of the classes that are judged by themselves too, and those of each situation, one array for each division
    into classes.
    """
    own = class_of(sizes[rows[:, 0]])
    names, labels = ["", *class_names()], [np.zeros(own.size, np.int64), own + 1]
    if "prev" in columns:
        prev = rows[:, columns.index("prev")]
        before = np.where(prev < 0, CLASSES.size + 1, class_of(sizes[np.maximum(prev, 0)]))
        labels.append(before + len(names))
        names += [*class_names(" of the previous vertex"), "the first step"]
    return names, labels


def chosen(choices: Choices, counts: np.ndarray, laws: Laws, sizes: np.ndarray, times: int = 1) -> np.ndarray:
    """Numbers of the situations to test, of those that are met ``counts`` times here and about ``times`` as often where
    they are counted.
    """
    rows = choices.grouped[0]
    enough = np.flatnonzero(counts * times >= 2 * LEAST_EXPECTED)
    stratum = strata(rows[enough], choices.columns, sizes)
    many = np.bincount(stratum)
    taken: list[tuple[int, int, int]] = []  # (rank, stratum, number)
    for one, here in enumerate(np.split(enough[ascending(stratum, many.size)], np.cumsum(many[:-1]))):
        here = here[most_frequent(counts[here])]
        fits = np.cumsum(laws.listed(rows[here])) <= OUTCOMES // max(1, int((many > 0).sum()))
        taken += [(rank, one, number) for rank, number in enumerate(here[fits].tolist())]
    numbers = np.array([number for *_, number in sorted(taken)], np.int64)
    return numbers[laws.within(rows[numbers])] if numbers.size else numbers


def most_frequent(counts: np.ndarray) -> np.ndarray:
    """Places of the CONTEXTS largest counts, the largest first, equal ones in their order."""
    upto = np.cumsum(np.bincount(counts))
    least = int(np.searchsorted(upto, counts.size - CONTEXTS, "right"))
    more, equal = np.flatnonzero(counts > least), np.flatnonzero(counts == least)
    return np.append(more[np.argsort(-counts[more], kind="stable")], equal[: CONTEXTS - more.size])


@dataclass(frozen=True)
class Counted:
    """Situations with the counts of their outcomes."""

    rows: np.ndarray  # int64 [situations, columns]
    columns: tuple[str, ...]
    table: LawTable
    found: np.ndarray  # int64 [outcomes of the table]
    strange: np.ndarray  # int64 [situations]: choices that the law never makes

    @property
    def times(self) -> np.ndarray:
        """Number of choices of each situation."""
        return self.table.sums(self.found) + self.strange

    def results(self) -> Iterator[Situation]:
        """Yield each situation whose choices can be tested."""
        bounds = zip(self.table.start.tolist(), self.table.start[1:].tolist(), strict=False)
        for number, (times, (low, high)) in enumerate(zip(self.times.tolist(), bounds, strict=True)):
            key = ", ".join(f"{c} = {v}" for c, v in zip(self.columns, self.rows[number].tolist(), strict=True))
            if self.strange[number]:
                yield Situation(key, times, certain(DEVIATION))
                continue
            p, cells = fit_law(self.found[low:high].astype(np.float64), self.table.chance[low:high])
            if p is not None and cells > 1:
                yield Situation(key, times, ranges(p, times, cells, DEVIATION))

    def shares(self, sizes: np.ndarray, degree: np.ndarray | None) -> list[Result]:
        """Results of the deviations with a meaning, over all situations and over those of each class of degree."""
        if self.strange.any():
            return [certain("choices that the law never makes")]
        names, labels = parts_of(self.rows, self.columns, sizes)
        shares, times = Shares(names, labels), self.times
        for score in scores(self.table, self.rows, self.columns, degree):
            total = self.table.sums(self.found * score.value.astype(np.float64))
            shares.add(score.deviation, sums_of(score, labels, len(names), total, times), score.largest)
        return shares.results(NAMED | FROM_ANOTHER, LEVEL)


def counted_here(choices: Choices, laws: Laws, sizes: np.ndarray) -> Counted | None:
    """Counts of the choices of a sample that is kept whole.

    A walk that returns too often meets its situations again. So where only some situations are tested, one half of the
    sample decides which, and the other half tests them.
    """
    (rows, counts, *_), number = choices.grouped, choices.number
    if not number.size:
        return None
    numbers, tests = chosen(choices, counts, laws, sizes), np.ones(number.size, np.bool_)
    if numbers.size < int((counts >= 2 * LEAST_EXPECTED).sum()):
        chooses = in_half(number.size)
        numbers = chosen(choices, np.bincount(number[chooses], minlength=counts.size), laws, sizes)
        tests = ~chooses
    if not numbers.size:
        return None
    table, place = joined(laws.tables(rows[numbers])), np.full(counts.size, -1)
    place[numbers] = np.arange(numbers.size)
    here = np.flatnonzero(tests & (place[number] >= 0))
    at = np.empty(here.size, np.int64)
    find_outcomes(table.start, table.outcome, place[number[here]], choices.chosen[here], at)
    found = np.bincount(at[at >= 0], minlength=table.chance.size)
    strange = np.bincount(place[number[here[at < 0]]], minlength=numbers.size)
    return Counted(rows[numbers], choices.columns, table, found, strange)


class Counter:
    """Counts the choices of a sample in chosen situations, in threads; sums of integers do not
    depend on their order.
    """

    def __init__(self, rows: np.ndarray, columns: tuple[str, ...], table: LawTable) -> None:
        self.rows, self.columns, self.table = rows, columns, table
        self.keys = np.full((len(rows), len(COUNTED)), -1, np.int64)
        for place, name in enumerate(columns):
            self.keys[:, COUNTED.index(name)] = rows[:, place]
        self.slots = np.full(1 << (SLOTS * len(rows)).bit_length(), -1, np.int32)
        fill_slots(self.keys, self.slots)
        self._own, self._all, self._lock = local(), list[tuple[np.ndarray, np.ndarray]](), Lock()

    @classmethod
    def of(cls, choices: Choices, laws: Laws, sizes: np.ndarray, every: int) -> "Counter | None":
        """A counter of the situations that are frequent among ``choices``, which one walk of ``every`` made; None where
        those are the whole sample.
        """
        if every == 1 or not set(choices.columns) <= set(COUNTED) or not len(choices.situations):
            return None
        rows, counts, *_ = choices.grouped
        numbers = chosen(choices, counts, laws, sizes, every - 1)
        return cls(rows[numbers], choices.columns, joined(laws.tables(rows[numbers]))) if numbers.size else None

    def count(self, walks: np.ndarray, lengths: np.ndarray, fits: np.ndarray, others: np.ndarray) -> None:
        """Count the choices of walks in dense ids; those that are not among the ``others`` decided on the situations.

        Where the law reads the previous vertex, the sources alone decided on first steps, so those of all walks count.
        """
        if not hasattr(self._own, "counts"):
            self._own.counts = np.zeros(self.table.chance.size, np.int64), np.zeros(len(self.rows), np.int64)
            with self._lock:
                self._all.append(self._own.counts)
        of_prev, of_source = "prev" in self.columns, "source" in self.columns
        table, first = self.table, of_prev
        count_choices(
            walks,
            lengths,
            fits,
            others,
            first,
            of_prev,
            of_source,
            self.keys,
            self.slots,
            table.start,
            table.outcome,
            *self._own.counts,
        )

    def counted(self) -> Counted:
        found, strange = (sum(one[i] for one in self._all) for i in range(2))
        zero = np.zeros(self.table.chance.size, np.int64), np.zeros(len(self.rows), np.int64)
        return Counted(self.rows, self.columns, self.table, zero[0] + found, zero[1] + strange)


# Tests of choices by classes of degree, each class with its own share of the work: hubs, low degrees, first steps,
# steps from either.
#
# Of each stratum, as many choices are judged as its share of the budget pays for, by a closed form of
# their law. Whether a choice is judged depends on its situation and a fixed draw, never on what was chosen.

QUICKER = 8  # times as fast as by tables, which keep every outcome
TASK = 4_000_000  # neighbors that one thread reads at a time
MOST = 65_536  # choices of one thread at a time
DRAWS = 20240315  # seed, fixed: the verdict on a sample never changes
SCORES = {**FROM_ANOTHER, **{name: NAMED[name] for name in ("prev", "common", "first", "last")}}


def class_tests(choices: Choices, laws: RowLaws) -> tuple[int, int, list[Result]]:
    """Number of situations and of choices judged, and the results of each deviation in all of
    them and in each class.
    """
    used = _within(choices, laws)
    names, labels = parts_of(choices.situations[used], choices.columns, laws.degree)
    shares, strange = Shares(names, labels), 0

    def judged(low: int, high: int) -> tuple[int, int, np.ndarray]:
        return high, *_judged(choices, laws, used[low:high], [one[low:high] for one in labels], len(names))

    for done, impossible, sums in in_order(judged, _tasks(laws.cells(choices.situations[used]))):
        strange += impossible
        tell(done, used.size, "choices")
        for number, deviation in enumerate(SCORES.values()):
            shares.add(deviation, sums[:, number], LARGEST if number < len(FROM_ANOTHER) else 1.0)
    situations = int((np.bincount(choices.number[used]) > 0).sum())
    results = [certain("choices that the law never makes")] if strange else shares.results(SCORES, LEVEL)
    return situations, used.size, results


def _within(choices: Choices, laws: RowLaws) -> np.ndarray:
    """Numbers of the choices to judge, ascending."""
    stratum, cells = strata(choices.situations, choices.columns, laws.degree), laws.cells(choices.situations)
    cost = np.bincount(stratum, cells)
    share, left = np.ones(cost.size), float(QUICKER * laws.rows_left)
    for place, one in enumerate(np.argsort(cost, kind="stable").tolist()):  # what cheap strata leave is for dear ones
        share[one] = min(1.0, left / (cost.size - place) / max(float(cost[one]), 1.0))
        left -= share[one] * float(cost[one])
    draw = np.random.default_rng(DRAWS).random(stratum.size)
    return np.flatnonzero(draw < share[stratum])


def _tasks(cells: np.ndarray) -> Iterator[tuple[int, int]]:
    paid, low = np.cumsum(cells), 0
    while low < cells.size:
        before = paid[low - 1] if low else 0
        high = min(max(low + 1, int(np.searchsorted(paid, before + TASK, "right"))), low + MOST)
        yield low, high
        low = high


def _judged(
    choices: Choices, laws: RowLaws, here: np.ndarray, labels: list[np.ndarray], parts: int
) -> tuple[int, np.ndarray]:
    """Number of impossible choices ``here``, and the sums of excess, variance and growth,
    float64 [3, scores, parts].
    """
    rows, form, view = choices.situations[here], laws.form, laws.view
    v, prev = np.ascontiguousarray(rows[:, 0]), laws.column(rows, "prev").astype(np.int64)
    terms = tuple(np.empty((here.size, len(SCORES))) for _ in range(3))
    strange = judge_choices(
        view.indptr,
        view.indices,
        form.bias,
        form.p,
        form.q,
        v,
        np.ascontiguousarray(prev),
        choices.chosen[here],
        LARGEST,
        *terms,
    )
    sums = np.zeros((len(labels), len(terms), len(SCORES), parts))
    for division, one in enumerate(labels):
        for number, term in enumerate(terms):
            add_up(one, term, sums[division, number])
    return strange, sums.sum(axis=0)
