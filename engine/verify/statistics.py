"""Do observed choices fit their exact law? Three views, each with p-values:

contexts      chi-square of all choices made in the same situation, over situations of low, middle and high degree
pooled        every choice's place in its own law, all situations together: uniform on [0, 1) when the law is right
independence  the places of choices that follow one another: uniform beside any other place when no draw is used twice
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

LEAST_EXPECTED = 5.0
CONTEXTS = 24  # of each stratum
LEAST_VARIANCE = 25.0
BINS = 32
SIDE = 8  # ranges of each of two places
BLOCK = 16  # choices in a row that are looked at together
BLOCKS, PLACES = 20240229, 20240301  # seeds, fixed: the verdict on a sample never changes
Law = dict[int, float]


@dataclass
class Choices:
    """Situations, one row each, and what was chosen in each; equal rows have the same law."""

    situations: np.ndarray  # int64 [n, columns]; column 0 is the vertex
    chosen: np.ndarray  # int64 [n], or [n, picks] with -1 for none
    columns: tuple[str, ...] = ("v",)
    _order: np.ndarray | None = field(default=None, repr=False)

    def grouped(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Distinct situations, how often each occurs, where each begins in the order, and that order."""
        if len(self.situations) == 0:
            nothing = np.zeros(0, np.int64)
            return self.situations, nothing, nothing, nothing
        order = np.lexsort(self.situations.T[::-1])
        rows = self.situations[order]
        fresh = np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)])
        start = np.flatnonzero(fresh)
        return rows[start], np.diff(np.append(start, len(rows))), start, order


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


def context_tests(choices: Choices, laws: Laws, sizes: np.ndarray) -> list[tuple[tuple[int, ...], int, float]]:
    """(situation, choices made in it, p-value) for the most frequent situations of each stratum that the budget allows."""
    rows, counts, start, order = choices.grouped()
    results, floor = [], laws.left // 2
    for number in stratified(counts, sizes[rows[:, 0]]):
        if laws.left - int(laws.cost(rows[number][None])[0]) < floor:
            continue
        made = choices.chosen[order[start[number] : start[number] + counts[number]]]
        values, seen = np.unique(made, return_counts=True)
        p = chi_square(dict(zip(values.tolist(), seen.tolist(), strict=True)), laws.of(rows[number]))
        if p is not None:
            results.append((tuple(rows[number].tolist()), int(counts[number]), p))
    return results


def stratified(counts: np.ndarray, sizes: np.ndarray) -> list[int]:
    """Numbers of frequent situations: of low, middle and high degree in turn."""
    enough = np.flatnonzero(counts >= 2 * LEAST_EXPECTED)
    if not enough.size:
        return []
    sizes = sizes[enough]
    low, high = np.quantile(sizes, [1 / 3, 2 / 3])
    strata = [enough[sizes <= low], enough[(sizes > low) & (sizes <= high)], enough[sizes > high]]
    best = [stratum[np.argsort(-counts[stratum], kind="stable")][:CONTEXTS] for stratum in strata]
    return [int(s[i]) for i in range(CONTEXTS) for s in best if i < len(s)]


def chi_square(observed: dict[int, int], law: Law) -> float | None:
    """p-value of counts under a law; None when it allows one outcome only, 0 when an impossible one occurred.

    Outcomes expected less than 5 times count together in cells that reach it, or by their exact tail where all of them do not. The chi-square
    tail is too thin there, that of G is right (Poisson's large deviations), so the larger of the two p-values is taken.
    """
    if any(count and law.get(outcome, 0.0) <= 0.0 for outcome, count in observed.items()):
        return 0.0
    total = sum(observed.values())
    expected = np.array([total * chance for chance in law.values()])
    found = np.array([float(observed.get(outcome, 0)) for outcome in law])
    rare = expected < LEAST_EXPECTED
    few, few_found = expected[rare].sum(), found[rare].sum()
    if few >= LEAST_EXPECTED:
        cells = [_in_cells(expected[rare], values[rare]) for values in (found, expected)]
        return fit(np.append(found[~rare], cells[0]), np.append(expected[~rare], cells[1]))
    expected, found = expected[~rare], found[~rare]
    parts = [fit(found, expected * (found.sum() / expected.sum())) if found.sum() else None]
    parts += [binomial_tail(few_found, total, few / total)] if few > 0 else []
    known = [p for p in parts if p is not None]
    return min(1.0, len(known) * min(known)) if known else None


def _in_cells(expected: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sums of ``values`` over neighboring outcomes, of which enough are expected in every sum."""
    cells = max(1, int(expected.sum() // (2 * LEAST_EXPECTED)))  # an outcome is less than half a cell
    cell = np.minimum(np.cumsum(expected) * cells / expected.sum(), cells - 0.5).astype(int)
    return np.bincount(cell, values, cells)


def binomial_tail(found: float, n: int, chance: float) -> float:
    """Two-sided p-value of ``found`` successes of n."""
    from scipy.stats import binom

    return float(min(1.0, 2.0 * min(binom.cdf(found, n, chance), binom.sf(found - 1, n, chance))))


def fit(found: np.ndarray, expected: np.ndarray) -> float | None:
    """The larger p-value of chi-square and G, at one degree of freedom less than cells."""
    from scipy.special import xlogy
    from scipy.stats import chi2

    cells = len(expected)
    if cells < 2:
        return None
    total = expected.sum()
    square = ((found - expected) ** 2 / expected).sum()
    ratio = 2.0 * xlogy(found, found / expected).sum()
    williams = 1.0 + (np.sum(total / expected) - 1.0) / (6.0 * total * (cells - 1))
    return float(max(chi2.sf(square, cells - 1), chi2.sf(ratio / williams, cells - 1)))


def in_blocks(numbers: np.ndarray) -> list[int]:
    """The distinct ones of ``numbers`` in a random order of blocks, so that those which follow one another stay together."""
    blocks = np.random.default_rng(BLOCKS).permutation(-(-numbers.size // BLOCK))
    order = (blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel()
    found = numbers[order[order < numbers.size]]
    values, first = np.unique(found, return_index=True)
    return values[np.argsort(first)].tolist()


def pooled_test(choices: Choices, laws: Laws) -> tuple[int, list[float], list[float]]:
    """Choices used, p-values over all situations together, and that of their independence.

    The first is for the place of each choice in its law, likeliest outcome first: uniform. Others are for outcomes with a meaning: the end,
    and the vertices that the situation names (stay, return, restart).
    """
    rows, counts, start, order = choices.grouped()
    draw = np.random.default_rng(PLACES)
    place = np.full(len(choices.situations), np.nan)  # in the order the choices were made
    number_of = np.empty(place.size, np.int64)
    number_of[order] = np.repeat(np.arange(len(rows)), counts)
    named = _Named(choices.columns)
    for number in in_blocks(number_of):
        if laws.left <= 0:
            break
        law = laws.of(rows[number])
        here = order[start[number] : start[number] + counts[number]]
        made = choices.chosen[here]
        if any(outcome not in law for outcome in made.tolist()):
            return int(np.isfinite(place).sum()) + made.size, [0.0], []
        if len(law) > 1:  # a forced choice says nothing
            place[here] = _places(law, made, draw)
            named.add(rows[number], law, made)
    known = place[np.isfinite(place)]
    p = even(known, BINS)
    return known.size, [] if p is None else [p, *named.p_values()], _independence(place)


def _independence(place: np.ndarray) -> list[float]:
    """p-values of places that follow one in each range: uniform. (A place itself may tell whether the next choice is a forced one.)"""
    known = np.flatnonzero(np.isfinite(place[:-1]) & np.isfinite(place[1:]))
    after = [place[known + 1][np.floor(place[known] * SIDE) == side] for side in range(SIDE)]
    return [p for places in after if places.size >= 20 * SIDE and (p := even(places, SIDE)) is not None]


def even(places: np.ndarray, bins: int) -> float | None:
    """p-value of places in [0, 1), each range of which is equally likely."""
    bins = max(1, min(bins, int(places.size // 20)))
    found = np.histogram(places, bins, (0.0, 1.0))[0].astype(float)
    return fit(found, np.full(bins, places.size / bins))


def _places(law: Law, made: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Where in [0, 1) each choice lies when the law's outcomes are laid side by side, likeliest first."""
    ranked = sorted(law, key=lambda outcome: (-law[outcome], outcome))
    below = dict(zip(ranked, np.cumsum([0.0, *(law[o] for o in ranked)]).tolist(), strict=False))
    low, width = np.array([(below[o], law[o]) for o in made.tolist()]).reshape(-1, 2).T
    return low + width * draw.random(len(made))


class _Named:
    """How often outcomes with a meaning occur, over all situations, against their laws."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns = {name: place for place, name in enumerate(columns) if name in ("v", "prev", "source")}
        self.excess, self.variance = (
            dict.fromkeys(("end", *self.columns), 0.0),
            dict.fromkeys(("end", *self.columns), 0.0),
        )

    def add(self, situation: np.ndarray, law: Law, made: np.ndarray) -> None:
        for name in self.excess:
            outcome = -1 if name == "end" else int(situation[self.columns[name]])
            chance = law.get(outcome, 0.0)
            if chance > 0.0 and (name == "end" or outcome >= 0):
                self.excess[name] += int((made == outcome).sum()) - made.size * chance
                self.variance[name] += made.size * chance * (1.0 - chance)

    def p_values(self) -> list[float]:
        from scipy.stats import norm

        enough = [name for name in self.excess if self.variance[name] > 100.0]
        return [float(2 * norm.sf(abs(self.excess[name]) / self.variance[name] ** 0.5)) for name in enough]


def normal(excess: float, variance: float) -> list[float]:
    """Two-sided p-value of a sum of many bounded terms; none where there are too few for the normal law."""
    from scipy.stats import norm

    return [float(2 * norm.sf(abs(excess) / variance**0.5))] if variance > LEAST_VARIANCE else []


def holm(p_values: list[float]) -> float:
    """The smallest p-value after Holm's correction: below alpha exactly when some test of the family rejects at alpha."""
    return min(1.0, min(p_values) * len(p_values)) if p_values else 1.0
