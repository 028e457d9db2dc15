"""What a statistical test found, and the smallest deviation that it would have found: nearly always, at the level it is judged by."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

import numpy as np

POWER = 0.99
"""Chance to find the smallest deviation that is told."""
LEAST_VARIANCE = 25.0  # of a sum that is taken as normal
MARGIN = 2.33  # standard deviations that a normal value is above with that chance


@dataclass(frozen=True)
class Result:
    """One p-value. ``smallest`` turns a level into the least share of ``deviation`` that is found at it; above 1: none is."""

    p_value: float
    deviation: str
    smallest: Callable[[float], float]
    part: str = ""  # of the sample; empty: all of it


def certain(deviation: str) -> Result:
    """Something impossible was found: one is enough."""
    return Result(0.0, deviation, lambda level: 0.0)


def ranges(p_value: float, found: int, cells: int, deviation: str, part: str = "") -> Result:
    """A chi-square test of ``found`` things in ``cells`` ranges that are equally likely; the deviation goes to one of them."""
    return Result(p_value, deviation, lambda level: sqrt(_noncentral(level, cells - 1) / (found * (cells - 1))), part)


@lru_cache(1000)
def _noncentral(level: float, freedom: int) -> float:
    """The noncentrality of a chi-square value that is above the level's threshold with chance POWER."""
    from scipy.optimize import brentq
    from scipy.stats import chi2, ncx2

    threshold = chi2.isf(level, freedom)
    return float(brentq(lambda x: ncx2.cdf(threshold, freedom, x) - (1.0 - POWER), 1e-3, 4.0 * threshold + 100.0))


def normal_sum(excess: float, variance: float, change: float, deviation: str) -> list[Result]:
    """A sum of bounded terms that grows by ``change`` when all of it is the deviation; none where it is of too few to be normal."""
    from scipy.stats import norm

    if variance <= LEAST_VARIANCE:
        return []
    spread = sqrt(variance)

    def smallest(level: float) -> float:
        return (float(norm.isf(level / 2)) + MARGIN) * spread / max(change, 1e-300)

    return [Result(float(2 * norm.sf(abs(excess) / spread)), deviation, smallest)]


def bounded_sum(sums: np.ndarray, largest: float, deviation: str, part: str = "") -> Result:
    """A sum of terms of mean 0 given all before them, none beyond ``largest``, by Freedman's bound (Ann. Probab. 1975).

    ``sums`` are its excess, its variance, and how much it grows when all of it is the deviation. Bernstein's bound for terms that may depend on what came before: it holds for any number of terms, so its p-value is too large, if anything.
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
