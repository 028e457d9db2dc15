"""Random node sampling: a uniform set of vertices and the edges among them (Leskovec and Faloutsos, KDD 2006)."""

from csaw.engine.algorithm import Traversal, option


class RandomNode(Traversal):
    """An instance is a uniformly random set of FRONTIER_SIZE vertices, with all edges among them."""

    paper = "Leskovec and Faloutsos, KDD 2006"
    sources_from = "distinct"
    visits = "uniform"
    sized_by = "frontier_size"
    induced = True
    frontier_size: int = option(100, help="number of vertices in an instance", low=1)

    def edge_bias(self, e):
        return 1.0

    def sizes(self):
        return (-1,)
