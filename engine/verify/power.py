"""The result of a statistical test, and the smallest deviation that it would nearly always have found at its level."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

import numpy as np

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
    bound (Ann.

    Probab. 1975).

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
