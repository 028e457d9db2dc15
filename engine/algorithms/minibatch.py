"""Mini-batches of neighbor samples, as PyG's NeighborLoader draws them (Fey and Lenssen, ICLR-W 2019; Hamilton et al.,
NeurIPS 2017).
"""

from csaw.engine.algorithm import ByRelation, ChosenBias, Fanout, InTime, MiniBatches, option
from csaw.partition.errors import OptionError

MOST_PICKS = 2**31 - 1


class Minibatch(InTime, ChosenBias, MiniBatches):
    """Mini-batches of seeds: at each hop, each vertex that is new in the mini-batch selects FANOUT of its neighbors."""

    paper = "Fey and Lenssen, ICLR-W 2019"
    fanout: tuple[int, ...] | ByRelation = option(
        (25, 10),
        help="neighbors that a vertex selects, one number for each hop, separated by commas; -1 selects all; on a "
        "graph of several types also RELATION=NUMBERS, repeated for other relations; the relation * is all others",
        kind=Fanout,
        low=-1,
    )
    replace: bool = option(False, help="draw the neighbors of a vertex with replacement")

    def __init__(self, **values):
        super().__init__(**values)
        largest = self.fanout.largest if isinstance(self.fanout, ByRelation) else max(self.fanout, default=0)
        if self.replace and largest > MOST_PICKS:
            raise OptionError(
                f"--fanout: expected at most {MOST_PICKS:,} with --replace, the most nodes of a mini-batch, found "
                f"{largest:,}"
            )
        if self.replace and min(self.sizes(), default=0) < 0:
            raise OptionError(
                "--replace: expected fanouts of at least 0, found -1, which takes each neighbor once; give other "
                "fanouts, or leave out --replace"
            )

    def sizes(self):
        return self.fanout.widths if isinstance(self.fanout, ByRelation) else self.fanout
