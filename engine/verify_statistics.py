"""Do observed choices fit their exact law? Three views, each with p-values:

contexts   chi-square of all choices made in the same situation, over situations of low, middle and high degree
pooled     every choice's place in its own law, all situations together: uniform on [0, 1) when the law is right
sets       how often each neighbor is among several picked without replacement, against its inclusion probability
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import comb

import numpy as np

from csaw.engine.law import inclusion_law

LEAST_EXPECTED = 5.0
CONTEXTS = 24  # of each stratum
BINS = 32
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


def context_tests(choices: Choices, laws: Laws, degree: np.ndarray) -> list[tuple[tuple[int, ...], int, float]]:
    """(situation, choices made in it, p-value) for the most frequent situations of each stratum that the budget allows."""
    rows, counts, start, order = choices.grouped()
    results, floor = [], laws.left // 2
    for number in stratified(rows, counts, degree):
        if laws.left - int(laws.cost(rows[number][None])[0]) < floor:
            continue
        made = choices.chosen[order[start[number] : start[number] + counts[number]]]
        values, seen = np.unique(made, return_counts=True)
        p = chi_square(dict(zip(values.tolist(), seen.tolist(), strict=True)), laws.of(rows[number]))
        if p is not None:
            results.append((tuple(rows[number].tolist()), int(counts[number]), p))
    return results


def stratified(rows: np.ndarray, counts: np.ndarray, degree: np.ndarray) -> list[int]:
    """Numbers of frequent situations: of low, middle and high degree in turn."""
    enough = np.flatnonzero(counts >= 2 * LEAST_EXPECTED)
    if not enough.size:
        return []
    degrees = degree[rows[enough, 0]]
    low, high = np.quantile(degrees, [1 / 3, 2 / 3])
    strata = [enough[degrees <= low], enough[(degrees > low) & (degrees <= high)], enough[degrees > high]]
    best = [stratum[np.argsort(-counts[stratum], kind="stable")][:CONTEXTS] for stratum in strata]
    return [int(s[i]) for i in range(CONTEXTS) for s in best if i < len(s)]


def chi_square(observed: dict[int, int], law: Law) -> float | None:
    """p-value of counts under a law; None when it allows one outcome only, 0 when an impossible one occurred.

    Outcomes expected less than 5 times count as one, by its exact tail where even that is expected less. The chi-square tail is too thin there, that of G is right (Poisson's large
    deviations), so the larger of the two p-values is taken.
    """
    if any(count and law.get(outcome, 0.0) <= 0.0 for outcome, count in observed.items()):
        return 0.0
    total = sum(observed.values())
    expected = np.array([total * chance for chance in law.values()])
    found = np.array([float(observed.get(outcome, 0)) for outcome in law])
    rare = expected < LEAST_EXPECTED
    few, few_found = expected[rare].sum(), found[rare].sum()
    expected, found = expected[~rare], found[~rare]
    if few >= LEAST_EXPECTED:
        return fit(np.append(found, few_found), np.append(expected, few))
    parts = [fit(found, expected * (found.sum() / expected.sum())) if found.sum() else None]
    parts += [binomial_tail(few_found, total, few / total)] if few > 0 else []
    known = [p for p in parts if p is not None]
    return min(1.0, len(known) * min(known)) if known else None


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


def pooled_test(choices: Choices, laws: Laws) -> tuple[int, list[float]]:
    """Choices used, and p-values over all situations together.

    The first is for the place of each choice in its law, likeliest outcome first: uniform. Others are for outcomes with a meaning: the end,
    and the vertices that the situation names (stay, return, restart).
    """
    rows, counts, start, order = choices.grouped()
    draw = np.random.default_rng(20240229)  # fixed: the verdict on a sample never changes
    places: list[np.ndarray] = []
    named = _Named(choices.columns)
    for number in draw.permutation(len(rows)):
        if laws.left <= 0:
            break
        law = laws.of(rows[number])
        made = choices.chosen[order[start[number] : start[number] + counts[number]]]
        if any(outcome not in law for outcome in made.tolist()):
            return sum(map(len, places)) + len(made), [0.0]
        if len(law) > 1:  # a forced choice says nothing
            places.append(_places(law, made, draw))
            named.add(rows[number], law, made)
    place = np.concatenate(places) if places else np.zeros(0)
    bins = max(1, min(BINS, int(place.size // 20)))
    found = np.histogram(place, bins, (0.0, 1.0))[0].astype(float)
    p = fit(found, np.full(bins, place.size / bins))
    return place.size, [] if p is None else [p, *named.p_values()]


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


def set_tests(choices: Choices, biases: Callable[..., list[tuple[int, float]]], degree: np.ndarray,
              budget: int) -> tuple[list[tuple[tuple[int, ...], int, float]], float | None]:  # fmt: skip
    """As context_tests, for sets without replacement; then the p-value of the likelier half of every row together."""
    from scipy.stats import norm

    rows, counts, start, order = choices.grouped()
    results, heavy, variance = [], 0.0, 0.0
    for number in stratified(rows, counts, degree):
        picks, size = int(rows[number, -1]), int(degree[rows[number, 0]])
        row = biases(*rows[number, :-1].tolist()) if size * size <= budget else []
        law = inclusion(row, picks) if row else None
        if law is None or not 0 < picks < sum(bias > 0 for _, bias in row):
            continue
        made, n = choices.chosen[order[start[number] : start[number] + counts[number]]], int(counts[number])
        found = {v: int((made == v).any(axis=1).sum()) for v in np.unique(made[made >= 0]).tolist()}
        results.append((tuple(rows[number].tolist()), n, _binomials(found, law, n)))
        ranked = sorted(law, key=lambda v: (-law[v], v))[: len(law) // 2]
        heavy += sum(found.get(v, 0) - n * law[v] for v in ranked)
        variance += sum(n * law[v] * (1 - law[v]) for v in ranked)  # too much: picks exclude each other
    return results, float(2 * norm.sf(abs(heavy) / variance**0.5)) if variance > 25 else None


def _binomials(found: dict[int, int], law: Law, n: int) -> float:
    """p-value of the worst neighbor, times their number."""
    from scipy.stats import binom

    if any(law.get(v, 0.0) <= 0.0 for v in found):
        return 0.0
    chances = np.clip(np.array(list(law.values())), 0.0, 1.0)
    seen = np.array([found.get(v, 0) for v in law])
    tail = np.minimum(binom.cdf(seen, n, chances), binom.sf(seen - 1, n, chances))
    return float(min(1.0, 2.0 * tail.min() * len(law)))


def inclusion(row: list[tuple[int, float]], picks: int) -> Law | None:
    """Inclusion probabilities: counted for equal biases, integrated for up to 64 others, else None."""
    positive = [(v, bias) for v, bias in row if bias > 0]
    size = len(positive)
    if len({bias for _, bias in positive}) == 1:
        vertices, copies = np.unique([v for v, _ in positive], return_counts=True)
        absent = {m: comb(size - m, picks) / comb(size, picks) for m in set(copies.tolist())}
        return {v: 1.0 - absent[m] for v, m in zip(vertices.tolist(), copies.tolist(), strict=True)}
    return inclusion_law(row, picks) if size <= 64 else None


def holm(p_values: list[float]) -> float:
    """The smallest p-value after Holm's correction: below alpha exactly when some test of the family rejects at alpha."""
    return min(1.0, min(p_values) * len(p_values)) if p_values else 1.0
