"""HGT sampling: mini-batches of a graph of several types, with about as many vertices of each (Hu et al., WWW 2020,
algorithm 1).
"""

from csaw.engine.algorithm import ByType, InTime, MiniBatches, PerType, option
from csaw.partition.errors import OptionError

MOST_LAYERS = 2**16 - 1


class Hgt(InTime, MiniBatches):
    """Mini-batches with as many vertices of each type: a vertex divides a budget of 1 among its edges of each relation,
    and each layer draws NUM_SAMPLES vertices of a type in proportion to the squares of what they were given. With a
    time strategy, only edges that are not later than the seeds count and are kept.
    """

    paper = "Hu et al., WWW 2020"
    draws_from = "budgets"
    disjoint = False  # the vertices of a mini-batch add to budgets together
    norms = None
    num_samples: tuple[int, ...] | ByType = option(
        (512, 512),
        help="vertices of each type to draw for each layer, separated by commas; on a graph of several types also "
        "TYPE=NUMBERS, repeated for other types; the type * is all others",
        kind=PerType,
        low=0,
    )

    def __init__(self, **values):
        super().__init__(**values)
        if not 1 <= len(self.sizes()) <= MOST_LAYERS:
            raise OptionError(
                f"--num-samples: expected a number for each of 1 to {MOST_LAYERS:,} layers, found {len(self.sizes())}"
            )

    def edge_bias(self, e):
        return 1.0

    def sizes(self):
        return self.num_samples.sums if isinstance(self.num_samples, ByType) else self.num_samples
