"""Layer sampling: a fixed number of neighbors for the whole frontier (Gao et al., KDD 2018; C-SAW, section II)."""

from csaw.engine.algorithm import ChosenBias, Traversal, option


class Layer(ChosenBias, Traversal):
    """At each depth, the frontier as a whole selects NEIGHBOR_SIZE of its edges to unvisited vertices, without replacement."""

    paper = "Gao et al., KDD 2018"
    collective = True
    depth: int = option(2, help="number of layers beyond the sources", low=0, high=65535)
    neighbor_size: int = option(10, help="edges that the frontier selects at each depth", low=0)
    frontier_size: int = option(1, help="number of sources of an instance", low=1)

    def sizes(self):
        return (self.neighbor_size,) * self.depth
