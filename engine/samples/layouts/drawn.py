"""The layout in which instances of an algorithm are drawn."""

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.termination import is_unlimited
from csaw.engine.samples.layouts import LAYOUTS, RAGGED_WALKS, SUBGRAPHS, SampleLayout
from csaw.engine.samples.layouts.hops import Hops


def drawn_layout(algorithm: Algorithm, sizes: tuple[int, ...]) -> SampleLayout:
    """The layout of an algorithm that selects ``sizes``, hop by hop."""
    if is_unlimited(algorithm):
        return RAGGED_WALKS
    declared = LAYOUTS[algorithm.rule.layout]
    uneven = min(sizes, default=0) < 0 or algorithm.rule.unique
    return SUBGRAPHS if isinstance(declared, Hops) and uneven else declared
