"""The base of measures by ranks: their options and their findings."""

import numpy as np

from csaw.engine.analytics.measure import Column, Distribution, Findings, Measure, Number
from csaw.engine.analytics.network import on_host
from csaw.engine.analytics.ranks import UNITS, Ranks
from csaw.engine.api.option import option

BINS = 8  # of a distribution, for each doubling of the rank
SLOW = "with more, ranks take more than 100,000 iterations"


class RankMeasure(Measure):
    """A measure by ranks, with the options of all of them."""

    paper = "Page, Brin, Motwani and Winograd 1999"
    damping: float = option(
        0.85, help="chance that a step of PageRank follows an edge and does not jump", low=0, high=0.9999, reason=SLOW
    )
    tolerance: float = option(
        1e-6, help="PageRank ends when an iteration changes ranks by this much in all (L1)", low=1e-12, high=1
    )


def found(name: str, ranks: Ranks) -> Findings:
    """Return the findings of a measure by ranks."""
    units = on_host(ranks.units)
    largest = int(units.max(initial=0)) / UNITS
    return {
        name: Column(units / UNITS, ranks.method),
        f"distribution of {name}": binned(units, f"{name}, multiples of the mean"),
        f"largest {name}": Number(largest, ranks.method),
    }


def binned(units: np.ndarray, label: str) -> Distribution:
    """Return the distribution of ranks, int64 [V] in units, in multiples of their mean.

    Ranks are rounded to the middle of the eighth of a doubling that they are in; 0 stays 0.
    """
    fractions, exponents = np.frexp(units * (units.size / UNITS))
    middles = np.where(units > 0, (np.floor(fractions * 2 * BINS) + 0.5) / (2 * BINS), 0.0)
    values, counts = np.unique(np.ldexp(middles, exponents), return_counts=True)
    return Distribution(values, counts, label)
