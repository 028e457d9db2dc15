"""Random edge sampling: a uniform set of edges (Leskovec and Faloutsos, KDD 2006)."""

from csaw.engine.algorithm import Traversal, option


class RandomEdge(Traversal):
    """An instance is a uniformly random set of NEIGHBOR_SIZE edges; an undirected edge counts once."""

    paper = "Leskovec and Faloutsos, KDD 2006"
    sources_from = "every"
    visits = "degree"
    collective = True
    visited_once = False
    each_edge_once = True
    neighbor_size: int = option(100, help="number of edges in an instance", low=0)

    def edge_bias(self, e):
        return 1.0

    def sizes(self):
        return (self.neighbor_size,)
