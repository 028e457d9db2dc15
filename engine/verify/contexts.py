"""Tests of single situations: all choices of the sample that were made in the same one, counted by their outcomes.

Situations are chosen by a fixed rule of the graph and of the part of the sample that is kept: the most frequent ones of
each stratum. Strata are classes of degree of the vertex; where the law reads the previous vertex, also the first step,
and steps from a low or a higher degree. So hubs and low degrees, first steps and returns to either have their own share
of the tests, however rare they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock, local

import numpy as np

from csaw.engine.verify.kernels import find_outcomes
from csaw.engine.verify.power import Result, Situation, certain, ranges
from csaw.engine.verify.shares import FROM_ANOTHER, NAMED, Shares, scores, sums_of
from csaw.engine.verify.statistics import LEAST_EXPECTED, Choices, fit_law, in_half
from csaw.engine.verify.tables import Laws, LawTable, joined
from csaw.engine.verify.walk_kernels import count_choices, fill_slots

CLASSES = np.array([2, 4, 16, 64, 256, 1024, 4096, 16384, 65536])  # least degree of each class but the first
LOW = 3  # classes of a previous vertex of low degree
CONTEXTS = 256  # of each stratum
OUTCOMES = 1 << 21  # of all situations that are tested: each thread has a count of 8 bytes of each
SLOTS = 8  # of the table that finds them, for each
COUNTED = ("v", "prev", "source")  # columns of situations that a pass over the sample counts
LEVEL = 1e-9  # about that of a single test; parts that show nothing at it are left out
DEVIATION = "choices of one situation moved to one of its outcomes"


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
    present = np.unique(stratum)
    taken: list[tuple[int, int, int]] = []  # (rank, stratum, number)
    for one in present.tolist():
        here = enough[stratum == one]
        here = here[np.argsort(-counts[here], kind="stable")][:CONTEXTS]
        fits = np.cumsum(laws.listed(rows[here])) <= OUTCOMES // present.size
        taken += [(rank, one, number) for rank, number in enumerate(here[fits].tolist())]
    numbers = np.array([number for *_, number in sorted(taken)], np.int64)
    return numbers[laws.within(rows[numbers])] if numbers.size else numbers


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
