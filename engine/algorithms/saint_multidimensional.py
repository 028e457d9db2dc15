"""GraphSAINT's multidimensional walk sampler: frontier sampling, and all edges among its vertices (Zeng et al., ICLR
2020, algorithm 2).
"""

from csaw.engine.algorithm import option
from csaw.engine.algorithms.multidimensional import Multidimensional


class SaintMultidimensional(Multidimensional):
    """An instance is the subgraph of the vertices that FRONTIER_SIZE dependent walkers visit in WALK_LENGTH steps
    together.
    """

    paper = "Zeng et al., ICLR 2020"
    ends_induced = True
    walk_length: int = option(5000, help="steps of an instance, by all of its walkers together", low=0, high=2**31 - 2)
    frontier_size: int = option(1000, help="number of walkers of an instance", low=1)
