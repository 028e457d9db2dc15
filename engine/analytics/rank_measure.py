"""The base of measures by ranks: their options and their findings."""

from typing import ClassVar

import numpy as np

from csaw.engine.analytics import pieces
from csaw.engine.analytics.measure import FIXED, Column, Distribution, Findings, Measure, Number
from csaw.engine.analytics.network import on_host
from csaw.engine.analytics.ranks import UNITS, Ranks
from csaw.engine.api.option import option
from csaw.engine.plan.footprint import Footprint

BINS = 8  # of a distribution, for each doubling of the rank
SLOW = "with more, ranks take more than 100,000 iterations"


class RankMeasure(Measure):
    """A measure by ranks, with the options of all of them."""

    KEEPS: ClassVar = {"cpu": Footprint(56, fixed=1 << 18), "cuda": Footprint(84, fixed=FIXED)}
    paper = "Page, Brin, Motwani and Winograd 1999"
    damping: float = option(
        0.85, help="chance that a step of PageRank follows an edge and does not jump", low=0, high=0.9999, reason=SLOW
    )
    tolerance: float = option(
        1e-6, help="PageRank ends when an iteration changes ranks by this much in all (L1)", low=1e-12, high=1
    )


def found(name: str, ranks: Ranks, begun: str = "") -> Findings:
    """Return the findings of a measure by ranks. ``begun``: words about the one vertex that walks begin at."""
    method = "; ".join(filter(None, [begun, ranks.method]))
    units = on_host(ranks.units)
    largest = int(units.max(initial=0)) / UNITS
    return {
        name: Column(units / UNITS, method),
        f"distribution of {name}": binned(units, f"{name}, multiples of the mean"),
        f"largest {name}": Number(largest, method),
    }


def binned(units: np.ndarray, label: str) -> Distribution:
    """Return the distribution of ranks, int64 [V] in units, in multiples of their mean.

    Ranks are rounded to the middle of the eighth of a doubling that they are in; 0 stays 0.
    """
    found = [_middles(units[low:high], units.size) for low, high in pieces.spans(units.size) or [(0, 0)]]
    return Distribution(*pieces.occurrences(found), label)


def _middles(units: np.ndarray, vertices: int) -> tuple[np.ndarray, np.ndarray]:
    """The middles of the eighths that some of the ranks are in, and how many are in each."""
    fractions, exponents = np.frexp(units * (vertices / UNITS))
    middles = np.where(units > 0, (np.floor(fractions * 2 * BINS) + 0.5) / (2 * BINS), 0.0)
    return np.unique(np.ldexp(middles, exponents), return_counts=True)
