"""Checks of seeds that are drawn by the norms of their vertices: their chances, how often each is drawn, how many a
mini-batch has, and one mini-batch beside the next.
"""

import numpy as np

from csaw.engine.api.algorithm import MiniBatches
from csaw.engine.sources.drawn_seeds import norms_of
from csaw.engine.sources.given_sources import CHANCES
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.power import Result, normal_sum

RANGES = 16  # of vertices, in the order of their numbers and in that of their chances
NEAR = 1e-9  # of a chance: sums of norms in another order
HALVINGS = 200
FEW = "too few seeds drawn by chance"
UNKNOWN = "the sample does not keep its list of sources, so that the chances of all of them are not known"


class SeedDraws:
    """The seeds of all mini-batches, counted by position of the list."""

    def __init__(self, subject: Subject) -> None:
        algorithm = subject.algorithm
        assert isinstance(algorithm, MiniBatches)
        self.norms = norms_of(algorithm, subject.view.vertices, None)
        self.chance = least_variance(self.norms, algorithm.seeds_per_batch) if subject.starts_at_all else None
        self.drawn = np.zeros(self.norms.size, np.int64)
        self.wrong = self.batches = self.pairs = 0
        self.spread, self.shared = 0.0, 0.0  # sums over mini-batches, and over pairs of successive ones
        self.last: np.ndarray | None = None
        self.slope: float | None = None  # norm for each unit of a chance below 1, as seeds have shown it

    def add(self, vertices: np.ndarray, counts: np.ndarray, arrays: dict[str, np.ndarray]) -> None:
        """Check the chances of a group's seeds, ``counts`` in each mini-batch, and count them."""
        stored = arrays.get(CHANCES, np.zeros(0))
        if stored.size != vertices.size:
            self.wrong += vertices.size
            return
        self.wrong += self._wrong_chances(vertices, stored)
        if self.chance is None:
            return
        self.drawn += np.bincount(vertices, minlength=self.drawn.size)
        for seeds in np.split(vertices, np.cumsum(counts)[:-1]) if counts.size else ():
            self._count(seeds, self.chance)

    def _wrong_chances(self, vertices: np.ndarray, stored: np.ndarray) -> int:
        if self.chance is not None:
            return int((np.abs(stored - self.chance[vertices]) > NEAR * stored).sum())
        norms, below = self.norms[vertices], stored < 1.0
        if self.slope is None and below.any():
            self.slope = float((norms[below] / stored[below])[0])
        slope = self.slope if self.slope is not None else 0.0
        return int(
            (np.abs(norms - slope * stored) > NEAR * norms)[below].sum() + (norms < slope * (1.0 - NEAR))[~below].sum()
        )

    def _count(self, seeds: np.ndarray, chance: np.ndarray) -> None:
        variance, mean, both = float((chance * (1.0 - chance)).sum()), float(chance.sum()), float((chance**2).sum())
        self.spread += (seeds.size - mean) ** 2 - variance
        self.batches += 1
        if self.last is not None:
            expected = float(chance[seeds].sum() + chance[self.last].sum()) - both
            self.shared += np.intersect1d(seeds, self.last).size - expected
            self.pairs += 1
        self.last = seeds

    def judge(self, checks: Checks) -> None:
        """Add the checks of all seeds."""
        checks.count("probabilities", self.wrong, "seeds with another chance than their norm gives them")
        if self.chance is None:
            checks.not_tested("seeds, law", UNKNOWN)
            return
        n, total = self.batches, float(self.drawn.sum())
        each = self.chance * (1.0 - self.chance)
        never = int(((self.chance == 0.0) & (self.drawn > 0)).sum() + ((self.chance == 1.0) & (self.drawn < n)).sum())
        checks.count(
            "seeds, certain",
            never,
            "vertices drawn although their norm is 0, or left out of a mini-batch although their chance is 1",
        )
        details = f"{int(total):,} seeds of {n:,} mini-batches"
        checks.results("seeds, law", self._by_ranges(n, each, total), details, FEW)
        fourth = float((each * (1.0 - 6.0 * each)).sum())
        variance = float(each.sum())
        sizes = normal_sum(
            self.spread, n * (2.0 * variance**2 + fourth), n * variance, "seeds drawn together with others"
        )
        checks.results("seeds, numbers", sizes if n >= 30 else [], f"how many seeds {n:,} mini-batches have", FEW)
        pairs = normal_sum(
            self.shared,
            self.pairs * float((each**2).sum()),
            self.pairs * variance,
            "seeds drawn again in the next mini-batch",
        )
        checks.results("seeds, independence", pairs, "each mini-batch beside the next one", FEW)

    def _by_ranges(self, n: int, each: np.ndarray, total: float) -> list[Result]:
        found: list[Result] = []
        assert self.chance is not None
        excess, variance = self.drawn - n * self.chance, n * each
        for order in (np.arange(each.size), np.argsort(self.chance, kind="stable")):
            for part in np.array_split(order, RANGES):
                found += normal_sum(
                    float(excess[part].sum()),
                    float(variance[part].sum()),
                    total,
                    "seeds moved to one of some ranges of vertices",
                )
        return found


def least_variance(norms: np.ndarray, wanted: int) -> np.ndarray:
    """float64: min(1, norm / mu) of the sum ``wanted``, where mu is found by halving; 1 for each norm above 0 if there
    are not more of them.
    """
    positive = norms > 0.0
    if positive.sum() <= wanted:
        return positive.astype(np.float64)
    low, high = 0.0, float(norms.sum()) / wanted * 2.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        enough = middle > 0.0 and np.minimum(1.0, norms / middle).sum() < wanted
        low, high = (low, middle) if enough else (middle, high)
    return np.minimum(1.0, norms / high)
