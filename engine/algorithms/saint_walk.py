"""GraphSAINT's random walk sampler: walks from random roots, and all edges among their vertices (Zeng et al., ICLR
2020, algorithm 2).
"""

from csaw.engine.algorithm import Traversal, option


class SaintWalk(Traversal):
    """An instance is the subgraph of the vertices that uniform walks of WALK_LENGTH steps from FRONTIER_SIZE random
    roots visit.
    """

    paper = "Zeng et al., ICLR 2020"
    layout = "hops"
    sources_from = "random"
    visited_once = False
    replace = True
    ends_induced = True
    walk_length: int = option(2, help="number of steps of a walk", low=0, high=65535)
    frontier_size: int = option(3000, help="number of roots in an instance, drawn with replacement", low=1)

    def edge_bias(self, e):
        return 1.0

    def sizes(self):
        return (1,) * self.walk_length
