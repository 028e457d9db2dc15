"""GraphSAINT's edge sampler: edges by the degrees of their ends, and all edges among these (Zeng et al., ICLR 2020,
algorithm 2).

An edge of an undirected graph has a chance in proportion to 1 / d(u) + 1 / d(v): that of a random vertex with a random
one of its edges.
"""

from csaw.engine.algorithm import Traversal, option


class SaintEdge(Traversal):
    """An instance is the subgraph of the ends of FRONTIER_SIZE edges, drawn with replacement: each joins a random
    vertex and a random neighbor of it.
    """

    paper = "Zeng et al., ICLR 2020"
    layout = "hops"
    sources_from = "connected"
    visited_once = False
    replace = True
    ends_induced = True
    frontier_size: int = option(4000, help="number of edges to draw for an instance, with replacement", low=1)

    def edge_bias(self, e):
        return 1.0

    def sizes(self):
        return (1,)
