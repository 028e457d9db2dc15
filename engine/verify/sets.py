"""Tests that sets picked without replacement fit successive selection. There are three views, each with p-values:

contexts      frequency of each neighbor in the sets of one situation, against its inclusion probability
pooled        number of picks of a set from the likelier half of its pool, all situations together; where all are
              equally likely, from the half with larger weights, or with larger degrees: see weights_or_degrees
independence  whether that number depends on the number of the set before
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import comb

import numpy as np

from csaw.engine.api.law import inclusion_law, of_largest
from csaw.engine.verify.checks import Checks, Subject, statistics
from csaw.engine.verify.kernels import edge_weights
from csaw.engine.verify.statistics import (
    MARGIN,
    Choices,
    Laws,
    Result,
    Situation,
    certain,
    first_met,
    in_blocks,
    normal_sum,
    stratified,
)
from csaw.partition.base.parallel import go_on
from csaw.partition.base.stages import tell


@dataclass(frozen=True)
class Pool:
    """A situation: the ends of the possible edges with their biases, and the sets of one size that were picked from
    them.
    """

    name: str
    biases: list[tuple[int, float]]  # positive ones
    picks: np.ndarray  # int64 [sets, picks]
    numbers: np.ndarray  # of the sets, in the order they were drawn
    beside: Callable[[], np.ndarray] | None = None
    """Other numbers of the edges, float64 [biases], by which pools of equal biases are halved."""

    def likelier(self) -> set[int]:
        """The ends in the likelier half; of equal biases in the half that other laws would prefer."""
        labels, biases = (np.array(column) for column in zip(*self.biases, strict=True))
        if self.beside is not None and (biases == biases[0]).all():
            biases = self.beside()
        return set(labels[np.lexsort((labels, -biases))][: labels.size // 2].tolist())


@dataclass(frozen=True)
class SetResults:
    contexts: list[Situation]
    pooled: list[Result]
    independence: list[Result]


def set_tests(sets: Choices, sizes: np.ndarray, pool_of: Callable[[int], Pool], budget: int) -> SetResults:
    """Make all tests of the situations 0, 1, ... of ``sets``, which have ``sizes`` edges each."""
    contexts, scores = [], _Scores(len(sets.number))
    chosen = stratified(sets.grouped[1], sizes)
    for done, number in enumerate(chosen):
        go_on()
        tell(done, len(chosen), "situations")
        pool = pool_of(number)
        some = 0 < pool.picks.shape[1] < len(pool.biases)
        law = inclusion(pool.biases, pool.picks.shape[1]) if some and len(pool.biases) ** 2 <= budget else None
        if law is not None:
            contexts.append(Situation(pool.name, len(pool.picks), _inclusions(pool.picks, law)))
    whole = budget
    for number in first_met(sets.number[in_blocks(len(sets.number))], len(sets.grouped[1]))[0].tolist():
        if budget <= 0:
            break
        go_on()
        tell(whole - budget, whole, "biases")
        pool = pool_of(number)
        budget -= len(pool.biases) * (1 + pool.picks.shape[1]) + 1
        scores.add(pool)
    return SetResults(contexts, scores.pooled(), scores.independence())


class _Scores:
    """The excess of each set's picks from the likelier half of its pool, and a bound of the
    variance of their number.
    """

    def __init__(self, sets: int) -> None:
        self.excess, self.variance, self.picks = np.zeros(sets), np.zeros(sets), 0
        self.impossible = False

    def add(self, pool: Pool) -> None:
        self.impossible |= not np.isin(pool.picks, [v for v, _ in pool.biases]).all()
        inside = pool.likelier() if pool.biases else set()
        half, rest = [b for v, b in pool.biases if v in inside], [b for v, b in pool.biases if v not in inside]
        if half and rest and 0 < pool.picks.shape[1] < len(pool.biases):
            mean, self.variance[pool.numbers] = half_law(half, rest, pool.picks.shape[1])
            self.picks += pool.picks.size
            self.excess[pool.numbers] = np.isin(pool.picks, list(inside)).sum(axis=1) - mean

    def pooled(self) -> list[Result]:
        deviation = "picks moved from one half of their pools to the other"
        if self.impossible:
            return [certain(deviation)]
        return normal_sum(float(self.excess.sum()), float(self.variance.sum()), self.picks, deviation)

    def independence(self) -> list[Result]:
        before = self.excess[:-1]  # it may decide about the next set, so it is taken as given
        excess, variance = (before * self.excess[1:]).sum(), (before**2 * self.variance[1:]).sum()
        deviation = "sets with as many of the likelier half as the one before"
        return normal_sum(float(excess), float(variance), float((before**2).sum()), deviation)


def half_law(half: list[float], rest: list[float], picks: int) -> tuple[float, float]:
    """Mean of the number of picks from ``half``, and a bound of its variance, exact when all biases are equal."""
    m, size = len(half), len(half) + len(rest)
    if len({*half, *rest}) == 1:
        mean = picks * m / size
        return mean, mean * (1 - m / size) * (size - picks) / (size - 1)
    mean = _expected(half, rest, picks)
    # picks exclude each other, so indicators that are independent vary more; and equal chances vary most
    return mean, min(mean * (1 - mean / m), (picks - mean) * (1 - (picks - mean) / (size - m)))


def _expected(half: list[float], rest: list[float], picks: int) -> float:
    """Mean number of picks from ``half``.

    Edges arrive at exponential times: the chance that one of ``half`` arrives before ``picks`` others, integrated over
    log time.

    The trapezoid rule converges geometrically there, in steps well below the spread of the last arrival.
    """
    largest, least = max(*half, *rest), min(*half, *rest)
    total = np.log(largest) + np.log(sum(bias / largest for bias in [*half, *rest]))  # its logarithm, which is finite
    step = 0.5 / picks**0.5
    time = np.exp(np.arange(np.log(1e-9) - total, np.log(30.0) - np.log(least), step))
    before, marked = np.zeros((picks, time.size)), np.zeros((picks, time.size))  # by the number of other arrivals
    before[0] = 1.0
    for bias, inside in [*((b, True) for b in half), *((b, False) for b in rest)]:
        with np.errstate(over="ignore"):
            passed = np.minimum(bias * time, 700.0)  # after which nothing is absent
        absent = np.exp(-passed)
        arrives = before * (passed * absent) if inside else 0.0
        for counted in (before, marked):
            counted[1:] = counted[1:] * absent + counted[:-1] * (1.0 - absent)
            counted[0] *= absent
        marked += arrives
    return float(marked.sum() * step)


def _inclusions(picks: np.ndarray, law: dict[int, float]) -> Result:
    """Test the frequency of each neighbor in the sets of one situation.

    The p-value is that of the worst one, times their number.
    """
    from scipy.stats import norm

    deviation, p, n = "one situation's sets that a neighbor is in", _binomials(picks, law), len(picks)
    if p == 0.0:
        return certain(deviation)
    chances = [c for c in law.values() if 0.0 < c < 1.0] or [0.5]
    spread = (min(c * (1.0 - c) for c in chances) / n) ** 0.5
    return Result(p, deviation, lambda level: float(norm.isf(level / 2 / len(law)) + MARGIN) * spread + 1.0 / n)


def _binomials(picks: np.ndarray, law: dict[int, float]) -> float:
    """p-value of the worst neighbor, times their number."""
    from scipy.stats import binom

    n = len(picks)
    found = {v: int((picks == v).any(axis=1).sum()) for v in np.unique(picks).tolist()}
    if any(law.get(v, 0.0) <= 0.0 for v in found):
        return 0.0
    chances = np.clip(np.array(list(law.values())), 0.0, 1.0)
    seen = np.array([found.get(v, 0) for v in law])
    tail = np.minimum(binom.cdf(seen, n, chances), binom.sf(seen - 1, n, chances))
    return float(min(1.0, 2.0 * tail.min() * len(law)))


def inclusion(positive: list[tuple[int, float]], picks: int) -> dict[int, float] | None:
    """Inclusion probabilities: counted for equal biases, integrated for up to 64 different ones, otherwise None."""
    size = len(positive)
    if len({bias for _, bias in positive}) == 1:
        vertices, copies = np.unique([v for v, _ in positive], return_counts=True)
        absent = {m: comb(size - m, picks) / comb(size, picks) for m in set(copies.tolist())}
        return {v: 1.0 - absent[m] for v, m in zip(vertices.tolist(), copies.tolist(), strict=True)}
    return inclusion_law(positive, picks) if size <= 64 else None


def weights_or_degrees(subject: Subject, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Weights of edges src -> dst, whether the run read them or not; where the first src is odd, and of a graph without
    weights, the degrees of their ends.
    """
    if subject.graph.weights is None or (src.size > 0 and src[0] % 2):
        return subject.degree[dst].astype(np.float64)
    return edge_weights(subject.graph, src, dst)


def add_sets(checks: Checks, results: SetResults, what: str = "neighbors") -> None:
    """Add the checks of sets that were picked without replacement."""
    few = f"too few sets with some, but not all, of the possible {'edges' if what == 'neighbors' else 'vertices'}"
    checks.situations(what, results.contexts, "sets")
    checks.results(f"{what}, pooled", results.pooled, "how often the likelier half of each pool is selected", few)
    checks.results(f"{what}, independence", results.independence, "each set with the next one", few)


# Situations in which something was selected from a pool, with what was selected, and the tests of that.

Biases = list[tuple[int, float]]


class Situations:
    """Selections from pools of vertices or edges; those of as many from equal pools are in the same situation.

    ``what``: the word of checks for what is selected.
    """

    def __init__(self, subject: Subject, what: str) -> None:
        self.subject, self.algorithm, self.what = subject, subject.traversal, what
        self.known: dict[tuple[object, ...], int] = {}
        self.pools: list[tuple[tuple[int, ...], Biases]] = []  # vertices and possible outcomes of each situation
        self.drawn: list[int] = []  # the situation of each selection
        self.picks: list[list[int]] = []
        self.weights: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
        """The weights of outcomes by pool and label, where the law reads none: see Choices."""

    def note_pool(self, vertices: tuple[int, ...], possible: Biases, picks: list[int]) -> None:
        """Note that of ``possible`` outcomes, with their biases, ``picks`` were selected.

        ``vertices``: those that select, or are selected.
        """
        key = (*vertices, -1, *possible, len(picks))
        if key not in self.known:
            self.known[key] = len(self.pools)
            self.pools.append((vertices, possible))
        self.drawn.append(self.known[key])
        self.picks.append(picks)

    def beside(self, vertices: tuple[int, ...], possible: Biases) -> np.ndarray:
        """Other numbers of possible outcomes, float64: see Pool.beside."""
        return -np.array([label for label, _ in possible], np.float64)

    def sets(self, checks: Checks) -> None:
        """Test picks without replacement."""
        drawn = np.array(self.drawn)
        sets = Choices(drawn[:, None], drawn)
        _, counts, start, order = sets.grouped

        def pool(number: int) -> Pool:
            here = order[start[number] : start[number] + counts[number]]
            vertices, possible = self.pools[number]
            picks = np.array([self.picks[i] for i in here], np.int64).reshape(here.size, -1)
            name = f"v = {', '.join(map(str, vertices))}"
            return Pool(name, of_largest(possible), picks, here, partial(self.beside, vertices, possible))

        sizes = np.array([len(possible) for _, possible in self.pools])
        add_sets(checks, set_tests(sets, sizes, pool, self.subject.budget // 2), self.what)

    def one_by_one(self, checks: Checks) -> None:
        """Test picks with replacement, in the order in which they were drawn."""
        situations = np.repeat(self.drawn, [len(picks) for picks in self.picks])[:, None]

        def law(number: int) -> dict[int, float]:
            chances: dict[int, float] = defaultdict(float)
            for label, bias in of_largest(self.pools[number][1]):
                chances[label] += bias
            total = sum(chances.values())
            return {label: chance / total for label, chance in chances.items()}

        sizes = np.array([len(possible) for _, possible in self.pools])
        laws = Laws(law, lambda rows: sizes[rows[:, 0]], self.subject.budget)
        chosen = np.array([v for picks in self.picks for v in picks], np.int64)
        choices = Choices(situations, chosen, ("pool",), weights=self.weights)
        statistics(checks, choices, laws, sizes, self.what)
