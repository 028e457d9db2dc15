"""The forms of samples, a class a file: what an instance is, how it is stored, cut, checked and read, and in which form
an algorithm draws it.

A new one is a class here, its name in ``LAYOUTS``, and kernels that draw it.
"""

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.termination import is_unlimited
from csaw.engine.samples.layouts.hops import RELATION_KIND, Hops, is_relation_of_hop, is_time_of_hop
from csaw.engine.samples.layouts.layout import NUMBERS, VERTEX, Arrays, Ragged, SampleLayout, Sizes, Stored
from csaw.engine.samples.layouts.links import Links
from csaw.engine.samples.layouts.subgraphs import Batches, Subgraphs
from csaw.engine.samples.layouts.walks import RaggedWalks, Walks

__all__ = [
    "LAYOUTS",
    "RAGGED_WALKS",
    "SUBGRAPHS",
    "VERTEX",
    "Arrays",
    "Links",
    "Ragged",
    "SampleLayout",
    "Sizes",
    "Stored",
    "kind_of",
]

RAGGED_WALKS, SUBGRAPHS = RaggedWalks(), Subgraphs()
LAYOUTS: dict[str, SampleLayout] = {
    one.name: one for one in (Walks(), RAGGED_WALKS, Hops(), Batches(), Links(), SUBGRAPHS)
}
"""All layouts by name."""
KINDS = {one.part: one.kind for layout in LAYOUTS.values() for one in layout.arrays}


def kind_of(name: str) -> str:
    """The element type of an array of a group or of a store, which is the same in all layouts; VERTEX for ids."""
    if is_relation_of_hop(name):
        return RELATION_KIND
    return NUMBERS if name.endswith("_ptr") or is_time_of_hop(name) else KINDS.get(name, VERTEX)


def drawn_layout(algorithm: Algorithm, sizes: tuple[int, ...]) -> SampleLayout:
    """The layout of an algorithm that selects ``sizes``, hop by hop."""
    if is_unlimited(algorithm):
        return RAGGED_WALKS
    declared = LAYOUTS[algorithm.rule.layout]
    uneven = min(sizes, default=0) < 0 or algorithm.rule.unique
    return SUBGRAPHS if isinstance(declared, Hops) and uneven else declared
