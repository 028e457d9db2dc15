"""MVS: mini-batches whose seeds are drawn by the norms of their gradients, with their neighbors (Cong et al., KDD 2020,
section 4.2).
"""

from csaw.engine.algorithm import option
from csaw.engine.algorithms.minibatch import Minibatch


class Mvs(Minibatch):
    """Each source is a seed of a mini-batch with a probability proportional to the norm of its gradient, up to 1; each
    seed selects its neighbors, all of them unless FANOUT is given.
    """

    paper = "Cong et al., KDD 2020"
    draws_seeds = True
    epochs, shuffle, drop_last = 1, False, False  # seeds are drawn anew for each mini-batch
    seeds_per_batch: int = option(1024, help="mean number of seeds in a mini-batch", low=1, high=2**31 - 1)
    fanout: tuple[int, ...] = option(
        (-1,),
        help="neighbors that a vertex selects, one number for each hop, separated by commas; -1 selects all",
        low=-1,
    )
    norms: str | None = option(
        None,
        kind=str,
        help="name of the column with the norm of each vertex's gradient; none: all norms are equal",
        none="equal norms",
    )
