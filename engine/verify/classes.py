"""Tests of choices by classes of degree, each class with its own share of the work: hubs, low degrees, first steps,
steps from either.

Of each stratum (contexts.py), as many choices are judged as its share of the budget pays for, by a closed form of their
law. Whether a choice is judged depends on its situation and a fixed draw, never on what was chosen.
"""

from collections.abc import Iterator

import numpy as np

from csaw.engine.verify.choice_kernels import judge_choices
from csaw.engine.verify.contexts import parts_of, strata
from csaw.engine.verify.forms import RowLaws
from csaw.engine.verify.power import Result, certain
from csaw.engine.verify.shares import FROM_ANOTHER, LARGEST, NAMED, Shares
from csaw.engine.verify.statistics import Choices
from csaw.engine.verify.threads import in_order
from csaw.partition.base.stages import tell

QUICKER = 8  # times as fast as by tables, which keep every outcome
TASK = 4_000_000  # neighbors that one thread reads at a time
MOST = 65_536  # choices of one thread at a time
DRAWS = 20240315  # seed, fixed: the verdict on a sample never changes
LEVEL = 1e-9  # about that of a single test; parts that show nothing at it are left out
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
    situations = np.unique(choices.number[used]).size
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
    sums = [[sum(np.bincount(one, term[:, k], parts) for one in labels) for k in range(len(SCORES))] for term in terms]
    return strange, np.array(sums)
