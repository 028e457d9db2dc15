"""Neighbor sampling: a fixed number of neighbors at each hop (Hamilton et al., NeurIPS 2017, algorithm 2; C-SAW,
section II).
"""

from csaw.engine.algorithm import (
    ByRelation,
    ChosenBias,
    Fanout,
    InTime,
    Traversal,
    against_option,
    option,
    unique_option,
)
from csaw.partition.errors import OptionError


class Neighbor(InTime, ChosenBias, Traversal):
    """Each vertex of a hop selects FANOUT of its neighbors for the next hop, as GraphSAGE does."""

    paper = "Hamilton et al., NeurIPS 2017"
    layout = "hops"
    visited_once = False
    fanout: tuple[int, ...] | ByRelation = option(
        (25, 10),
        help="neighbors that a vertex selects, one number for each hop, separated by commas; -1 selects all; on a "
        "graph of several types also RELATION=NUMBERS, repeated for other relations; the relation * is all others",
        kind=Fanout,
        low=-1,
    )
    replace: bool = option(False, help="draw the neighbors of a vertex with replacement")
    unique: bool = unique_option()
    time_against: str = against_option()

    def __init__(self, **values):
        super().__init__(**values)
        if self.unique and self.replace:
            raise OptionError(
                "--unique and --replace exclude each other, because different vertices are drawn without "
                "replacement; leave one out"
            )
        if self.replace and min(self.sizes(), default=0) < 0:
            raise OptionError(
                "--replace: expected fanouts of at least 0, found -1, which takes each neighbor once; give other "
                "fanouts, or leave out --replace"
            )

    def sizes(self):
        return self.fanout.widths if isinstance(self.fanout, ByRelation) else self.fanout
