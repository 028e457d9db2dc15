"""Tests of the choices of all situations together: by their places in their own laws, by their scores, and by the
choices that follow them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from csaw.engine.verify.choices import BY_WEIGHT, FROM_ANOTHER, NAMED, Shares, repeats, scores, sums_of
from csaw.engine.verify.course import in_order
from csaw.engine.verify.kernels import find_outcomes, likelier
from csaw.engine.verify.statistics import (
    BINS,
    Choices,
    Laws,
    LawTable,
    Result,
    ascending,
    certain,
    even,
    first_met,
    in_blocks,
    in_half,
)
from csaw.partition.base.stages import tell

LAGS = range(1, 17)  # choices apart that are compared
SIDE = 8  # ranges for each of two places
PLACES = 20240301  # seed, fixed: the verdict on a sample never changes
DIFFERENCES = 16  # ranges of differences of two places
LEVEL = 1e-8  # about that of a single test; parts of the sample that show nothing at it are left out


@dataclass
class Pooled:
    """The results of the choices of many situations."""

    looked_at: int = 0
    used: int = 0  # those that were not forced
    places: list[Result] = field(default_factory=list)
    uniform: list[Result] = field(default_factory=list)
    degree: list[Result] = field(default_factory=list)
    weight: list[Result] = field(default_factory=list)
    independence: list[Result] = field(default_factory=list)
    same: frozenset[str] = frozenset()  # of uniform, degree and weight: the law itself


def pooled_test(choices: Choices, laws: Laws) -> Pooled:
    """Test as many choices as the budget of ``laws`` allows, in blocks from all over the sample."""
    place, out, shares = np.full(len(choices.situations), np.nan), Pooled(), Shares(*choices.parts())
    rows, here, number = _affordable(choices, laws)
    tested = _Tested(choices, shares, rows, here, number, np.random.default_rng(PLACES).random(place.size))
    in_row = place.copy()
    for made, places, sums in in_order(tested.table, _begun(laws.tables(rows))):
        out.looked_at += made.size
        tell(out.looked_at, here.size, "choices")
        if places is None:
            return Pooled(out.looked_at, out.looked_at, [certain("choices that the law never makes")])
        place[made], in_row[made] = places
        for one in sums:
            shares.add(*one)
    out.used = int(np.isfinite(place).sum())
    out.places = _even_parts(place, shares) + shares.results(NAMED, LEVEL)
    others = FROM_ANOTHER | BY_WEIGHT
    out.uniform, out.degree, out.weight = (shares.results({name: said}, LEVEL) for name, said in others.items())
    out.same = frozenset(name for name, deviation in others.items() if not shares.varies(deviation))
    out.independence = independence(place) + lagged(in_row)
    return out


def _begun(tables: Iterable[LawTable]) -> Iterator[tuple[int, LawTable]]:
    """Each table, with the number of situations before it."""
    begun = 0
    for table in tables:
        yield begun, table
        begun += table.start.size - 1


@dataclass(frozen=True)
class _Tested:
    """The choices to test: those ``here``, made in the rows ``number`` of ``rows``, ascending; ``draw`` has a fixed
    draw for each choice.
    """

    choices: Choices
    shares: Shares
    rows: np.ndarray
    here: np.ndarray
    number: np.ndarray
    draw: np.ndarray

    def table(
        self, begun: int, table: LawTable
    ) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray] | None, list[tuple[str, np.ndarray, float]]]:
        """The choices made in the situations of one table, their places by ``_places`` (None if one is impossible), and
        the sums of their scores.
        """
        ended = begun + table.start.size - 1
        first = np.searchsorted(self.number, np.arange(begun, ended + 1))
        made, situation = self.here[first[0] : first[-1]], self.number[first[0] : first[-1]] - begun
        at = np.empty(made.size, np.int64)
        find_outcomes(table.start, table.outcome, situation, self.choices.chosen[made], at)
        if (at < 0).any():
            return made, None, []
        labels, parts = [one[made] for one in self.shares.labels], len(self.shares.parts)
        sums = [
            (one.deviation, sums_of(one, labels, parts, one.value[at], at=situation), one.largest)
            for one in scores(
                table, self.rows[begun:ended], self.choices.columns, self.choices.degree, self.choices.weights
            )
        ]
        if self.choices.before is not None:
            chosen, before = self.choices.chosen[made], self.choices.before[made]
            sums.append((NAMED["again"], repeats(table, situation, chosen, before, labels, parts), 1.0))
        return made, _places(table, first - first[0], situation, at, self.draw[made]), sums


def _affordable(choices: Choices, laws: Laws) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Situations that the budget allows, the choices that were made in them, and the number of the situation of each
    choice, ascending.

    Where the budget does not allow all, blocks of choices of one half of the sample decide on the situations, and test
    them; all choices of the other half that were made in them test them too. Other choices of the first half must not:
    whether a situation is met again depends on the choice that was made there.
    """
    (rows, *_), number_of = choices.grouped, choices.number
    if not len(rows):
        return rows, number_of, number_of
    rank, here = np.full(len(rows), len(rows)), in_blocks(number_of.size)
    paid = laws.affordable(rows)
    if paid < len(rows):
        chooses = in_half(number_of.size)
        here = here[chooses[here]]
        numbers, first = first_met(number_of[here], len(rows))
        paid = min(laws.affordable(rows[numbers]), numbers.size)
        rank[numbers[:paid]] = np.arange(paid)
        here = here[: first[paid]] if paid < numbers.size else here
        here = np.concatenate([here, np.flatnonzero(~chooses & (rank[number_of] < paid))])
    else:
        numbers = rank = np.arange(len(rows))
    number = rank[number_of[here]]
    by_situation = ascending(number, len(rows))
    return rows[numbers[:paid]], here[by_situation], number[by_situation]


def _places(
    table: LawTable, first: np.ndarray, situation: np.ndarray, at: np.ndarray, draw: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The place of each choice in [0, 1) when the outcomes of its law are laid side by side, likeliest first, and as
    the law has them; nan where it was forced.
    """
    low = np.empty(at.size)
    likelier(table.start, table.chance, first, at, low)
    forced = np.diff(table.start)[situation] == 1
    upto, first_of = np.cumsum(table.chance), table.start[:-1]
    begin = upto[first_of] - table.chance[first_of]
    in_order_of_law = upto[at] - table.chance[at] - begin[situation]
    one, other = (
        np.where(forced, np.nan, np.clip(begun + table.chance[at] * draw, 0.0, np.nextafter(1.0, 0.0)))
        for begun in (low, in_order_of_law)
    )
    return one, other


def _even_parts(place: np.ndarray, shares: Shares) -> list[Result]:
    """Test that places are uniform, over the whole sample and in each part of it."""
    out = []
    for labels in shares.labels:
        known = np.flatnonzero(np.isfinite(place))
        known = known[np.argsort(labels[known], kind="stable")]
        ends = np.cumsum(np.bincount(labels[known], minlength=len(shares.parts)))
        for part, places in enumerate(np.split(place[known], ends[:-1])):
            out += even(places, BINS, "choices moved into one range of their law", shares.parts[part])
    return out


def lagged(place: np.ndarray) -> list[Result]:
    """Test that places do not depend on those a few choices before, by their differences."""
    found = []
    for lag in LAGS:
        apart = place[lag:] - place[:-lag]
        found += repeated(apart[np.isfinite(apart)], f"choices that repeat one of the {len(LAGS)} places before")
    return found


def repeated(apart: np.ndarray, deviation: str) -> list[Result]:
    """Test that differences of two numbers are uniform modulo 1: they are if one is uniform whatever the other is."""
    return even(apart % 1.0, DIFFERENCES, deviation) if apart.size >= 20 * DIFFERENCES else []


def independence(place: np.ndarray) -> list[Result]:
    """Test that the places that follow those of each range are uniform.

    (A place itself may tell whether the next choice is forced.)
    """
    known = np.flatnonzero(np.isfinite(place[:-1]) & np.isfinite(place[1:]))
    after = [place[known + 1][np.floor(place[known] * SIDE) == side] for side in range(SIDE)]
    found = [
        even(places, SIDE, "choices that repeat the previous place") for places in after if places.size >= 20 * SIDE
    ]
    return [result for one in found for result in one]
