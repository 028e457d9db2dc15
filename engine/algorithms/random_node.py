"""Random node sampling: a uniform set of vertices and the edges among them (Leskovec and Faloutsos, KDD 2006)."""

from csaw.engine.algorithm import Traversal, option


class RandomNode(Traversal):
    """SIZE distinct vertices, every set equally likely, with the subgraph they induce."""

    paper = "Leskovec and Faloutsos, KDD 2006"
    sources_from = "distinct"
    induced = True
    frontier_size: int = option(100, help="vertices of an instance", low=1)

    def edge_bias(self, e):
        return 1.0

    def sizes(self):
        return (-1,)
