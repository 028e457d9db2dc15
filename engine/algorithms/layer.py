"""Layer sampling: a fixed number of neighbors for the whole frontier (Gao et al., KDD 2018; C-SAW, section II)."""

from csaw.engine.algorithm import Traversal, option


class Layer(Traversal):
    """At each depth, NEIGHBOR_SIZE edges from the pooled unvisited neighbors of the frontier, without replacement."""

    paper = "Gao et al., KDD 2018"
    collective = True
    depth: int = option(2, help="layers from the sources", low=0, high=65535)
    neighbor_size: int = option(10, help="edges selected at each depth", low=0)
    frontier_size: int = option(1, help="sources of an instance", low=1)
    bias: str = option("weight", help="what an edge is chosen by", choices=("weight", "degree", "none"))

    def edge_bias(self, e):
        if self.bias == "degree":
            return e.dst_degree
        if self.bias == "weight":
            return e.weight
        return 1.0

    def sizes(self):
        return (self.neighbor_size,) * self.depth
