"""Tests that choices fit their exact law. There are four views, each with p-values:

contexts      chi-square of all choices made in the same situation, over situations of every degree (choices.py)
pooled        the place of every choice in its own law, all situations together: uniform on [0, 1) if the law is right
              (pooled.py)
shares        the share of choices that may come from another law, or that have an outcome with a meaning: a return, an
              end (choices.py)
independence  the places of successive choices: each is uniform given the one before it, if no draw is used twice
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import log, prod, sqrt

import numpy as np

from csaw.partition.base.parallel import go_on

# Laws of many situations at once, as tables.

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


# The result of a statistical test, and the smallest deviation that it would nearly always have found at its level.

POWER = 0.99
"""Chance to find the smallest deviation that is told."""
LEAST_VARIANCE = 25.0  # of a sum that is taken as normal
MARGIN = 2.33  # a normal value is above minus this many standard deviations with that chance


@dataclass(frozen=True)
class Result:
    """One p-value.

    ``smallest`` returns the smallest share of ``deviation`` that is found at a level; above 1 if none is.
    """

    p_value: float
    deviation: str
    smallest: Callable[[float], float]
    part: str = ""  # of the sample; empty: all of it


@dataclass(frozen=True)
class Situation:
    """The result of all choices, or sets, of one situation: its name, in dense ids, and how many there were."""

    name: str
    times: int
    result: Result


def certain(deviation: str) -> Result:
    """The result where something impossible was found: one case is enough."""
    return Result(0.0, deviation, lambda level: 0.0)


def ranges(p_value: float, found: int, cells: int, deviation: str, part: str = "") -> Result:
    """The result of a chi-square test of ``found`` cases in ``cells`` equally likely ranges; the deviation moves cases
    to one of them.
    """
    return Result(
        p_value, deviation, lambda level: sqrt(_noncentral(level, _rounded(cells - 1)) / (found * (cells - 1))), part
    )


def import_scipy() -> None:
    """Import, while other threads work, what the tests and their power ask for at the end: .2 s."""
    import scipy.optimize
    import scipy.special  # noqa: F401


def _rounded(freedom: int) -> int:
    """Few different degrees of freedom, each a little higher: what is told is, if anything, too large a share."""
    step = max(1, 1 << max(0, freedom.bit_length() - 4))
    return -(-freedom // step) * step


@lru_cache(1000)
def _noncentral(level: float, freedom: int) -> float:
    """The noncentrality at which a chi-square value exceeds the threshold of ``level`` with chance POWER."""
    from scipy.optimize import brentq
    from scipy.special import chdtri, chndtr

    threshold = chdtri(freedom, level)
    return float(brentq(lambda x: chndtr(threshold, freedom, x) - (1.0 - POWER), 1e-3, 4.0 * threshold + 100.0))


def normal_sum(excess: float, variance: float, change: float, deviation: str) -> list[Result]:
    """The result of a sum of bounded terms that grows by ``change`` if every term is the deviation; none where the
    terms are too few for a normal sum.
    """
    from scipy.special import erfc, ndtri

    if variance <= LEAST_VARIANCE:
        return []
    spread = sqrt(variance)

    def smallest(level: float) -> float:
        return (-float(ndtri(level / 2)) + MARGIN) * spread / max(change, 1e-300)

    return [Result(float(erfc(abs(excess) / spread / sqrt(2.0))), deviation, smallest)]


def bounded_sum(sums: np.ndarray, largest: float, deviation: str, part: str = "") -> Result:
    """The result of a sum of terms that have mean 0 given all earlier ones and are at most ``largest``, by Freedman's
    bound (Ann. Probab. 1975).

    ``sums`` are its excess, its variance, and its growth if every term is the deviation. Bernstein's bound for terms
    that may depend on what came before: it holds for any number of terms, so its p-value is too large, if anything.
    """
    excess, variance, change = sums.tolist()
    spread = sqrt(variance)
    skew, beyond = largest / (3.0 * spread), abs(excess) / spread
    p = min(1.0, 2.0 * float(np.exp(-(beyond**2) / 2.0 / (1.0 + skew * beyond))))

    def smallest(level: float) -> float:
        need = log(2.0 / level)
        threshold = need * skew + sqrt((need * skew) ** 2 + 2.0 * need)
        return (threshold + MARGIN) * spread / max(change, 1e-300)

    return Result(p, deviation, smallest, part)


# Tests of choices against their law.

LEAST_EXPECTED = 5.0
CONTEXTS = 24  # of each stratum
BINS = 32
BLOCK = 16  # successive choices that are tested together
BLOCKS = 20240229  # seed, fixed: the verdict on a sample never changes
CUTS = (0.1, 0.5, 0.99)  # quantiles of the degrees of choices: between low, middle and high degrees, and hubs
TENTHS = 10


@dataclass
class Choices:
    """Situations, one in each row, and the choice in each of them; equal rows have the same law."""

    situations: np.ndarray  # int64 [n, columns]; column 0 is the vertex
    chosen: np.ndarray  # int64 [n], or [n, picks] with -1 for none
    columns: tuple[str, ...] = ("v",)
    depth: np.ndarray | None = None  # int64 [n]: steps or hops before each choice
    degree: np.ndarray | None = None  # int64 [vertices], where column 0 is one
    weights: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None  # of the edges from column 0 to outcomes
    before: np.ndarray | None = None  # int64 [n]: what the same selection chose before with replacement, -1: nothing

    @cached_property
    def grouped(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The distinct situations, how often each occurs, the begin of each in the order, and that order."""
        if len(self.situations) == 0:
            nothing = np.zeros(0, np.int64)
            return self.situations, nothing, nothing, nothing
        order, start = _groups_of(self.situations)
        return self.situations[order[start]], np.diff(np.append(start, order.size)), start, order

    @cached_property
    def number(self) -> np.ndarray:
        """int64 [n]: the number, among the distinct situations, of the one in which each choice was made."""
        _, counts, _, order = self.grouped
        out = np.empty(order.size, np.int64)
        out[order] = np.repeat(np.arange(counts.size), counts)
        return out

    def parts(self) -> tuple[list[str], list[np.ndarray]]:
        """Names of the parts of the sample that are judged by themselves too, and the parts of each choice: one of each
        division.
        """
        size = len(self.situations)
        names, labels = [""], [np.zeros(size, np.int64)]
        for division, part in self._divisions():
            labels.append(part + len(names))
            names += division
        return names, labels if size else []

    def _divisions(self) -> Iterator[tuple[list[str], np.ndarray]]:
        size = len(self.situations)
        yield [f"tenth {k + 1} of the sample" for k in range(TENTHS)], np.arange(size) * TENTHS // max(size, 1)
        if self.depth is not None:
            yield ["the first step", "the second step", "later steps"], np.minimum(self.depth, 2)
        if self.degree is not None and size:
            degrees = self.degree[self.situations[:, 0]]
            cuts = np.unique(np.quantile(degrees, CUTS, method="lower"))
            cuts = cuts[cuts < degrees.max()]
            ends = ["", *(f"{cut:,}" for cut in cuts), ""]
            names = [
                f"degrees {f'above {a}' if a else ''}{' ' if a and b else ''}{f'up to {b}' if b else ''}"
                for a, b in pairwise(ends)
            ]
            yield names if cuts.size else ["any degree"], np.searchsorted(cuts, degrees)


def _groups_of(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The order that sorts rows, and where equal ones begin in it; by a single number for each where the columns fit
    into 63 bits.
    """
    low = rows.min(axis=0).tolist()
    spans = [high - least + 1 for high, least in zip(rows.max(axis=0).tolist(), low, strict=True)]
    if prod(spans) >= 2**63:
        order = np.lexsort(rows.T[::-1])
        fresh = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    else:
        key = np.zeros(len(rows), np.int64)
        for column, (span, least) in enumerate(zip(spans, low, strict=True)):
            key *= span
            key += rows[:, column] - least
        order = ascending(key, prod(spans))
        key = key[order]
        fresh = key[1:] != key[:-1]
    return order, np.flatnonzero(np.concatenate([[True], fresh]))


def ascending(numbers: np.ndarray, bound: int) -> np.ndarray:
    """The order that sorts numbers from 0 to below ``bound``, equal ones as they come.

    By 16 bits at a time, for which NumPy counts rather than compares: 1.5 to 3 times as fast for two million numbers.
    """
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    for shift in range(16, (bound - 1).bit_length(), 16):
        digit = (numbers >> shift).astype(np.uint16)[order]
        order = order[np.argsort(digit, kind="stable")]
    return order


def stratified(counts: np.ndarray, sizes: np.ndarray) -> list[int]:
    """Numbers of frequent situations, in turn of low, middle and high degree."""
    enough = np.flatnonzero(counts >= 2 * LEAST_EXPECTED)
    if not enough.size:
        return []
    sizes = sizes[enough]
    low, high = np.quantile(sizes, [1 / 3, 2 / 3])
    strata = [enough[sizes <= low], enough[(sizes > low) & (sizes <= high)], enough[sizes > high]]
    best = [stratum[np.argsort(-counts[stratum], kind="stable")][:CONTEXTS] for stratum in strata]
    return [int(s[i]) for i in range(CONTEXTS) for s in best if i < len(s)]


def chi_square(observed: dict[int, int], law: Law) -> float | None:
    """The p-value of counts under a law; None if the law allows a single outcome, 0 if an impossible one occurred."""
    if any(count and law.get(outcome, 0.0) <= 0.0 for outcome, count in observed.items()):
        return 0.0
    possible = {outcome: chance for outcome, chance in law.items() if chance > 0.0}
    found = np.array([float(observed.get(outcome, 0)) for outcome in possible])
    return fit_law(found, np.array(list(possible.values())))[0]


def fit_law(found: np.ndarray, chance: np.ndarray) -> tuple[float | None, int]:
    """The p-value of the counts ``found`` of outcomes whose chances are above 0, and how many cells were compared; None
    for a single outcome.

    Outcomes that are expected less than 5 times are put together in cells that reach 5, or judged by their exact tail
    where all of them together do not. There the tail of chi-square is too thin and that of G is right (Poisson's large
    deviations), so the larger of the two p-values is taken.
    """
    total = float(found.sum())
    if found.size < 2 or total == 0.0:
        return None, found.size
    expected = total * chance
    rare = expected < LEAST_EXPECTED
    few, few_found = expected[rare].sum(), found[rare].sum()
    if few >= LEAST_EXPECTED:
        cells = [_in_cells(expected[rare], values[rare]) for values in (found, expected)]
        expected = np.append(expected[~rare], cells[1])
        return fit(np.append(found[~rare], cells[0]), expected), expected.size
    expected, found = expected[~rare], found[~rare]
    parts = [fit(found, expected * (found.sum() / expected.sum())) if found.sum() else None]
    parts += [binomial_tail(few_found, total, few / total)] if few > 0 else []
    known = [p for p in parts if p is not None]
    return (min(1.0, len(known) * min(known)) if known else None), expected.size + int(few > 0)


def _in_cells(expected: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sums of ``values`` over neighboring outcomes, so many that enough are expected in every sum."""
    cells = max(1, int(expected.sum() // (2 * LEAST_EXPECTED)))  # an outcome is less than half a cell
    cell = np.minimum(np.cumsum(expected) * cells / expected.sum(), cells - 0.5).astype(int)
    return np.bincount(cell, values, cells)


def binomial_tail(found: float, n: float, chance: float) -> float:
    """The two-sided p-value of ``found`` successes in n trials of this chance."""
    from scipy.special import betainc

    chance = min(chance, 1.0)
    at_most = betainc(n - found, found + 1.0, 1.0 - chance) if found < n else 1.0
    at_least = betainc(found, n - found + 1.0, chance) if found > 0 else 1.0
    return float(min(1.0, 2.0 * min(at_most, at_least)))


def fit(found: np.ndarray, expected: np.ndarray) -> float | None:
    """The larger p-value of chi-square and G, at one degree of freedom less than cells."""
    from scipy.special import chdtrc, xlogy

    cells = len(expected)
    if cells < 2:
        return None
    total = expected.sum()
    with np.errstate(over="ignore"):  # what was expected next to never and was found is infinitely far off
        square = ((found - expected) ** 2 / expected).sum()
        ratio = 2.0 * xlogy(found, found / expected).sum()
        williams = 1.0 + (np.sum(total / expected) - 1.0) / (6.0 * total * (cells - 1))
    williams = williams if np.isfinite(williams) else 1.0
    return float(max(chdtrc(cells - 1, square), chdtrc(cells - 1, ratio / williams)))


def in_blocks(size: int) -> np.ndarray:
    """The numbers below ``size`` in a random order of blocks, so that successive numbers stay together."""
    blocks = np.random.default_rng(BLOCKS).permutation(-(-size // BLOCK))
    order = (blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel()
    return order[order < size]


def in_half(size: int) -> np.ndarray:
    """Whether each of ``size`` choices is in the half that decides what is tested: every other twentieth, so that few
    walks are in both halves.

    Of one or two choices, which have no halves, all are.
    """
    half = np.arange(size) * 20 // max(size, 1) % 2 == 1
    return half if half.any() else np.ones(size, bool)


def first_met(numbers: np.ndarray, bound: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ``numbers``, from 0 to below ``bound``, in the order in which they are met, and the place where each
    is met first.
    """
    place = np.full(bound, -1)
    place[numbers[::-1]] = np.arange(numbers.size - 1, -1, -1)  # the last one written stays
    first = np.flatnonzero(place[numbers] == np.arange(numbers.size))
    return numbers[first], first


def even(places: np.ndarray, bins: int, deviation: str, part: str = "") -> list[Result]:
    """Test that places in [0, 1) are uniform, by ``bins`` ranges."""
    bins = max(1, min(bins, int(places.size // 20)))
    found = np.histogram(places, bins, (0.0, 1.0))[0].astype(float)
    p = fit(found, np.full(bins, places.size / bins))
    return [] if p is None else [ranges(p, places.size, bins, deviation, part)]


def evenly(drawn: np.ndarray, size: int, deviation: str, weights: np.ndarray | None = None) -> list[Result]:
    """Test that draws of vertices are in proportion to ``weights``, in at most 32 ranges of vertices."""
    weights = np.ones(drawn.size) if weights is None else weights.astype(float)
    total, n = weights.sum(), drawn.sum()
    if n < 20 or size >= total:
        return []
    bins = int(min(32, n // 10))
    number = np.minimum((np.cumsum(weights) - weights) * bins // total, bins - 1).astype(np.int64)
    expected = np.bincount(number, weights, bins) / total * n
    found = np.bincount(number, drawn, bins)
    used = expected > 0
    p = fit(
        found[used], expected[used]
    )  # without replacement the counts vary less, so the p-value is, if anything, too large
    if found[~used].any():
        return [certain(deviation)]
    return [] if p is None else [ranges(p, int(n), int(used.sum()), deviation)]


def holm(p_values: list[float]) -> float:
    """The smallest p-value after Holm's correction: below alpha exactly when some test of the
    family rejects at alpha.
    """
    return min(1.0, min(p_values) * len(p_values)) if p_values else 1.0
