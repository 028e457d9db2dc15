"""Layer sampling: a fixed number of neighbors for the whole frontier (Gao et al., KDD 2018; C-SAW, section II)."""

from csaw.engine.algorithm import Traversal, option


class Layer(Traversal):
    """At each depth, the frontier as a whole selects NEIGHBOR_SIZE of its edges to unvisited vertices, without replacement."""

    paper = "Gao et al., KDD 2018"
    collective = True
    depth: int = option(2, help="number of layers beyond the sources", low=0, high=65535)
    neighbor_size: int = option(10, help="edges that the frontier selects at each depth", low=0)
    frontier_size: int = option(1, help="number of sources of an instance", low=1)
    bias: str = option(
        "weight",
        help="bias of an edge: its weight, the degree of the vertex that it leads to, or none, which makes all equally likely",
        choices=("weight", "degree", "none"),
    )

    def edge_bias(self, e):
        if self.bias == "degree":
            return e.dst_degree
        if self.bias == "weight":
            return e.weight
        return 1.0

    def sizes(self):
        return (self.neighbor_size,) * self.depth
